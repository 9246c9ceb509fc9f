"""Matérn kernels: samples of the Gaussian process are as smooth as ν says."""

import functools
import math

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Chebyshev
from numpy.polynomial import Polynomial as Poly
from numpy.polynomial.chebyshev import chebfit, chebpts1
from scipy.interpolate import PPoly
from scipy.special import gammaln, kve

from .._typing import FloatArray
from .._validation import check_positive
from ..engines.bessel import debye_polynomials
from .gaussian import Gaussian
from .shift_invariant import ShiftInvariantKernel
from .terms import NumericTerm, Term

__all__ = ["Laplacian", "Matern"]

# Closer points count as equal: the slope of a rough kernel would overflow.
TOUCHING = 1e-150

# Above this order K_ν overflows where the kernel lives, and twelve terms of Debye's series leave
# less than 11! / (30π)¹² ≈ 1e-16.
DEBYE_ORDER = 30.0
DEBYE_TERMS = 12

# Below that order it is tabulated, in polynomials of log t of this degree on cells of this length:
# (2π/0.5)^-14 < 1e-15. Beyond the largest t the kernel is zero.
CELL, CELL_DEGREE = 0.5, 13
LARGEST = 2000.0


class Matern(ShiftInvariantKernel):
    r"""Matérn kernel, as scikit-learn's.

    .. math::

        k(x,y) = \frac{2^{1-\nu}}{\Gamma(\nu)}\, t^\nu K_\nu(t), \qquad
        t = \frac{\sqrt{2\nu}}{\ell} \|x-y\|,

    with K_ν the modified Bessel function. It is :math:`e^{-t}` for ν = 1/2,
    :math:`(1+t)e^{-t}` for 3/2, :math:`(1+t+t^2/3)e^{-t}` for 5/2 and the Gaussian for ν = ∞;
    these four need no Bessel function and are much faster.

    It has no Taylor series in the inner product: expansions have ``radial_basis="optimal"``.

    Parameters
    ----------
    nu : float, default=1.5
        The smoothness ν > 0: the Gaussian process of this kernel has derivatives of every order
        below ν. ``numpy.inf`` is the Gaussian kernel.
    length_scale : float, array-like of shape (d,) or "median", default=1.0
        ℓ, or one for each column. ``"median"`` is the median distance between different rows,
        found in `fit` of whatever uses the kernel (or by ``kernel.resolve(X)``).

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press
    2006, section 4.2.

    Examples
    --------
    >>> import zonal
    >>> zonal.Matern(nu=1.5, length_scale=2.0)([[0.0, 0.0]], [[0.0, 2.0]]).round(6)
    array([[0.483358]])
    """

    def __init__(self, nu: float = 1.5, length_scale: npt.ArrayLike = 1.0) -> None:
        self.nu = nu
        self.length_scale = length_scale

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        if self.nu != math.inf:
            extra = ", or numpy.inf for the Gaussian kernel"
            check_positive("nu", self.nu, type(self).__name__, extra=extra)
        super().check()

    def terms(self) -> list[Term]:
        """The kernel itself; the Gaussian's term for ν = ∞."""
        self.check()
        scale = self.one_scale()
        if self.nu == math.inf:
            return Gaussian(scale).terms()
        return [NumericTerm(self.profile, slow=True, name=repr(self))]

    def _of_distance(self, distance: FloatArray) -> FloatArray:
        return matern(self.nu, distance)

    def _slope(self, distance: FloatArray) -> FloatArray:
        return matern_slope(self.nu, distance)


class Laplacian(Matern):
    r"""Laplacian kernel, :math:`k(x,y) = e^{-\|x-y\|_2 / \ell}`: the Matérn kernel of ν = 1/2.

    Not scikit-learn's ``laplacian_kernel``, whose distance is the sum of absolute differences and
    which is therefore not rotation-invariant.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,) or "median", default=1.0
        ℓ, or one for each column. ``"median"`` is the median distance between different rows,
        found in `fit` of whatever uses the kernel (or by ``kernel.resolve(X)``).

    Examples
    --------
    >>> import zonal
    >>> zonal.Laplacian(length_scale=2.0)([[0.0, 0.0]], [[0.0, 2.0]]).round(6)
    array([[0.367879]])
    """

    nu = 0.5

    def __init__(self, length_scale: npt.ArrayLike = 1.0) -> None:
        self.length_scale = length_scale


def matern(nu: float, distance: FloatArray) -> FloatArray:
    """The Matérn function of one smoothness at distances in units of the length scale."""
    if nu == math.inf:
        return np.exp(-(distance**2) / 2)
    if nu > DEBYE_ORDER:
        return _debye(nu, np.asarray(distance, np.float64))
    t = math.sqrt(2 * nu) * distance
    if nu == 0.5:
        return np.exp(-t)
    if nu == 1.5:
        return (1 + t) * np.exp(-t)
    if nu == 2.5:
        return (1 + t + t**2 / 3) * np.exp(-t)
    return _bessel(nu, np.asarray(t, np.float64))


