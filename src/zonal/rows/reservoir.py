"""A sample of rows that pass by, of fixed size and the same whatever the blocks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .block import Block, concatenate
from .hashing import LEARN_ROWS, row_hash

__all__ = ["Reservoir"]

# Numbers in the rows of a sample, so that wide rows are fewer.
NUMBERS, LEAST_ROWS = 1 << 23, 1_000


@dataclass(frozen=True)
class Reservoir:
    """The rows of positive weight with the largest hashes of their numbers.

    Those that a map learns from have the smallest, so that among many rows these are others.

    Attributes
    ----------
    numbers : ndarray of int, of shape (n,)
    X, y, weight
        The rows, their targets and weights (or None).
    """

    numbers: npt.NDArray[np.int64]
    X: Any
    y: Any
    weight: Any

    @classmethod
    def of(cls, block: Block) -> "Reservoir":
        """Take the rows of a block."""
        counting = np.arange(len(block))
        if block.weight is not None:
            counting = np.flatnonzero(np.asarray(block.weight) > 0)
        chosen = counting[_largest(block.start + counting, _size(block.X))]
        return cls(block.start + chosen, *block.rows(chosen).parts)

    def __len__(self) -> int:
        return len(self.numbers)

    def __add__(self, other: "Reservoir") -> "Reservoir":
        """Return the largest hashes of both."""
        parts = [part for part in (self, other) if len(part)] or [self]
        numbers = np.concatenate([part.numbers for part in parts])
        columns = (
            concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "weight")
        )
        joined = Block(*columns)
        chosen = _largest(numbers, _size(joined.X))
        return Reservoir(numbers[chosen], *joined.rows(chosen).parts)


def _size(X: Any) -> int:
    return min(LEARN_ROWS, max(NUMBERS // max(X.shape[1], 1), LEAST_ROWS))


def _largest(numbers: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.intp]:
    """Return the places of the largest hashes, in the order of the numbers."""
    if len(numbers) > size:
        found = np.argpartition(row_hash(numbers), len(numbers) - size)[-size:]
    else:
        found = np.arange(len(numbers))
    return found[np.argsort(numbers[found])]
