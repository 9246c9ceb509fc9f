"""Rows that this process reads block by block, parted for training and test."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..rows.stream import StreamSource
from .split import Split

__all__ = ["LocalRows"]

# Rows that are judged together.
BLOCK_ROWS = 1 << 16


class LocalRows:
    """Rows of the engine "local".

    Parameters
    ----------
    rows : TableRows or Rows
        Yields blocks (X, y), the same ones every time.
    split : Split
    """

    def __init__(self, rows: Any, split: Split) -> None:
        self._rows = rows
        self.split = split
        self.inputs: list[str] = rows.inputs

    @property
    def n_rows(self) -> int:
        """All rows, known after a pass over them."""
        return int(self._rows.n_rows)

    @property
    def n_dropped(self) -> int:
        """Rows that were left out, known after a pass."""
        return int(self._rows.n_dropped)

    def sample(self) -> Array:
        """Check all rows, and return the training rows that a map learns from."""
        return np.asarray(StreamSource(*self.train()).survey().sample.X)

    def train(self, encode: Callable[[Any], Any] = lambda X: X) -> tuple[Any, ...]:
        """What `fit` takes: the training rows, mapped by a function."""
        return (_Training(self._rows, self.split, encode),)

    def reduce(self, function: Callable[[Any], Any]) -> Any:
        """Add up what a function makes of blocks of all rows."""
        return StreamSource(self._rows).reduce(function, operator.add, BLOCK_ROWS)


@dataclass(frozen=True)
class _Training:
    rows: Any
    split: Split
    encode: Callable[[Any], Any]

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        start = n_train = 0
        for X, y in self.rows:
            kept = ~self.split.is_test(start, start + len(X))
            start, n_train = start + len(X), n_train + int(kept.sum())
            if kept.any():
                yield self.encode(X[kept]), y[kept]
        self.split.check(n_train, start - n_train)
