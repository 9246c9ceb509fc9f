r"""A row and its neighbours in compiled code: distances, and the factor of their covariances.

With U the upper Cholesky factor of the matrix of the neighbours, the row itself in the last place,
its last column is what kriging weights are solved from, and its last pivot is the conditional
variance.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .._typing import FloatArray
from .neighbors import Indices
from .numerics import FLOOR, KEPT_NUMBERS

__all__ = [
    "Factors",
    "back",
    "check_neighbors",
    "count_neighbors",
    "factor",
    "forward",
    "gather",
    "pair_squares",
]


class Factors(NamedTuple):
    """Matrices of rows and their neighbours, and their factors, for one row or for many.

    Attributes
    ----------
    squares, values : ndarrays of shape (s, m (m + 1) / 2)
        ρ² and f(ρ) of all pairs.
    upper : ndarray of shape (s, m + 1, m + 1)
        U, with 1/U_aa on its diagonal.
    """

    squares: FloatArray
    values: FloatArray
    upper: FloatArray

    @classmethod
    def room(cls, n_rows: int, n_neighbors: int) -> "Factors":
        """Return memory for so many rows, not filled."""
        m = n_neighbors
        shapes = (m * (m + 1) // 2,), (m * (m + 1) // 2,), (m + 1, m + 1)
        return cls(*(np.empty((n_rows, *shape)) for shape in shapes))

    @classmethod
    def kept(cls, n_rows: int, n_neighbors: int) -> "Factors | None":
        """Return memory for all rows, or None where that would be too much."""
        many = 2 * n_rows * (n_neighbors + 1) ** 2 > KEPT_NUMBERS
        return None if many else cls.room(n_rows, n_neighbors)

    def part(self, rows: slice) -> "Factors":
        """Return those of some rows."""
        return Factors(*(array[rows] for array in self))


def check_neighbors(
    points: FloatArray, nugget: FloatArray, queries: FloatArray, neighbors: Indices
) -> None:
    """Raise ValueError where compiled code would read beyond the end."""
    if (
        nugget.shape != (len(points),)
        or queries.shape != (len(neighbors), points.shape[1])
        or neighbors.max(initial=-1) >= len(points)
    ):
        raise ValueError(
            f"Neighbours of shape {neighbors.shape} up to row {neighbors.max(initial=-1)} do not "
            f"belong to rows of shape {points.shape}, their {len(nugget)} weights and queries of "
            f"shape {queries.shape}."
        )


@njit(nogil=True, cache=True)
def gather(points, query, members, local):  # type: ignore[no-untyped-def]
    """Copy the members, and the query to the last place: [d, m + 1]."""
    m = len(members)
    for c in range(points.shape[1]):
        for j in range(m):
            local[c, j] = points[members[j], c]
        local[c, m] = query[c]


@njit(nogil=True, cache=True, fastmath=True)
def pair_squares(points, query, members, local, out):  # type: ignore[no-untyped-def]
    """ρ² between the members and the query in the last place: row a has b = 0, …, a - 1."""
    m, d = len(members), points.shape[1]
    gather(points, query, members, local)
    first = 0
    for a in range(1, m + 1):
        part = out[first : first + a]
        part[:] = 0.0
        for c in range(d):
            column, x = local[c], local[c, a]
            for b in range(a):
                difference = column[b] - x
                part[b] += difference * difference
        first += a


@njit(nogil=True, cache=True, fastmath=True)
def factor(values, diagonal, nugget, members, upper):  # type: ignore[no-untyped-def]
    """The factor U with UᵀU the matrix of members and query, 1/U_aa on its diagonal; returns v.

    The last column is what the weights are solved from, and its pivot is v. A pivot that is
    rounding counts as infinite: the inverse is zero. Rows are found one after the other, from four
    earlier ones at a time, in loops over numbers that lie side by side.
    """
    m, first = len(members), 0
    for a in range(1, m + 1):
        for b in range(a):
            upper[b, a] = values[first + b]
        first += a
    v, floor = diagonal[m], FLOOR * diagonal[m + 1]
    for a in range(m):
        row, pivot = upper[a, a + 1 : m + 1], diagonal[a] + nugget[members[a]]
        even = a - a % 4
        for k in range(0, even, 4):
            p, q, r, s = upper[k, a], upper[k + 1, a], upper[k + 2, a], upper[k + 3, a]
            w, x = upper[k, a + 1 : m + 1], upper[k + 1, a + 1 : m + 1]
            y, z = upper[k + 2, a + 1 : m + 1], upper[k + 3, a + 1 : m + 1]
            pivot -= p * p + q * q + r * r + s * s
            for i in range(m - a):
                row[i] -= p * w[i] + q * x[i] + r * y[i] + s * z[i]
        for k in range(even, a):
            p, w = upper[k, a], upper[k, a + 1 : m + 1]
            pivot -= p * p
            for i in range(m - a):
                row[i] -= p * w[i]
        inverse = 1.0 / math.sqrt(pivot) if pivot > floor else 0.0
        upper[a, a] = inverse
        for i in range(m - a):
            row[i] *= inverse
        v -= upper[a, m] * upper[a, m]
    return max(v, floor)


@njit(nogil=True, cache=True, fastmath=True)
def back(upper, m, x):  # type: ignore[no-untyped-def]
    """Solve U x = x in place."""
    for k in range(m - 1, -1, -1):
        row, total = upper[k], x[k]
        for i in range(k + 1, m):
            total -= row[i] * x[i]
        x[k] = total * row[k]


@njit(nogil=True, cache=True, fastmath=True)
def forward(upper, m, x):  # type: ignore[no-untyped-def]
    """Solve Uᵀ x = x in place."""
    for k in range(m):
        row = upper[k]
        x[k] *= row[k]
        for i in range(k + 1, m):
            x[i] -= row[i] * x[k]


@njit(nogil=True, cache=True)
def count_neighbors(neighbors):  # type: ignore[no-untyped-def]
    """The number of neighbours before the first -1."""
    for j in range(len(neighbors)):
        if neighbors[j] < 0:
            return j
    return len(neighbors)
