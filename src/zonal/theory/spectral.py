r"""How well features approximate a kernel matrix: the smallest ε of the paper's equation (1)."""

from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from sklearn.utils import check_array, check_random_state

from .._typing import Array, FloatArray
from .._validation import check_choice, check_count
from ..solvers.krylov import krylov
from ..solvers.low_rank import ShiftedLowRank
from .estimate import Estimate
from .inputs import (
    as_kernel_and_rows,
    check_fraction,
    check_lam,
    check_matrix_free,
    kernel_matrix,
    shifted,
)
from .kernel_rows import KernelRows
from .statistical import METHODS

__all__ = ["exact_error", "feature_matrix", "spectral_error"]


def spectral_error(
    K: Any,
    Z: Any,
    lam: float,
    *,
    X: Any = None,
    method: str = "exact",
    tol: float = 0.01,
    max_passes: int = 40,
    n_probes: int = 8,
    random_state: Any = None,
) -> Estimate:
    r"""Return smallest ε for which features are an (ε, λ)-spectral approximation.

    .. math::

        \frac{K + \lambda I}{1 + \varepsilon} \preceq Z Z^\top + \lambda I \preceq
        \frac{K + \lambda I}{1 - \varepsilon}

    With [a, b] the spectrum of :math:`(K+\lambda)^{-1/2}(ZZ^\top+\lambda)(K+\lambda)^{-1/2}`, it
    is max(1/a - 1, 1 - 1/b): since 1/a and 1/b bound the spectrum of the inverse, the norm

    .. math::

        \varepsilon = \big\| (Z Z^\top+\lambda)^{-1/2} (K - Z Z^\top)
        (Z Z^\top+\lambda)^{-1/2} \big\| .

    Values of 1 and more mean that features cannot stand for the kernel at this λ.

    Parameters
    ----------
    K : array-like of shape (n, n), Kernel or str
        The kernel matrix; or a kernel, with rows X.
    Z : array-like of shape (n, D) or features object
        The features of the rows; or a fitted map, with rows X.
    lam : float
        The ridge λ > 0.
    X : {array-like, CSR matrix} of shape (n, d), optional
        Rows, if K is a kernel.
    method : {"exact", "sampled"}, default="exact"
        ``"exact"``: all eigenvalues. ``"sampled"``: block Krylov iteration from random vectors,
        with products by the exact kernel in blocks of rows; no n × n matrix.
    tol : float, default=0.01
        ``"sampled"`` stops when the residual is below this share of the result.
    max_passes : int, default=40
        The largest number of products with the kernel matrix of ``"sampled"``.
    n_probes : int, default=8
        Vectors in a product; more need fewer passes.
    random_state : int, RandomState instance or None, default=None
        The seed of ``"sampled"``.

    Returns
    -------
    Estimate
        A float. For ``"sampled"`` it is never above the exact value (but for rounding), and its
        attribute ``error`` is the norm of the residual: an eigenvalue lies that close.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> kernel = zonal.Gaussian(2.0)
    >>> features = zonal.GegenbauerFeatures(kernel, n_components=1024, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> bool(zonal.theory.spectral_error(kernel(X), Z, lam=1.0) < 0.5)
    True
    """
    owner = "spectral_error"
    lam = check_lam(lam, owner)
    check_choice("method", method, METHODS, owner)
    if method == "exact":
        matrix, _ = kernel_matrix(K, X, owner)
        return Estimate(exact_error(matrix, feature_matrix(Z, X, len(matrix), owner), lam))
    check_fraction("tol", tol, owner)
    check_count("max_passes", max_passes, owner)
    check_count("n_probes", n_probes, owner)
    check_matrix_free(K, owner)
    kernel, rows = as_kernel_and_rows(K, X, owner)
    exact = KernelRows(kernel, rows)
    approximate = ShiftedLowRank(feature_matrix(Z, rows, exact.n_rows, owner), lam)

    def difference(V: Array) -> Array:
        rooted = approximate.inverse_root(V)
        return approximate.inverse_root(exact @ rooted + lam * rooted) - V

    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    start = np.random.default_rng(seed).standard_normal((exact.n_rows, min(n_probes, exact.n_rows)))
    found = krylov(difference, start, np.abs, count=1, tol=tol, max_passes=max_passes)
    return Estimate(float(abs(found.values[0])), found.residual)


def exact_error(matrix: FloatArray, Z: Array, lam: float) -> float:
    """Return the spectral error from all eigenvalues of the pencil (K + λ, Z Zᵀ + λ)."""
    columns = np.asarray(Z, np.float64)
    ratios = eigvalsh(shifted(matrix, lam), shifted(columns @ columns.T, lam))
    return float(np.abs(ratios - 1).max())


def feature_matrix(Z: Any, X: Any, n_rows: int, owner: str) -> Array:
    """Return the features of all rows, from themselves or from a fitted map."""
    if hasattr(Z, "transform"):
        if X is None:
            raise ValueError(
                f"{owner} was given a feature map but no rows: pass the kernel and X=..., or pass "
                "the features Z = features.transform(X) instead of the map."
            )
        Z = Z.transform(X)
    columns: Array = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
    if len(columns) != n_rows:
        raise ValueError(
            f"Z has {len(columns)} rows and K belongs to {n_rows}: {owner} needs the features of "
            "the same rows, one row of Z for each."
        )
    return columns
