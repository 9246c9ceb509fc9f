r"""Series of a function κ on [-1, 1]: Gegenbauer (any d), Chebyshev (d = 2), Taylor (d = ∞).

.. math::

    \kappa(t) = \sum_\ell c_\ell P_d^\ell(t), \qquad
    c_\ell = \alpha_{\ell,d}\,
    \mathbb{E}_w[\kappa(\langle x,w\rangle) P_d^\ell(\langle x,w\rangle)].
"""

import math
import warnings
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from .._typing import Array, FloatArray, ScalarFunction
from .gegenbauer import check_degree, check_dim, log_harmonic_dimensions, orthonormal_table
from .quadrature import gauss_gegenbauer

__all__ = [
    "disc_radius",
    "gegenbauer_series",
    "log_monomial_series",
    "log_taylor_coefficients",
    "taylor_coefficients",
]

# Enough for functions with square-root singularities at ±1 (arc-cosine, Neural Tangent).
DEFAULT_NODES = 1000


def gegenbauer_series(
    kappa: ScalarFunction, dim: float, max_degree: int, n_nodes: int | None = None
) -> FloatArray:
    r"""Return coefficients c_0, …, c_q of κ in Gegenbauer polynomials of dimension d.

    .. math::

        c_\ell = \alpha_{\ell,d} \frac{|\mathbb{S}^{d-2}|}{|\mathbb{S}^{d-1}|}
        \int_{-1}^{1} \kappa(t) P_d^\ell(t) (1-t^2)^{\frac{d-3}{2}} dt

    Parameters
    ----------
    kappa : callable
        κ, vectorised over arrays of points in [-1, 1]. For ``dim=math.inf`` it must accept
        complex arguments and be analytic around zero.
    dim : int or math.inf
        The dimension d ≥ 1: 2 for the Chebyshev series, infinity for the Taylor series.
    max_degree : int
        The largest degree q (at most 1 when d = 1).
    n_nodes : int, optional
        The number of quadrature nodes, by default the larger of 1,000 and 2 q + 100.

    Returns
    -------
    ndarray of shape (max_degree + 1,)

    Notes
    -----
    The values of κ carry rounding errors of about 1e-16, and so :math:`c_\ell` carries one of
    about :math:`10^{-16} \sqrt{\alpha_{\ell,d}}`: in high dimension only low degrees can be
    told from noise. Coefficients smaller than that are returned as zero.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.theory import gegenbauer_series
    >>> gegenbauer_series(lambda t: 3 * t**2 + t, dim=3, max_degree=2).round(12)  # 1 + t + 2 P_2
    array([1., 1., 2.])
    """
    check_dim(dim)
    check_degree(max_degree, dim)
    if dim == math.inf:
        return taylor_coefficients(kappa, max_degree + 1)
    nodes, weights = gauss_gegenbauer(n_nodes or max(DEFAULT_NODES, 2 * max_degree + 100), int(dim))
    values = np.broadcast_to(np.asarray(kappa(nodes), dtype=np.float64), nodes.shape)
    # In units of √α the integrals are of order one and their rounding is that of κ itself.
    integrals = orthonormal_table(max_degree, int(dim), nodes) @ (weights * values)
    noise = 8 * np.finfo(float).eps * math.sqrt(weights @ values**2)
    integrals[np.abs(integrals) <= noise] = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        coefficients = np.exp(log_harmonic_dimensions(max_degree, dim) / 2) * integrals
    return np.where(integrals == 0, 0.0, coefficients)


def log_monomial_series(max_degree: int, n_radial: int, dim: int) -> FloatArray:
    r"""Return the log coefficient of :math:`P_d^\ell` in :math:`t^{\ell+2i} / (\ell+2i)!`.

    The paper's coefficient, simplified by
    :math:`\Gamma(i+\frac12) / (\sqrt\pi (2i)!) = 1 / (4^i i!)`:

    .. math::

        \frac{\alpha_{\ell,d}}{2^\ell} \frac{\Gamma(\frac d2)}{\sqrt\pi (2i)!}
        \frac{\Gamma(i+\frac12)}{\Gamma(i+\ell+\frac d2)}
        = \frac{\alpha_{\ell,d}}{2^{\ell+2i}\, i!\,
        \frac d2 (\frac d2+1) \cdots (\frac d2+\ell+i-1)}.

    It also holds for d = 1 and d = 2.

    Returns
    -------
    ndarray of shape (max_degree + 1, n_radial)
    """
    ell = np.arange(max_degree + 1)[:, None]
    i = np.arange(n_radial)
    # log of the rising factorial (d/2)_k by summation: no cancellation between large log Γ.
    rising = np.r_[0.0, np.cumsum(np.log(dim / 2 + np.arange(max_degree + n_radial)))]
    log_alpha = log_harmonic_dimensions(max_degree, dim)[:, None]
    return log_alpha - (ell + 2 * i) * math.log(2) - gammaln(i + 1) - rising[ell + i]


