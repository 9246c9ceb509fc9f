"""A sample of rows that pass by, of fixed size and the same whatever the blocks."""

from dataclasses import dataclass
from importlib import import_module
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
    held : array, CSR matrix or dict of str to ndarray
        The rows; the columns of a frame, which can be saved.
    y, weight
        Their targets and weights (or None).
    library : str
        Whose frame it was.
    """

    numbers: npt.NDArray[np.int64]
    held: Any
    y: Any
    weight: Any
    library: str = ""

    @classmethod
    def of(cls, block: Block) -> "Reservoir":
        """Take the rows of a block."""
        counting = np.arange(len(block))
        if block.weight is not None:
            counting = np.flatnonzero(np.asarray(block.weight) > 0)
        chosen = counting[_largest(block.start + counting, _size(block.X))]
        return cls._of_rows(block.start + chosen, block.rows(chosen))

    @classmethod
    def _of_rows(cls, numbers: npt.NDArray[np.int64], rows: Block) -> "Reservoir":
        X = rows.X
        if not hasattr(X, "columns"):
            return cls(numbers, X, rows.y, rows.weight)
        columns = {name: np.asarray(X[name]) for name in X.columns}
        return cls(numbers, columns, rows.y, rows.weight, type(X).__module__.split(".")[0])

    def rows(self) -> Any:
        """Return the rows as they were."""
        if not self.library:
            return self.held
        return import_module(self.library).DataFrame(self.held)

    def __len__(self) -> int:
        return len(self.numbers)

    def __sizeof__(self) -> int:
        """Bytes of dense rows, by which Dask decides what is moved."""
        columns = self.held.values() if self.library else [self.held]
        arrays = [self.numbers, self.y, self.weight, *columns]
        return object.__sizeof__(self) + sum(getattr(part, "nbytes", 0) for part in arrays)

    def __add__(self, other: "Reservoir") -> "Reservoir":
        """Return the largest hashes of both."""
        parts = [part for part in (self, other) if len(part)] or [self]
        numbers = np.concatenate([part.numbers for part in parts])
        columns = zip(*((part.rows(), part.y, part.weight) for part in parts), strict=True)
        joined = Block(*(concatenate(list(column)) for column in columns))
        chosen = _largest(numbers, _size(joined.X))
        return self._of_rows(numbers[chosen], joined.rows(chosen))


def _size(X: Any) -> int:
    return min(LEARN_ROWS, max(NUMBERS // max(X.shape[1], 1), LEAST_ROWS))


def _largest(numbers: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.intp]:
    """Return the places of the largest hashes, in the order of the numbers."""
    found = np.arange(len(numbers))
    if len(numbers) > size:
        found = np.argpartition(row_hash(numbers), len(numbers) - size)[-size:]
    return found[np.argsort(numbers[found])]
