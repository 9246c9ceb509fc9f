"""Squared distances and correlations of a tile of kernel values, in float32 or float64."""

import math
from typing import Any

import numpy as np
from numba import njit

from .._typing import Array
from .correlation import EXPONENTIAL, GAUSSIAN, MATERN_32, MATERN_52, RATIONAL, correlate

__all__ = ["apply_double", "apply_single", "from_products", "square_distances"]

# Values that stay in the first-level cache from the first column to the exponential.
STRIP = 1024
# Squared distances below this share of the squared norms are found from differences.
NEAR = 1e-3
# As in `zonal.engines.correlation`, for float32.
SINGLE_SHIFT = np.float32(1.5 * 2.0**23 + 127)
SINGLE_INVERSE_LOG_2 = np.float32(1 / math.log(2))
SINGLE_LOG_2_HIGH, SINGLE_LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
SINGLE_LARGEST = np.float32(87.0)
C3, C4, C5, C6, C7 = (np.float32(1 / math.factorial(k)) for k in range(3, 8))
HALF, ONE, THIRD = np.float32(0.5), np.float32(1), np.float32(1 / 3)
SINGLE_ROOT_3, SINGLE_ROOT_5 = np.float32(math.sqrt(3)), np.float32(math.sqrt(5))


@njit(nogil=True, cache=True, fastmath=True)
def square_distances(rows: Array, columns: Array, start: int, out: Array) -> None:
    """Fill Σ_k (x_k - y_k)², column by column, strip by strip.

    IN: rows [b, d]; columns [d, m], used from column `start` on. OUT: out [b, c].
    """
    n_columns, n_others = len(columns), out.shape[1]
    for first in range(0, n_others, STRIP):
        last = min(first + STRIP, n_others)
        for i in range(len(rows)):
            sums = out[i, first:last]
            sums[:] = 0
            for k in range(n_columns):
                # A slice of a whole column: the compiler knows that it is in one piece.
                x, y = rows[i, k], columns[k, start + first : start + last]
                for j in range(last - first):
                    sums[j] += (x - y[j]) * (x - y[j])


@njit(nogil=True, cache=True, fastmath=True)
def from_products(
    rows: Array, others: Array, left_squares: Array, right_squares: Array, out: Array
) -> None:
    """Turn ⟨x, y⟩ into ‖x - y‖², by differences where the squares of near rows would cancel."""
    n_columns = rows.shape[1]
    for i in range(len(rows)):
        square, values = left_squares[i], out[i]
        n_near = 0
        for j in range(len(values)):
            size = square + right_squares[j]
            values[j] = size - 2 * values[j]
            n_near += values[j] < NEAR * size
        if n_near == 0:
            continue
        for j in range(len(values)):
            if values[j] < NEAR * (square + right_squares[j]):
                values[j] = 0
                for k in range(n_columns):
                    values[j] += (rows[i, k] - others[j, k]) * (rows[i, k] - others[j, k])


@njit(nogil=True, cache=True)
def apply_double(family: int, shape: float, values: Array) -> None:
    """Turn squared distances into correlations, in float64."""
    squares, scratch = np.empty(STRIP), np.empty(STRIP)
    for i in range(len(values)):
        for first in range(0, values.shape[1], STRIP):
            strip = values[i, first : first + STRIP]
            squares[: len(strip)] = strip
            correlate(family, shape, squares[: len(strip)], scratch[: len(strip)], strip)


@njit(nogil=True, cache=True)
def apply_single(family: int, shape: float, values: Array) -> None:
    """Turn squared distances into correlations, in float32."""
    scratch = np.empty(STRIP, np.float32)
    bits = scratch.view(np.int32)
    polynomial = np.empty(STRIP, np.float32)
    for i in range(len(values)):
        for first in range(0, values.shape[1], STRIP):
            strip = values[i, first : first + STRIP]
            _correlate_single(family, np.float32(shape), strip, polynomial, scratch, bits)


@njit(nogil=True, cache=True, fastmath=True)
def _correlate_single(
    family: int, shape: Any, values: Array, factor: Array, scratch: Array, bits: Array
) -> None:
    """Turn squared distances into correlations: the exponent, then its exponential."""
    n = len(values)
    if family == GAUSSIAN:
        for i in range(n):
            values[i] = HALF * values[i]
    elif family == RATIONAL:
        for i in range(n):
            values[i] = shape * math.log1p(values[i] / (shape + shape))
    elif family == EXPONENTIAL:
        for i in range(n):
            values[i] = math.sqrt(values[i])
    elif family == MATERN_32:
        for i in range(n):
            values[i] = SINGLE_ROOT_3 * math.sqrt(values[i])
            factor[i] = ONE + values[i]
    else:
        for i in range(n):
            values[i] = SINGLE_ROOT_5 * math.sqrt(values[i])
            factor[i] = ONE + values[i] + THIRD * values[i] * values[i]
    _exp_minus_single(values, scratch, bits)
    if family in (MATERN_32, MATERN_52):
        for i in range(n):
            values[i] *= factor[i]


# No reassociation: it would cancel the large number that rounds.
@njit(nogil=True, cache=True, fastmath={"contract", "nnan", "ninf", "nsz"})
def _exp_minus_single(x: Array, scratch: Array, bits: Array) -> None:
    """Turn x ≥ 0 into e^(-x), to two units in the last place, as `exp_minus` does for float64."""
    n = len(x)
    for i in range(n):
        y = -min(x[i], SINGLE_LARGEST)
        scratch[i] = y * SINGLE_INVERSE_LOG_2 + SINGLE_SHIFT
        whole = scratch[i] - SINGLE_SHIFT
        r = (y - whole * SINGLE_LOG_2_HIGH) - whole * SINGLE_LOG_2_LOW
        p = C7 * r + C6
        p = p * r + C5
        p = p * r + C4
        p = p * r + C3
        p = p * r + HALF
        p = p * r + ONE
        x[i] = p * r + ONE
    for i in range(n):
        bits[i] = bits[i] << 23
    for i in range(n):
        x[i] *= scratch[i]
