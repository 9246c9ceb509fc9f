"""Matérn kernels: samples of the Gaussian process are as smooth as ν says."""

import math

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial as Poly
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
    """The definition, in logs: K_ν alone leaves the range of numbers at both ends."""
    t = np.minimum(t, 2000.0)  # the function is zero there; SciPy's is NaN for huge arguments
    scaled = kve(nu, t)  # e^t K_ν(t)
    # Infinite at zero, and for 1 < ν ≤ 30 below t = 1e-9, where 1 - k ≈ t²/(4ν - 4) is nothing.
    usable = np.isfinite(scaled)
    t, scaled = np.where(usable, t, 1.0), np.where(usable, scaled, 1.0)
    log_k = (1 - nu) * math.log(2) - gammaln(nu) + nu * np.log(t) + np.log(scaled) - t
    # Rounding must not lift the kernel above its value at zero.
    return np.where(usable, np.minimum(np.exp(log_k), 1.0), 1.0)


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
