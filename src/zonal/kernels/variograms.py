r"""Variograms γ of time that belong to kernels T: conditionally negative definite, zero at zero.

-log T is one where every power of T is positive definite. That holds for Matérn functions
(characteristic functions of Student's distributions, which are infinitely divisible), for Gaussians
on the line or on a circle, and for products of all these.
"""

import math

import numpy as np

from .._typing import FloatArray
from .base import Kernel, Product
from .cauchy import Cauchy
from .matern import Matern
from .rational_quadratic import RationalQuadratic

__all__ = ["variogram", "variogram_slope"]

# Kernels below this are far beyond the range of anything: -log T is 690 there.
LEAST = 1e-300


def variogram(kernel: Kernel, lag: FloatArray) -> FloatArray:
    """Return γ at lags [..., 1]: [...]."""
    if isinstance(kernel, Product):
        return variogram(kernel.k1, lag) + variogram(kernel.k2, lag)
    if isinstance(kernel, Cauchy | RationalQuadratic):
        return _power_of_lag(kernel, lag)
    if isinstance(kernel, Matern) and kernel.nu in (0.5, 1.5, 2.5):
        t = math.sqrt(2 * kernel.nu) * kernel.distances(lag)
        if kernel.nu == 0.5:
            return t
        return np.asarray(t - np.log1p(t if kernel.nu == 1.5 else t + t * t / 3))
    return np.asarray(-np.log(np.maximum(kernel.of_differences(lag), LEAST)))


def variogram_slope(kernel: Kernel, lag: FloatArray) -> FloatArray:
    """Return dγ/du at lags [..., 1]: [...]; zero at zero where it has no limit."""
    if isinstance(kernel, Product):
        return variogram_slope(kernel.k1, lag) + variogram_slope(kernel.k2, lag)
    u = np.asarray(lag[..., 0], np.float64)
    if isinstance(kernel, Cauchy | RationalQuadratic):
        power = kernel.power if isinstance(kernel, Cauchy) else 2.0
        apart = np.where(u != 0, u, 1.0)
        return np.where(u != 0, power * _power_of_lag(kernel, lag) / apart, 0.0)
    values = np.maximum(kernel.of_differences(lag), LEAST)
    return np.asarray(-kernel.difference_slopes(lag)[..., 0] / values)


def _power_of_lag(kernel: Cauchy | RationalQuadratic, lag: FloatArray) -> FloatArray:
    """T = (1 + γ)^{-δ}: γ itself."""
    if isinstance(kernel, Cauchy):
        return np.asarray(kernel.distances(lag) ** kernel.power)
    return np.asarray(kernel.distances(lag) ** 2 / (2 * kernel.alpha))
