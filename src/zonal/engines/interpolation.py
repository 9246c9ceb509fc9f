"""Interpolation in a table of many functions of one variable."""

import math

import numpy as np
from numba import njit
from numpy.polynomial import Polynomial as Poly

from .._typing import FloatArray

__all__ = ["interpolate", "interpolate_derivative"]

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
    density = (len(table) - 1) / (high - low)
    place = (np.asarray(at, dtype=np.float64) - low) * density
    # The same six points as below.
    first = np.clip(np.floor(place).astype(int) - POINTS // 2 + 1, 0, len(table) - POINTS)
    offset = place - first
    out = np.zeros((len(place), table.shape[1]))
    for k in range(POINTS):
        others = [m for m in range(POINTS) if m != k]
        weight = Poly.fromroots(others).deriv() / math.prod(k - m for m in others)
        out += (density * weight(offset))[:, None] * table[first + k]
    return out


@njit(nogil=True, fastmath=True, cache=True)
def _interpolate(at, low, density, table, out):  # type: ignore[no-untyped-def]
    """Combine six rows of the table for each point, by Lagrange's weights."""
    n_grid, n_functions = table.shape
    weights = np.empty(POINTS)
    for row in range(len(at)):
        place = (at[row] - low) * density
        first = min(max(int(np.floor(place)) - POINTS // 2 + 1, 0), n_grid - POINTS)
        for k in range(POINTS):
            weights[k] = 1.0
            for m in range(POINTS):
                if m != k:
                    weights[k] *= (place - first - m) / (k - m)
        target = out[row]
        target[:] = 0
        for k in range(POINTS):
            source, weight = table[first + k], weights[k]
            for c in range(n_functions):
                target[c] += weight * source[c]
