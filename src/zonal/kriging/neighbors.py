"""The nearest rows, of all rows or of those earlier in a fixed order; never an n × n matrix."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numba import get_num_threads, njit
from scipy.spatial import cKDTree

from .._typing import FloatArray
from ..engines import ordered_map

__all__ = ["Nearest", "earlier_neighbors"]

Indices = npt.NDArray[np.int32]

#: With more columns than this, distances to all rows are faster than a tree.
TREE_COLUMNS = 15
LEAF_SIZE = 32
# Rows at a time in a product of matrices: distances to all rows stay below 64 MB.
BLOCK_NUMBERS = 1 << 23
# Trees over prefixes of the rows grow by this factor: at most a fifth of what a tree returns is
# later than the row that asks.
GROWTH = 1.25


class Nearest:
    """The nearest of some points, by a tree in few columns and by products of matrices in many.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        In units of their length scales.
    """

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self._tree: cKDTree | None = None
        if points.shape[1] <= TREE_COLUMNS:
            self._tree = cKDTree(points, leafsize=LEAF_SIZE)
        else:
            self._half_squares = 0.5 * np.einsum("ij,ij->i", points, points)

    def __len__(self) -> int:
        return len(self.points)

    def query(self, queries: FloatArray, n_neighbors: int) -> Indices:
        """Row numbers of the nearest points, the nearest first: [n_queries, n_neighbors].

        Parameters
        ----------
        queries : ndarray of shape (n_queries, d)
        n_neighbors : int
            At most the number of points.
        """
        if self._tree is not None:
            wanted = np.arange(1, n_neighbors + 1)  # a list keeps the axis where there is one
            _, found = self._tree.query(queries, wanted, workers=get_num_threads())
            return found.astype(np.int32)
        size = max(1, BLOCK_NUMBERS // len(self))
        starts = range(0, len(queries), size)
        blocks = ordered_map(
            lambda start: self._by_products(queries[start : start + size], n_neighbors), starts
        )
        return np.concatenate([np.empty((0, n_neighbors), np.int32), *blocks])

    def _by_products(self, queries: FloatArray, n_neighbors: int) -> Indices:
        # |x|²/2 - ⟨x, q⟩ orders the points as the distance does.
        keys = self._half_squares - queries @ self.points.T
        found = np.argpartition(keys, n_neighbors - 1, axis=1)[:, :n_neighbors]
        order = np.argsort(np.take_along_axis(keys, found, axis=1), axis=1, kind="stable")
        return np.take_along_axis(found, order, axis=1).astype(np.int32)


def earlier_neighbors(
    points: FloatArray,
    n_neighbors: int,
    progress: Callable[[int], None] | None = None,
) -> Indices:
    """The nearest rows among those that come earlier.

    Rows must be in random order: then at most a fifth of the nearest rows in a prefix of 1.25
    times the length are later, and asking a tree over it for a few more is enough. Rows that got
    too few ask again for twice as many.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        In units of their length scales, in random order.
    n_neighbors : int
        m.
    progress : callable, optional
        Called with the number of rows finished.

    Returns
    -------
    ndarray of shape (n, m), int32
        Row numbers, the nearest first, and -1 where there are fewer than m earlier rows.
    """
    n_rows = len(points)
    out = np.full((n_rows, n_neighbors), -1, np.int32)
    start = 1
    while start < n_rows:
        stop = min(n_rows, max(n_neighbors + 1, math.ceil(GROWTH * start)))
        _search_prefix(Nearest(points[:stop]), start, n_neighbors, out)
        start = stop
        if progress is not None:
            progress(stop)
    return out


def _search_prefix(nearest: Nearest, start: int, n_neighbors: int, out: Indices) -> None:
    """Fill the rows from `start` to the end of a prefix."""
    stop = len(nearest)
    rows = np.arange(start, stop, dtype=np.int32)
    share = start / stop
    spread = math.sqrt(n_neighbors * (1 - share))
    # One more, for a row finds itself.
    wanted = 1 + math.ceil((n_neighbors + 3 * spread) / share)
    while len(rows):
        wanted = min(wanted, stop)
        found = nearest.query(nearest.points[rows], wanted)
        short = _keep_earlier(found, rows, out, wanted == stop)
        rows, wanted = rows[short], 2 * wanted


@njit(nogil=True, cache=True)
def _keep_earlier(
    found: Indices, rows: Indices, out: Indices, complete: bool
) -> npt.NDArray[np.bool_]:
    """Copy the first entries below the row's own number; return which rows have too few."""
    n_neighbors = out.shape[1]
    short = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        row, count = rows[i], 0
        for j in range(found.shape[1]):
            if found[i, j] < row and count < n_neighbors:
                out[row, count] = found[i, j]
                count += 1
        short[i] = not complete and count < min(n_neighbors, row)
    return short
