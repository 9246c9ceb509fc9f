"""From blocks of rows, whoever holds them, to parts: each row is written twice and read twice.

First each block is written as one file, its rows sorted by cell. Then each cell takes its rows
out of all these files. A task that runs twice writes the same file twice, so that Dask may repeat
whatever a lost worker had done.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..kriging.locations import locate
from ..rows import Block, Source
from .around import Parts, name_of
from .cuts import Cuts
from .folder import PLACE, Folder
from .part import Part, write_array, write_part, write_tree
from .tree import Tree

__all__ = ["BLOCK_ROWS", "Sorter", "n_cells_of"]

#: Rows of a block that is written at once, where a source lets us cut blocks of any size.
BLOCK_ROWS = 1 << 18
# Places of a cell, and the most cells: a shuffle has a slice for each block and each cell.
CELL_ROWS, MOST_CELLS = 1 << 17, 1 << 10
# Cells of rows that nobody has counted.
UNCOUNTED_CELLS = 64


class Written(NamedTuple):
    """Blocks that were written: the numbers of their first rows, and of rows in each cell."""

    starts: tuple[int, ...]
    counts: npt.NDArray[np.int64]
    dtype: str

    def merged(self, other: "Written") -> "Written":
        """Return the blocks of both."""
        counts = np.concatenate([self.counts, other.counts])
        return Written(self.starts + other.starts, counts, str(np.promote_types(self[2], other[2])))


@dataclass(frozen=True)
class Summary:
    """What the client learns of a part.

    Attributes
    ----------
    size : int
        The number of places.
    low, high : ndarrays of shape (d,)
        Their box.
    weight : float
        The sum of their weights.
    total : ndarray of shape (t,)
        The sum of their targets, with these weights.
    """

    size: int
    low: FloatArray
    high: FloatArray
    weight: float
    total: FloatArray


@dataclass(frozen=True)
class Sorter:
    """Sorts rows into cells.

    Attributes
    ----------
    folder : Folder
    cuts : Cuts
    length_scale : ndarray
        The units of the columns.
    unit : float
        The weight that counts as one.
    seed : int
        Of the hashes.
    """

    folder: Folder
    cuts: Cuts
    length_scale: FloatArray
    unit: float
    seed: int

    def sort(self, source: Source, prepared: Callable[[Block], Any], reduce: Any) -> Any:
        """Write all rows into parts; return these, the mean of the targets and the number of rows.

        Parameters
        ----------
        source : Source
        prepared : callable
            Makes of a block rows as the local part sees them, with targets [n, t].
        reduce : callable
            Walks over the blocks of the source: reduce(function, merge).
        """
        (self.folder / "token").write_text("zonal")
        written: Written = reduce(partial(self._written, prepared), Written.merged)
        make = partial(self._part, written)
        found: list[Summary] = source.map(make, range(len(self.cuts)))
        shutil.rmtree(self.folder / "blocks")
        parts = Parts(
            self.folder,
            self.cuts,
            np.array([one.size for one in found], np.int64),
            np.array([one.low for one in found]),
            np.array([one.high for one in found]),
            self.length_scale,
        )
        weight = sum(one.weight for one in found)
        return parts, sum(one.total for one in found) / weight, int(written.counts[:, :-1].sum())

    def _written(self, prepared: Callable[[Block], Any], block: Block) -> Written:
        """Write a block, its rows sorted by cell."""
        if not (self.folder / "token").exists():
            raise RuntimeError(
                f"A worker does not see the folder {self.folder.path!r}, where rows are sorted "
                f"into parts: set the environment variable {PLACE} of the client to a folder that "
                "all workers share."
            )
        rows = prepared(block).joined()
        X, Y = np.asarray(rows.X), np.asarray(rows.y, np.float64)
        weight = np.ones(len(X)) if rows.weight is None else np.asarray(rows.weight) / self.unit
        cells = self.cuts.cell_of(self._parts().located(X))
        order = np.argsort(cells, kind="stable")
        place = self.folder / "blocks"
        place.mkdir(exist_ok=True)
        content = np.column_stack([np.asarray(X, np.float64), Y, weight])[order]
        write_array(place / f"{block.start}.npy", content)
        counts = np.bincount(cells, minlength=len(self.cuts))
        # The number of columns of the rows travels beside the counts.
        return Written((block.start,), np.append(counts, X.shape[1])[None], str(X.dtype))

    def _parts(self) -> Parts:
        nothing = np.empty(0)
        return Parts(
            self.folder, self.cuts, np.empty(0, np.int64), nothing, nothing, self.length_scale
        )

    def _part(self, written: Written, cell: int) -> Summary:
        """Gather the rows of a cell out of all blocks, and write its places."""
        pieces = []
        dim = int(written.counts[0, -1])
        for start, counts in zip(written.starts, written.counts, strict=True):
            first, number = int(counts[:cell].sum()), int(counts[cell])
            file = np.load(self.folder / "blocks" / f"{start}.npy", mmap_mode="r")
            pieces.append(np.array(file[first : first + number]))
        rows = np.concatenate([pieces[i] for i in np.argsort(written.starts)])
        X, Y, weight = rows[:, :dim].astype(written.dtype), rows[:, dim:-1], rows[:, -1]
        if not (weight > 0).any():
            part = Part(X[:0], np.empty(0, np.uint64), weight[:0], Y[:0])
        else:
            part = Part.of(locate(X, Y, weight, self.seed), self.seed)
        write_part(self.folder / name_of(cell), part)
        points = self._parts().located(part.rows)
        write_tree(self.folder / name_of(cell), Tree.of(points))
        total = np.asarray(part.weight @ part.values)
        if not len(part):
            nowhere = np.full(dim, np.inf)
            return Summary(0, nowhere, -nowhere, 0.0, total)
        low, high = points.min(axis=0), points.max(axis=0)
        return Summary(len(part), low, high, float(part.weight.sum()), total)


def n_cells_of(n_rows: int | None) -> int:
    """Return how many cells rows are sorted into; None: nobody has counted them."""
    if n_rows is None:
        return UNCOUNTED_CELLS
    return min(-(-n_rows // CELL_ROWS), MOST_CELLS)
