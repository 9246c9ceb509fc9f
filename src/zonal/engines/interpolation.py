"""Interpolation in a table of many functions of one variable, or of two."""

import math

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy.polynomial import Polynomial as Poly

from .._typing import FloatArray

__all__ = [
    "interpolate",
    "interpolate_derivative",
    "interpolate_pairs",
    "interpolate_pairs_derivative",
]

# Points of a local polynomial of degree five.
POINTS = 6


def interpolate(at: FloatArray, low: float, high: float, table: FloatArray) -> FloatArray:
    """Return values of functions that are known at equally spaced points.

    By the polynomial through the six nearest points: the error is of order six in their distance.
    SciPy's splines do the same, but hold the GIL and are slower for many functions at once.

    Parameters
    ----------
    at : ndarray of shape (n,)
        Where.
    low, high : float
        The first and the last point of the table.
    table : ndarray of shape (n_grid, n_functions)
        The values, n_grid ≥ 6.

    Returns
    -------
    ndarray of shape (n, n_functions)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.engines.interpolation import interpolate
    >>> grid = np.linspace(0, 3, 50)
    >>> table = np.column_stack([np.sin(grid), np.exp(-grid)])
    >>> interpolate(np.array([0.5, 3.0]), 0.0, 3.0, table).round(6)
    array([[0.479426, 0.606531],
           [0.14112 , 0.049787]])
    """
    if len(table) < POINTS or not low < high:  # or compiled code would read beyond the ends
        raise ValueError(
            f"A table of shape {table.shape} from {low} to {high} must have at least {POINTS} rows."
        )
    out = np.empty((len(at), table.shape[1]))
    _interpolate(np.asarray(at, dtype=np.float64), low, (len(table) - 1) / (high - low), table, out)
    return out


def interpolate_derivative(
    at: FloatArray, low: float, high: float, table: FloatArray
) -> FloatArray:
    """Return derivatives of what `interpolate` computes: of the same local polynomials.

    Parameters
    ----------
    at, low, high, table
        As in `interpolate`.

    Returns
    -------
    ndarray of shape (n, n_functions)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.engines.interpolation import interpolate_derivative
    >>> grid = np.linspace(0, 3, 50)
    >>> interpolate_derivative(np.array([0.5]), 0.0, 3.0, np.sin(grid)[:, None]).round(6)
    array([[0.877583]])
    """
    first, _, slopes = _local(at, low, high, len(table))
    out = np.zeros((len(first), table.shape[1]))
    for k in range(POINTS):
        out += slopes[k][:, None] * table[first + k]
    return out


def interpolate_pairs(
    at: FloatArray, low: FloatArray, high: FloatArray, table: FloatArray
) -> FloatArray:
    """Return values of functions of two variables that are known on a grid.

    Parameters
    ----------
    at : ndarray of shape (n, 2)
        Where.
    low, high : ndarrays of shape (2,)
        The first and the last point of the table on both axes.
    table : ndarray of shape (n_first, n_second, n_functions)
        The values, at least six on each axis.

    Returns
    -------
    ndarray of shape (n, n_functions)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.engines.interpolation import interpolate_pairs
    >>> x, y = np.linspace(0, 1, 20), np.linspace(0, 2, 30)
    >>> table = np.multiply.outer(np.sin(x), np.exp(y))[..., None]
    >>> interpolate_pairs(np.array([[0.5, 1.0]]), np.zeros(2), np.array([1.0, 2.0]), table).round(6)
    array([[1.303214]])
    """
    if min(table.shape[:2]) < POINTS or not (low < high).all():  # as above
        raise ValueError(
            f"A table of shape {table.shape} from {low} to {high} must have at least {POINTS} rows "
            "on both axes."
        )
    out = np.empty((len(at), table.shape[2]))
    density = (np.array(table.shape[:2]) - 1) / (high - low)
    _interpolate_pairs(np.asarray(at, np.float64), np.asarray(low, np.float64), density, table, out)
    return out


