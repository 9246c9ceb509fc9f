"""Tables that are read into memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .columns import Columns
from .stream import Stream

__all__ = ["LoadedRows", "load_rows"]


@dataclass(frozen=True)
class LoadedRows:
    """Rows of numbers in memory, which can be walked over like a `Stream`.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or None
    columns : list of str
        The names of the columns of X.
    n_dropped : int
        Rows that were left out.
    """

    X: Array
    y: Array | None
    columns: list[str]
    n_dropped: int = 0

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.X)

    def __iter__(self) -> Iterator[tuple[Array, Any]]:
        """Yield all rows as one block."""
        yield self.X, self.y


def load_rows(picked: Columns, *, advance: Callable[[int], None] = lambda rows: None) -> LoadedRows:
    """Read all rows of a table into memory.

    Parameters
    ----------
    picked : Columns
        What is read.
    advance : callable
        Called with the number of rows read, after each batch.
    """
    rows = Stream(picked)
    rows.advance = advance
    parts = list(rows)
    X = np.concatenate([part for part, _ in parts])
    y = None
    if picked.target:
        y = rows.classes(np.concatenate([part for _, part in parts]))
    return LoadedRows(X, y, rows.columns, rows.n_dropped)
