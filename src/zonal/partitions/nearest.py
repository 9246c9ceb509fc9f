"""The nearest places of scattered queries, at a cost that does not grow with the places there are.

Queries are sorted by cell. Each asks the tree of its own cell first, which bounds how far it has
to look, then those of other cells whose boxes are nearer than that. So a part is opened for the
queries of its own cell and for those of others, and nothing is read of parts nobody asks.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from .around import MOST_QUERIES, Parts
from .part import Part
from .tree import search

__all__ = ["neighborhoods"]

# Queries whose places are gathered at a time: with 32 neighbours each, at most 10 MB of places.
GATHERED_QUERIES = 1 << 12


def neighborhoods(
    parts: Parts, points: FloatArray, n_neighbors: int
) -> Iterator[tuple[npt.NDArray[np.intp], Part]]:
    """Yield numbers of queries, and the nearest places of all of them.

    Parameters
    ----------
    parts : Parts
    points : ndarray of shape (q, d)
        Queries in units of the length scales.
    n_neighbors : int
        How many of the nearest places each needs.
    """
    m = min(n_neighbors, len(parts))
    cells = parts.cuts.cell_of(points)
    order = np.argsort(cells, kind="stable")
    for first in range(0, len(order), MOST_QUERIES):
        chosen = order[first : first + MOST_QUERIES]
        names = _nearest(parts, points[chosen], cells[chosen], m)
        for start in range(0, len(chosen), GATHERED_QUERIES):
            part = slice(start, start + GATHERED_QUERIES)
            yield chosen[part], _gathered(parts, _distinct(names[part]))


def _nearest(
    parts: Parts, points: FloatArray, cells: npt.NDArray[np.int64], m: int
) -> npt.NDArray[np.int64]:
    """Return the nearest places of queries that are sorted by cell, counted over all parts."""
    squares = np.full((len(points), m), np.inf)
    names = np.full((len(points), m), -1, np.int64)
    first = _first(parts)

    def look(cell: int, queries: npt.NDArray[np.intp]) -> None:
        near, called = squares[queries], names[queries]
        rows, tree = parts.searched(cell)
        search(tree, rows, parts.length_scale, points[queries], near, called, first[cell])
        squares[queries], names[queries] = near, called

    groups = [(int(cell), np.flatnonzero(cells == cell)) for cell in np.unique(cells)]
    for cell, queries in groups:
        if parts.sizes[cell]:
            look(cell, queries)
    asked: dict[int, list[npt.NDArray[np.intp]]] = {}
    for own, queries in groups:
        reach = squares[queries, -1]
        wide = np.sqrt(reach)[:, None]
        low, high = (points[queries] - wide).min(axis=0), (points[queries] + wide).max(axis=0)
        meets = ((parts.low <= high) & (parts.high >= low)).all(axis=1) & (parts.sizes > 0)
        for other in np.flatnonzero(meets):
            box = parts.low[other] - points[queries], points[queries] - parts.high[other]
            away = (np.maximum(np.maximum(*box), 0) ** 2).sum(axis=1)
            if other != own and (away < reach).any():
                asked.setdefault(int(other), []).append(queries[away < reach])
    for cell, waiting in asked.items():
        look(cell, np.concatenate(waiting))
    return names


def _gathered(parts: Parts, names: npt.NDArray[np.int64]) -> Part:
    """Return places, given by their names, in the order of their hashes."""
    first = _first(parts)
    ends = np.searchsorted(names, first)
    found = [
        parts.part(cell).take(names[ends[cell] : ends[cell + 1]] - first[cell])
        for cell in parts.cells
        if ends[cell] < ends[cell + 1]
    ]
    return Part.joined(found)


def _first(parts: Parts) -> npt.NDArray[np.int64]:
    """Return what the first place of each part is called, and one after the last: [c + 1]."""
    return np.concatenate([[0], np.cumsum(parts.sizes)])


def _distinct(names: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return names once each, sorted: what `np.unique` does by hashing in ten times the time."""
    found = np.sort(names, axis=None)
    return found[np.append(True, found[1:] != found[:-1])]
