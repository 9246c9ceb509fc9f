"""The places that some queries need: exactly those among which their nearest ones are.

The m-th nearest of *some* places is at least as far as the m-th nearest of all. So a look at the
first places of its own cell tells how far a query has to look, and all places in the box around
the queries that is wider by this on each side hold the nearest ones, whatever cells they are in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from .._loaded import check_array, check_kind
from .._typing import Array, FloatArray
from ..engines.correlation import FARTHEST, scaled
from .cuts import Cuts
from .folder import Folder
from .part import LEFT, TARGETS, Part, open_part, open_rows, open_tree
from .tree import Tree

__all__ = ["MOST_QUERIES", "Parts", "located", "name_of"]

# A look at one of so many places tells how far to look: in two columns three times as far, which
# adds a fifth to a cell of 100,000 places, and takes a tenth of the time of the search itself.
THINNED = 8
# Queries that must look farther than so many times the median are asked apart from the others.
FARTHER = 4.0
#: Queries at a time.
MOST_QUERIES = 1 << 17
# Bounds are rounded up by this share.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Parts:
    """All places, in files of one cell each.

    Attributes
    ----------
    folder : Folder
    cuts : Cuts
    sizes : ndarray of shape (c,), int
        The number of places in each cell.
    low, high : ndarrays of shape (c, d)
        The box of these, in units of the length scales.
    length_scale : ndarray of shape (d,) or of no axes
    values : str
        Which of the files of a cell has its values: targets, or what is left of them.
    """

    folder: Folder
    cuts: Cuts
    sizes: npt.NDArray[np.int64]
    low: FloatArray
    high: FloatArray
    length_scale: FloatArray
    values: str = TARGETS

    def _check_loaded(self) -> None:
        """Raise ValueError unless the arrays belong to each other."""
        n = len(check_kind(self, "cuts", Cuts))
        check_kind(self, "folder", Folder)
        check_array(self, "sizes", "i", (n,), 0)
        dim = check_array(self, "low", "f", (n, None)).shape[1]
        check_array(self, "high", "f", (n, dim))
        check_array(self.cuts, "column", "i", (n - 1,), 0, dim - 1)
        check_array(self.cuts, "value", "f", (n - 1,))
        if self.values not in (TARGETS, LEFT):
            raise ValueError(f"it is damaged: values of its Parts is {self.values!r}")

    def __len__(self) -> int:
        """The number of places."""
        return int(self.sizes.sum())

    def part(self, cell: int) -> Part:
        """Return the places of a cell, mapped into memory."""
        path = self._opened(cell)
        found = open_part(path, self.values)
        if found.rows.shape != (self.sizes[cell], self.low.shape[1]):
            raise ValueError(
                f"{path} is damaged: it has rows of shape {found.rows.shape}, but the model knows "
                f"{self.sizes[cell]:,} of {self.low.shape[1]} columns."
            )
        return found

    def searched(self, cell: int) -> tuple[Array, Tree]:
        """Return the rows of a cell's places and the tree of their boxes, mapped into memory."""
        path, shape = self._opened(cell), (int(self.sizes[cell]), self.low.shape[1])
        rows = open_rows(path)
        tree = open_tree(path) or Tree.of(self.located(rows))
        if rows.shape != shape or not tree.fits(*shape):
            raise ValueError(f"{path} is damaged: its tree is not one of {shape[0]:,} places.")
        return rows, tree

    def _opened(self, cell: int) -> Path:
        """Return where the files of a cell are, which are as they were saved."""
        self.folder.check(name_of(cell))
        return self.folder / name_of(cell)

    @property
    def cells(self) -> list[int]:
        """The numbers of cells that have places."""
        return [int(cell) for cell in np.flatnonzero(self.sizes)]

    def located(self, rows: Array) -> FloatArray:
        """Return rows in units of the length scales, none so far that squares overflow."""
        return located(rows, self.length_scale)

    def groups(self, points: FloatArray) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
        """Yield the cells that queries are in, and the numbers of these queries."""
        cells = self.cuts.cell_of(points)
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(len(self.cuts) + 1))
        for cell, (start, stop) in enumerate(pairwise(ends)):
            for first in range(start, stop, MOST_QUERIES):
                yield cell, order[first : min(first + MOST_QUERIES, stop)]

    def around(
        self,
        points: FloatArray,
        cell: int,
        n_neighbors: int,
        *,
        known: int | None = None,
        before: int | None = None,
    ) -> Iterator[tuple[npt.NDArray[np.intp], Part]]:
        """Yield numbers of queries of a cell, and places that hold their nearest ones.

        Parameters
        ----------
        points : ndarray of shape (q, d)
            Queries in units of the length scales.
        cell : int
            The cell that they are in.
        n_neighbors : int
            How many of the nearest places each needs.
        known : int, optional
            Places with hashes below this may be neighbours of all queries; by default all places.
        before : int, optional
            Places with hashes below this may be neighbours of some.
        """
        reach = self._reach(points, cell, n_neighbors, known)
        usual = reach <= FARTHER * np.median(reach)
        for chosen in (np.flatnonzero(usual), np.flatnonzero(~usual)):
            if len(chosen):
                wide = reach[chosen, None]
                low = (points[chosen] - wide).min(axis=0)
                high = (points[chosen] + wide).max(axis=0)
                yield chosen, self.inside(low, high, before)

    def _reach(
        self, points: FloatArray, cell: int, n_neighbors: int, known: int | None
    ) -> FloatArray:
        """Return for each query a distance within which there are so many places: [q]."""
        part = self.part(cell).before(known)
        few = part.rows[: max(len(part) // THINNED, min(len(part), 8 * n_neighbors))]
        if len(few) < n_neighbors:
            return np.full(len(points), np.inf)
        distance, _ = cKDTree(self.located(few)).query(points, [n_neighbors])
        return np.asarray(distance)[:, 0] * (1 + ROUNDING)

    def inside(self, low: FloatArray, high: FloatArray, before: int | None = None) -> Part:
        """Return all places in a box, in the order of their hashes, with earlier hashes or any."""
        found: list[Part] = []
        for cell in self.cells:
            if (self.low[cell] > high).any() or (self.high[cell] < low).any():
                continue
            part = self.part(cell).before(before)
            if (self.low[cell] >= low).all() and (self.high[cell] <= high).all():
                found.append(part.take(slice(None)))
                continue
            points = self.located(part.rows)
            found.append(part.take(((points >= low) & (points <= high)).all(axis=1)))
        return Part.joined(found or [self.part(self.cells[0]).before(0)])


def located(rows: Array, length_scale: FloatArray) -> FloatArray:
    """Return rows in units of length scales, none so far that squares overflow."""
    return np.clip(scaled(rows, length_scale), -FARTHEST, FARTHEST)


def name_of(cell: int) -> str:
    """Return the name of the folder of a cell."""
    return f"part-{cell:05d}"
