"""The nearest rows, of all rows or of those earlier in a fixed order; never an n × n matrix."""

import math

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.spatial import cKDTree

from .._typing import FloatArray
from ..rows.threads import thread_count
from .numerics import (
    GROWTH,
    GROWTH_OF_FEW,
    LEAF_SIZE,
    TIMES_FEW,
    TREE_COLUMNS,
    TREE_COLUMNS_OF_FEW,
)
from .scanning import Scanner

__all__ = ["Nearest", "earlier_neighbors", "packed", "prefix_neighbors"]

Indices = npt.NDArray[np.int32]


class Nearest:
    """The nearest of some points, by a tree in few columns and by looking at all in many.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        In units of their length scales.
    """

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        few = effective_columns(points) <= TREE_COLUMNS
        self._search: cKDTree | Scanner
        self._search = cKDTree(points, leafsize=LEAF_SIZE) if few else Scanner(points)

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
        if isinstance(self._search, Scanner):
            return self._search.query(queries, np.full(len(queries), len(self)), n_neighbors)
        wanted = np.arange(1, n_neighbors + 1)  # a list keeps the axis where there is one
        _, found = self._search.query(queries, wanted, workers=thread_count())
        # Where distances overflow, the tree names the row after the last one.
        return np.where(found < len(self), found, -1).astype(np.int32)


@njit(nogil=True, cache=True)
def append_new(found, out, counts, end):  # type: ignore[no-untyped-def]
    """IN: neighbours, the nearest first. OUT: rows get those that are new, up to so many."""
    for i in range(len(out)):
        for candidate in found[i]:
            if counts[i] >= end:
                break
            known = False
            for k in range(counts[i]):
                known |= out[i, k] == candidate
            if not known:
                out[i, counts[i]] = candidate
                counts[i] += 1


def effective_columns(points: FloatArray) -> float:
    """How many directions the points spread over: (Σλ)² / Σλ² of their covariance's eigenvalues.

    A tree is slow in many directions, not in many columns: some hardly vary in units of their
    length scales, or follow from others.
    """
    if points.shape[1] <= TREE_COLUMNS:
        return points.shape[1]
    centred = points - points.mean(axis=0)
    # The products of rows have the same eigenvalues as those of columns, and may be far fewer.
    products = centred @ centred.T if len(centred) < centred.shape[1] else centred.T @ centred
    squares = float((products**2).sum())
    return float(np.trace(products)) ** 2 / squares if squares > 0 else 1.0


def earlier_neighbors(points: FloatArray, n_neighbors: int, rows: Indices | None = None) -> Indices:
    """The nearest rows among those that come earlier.

    Rows must be in random order: then at most a fifth of the nearest rows in a prefix of 1.25
    times the length are later, and asking a tree over it for a few more is enough. Rows that got
    too few ask again for twice as many. In many columns all earlier rows are looked at.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        In units of their length scales, in random order.
    n_neighbors : int
        m.
    rows : ndarray of shape (s,), optional
        The rows that ask, increasing; by default all.

    Returns
    -------
    ndarray of shape (s, m), int32
        Row numbers, the nearest first, and -1 where there are fewer than m earlier rows.
    """
    asking = np.arange(len(points), dtype=np.int32) if rows is None else rows
    return prefix_neighbors(points, points[asking], asking, n_neighbors)


def prefix_neighbors(
    points: FloatArray, queries: FloatArray, limits: Indices, n_neighbors: int
) -> Indices:
    """The nearest of the first so many points, for each query its own number of them.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        In units of their length scales, in random order.
    queries : ndarray of shape (s, d)
    limits : ndarray of shape (s,), int32
        How many points each query may have, never fewer than the one before.
    n_neighbors : int
        m.

    Returns
    -------
    ndarray of shape (s, m), int32
        Numbers of points, the nearest first, and -1 where there are fewer than m.
    """
    few = TIMES_FEW * len(queries) < len(points)
    if effective_columns(points) > (TREE_COLUMNS_OF_FEW if few else TREE_COLUMNS):
        return Scanner(points).query(queries, limits, n_neighbors)
    out = np.full((len(queries), n_neighbors), -1, np.int32)
    start = 1
    while start <= len(points):
        stop = max(n_neighbors + 1, math.ceil((GROWTH_OF_FEW if few else GROWTH) * start))
        stop = min(stop, len(points) + 1)
        part = slice(*np.searchsorted(limits, [start, stop]))
        if part.start < part.stop:
            _search_prefix(Nearest(points[:stop]), queries[part], limits[part], out[part])
        start = stop
    return out


def packed(neighbors: Indices) -> Indices:
    """Return neighbours with all -1 at the end."""
    order = np.argsort(neighbors < 0, axis=1, kind="stable")
    return np.ascontiguousarray(np.take_along_axis(neighbors, order, axis=1))


def _search_prefix(nearest: Nearest, queries: FloatArray, limits: Indices, out: Indices) -> None:
    """Find the neighbours of queries whose limits are close to the length of a prefix."""
    n_neighbors, stop = out.shape[1], len(nearest)
    share = min(int(limits[0]) / stop, 1.0)
    spread = math.sqrt(n_neighbors * (1 - share))
    # One more, for a row finds itself.
    wanted = 1 + math.ceil((n_neighbors + 3 * spread) / share)
    todo = np.arange(len(limits))
    while len(todo):
        wanted = min(wanted, stop)
        found = nearest.query(queries[todo], wanted)
        short = _keep_earlier(found, limits, todo, out, wanted == stop)
        todo, wanted = todo[short], 2 * wanted


@njit(nogil=True, cache=True)
def _keep_earlier(found, limits, todo, out, complete):  # type: ignore[no-untyped-def]
    """Copy the first entries below the limits; return which queries have too few."""
    n_neighbors = out.shape[1]
    short = np.zeros(len(todo), np.bool_)
    for i in range(len(todo)):
        limit, count = limits[todo[i]], 0
        for j in range(found.shape[1]):
            if found[i, j] < limit and count < n_neighbors:
                out[todo[i], count] = found[i, j]
                count += 1
        short[i] = not complete and count < min(n_neighbors, limit)
    return short
