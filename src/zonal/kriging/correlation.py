r"""Correlation functions in compiled form, of rows in units of their length scales.

With ρ the distance of two rows whose columns are divided by their length scales, the derivative
of f(ρ) with respect to the logarithm of the length scale of column c is

.. math:: \frac{\partial f(\rho)}{\partial \log \ell_c} = -\frac{f'(\rho)}{\rho}\, \delta_c^2,

where δ_c is the difference in that column. So all gradients need is f'(ρ)/ρ, the *slope*, which
is an algebraic function of f and ρ: no second exponential.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..kernels import Gaussian, Kernel, Matern, RationalQuadratic

__all__ = ["Correlation", "correlate", "of_kernel", "slopes"]

EXPONENTIAL, MATERN_32, MATERN_52, GAUSSIAN, RATIONAL = range(5)
_OF_NU = {0.5: EXPONENTIAL, 1.5: MATERN_32, 2.5: MATERN_52, math.inf: GAUSSIAN}
ROOT_3, ROOT_5 = math.sqrt(3.0), math.sqrt(5.0)


@dataclass(frozen=True)
class Correlation:
    """A correlation function that compiled code knows, and its length scales.

    Attributes
    ----------
    family : int
        Which function.
    shape : float
        α of the rational quadratic function; of no meaning to the others.
    length_scale : float or ndarray of shape (d,)
    """

    family: int
    shape: float
    length_scale: Any


def of_kernel(kernel: Kernel) -> Correlation | None:
    """The compiled form of a kernel, or None if it has none.

    Parameters
    ----------
    kernel : Kernel
        With all parameters resolved to numbers.
    """
    if isinstance(kernel, Gaussian):
        return Correlation(GAUSSIAN, 0.0, kernel.bandwidth)
    if isinstance(kernel, Matern) and kernel.nu in _OF_NU:
        return Correlation(_OF_NU[kernel.nu], 0.0, kernel.length_scale)
    if isinstance(kernel, RationalQuadratic):
        return Correlation(RATIONAL, float(kernel.alpha), kernel.length_scale)
    return None


@njit(nogil=True, cache=True, fastmath=True)
def correlate(family: int, shape: float, squares: FloatArray, out: FloatArray) -> None:
    """f(ρ) for squares of distances ρ²; `out` may be `squares`."""
    if family == EXPONENTIAL:
        for i in range(len(squares)):
            out[i] = math.exp(-math.sqrt(squares[i]))
    elif family == MATERN_32:
        for i in range(len(squares)):
            t = ROOT_3 * math.sqrt(squares[i])
            out[i] = (1.0 + t) * math.exp(-t)
    elif family == MATERN_52:
        for i in range(len(squares)):
            t = ROOT_5 * math.sqrt(squares[i])
            out[i] = (1.0 + t + t * t / 3.0) * math.exp(-t)
    elif family == GAUSSIAN:
        for i in range(len(squares)):
            out[i] = math.exp(-0.5 * squares[i])
    else:
        for i in range(len(squares)):
            out[i] = math.exp(-shape * math.log1p(squares[i] / (2.0 * shape)))


@njit(nogil=True, cache=True, fastmath=True)
def slopes(
    family: int, shape: float, squares: FloatArray, values: FloatArray, out: FloatArray
) -> None:
    """f'(ρ)/ρ for ρ² and f(ρ); zero at ρ = 0 where it has no limit (times δ² it is zero)."""
    if family == EXPONENTIAL:
        for i in range(len(squares)):
            apart = squares[i] > 1e-300
            out[i] = -values[i] / math.sqrt(squares[i]) if apart else 0.0
    elif family == MATERN_32:
        for i in range(len(squares)):
            out[i] = -3.0 * values[i] / (1.0 + ROOT_3 * math.sqrt(squares[i]))
    elif family == MATERN_52:
        for i in range(len(squares)):
            t = ROOT_5 * math.sqrt(squares[i])
            out[i] = -5.0 / 3.0 * (1.0 + t) * values[i] / (1.0 + t + t * t / 3.0)
    elif family == GAUSSIAN:
        for i in range(len(squares)):
            out[i] = -values[i]
    else:
        for i in range(len(squares)):
            out[i] = -values[i] / (1.0 + squares[i] / (2.0 * shape))


def scaled(X: Array, length_scale: Any) -> FloatArray:
    """Rows in units of their length scales, in float64."""
    return np.ascontiguousarray(np.asarray(X, np.float64) / np.asarray(length_scale, np.float64))