def matern_slope(nu: float, distance: FloatArray) -> FloatArray:
    r"""f'(ρ)/ρ of the Matérn function, itself one of smoothness ν - 1.

    .. math::

        \frac{f'(\rho)}{\rho} = -\frac{2\nu\, 2^{1-\nu}}{\Gamma(\nu)}\, t^{\nu-1} K_{\nu-1}(t)
        = -\frac{\nu}{\nu-1} f_{\nu-1}(t), \qquad t = \sqrt{2\nu}\, \rho,

    from :math:`(t^\nu K_\nu)' = -t^\nu K_{\nu-1}`; the second form is for ν > 1. For ν ≤ 1 it is
    infinite at zero, where zero is returned: the gradient f'(ρ) (x - y)/ρ vanishes there if
    ν > 1/2, and does not exist otherwise.
    """
    if nu == math.inf:
        return -np.exp(-(distance**2) / 2)
    if nu > 1:
        share = nu / (nu - 1)
        return -share * matern(nu - 1, math.sqrt(share) * distance)
    apart = distance > TOUCHING
    if nu == 0.5:
        return -np.exp(-distance) / np.where(apart, distance, np.inf)
    t = math.sqrt(2 * nu) * np.where(apart, np.minimum(distance, 2000.0 / math.sqrt(2 * nu)), 1.0)
    log_constant = math.log(2 * nu) + (1 - nu) * math.log(2) - gammaln(nu)
    slope = np.exp(log_constant + (nu - 1) * np.log(t) + np.log(kve(1 - nu, t)) - t)
    return np.where(apart, -slope, 0.0)


def _bessel(nu: float, t: FloatArray) -> FloatArray:
    """The definition, from a table: K_ν takes half a microsecond, and quadratures take millions."""
    low, table = _bessel_table(nu)
    t = np.minimum(t, LARGEST)
    known = t > low
    t = np.where(known, t, 1.0)
    # Rounding must not lift the kernel above its value at zero.
    return np.where(known, np.minimum(np.exp(table(np.log(t)) - t), 1.0), 1.0)


@functools.lru_cache(maxsize=32)
def _bessel_table(nu: float) -> tuple[float, PPoly]:
    """Return log(eᵗ f(t)) as a function of log t, and the t below which f is one to rounding.

    K_ν has no zeros in the right half plane, so that this function is analytic in a strip of half
    width π/2, and its Chebyshev series on an interval of length w falls at least as (2π/w)^-k.
    """
    # 1 - f is about t²/(4ν - 4), or t^{2ν} for ν < 1; K_ν leaves the range of numbers below that.
    low = max(10.0 ** (-8.5 / min(nu, 1.0)), 1e-300)
    n_cells = math.ceil(math.log(LARGEST / low) / CELL)
    edges = np.linspace(math.log(low), math.log(LARGEST), n_cells + 1)
    half = (edges[1] - edges[0]) / 2
    nodes = chebpts1(CELL_DEGREE + 1)
    log_t = edges[:-1, None] + half * (1 + nodes)
    # In logs: K_ν alone leaves the range of numbers at both ends.
    values = (1 - nu) * math.log(2) - gammaln(nu) + nu * log_t + np.log(kve(nu, np.exp(log_t)))
    series = chebfit(nodes, values.T, CELL_DEGREE)
    # Powers of the distance from the left edge of a cell, the highest first, as PPoly has them.
    left = Poly([-1.0, 1 / half])
    powers = np.zeros((CELL_DEGREE + 1, n_cells))
    for k, row in enumerate(series):
        one = Chebyshev.basis(k).convert(kind=Poly)(left)
        powers[: k + 1] += one.coef[:, None] * row
    return low, PPoly(powers[::-1], edges)


def _debye(nu: float, distance: FloatArray) -> FloatArray:
    r"""Debye's expansion of K_ν for large ν, uniform in the argument t = νz.

    .. math::

        K_\nu(\nu z) \sim \sqrt{\frac{\pi}{2\nu}} \frac{e^{-\nu\eta}}{(1+z^2)^{1/4}}
        \sum_k \frac{(-1)^k u_k(p)}{\nu^k}, \quad p = \frac{1}{\sqrt{1+z^2}}, \quad
        \eta = \sqrt{1+z^2} + \log\frac{z}{1+\sqrt{1+z^2}} .

    In t^ν K_ν(t) the logarithms of z cancel, and dividing by the limit at z = 0 (p = 1) takes the
    place of the factor 2^{1-ν}/Γ(ν).
    """
    z = math.sqrt(2 / nu) * distance
    root = np.hypot(1.0, z)
    excess = z * (z / (1 + root))  # √(1+z²) - 1, without cancellation
    series = sum(
        (u * (-1 / nu) ** k for k, u in enumerate(debye_polynomials(DEBYE_TERMS))), Poly([0.0])
    )
    decay = np.exp(-nu * (excess - np.log1p(excess / 2)))
    return np.asarray(decay / np.sqrt(root) * (series(1 / root) / series(1.0)))
