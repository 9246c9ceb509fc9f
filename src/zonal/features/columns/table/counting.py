"""One pass over many rows for their words, of which a sample lacks some."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....rows import Block, Source, row_hash
from ..choices import FOLDS
from ..metric.targets import StandardTargets
from ..numerics import BLOCK_ROWS
from .cells import columns_of
from .reader import Reader
from .words import WordSums

__all__ = ["folds_of", "sum_words"]


def folds_of(row_numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Return the folds of rows for means of targets, by a hash of their numbers."""
    return (row_hash(row_numbers) % np.uint64(FOLDS)).astype(np.intp)


def sum_words(
    source: Source, readers: dict[str, Reader], standard: StandardTargets | None
) -> dict[str, WordSums]:
    """Return the sums of all columns of words over all rows; none where rows have only one pass.

    Parameters
    ----------
    source : Source
        Tables with targets and weights.
    readers : dict of str to Reader
        How each column is read.
    standard : StandardTargets or None
        None: without targets.
    """
    words = {name: reader for name, reader in readers.items() if reader.kind == "word"}
    if source.once or not words:
        return {}
    return source.reduce(_Pass(words, standard), _merged, BLOCK_ROWS)


@dataclass(frozen=True)
class _Pass:
    """What is done with a block, wherever it is."""

    readers: dict[str, Reader]
    standard: StandardTargets | None

    def __call__(self, block: Block) -> dict[str, WordSums]:
        if not len(block):
            return {}
        cells = columns_of(block.X)
        weights = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, float)
        targets = None if self.standard is None else self.standard(block.y)
        folds = folds_of(np.arange(block.start, block.start + len(block)))
        return {
            name: WordSums.of(reader.read(cells[name]), targets, weights, folds)
            for name, reader in self.readers.items()
        }


def _merged(left: dict[str, WordSums], right: dict[str, WordSums]) -> dict[str, WordSums]:
    """Add sums up; a block of no rows has none."""
    if not (left and right):
        return left or right
    return {name: left[name] + sums for name, sums in right.items()}
