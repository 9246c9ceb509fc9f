r"""Ridge leverage scores of directions, and the lemma that bounds them all.

A direction w is worth sampling as much as its score :math:`\tau_\lambda(w)`; their mean is the
statistical dimension, and a bound on the largest says how many uniform directions are enough.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from .._typing import FloatArray
from ..features.leverage import feature_columns
from ..kernels import GeneralizedZonalKernel
from ..kernels.points import as_rows
from ..polynomials import log_harmonic_dimensions
from ..rows.threads import block_slices
from ..solvers.krylov import Apply
from .inputs import EXACT_ROWS, check_lam, check_radii, shifted
from .kernel_rows import KernelRows
from .ridge import RidgeSolver

__all__ = ["feature_columns", "leverage_bound", "leverage_of_energies", "leverage_scores"]


def leverage_scores(
    gzk: GeneralizedZonalKernel, X: Any, lam: float, W: npt.ArrayLike
) -> FloatArray:
    r"""Return ridge leverage scores of directions, the paper's :math:`\tau_\lambda(w)`.

    .. math::

        \tau_\lambda(w) = \mathrm{Tr}\big(\Phi_w^\top (K + \lambda I)^{-1} \Phi_w\big), \qquad
        [\Phi_w]_{j,i} = \sum_\ell \sqrt{\alpha_{\ell,d}}\, [h_\ell(\|x_j\|)]_i\,
        P_d^\ell\left(\frac{\langle x_j, w\rangle}{\|x_j\|}\right)

    Parameters
    ----------
    gzk : GeneralizedZonalKernel
        The kernel, such as ``zonal.Gaussian().expand(dim=3)``.
    X : {array-like, CSR matrix} of shape (n, d)
        Rows. Beyond 4,000, conjugate gradients take the place of the n × n matrix; the scores are
        then right to eight digits or so.
    lam : float
        The ridge λ > 0.
    W : array-like of shape (m, d)
        Unit vectors.

    Returns
    -------
    ndarray of shape (m,)

    See Also
    --------
    leverage_bound : An upper bound for all w.

    Examples
    --------
    Their mean over the sphere is the statistical dimension:

    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X, W = rng.standard_normal((50, 3)), rng.standard_normal((4000, 3))
    >>> W /= np.linalg.norm(W, axis=1, keepdims=True)
    >>> gzk = zonal.Gaussian(2.0).expand(dim=3, max_degree=6, n_radial=3)
    >>> scores = zonal.theory.leverage_scores(gzk, X, 0.1, W)
    >>> dimension = zonal.theory.statistical_dimension(gzk(X), 0.1)
    >>> bool(abs(scores.mean() - dimension) < 5 * scores.std() / np.sqrt(len(W)))
    True
    """
    _check_gzk(gzk, "leverage_scores")
    lam = check_lam(lam, "leverage_scores")
    rows = as_rows(X).astype(np.float64)
    directions = np.atleast_2d(np.asarray(W, dtype=np.float64))
    if directions.ndim != 2 or directions.shape[1] != rows.shape[1]:
        raise ValueError(
            f"W of leverage_scores has shape {directions.shape}; directions for X with "
            f"{rows.shape[1]} columns are rows of that many numbers."
        )
    norms = np.linalg.norm(directions, axis=1)
    if not np.allclose(norms, 1, rtol=0, atol=1e-6):
        worst = float(norms[np.argmax(np.abs(norms - 1))])
        raise ValueError(
            f"W of leverage_scores has a row of norm {worst:.6g}, and directions are unit vectors: "
            "divide the rows by their norms."
        )
    solve = _solver(gzk, rows, lam)
    scores = np.empty(len(directions))
    for part in block_slices(len(directions), rows.shape[0] * gzk.n_radial):
        phi = feature_columns(gzk, rows, directions[part])  # [n, s · m]
        trace = np.einsum("nc,nc->c", phi, solve(phi))
        scores[part] = trace.reshape(gzk.n_radial, -1).sum(axis=0)
    return scores


def _solver(gzk: GeneralizedZonalKernel, rows: Any, lam: float) -> Apply:
    """Return the function that takes B to (K + λ)⁻¹ B."""
    if rows.shape[0] > EXACT_ROWS:
        return RidgeSolver(KernelRows(gzk, rows), lam, seed=0).solve
    factor = cho_factor(shifted(gzk(rows), lam), lower=True)
    return lambda phi: np.asarray(cho_solve(factor, phi))


def leverage_bound(gzk: GeneralizedZonalKernel, radii: npt.ArrayLike, lam: float) -> float:
    r"""Return upper bound on all leverage scores, the right-hand side of the paper's lemma.

    .. math::

        \tau_\lambda(w) \le \sum_\ell \alpha_{\ell,d} \min\left\{
        \frac{\pi^2 (\ell+1)^2}{6\lambda} \sum_{j=1}^n \|h_\ell(\|x_j\|)\|^2,\; s \right\}
        \quad \text{for all } w

    Parameters
    ----------
    gzk : GeneralizedZonalKernel
        The kernel.
    radii : array-like of shape (n,)
        The norms of all n rows.
    lam : float
        The ridge λ > 0.

    Returns
    -------
    float
        Infinity where the number of harmonics is beyond floating-point numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> gzk = zonal.Gaussian().expand(dim=3, max_degree=8, n_radial=3)
    >>> round(zonal.theory.leverage_bound(gzk, np.full(60, 0.5), lam=1.0), 1)
    36.7
    """
    _check_gzk(gzk, "leverage_bound")
    lam = check_lam(lam, "leverage_bound")
    energy = np.square(gzk.coefficients(check_radii(radii, "leverage_bound"))).sum(axis=(0, 2))
    if not np.isfinite(energy).all():
        raise ValueError(
            f"The radial functions are not finite at radii up to {np.max(radii):.6g}: they lie "
            "beyond the expansion. Scale the rows down or widen the kernel."
        )
    return leverage_of_energies(energy, gzk.dim, lam, gzk.n_radial)


def leverage_of_energies(energy: FloatArray, dim: int, lam: float, n_radial: int) -> float:
    """Return the lemma's bound from Σ_j ‖h_ℓ(‖x_j‖)‖² of every degree ℓ."""
    degrees = np.arange(len(energy))
    lively = np.minimum(math.pi**2 * (degrees + 1) ** 2 / (6 * lam) * energy, n_radial)
    with np.errstate(divide="ignore", over="ignore"):  # log 0 for empty degrees; α may overflow
        return float(np.exp(log_harmonic_dimensions(len(energy) - 1, dim) + np.log(lively)).sum())


def _check_gzk(gzk: Any, owner: str) -> None:
    if not isinstance(gzk, GeneralizedZonalKernel):
        raise TypeError(
            f"{owner} needs a GeneralizedZonalKernel, not {gzk!r}: expand the kernel first, "
            "kernel.expand(dim, ...)."
        )
    gzk.check()
