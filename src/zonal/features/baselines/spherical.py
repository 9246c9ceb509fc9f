"""Random Fourier features of kernels on the sphere, whose spectrum is fitted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, nnls
from scipy.special import hyp0f1
from scipy.stats import chi

from ..._typing import Array, FloatArray
from ..._validation import norms_agree, row_norms
from ...engines.trigonometric import cosines_and_sines
from ..base import KernelFeatures
from ..directions import DIRECTIONS
from ..training_sample import TrainingSample

__all__ = ["SphericalFeatures"]

# Gaussians of the fit, their inverse widths on the sphere, and points of both integrals.
N_GAUSSIANS = 20
WIDTHS = np.geomspace(0.1, 20.0, N_GAUSSIANS)
N_DISTANCES, N_FREQUENCIES = 96, 400
# Dimensions from which waves are nearly Gaussian: two terms of the logarithm leave 1e-4.
MANY = 150


class SphericalFeatures(KernelFeatures):
    r"""Spherical random features (Pennington, Yu and Kumar, 2015).

    On a sphere, a dot-product kernel is a function K of the distance z, 0 ≤ z ≤ 2. It is not
    positive definite in space, so that it has no spectral density; but a density can come
    close to it on the sphere:

    .. math::

        \hat K(z) = \int p(\|w\|)\, e^{i \langle w, z\rangle}\, dw, \qquad
        p(\omega) = \max\Big(0, \sum_i c_i\, \sigma_i^{-d} e^{-\omega^2 / (4\sigma_i^2)}\Big),

    with the c_i that minimise :math:`\int_0^2 (K - \hat K)^2 dz`. Frequencies are drawn from p:
    the features are unbiased for :math:`\hat K`, bounded, and of low variance.

    Parameters
    ----------
    kernel : Kernel or str, default="polynomial"
        A kernel of this library, often Polynomial; it is used on a sphere only.
    n_components : int, default=1024
        The width D of the output: cosines and sines of D/2 frequencies, and one cosine with a
        random offset if D is odd.
    orthogonal : bool, default=True
        Whether frequencies are orthogonal in blocks of d.
    random_state : int, RandomState instance or None, default=None
        The seed of the frequencies.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved to numbers.
    radius_ : float
        The radius of the sphere: the root of the mean squared norm of the rows, which are
        projected onto it. Rows of one norm are on it already.
    frequencies_ : ndarray of shape (m, n_features)
        The frequencies of rows of norm one.
    spectrum_ : ndarray of shape (2, n)
        Norms of frequencies, and the mass of each: :math:`\hat K`.
    fit_error_ : float
        The root of the mean squared error of :math:`\hat K` over z, relative to K(0).
    n_features_in_ : int
        d.

    Notes
    -----
    Learnt from data: the radius, and through it the spectrum.

    References
    ----------
    J. Pennington, F. X. Yu and S. Kumar, "Spherical Random Features for Polynomial Kernels",
    NIPS 2015.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> kernel = zonal.Polynomial(10, gamma=0.5, coef0=0.5)
    >>> features = zonal.SphericalFeatures(kernel, 2048, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - kernel(X)).mean() < 0.03)
    True
    """

    def __init__(
        self,
        kernel: Any = "polynomial",
        n_components: int = 1024,
        *,
        orthogonal: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.random_state = random_state

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        self._check_range(sample)
        norms = row_norms(sample.rows)
        mean_square = np.average(norms**2, weights=sample.weights)
        radius = float(norms[0] if norms_agree(norms, norms.max()) else np.sqrt(mean_square)) or 1.0
        # To ten digits: what sums of the rows in another order round to must not move the fit.
        self.radius_ = float(f"{radius:.10g}")
        rng = np.random.default_rng(seed)
        dim, n_frequencies = self.n_features_in_, -(-int(self.n_components) // 2)
        on_sphere = np.asarray(self.radius_)

        def of_distance(z: FloatArray) -> FloatArray:
            return self.kernel_.profile(on_sphere, on_sphere, 1 - z**2 / 2)

        self.spectrum_, self.fit_error_ = fit_spectrum(of_distance, dim)
        norms, masses = self.spectrum_
        drawn = rng.choice(norms, n_frequencies, p=masses / masses.sum())
        scheme = "orthogonal" if self.orthogonal else "iid"
        self.frequencies_ = drawn[:, None] * DIRECTIONS[scheme](n_frequencies, dim, rng)
        self._amplitudes = np.full(n_frequencies, np.sqrt(masses.sum() / n_frequencies))
        self._offset = None
        if self.n_components % 2:
            self._amplitudes[-1] *= np.sqrt(2)
            self._offset = float(rng.random())
        return int(self.n_components)

    def fitted_kernel(self, z: npt.ArrayLike) -> FloatArray:
        r"""Return :math:`\hat K(z)` of distances on the unit sphere, what the features estimate."""
        norms, masses = self.spectrum_
        return (
            _waves(np.multiply.outer(np.asarray(z, np.float64), norms), self.n_features_in_)
            @ masses
        )

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return len(self._amplitudes)

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills cosines and sines of projected rows."""
        table = np.ascontiguousarray(self.frequencies_.T / (2 * np.pi), dtype)
        amplitudes = self._amplitudes.astype(dtype)

        def block(rows: Any, out: Array) -> None:
            norms = np.maximum(row_norms(rows), np.finfo(rows.dtype).tiny).astype(rows.dtype)
            # The product is linear: rows are projected after it, and sparse ones stay as they are.
            turns = np.asarray(rows @ table) / norms[:, None]
            if self._offset is not None:
                turns[:, -1] += self._offset
            cosines_and_sines(turns, amplitudes, out)

        return block