def taylor_coefficients(
    kappa: ScalarFunction, n_terms: int, radii: Sequence[float] | None = None
) -> FloatArray:
    r"""Find Taylor coefficients of an analytic function at zero, by Cauchy's integral.

    .. math::

        a_j = \frac{1}{2\pi\rho^j} \int_0^{2\pi} \kappa(\rho e^{i\theta}) e^{-ij\theta} d\theta

    The integral is a fast Fourier transform of values on a circle. Its error is about
    :math:`10^{-16} \max|\kappa| / \rho^j`, smallest at a radius ρ that depends on j, so many
    circles are tried, those on which κ is not resolved (a singularity inside or too close) are
    dropped, and each coefficient comes from its best circle. Coefficients smaller than their
    own error are returned as zero.

    Parameters
    ----------
    kappa : callable
        κ, vectorised over *complex* arrays.
    n_terms : int
        The number of coefficients.
    radii : sequence of float, optional
        The radii ρ to try, by default from 1/256 to 1,024. Circles of any radius below one suit
        a function that is analytic in the unit disc; `disc_radius` gives the best one.

    Returns
    -------
    ndarray of shape (n_terms,)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.polynomials import taylor_coefficients
    >>> taylor_coefficients(lambda z: 1 / (2 - z), 4)
    array([0.5   , 0.25  , 0.125 , 0.0625])
    """
    signs, logs = log_taylor_coefficients(kappa, n_terms, radii)
    return signs * np.exp(logs)


def log_taylor_coefficients(
    kappa: ScalarFunction, n_terms: int, radii: Sequence[float] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return signs (-1, 0, 1) and logarithms of Taylor coefficients.

    Parameters and method as for `taylor_coefficients`.

    Returns
    -------
    signs, logs : ndarrays of shape (n_terms,)
    """
    n_points = _n_points(n_terms)
    if radii is None:
        radii = [*(2.0 ** (k / 2) for k in range(-16, 21)), disc_radius(n_terms)]
    unit = np.exp(2j * np.pi * np.arange(n_points) / n_points)
    at_zero = _evaluate(kappa, np.zeros(1, dtype=complex))[0]
    degrees = np.arange(n_terms)
    signs, logs = np.zeros(n_terms), np.full(n_terms, -np.inf)
    log_error = np.full(n_terms, np.inf)
    for radius in radii:
        values = _evaluate(kappa, radius * unit)
        if not np.isfinite(values).all():
            continue
        size = np.abs(values).max()
        if size == 0:
            return signs, logs
        spectrum = np.fft.fft(values / size) / n_points
        # An analytic function has no negative frequencies, a decaying positive part, and its value
        # at zero for a mean; else there is a singularity inside the circle or too close to it.
        resolved = np.abs(spectrum[n_points // 4 :]).max() <= 1e-13
        if not resolved or not abs(spectrum[0] - at_zero / size) <= 1e-13:
            continue
        log_scale = math.log(size) - degrees * math.log(radius)
        error = math.log(4 * np.finfo(float).eps) + log_scale
        better = error < log_error
        with np.errstate(divide="ignore"):
            found = np.log(np.abs(spectrum[:n_terms].real)) + log_scale
        signs = np.where(better, np.sign(spectrum[:n_terms].real), signs)
        logs = np.where(better, found, logs)
        log_error = np.where(better, error, log_error)
    if np.isinf(log_error).any():
        raise ValueError(
            "The function has no Taylor series that can be found numerically: on no circle "
            f"around zero with radius between {min(radii):.3g} and {max(radii):.3g} is it "
            "analytic inside and finite. "
            "Give the Taylor coefficients yourself."
        )
    known = logs > log_error
    return np.where(known, signs, 0.0), np.where(known, logs, -np.inf)


def _n_points(n_terms: int) -> int:
    return 1 << (max(4096, 32 * n_terms) - 1).bit_length()


def disc_radius(n_terms: int) -> float:
    """Return the largest circle that resolves any bounded analytic function of the disc."""
    return math.exp(math.log(1e-17) / (_n_points(n_terms) / 4))


def _evaluate(kappa: ScalarFunction, points: Array) -> Array:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            return np.broadcast_to(kappa(points), points.shape)
        except (TypeError, np.exceptions.ComplexWarning) as error:
            raise TypeError(
                f"kappa cannot be evaluated at complex numbers ({error}), which finding its "
                "Taylor coefficients needs. Write it with NumPy functions, or give the "
                "coefficients yourself."
            ) from error