def interpolate_pairs_derivative(
    at: FloatArray, low: FloatArray, high: FloatArray, table: FloatArray, axis: int
) -> FloatArray:
    """Return derivatives by one of two variables of what `interpolate_pairs` computes.

    Parameters
    ----------
    at, low, high, table
        As in `interpolate_pairs`.
    axis : int
        The variable, 0 or 1.

    Returns
    -------
    ndarray of shape (n, n_functions)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.engines.interpolation import interpolate_pairs_derivative
    >>> x = np.linspace(0, 1, 20)
    >>> table, low, high = np.multiply.outer(x, np.exp(x))[..., None], np.zeros(2), np.ones(2)
    >>> interpolate_pairs_derivative(np.array([[0.5, 0.0]]), low, high, table, 1).round(6)
    array([[0.5]])
    """
    locals_ = [_local(at[:, k], low[k], high[k], table.shape[k]) for k in range(2)]
    (first, *weights), (second, *others) = locals_
    left, right = weights[axis == 0], others[axis == 1]
    out = np.zeros((len(at), table.shape[2]))
    for k in range(POINTS):
        for m in range(POINTS):
            out += (left[k] * right[m])[:, None] * table[first + k, second + m]
    return out


def _local(
    at: FloatArray, low: float, high: float, n_grid: int
) -> tuple[npt.NDArray[np.int64], list[FloatArray], list[FloatArray]]:
    """Return the first of six points near each place, Lagrange's weights, their derivatives."""
    density = (n_grid - 1) / (high - low)
    place = (np.asarray(at, dtype=np.float64) - low) * density
    # The same six points as below.
    first = np.clip(np.floor(place).astype(int) - POINTS // 2 + 1, 0, n_grid - POINTS)
    offset = place - first
    weights, slopes = [], []
    for k in range(POINTS):
        others = [m for m in range(POINTS) if m != k]
        weight = Poly.fromroots(others) / math.prod(k - m for m in others)
        weights.append(weight(offset))
        slopes.append(density * weight.deriv()(offset))
    return first, weights, slopes


@njit(nogil=True, fastmath=True, cache=True)
def _interpolate(at, low, density, table, out):  # type: ignore[no-untyped-def]
    """Combine six rows of the table for each point, by Lagrange's weights."""
    n_grid, n_functions = table.shape
    weights = np.empty(POINTS)
    for row in range(len(at)):
        first = _near((at[row] - low) * density, n_grid, weights)
        target = out[row]
        target[:] = 0
        for k in range(POINTS):
            source, weight = table[first + k], weights[k]
            for c in range(n_functions):
                target[c] += weight * source[c]


@njit(nogil=True, fastmath=True, cache=True)
def _interpolate_pairs(at, low, density, table, out):  # type: ignore[no-untyped-def]
    """Combine six times six rows of the table for each point."""
    n_first, n_second, n_functions = table.shape
    weights, others = np.empty(POINTS), np.empty(POINTS)
    for row in range(len(at)):
        first = _near((at[row, 0] - low[0]) * density[0], n_first, weights)
        second = _near((at[row, 1] - low[1]) * density[1], n_second, others)
        target = out[row]
        target[:] = 0
        for k in range(POINTS):
            for m in range(POINTS):
                source, weight = table[first + k, second + m], weights[k] * others[m]
                for c in range(n_functions):
                    target[c] += weight * source[c]


@njit(nogil=True, fastmath=True, cache=True)
def _near(place, n_grid, weights):  # type: ignore[no-untyped-def]
    """Find the weights of the six points near a place, and return the first of these."""
    first = min(max(int(np.floor(place)) - POINTS // 2 + 1, 0), n_grid - POINTS)
    for k in range(POINTS):
        weights[k] = 1.0
        for m in range(POINTS):
            if m != k:
                weights[k] *= (place - first - m) / (k - m)
    return first
