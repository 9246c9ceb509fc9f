"""Tables that are read into memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._typing import Array
from ..rows.block import concatenate
from .columns import Columns
from .frames import FrameStream
from .stream import Stream

__all__ = ["LoadedRows", "load_rows"]


@dataclass(frozen=True)
class LoadedRows:
    """Rows in memory, which can be walked over like a `Stream`.

    Attributes
    ----------
    X : ndarray or frame of shape (n, d)
    y : ndarray of shape (n,) or None
    columns : list of str
        The names of the columns of X.
    n_dropped : int
        Rows that were left out.
    """

    X: Any
    y: Array | None
    columns: list[str]
    n_dropped: int = 0

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(_num_samples(self.X))

    @property
    def kept(self) -> Array:
        """Which rows there are, for whoever asks a stream: all."""
        return np.ones(self.n_rows, dtype=bool)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Yield all rows as one block."""
        yield self.X, self.y


def load_rows(
    rows: Columns | FrameStream, *, advance: Callable[[int], None] = lambda rows: None
) -> LoadedRows:
    """Read all rows of a table into memory.

    Parameters
    ----------
    rows : Columns or FrameStream
        What is read: columns of numbers as an array, or a stream as a frame.
    advance : callable
        Called with the number of rows read, after each batch.
    """
    stream = Stream(rows) if isinstance(rows, Columns) else rows
    stream.advance = advance
    parts = list(stream)
    y = None
    if stream.target:
        y = np.concatenate([part[1] for part in parts])
        y = stream.classes(y) if isinstance(stream, Stream) else y
    return LoadedRows(concatenate([part[0] for part in parts]), y, stream.columns, stream.n_dropped)
