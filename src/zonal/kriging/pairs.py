"""Covariances of rows and their neighbours that do not move while others do, in compiled code."""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..rows.threads import ordered_map
from .covariance import Covariance, covariances
from .neighborhood import count_neighbors, pair_squares
from .neighbors import Indices
from .numerics import BLOCK

__all__ = [
    "NO_EXTRA",
    "NO_LOW",
    "Extra",
    "LowPair",
    "add_extra",
    "compiled_pairs",
    "subtract_products",
]

#: Features z of rows and of queries, whose products are subtracted from covariances.
LowPair = tuple[FloatArray, FloatArray]
NO_LOW: LowPair = (np.empty((0, 0)), np.empty((0, 0)))


class Extra(NamedTuple):
    """Covariances that are added to those of the kernel, times a weight, for each row.

    Attributes
    ----------
    pairs : ndarray of shape (s, m (m + 1) / 2)
        Of all pairs of a row and its neighbours, in the order of `Factors.values`.
    diagonal : ndarray of shape (s, m + 1)
        Of the neighbours with themselves, and of the row last.
    share : float
        What the kernel itself is multiplied with: one, or zero for a process of these alone.
    """

    pairs: FloatArray
    diagonal: FloatArray
    share: float = 1.0

    def part(self, rows: slice) -> "Extra":
        """Return those of some rows."""
        return Extra(self.pairs[rows], self.diagonal[rows], self.share)


NO_EXTRA = Extra(np.empty((0, 0)), np.empty((0, 0)))


def compiled_pairs(
    covariance: Covariance,
    points: FloatArray,
    rows: Indices,
    neighbors: Indices,
    z: FloatArray = NO_LOW[0],
) -> Extra:
    """Covariances of rows and their neighbours.

    Parameters
    ----------
    covariance, points
        As in `compiled_weights`.
    rows : ndarray of shape (s,)
        Row numbers.
    neighbors : ndarray of shape (s, m)
        Theirs.
    z : ndarray of shape (n, D), optional
        Features whose products are subtracted.
    """
    m = neighbors.shape[1]
    extra = Extra(np.zeros((len(rows), m * (m + 1) // 2)), np.zeros((len(rows), m + 1)))

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        _pair_covariances(
            covariance.terms, covariance.series, covariance.theta, covariance.prior, points, z,
            rows[part], neighbors[part], extra.pairs[part], extra.diagonal[part],
        )  # fmt: skip

    for _ in ordered_map(run, range(0, len(rows), BLOCK)):
        pass
    return extra


@njit(nogil=True, cache=True)
def _pair_covariances(  # type: ignore[no-untyped-def]
    terms, series, theta, prior, points, z, rows, neighbors, pairs, diagonals
):
    """IN: all but the last two, for a block of rows. OUT: covariances of pairs, of each itself."""
    most, d = neighbors.shape[1], points.shape[1]
    n_pairs = most * (most + 1) // 2
    local, squares = np.empty((d, most + 1)), np.empty(n_pairs)
    scratch, work = np.empty(n_pairs), np.empty((2, n_pairs))
    low = np.empty((most + 1, z.shape[1]), z.dtype)
    for i in range(len(rows)):
        m = count_neighbors(neighbors[i])
        members, n_pairs = neighbors[i, :m], m * (m + 1) // 2
        pair_squares(points, points[rows[i]], members, local, squares)
        covariances(terms, series, theta, squares[:n_pairs], local, scratch, work, pairs[i])
        diagonals[i, : m + 1] = prior
        if z.shape[1]:
            subtract_products(z, z[rows[i]], members, low, pairs[i], diagonals[i])


@njit(nogil=True, cache=True, fastmath=True)
def subtract_products(z, query, members, local, values, diagonal):  # type: ignore[no-untyped-def]
    """Subtract products of features from the covariances of members and query, and of each itself.

    IN: features of all rows and of the query. OUT: values of pairs, as in `pair_squares`, and the
    covariance of each with itself.
    """
    m = len(members)
    for j in range(m):
        local[j] = z[members[j]]
    local[m] = query
    part = local[: m + 1]
    products = np.dot(part, part.T)
    first = 0
    for a in range(m + 1):
        for b in range(a):
            values[first + b] -= products[a, b]
        diagonal[a] -= products[a, a]
        first += a


@njit(nogil=True, cache=True, fastmath=True)
def add_extra(pairs, diagonals, share, weight, m, values, diagonal):  # type: ignore[no-untyped-def]
    """Add covariances times a weight to those of the kernel times its share."""
    for k in range(m * (m + 1) // 2):
        values[k] = share * values[k] + weight * pairs[k]
    for j in range(m + 1):
        diagonal[j] = share * diagonal[j] + weight * diagonals[j]
    diagonal[m + 1] = share * diagonal[m + 1] + weight