def fit_spectrum(
    of_distance: Callable[[FloatArray], FloatArray], dim: int
) -> tuple[FloatArray, float]:
    """Fit a non-negative rotation-invariant spectrum to a function of the distance on the sphere.

    Parameters
    ----------
    of_distance : callable
        K(z).
    dim : int
        d.

    Returns
    -------
    spectrum : ndarray of shape (2, n)
        Norms of frequencies and masses.
    error : float
        The root of the mean squared error over z in [0, 2], relative to K(0).
    """
    points, weights = np.polynomial.legendre.leggauss(N_DISTANCES)
    z, weights = 1 + points, weights / 2
    target = of_distance(z)
    top = max(float(of_distance(np.zeros(1))[0]), float(np.finfo(float).tiny))
    # e^{-σ² z²} is the transform of normal frequencies of variance 2σ² in each direction.
    norms = np.sqrt(2 * dim) * np.geomspace(1e-3, 60.0, N_FREQUENCIES)
    edges = np.sqrt(norms[1:] * norms[:-1])
    edges = np.concatenate([[0.0], edges, [np.inf]])
    gaussians = np.column_stack(
        [np.diff(chi.cdf(edges / (np.sqrt(2) * width), dim)) for width in WIDTHS]
    )
    waves = _waves(np.multiply.outer(z, norms), dim)
    root = np.sqrt(weights)[:, None]
    start, _ = nnls(root * (waves @ gaussians), root[:, 0] * target / top)

    def loss(c: FloatArray) -> tuple[float, FloatArray]:
        density = gaussians @ c
        gap = waves @ np.maximum(density, 0) - target / top
        slope = gaussians.T @ (np.where(density > 0, waves.T @ (2 * weights * gap), 0.0))
        return float(weights @ gap**2), slope

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    masses = np.maximum(gaussians @ found.x, 0.0)
    if not masses.any():
        masses[0] = 1.0
    return np.array([norms, top * masses]), float(np.sqrt(loss(found.x)[0]))


def _waves(t: FloatArray, dim: int) -> FloatArray:
    r"""Return the mean of :math:`e^{i\langle w, x\rangle}` over directions of w, t = ‖w‖ ‖x‖.

    It is :math:`\Gamma(d/2) (2/t)^{d/2-1} J_{d/2-1}(t)`; in many dimensions, where both factors
    leave the range of numbers, nearly that of Gaussian frequencies.
    """
    squares = np.square(t) / (2 * dim)
    if dim > MANY:
        return np.asarray(np.exp(-squares - squares**2 / (dim + 2)))
    return np.asarray(np.where(squares < 300, hyp0f1(dim / 2, -dim * squares / 2), 0.0))
