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

__all__ = [
    "EXPONENTIAL",
    "FARTHEST",
    "GAUSSIAN",
    "MATERN_32",
    "MATERN_52",
    "RATIONAL",
    "ROOT_3",
    "ROOT_5",
    "Correlation",
    "correlate",
    "exp_minus",
    "scaled",
    "slopes",
]

EXPONENTIAL, MATERN_32, MATERN_52, GAUSSIAN, RATIONAL = range(5)
#: In units of length scales: so far away no row tells anything. A Matérn kernel has squares of it,
#: times exponentials that end at e⁻⁷⁰⁸.
FARTHEST = 1e9
# log 2 as a sum: the first part times a whole number below 2048 is exact.
INVERSE_LOG_2 = 1 / math.log(2)
LOG_2_HIGH, LOG_2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
# Added to a small number n, it rounds n and leaves n + 1023 in the lowest bits.
SHIFT = 1.5 * 2.0**52 + 1023
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
    shape: float = 0.0
    length_scale: Any = 1.0


@njit(nogil=True, cache=True, fastmath=True)
def correlate(
    family: int, shape: float, squares: FloatArray, scratch: FloatArray, out: FloatArray
) -> None:
    """f(ρ) for squares of distances ρ², with a scratch of at least as many numbers.

    In loops of one kind of operation each, which run on several numbers at once.
    """
    n = len(squares)
    if family == GAUSSIAN:
        for i in range(n):
            out[i] = 0.5 * squares[i]
    elif family == RATIONAL:
        for i in range(n):
            out[i] = shape * math.log1p(squares[i] / (2.0 * shape))
    else:
        factor = 1.0 if family == EXPONENTIAL else (ROOT_3 if family == MATERN_32 else ROOT_5)
        for i in range(n):
            out[i] = factor * math.sqrt(squares[i])
    exp_minus(out, scratch, scratch.view(np.int64), out)
    if family == MATERN_32:
        for i in range(n):
            out[i] *= 1.0 + ROOT_3 * math.sqrt(squares[i])
    elif family == MATERN_52:
        for i in range(n):
            t = ROOT_5 * math.sqrt(squares[i])
            out[i] *= 1.0 + t + t * t / 3.0


# No reassociation: it would cancel the large number that rounds.
@njit(nogil=True, cache=True, fastmath={"contract", "nnan", "ninf", "nsz"})
def exp_minus(x, scratch, bits, out):  # type: ignore[no-untyped-def]
    """e^(-x) for x ≥ 0, to two units in the last place; several times as fast as the library's.

    With n the whole number nearest to -x/log 2, it is 2ⁿ times a Taylor polynomial. Adding `SHIFT`
    to n leaves n + 1023 in the lowest bits, which are moved to where the exponent is. `bits` is
    the memory of `scratch` as whole numbers.
    """
    for i in range(len(x)):
        y = -min(x[i], 708.0)
        scratch[i] = y * INVERSE_LOG_2 + SHIFT
        n = scratch[i] - SHIFT
        r = (y - n * LOG_2_HIGH) - n * LOG_2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        out[i] = p * r + 1.0
    for i in range(len(x)):
        bits[i] = bits[i] << 52
    for i in range(len(x)):
        out[i] *= scratch[i]


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
