"""Blocks of rows: what a stream yields, and how its blocks are cut anew."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _num_samples

from .._validation import as_frame

__all__ = ["Block", "as_blocks", "concatenate", "join", "only_rows", "recut", "take"]

# Rows of an array or a memory map that are looked at together.
ARRAY_ROWS = 1 << 16


@dataclass(frozen=True)
class Block:
    """Consecutive rows with their targets and weights.

    Attributes
    ----------
    X : array, CSR matrix or frame of shape (n, d)
    y : array or None
    weight : array of shape (n,) or None
    start : int
        The number of the first row, counted over all of the data.
    """

    X: Any
    y: Any = None
    weight: Any = None
    start: int = 0

    def __len__(self) -> int:
        return int(_num_samples(self.X))

    @property
    def parts(self) -> tuple[Any, Any, Any]:
        """Rows, targets and weights."""
        return self.X, self.y, self.weight

    def rows(self, chosen: Any) -> "Block":
        """Some of the rows, by a slice or their places in the block."""
        start = self.start + (chosen.start or 0) if isinstance(chosen, slice) else self.start
        X, y, weight = (take(part, chosen) for part in self.parts)
        return Block(X, y, weight, start)


def take(values: Any, chosen: Any) -> Any:
    """Rows of an array, a CSR matrix, a frame or None."""
    if values is None:
        return None
    values = as_frame(values)
    return values.iloc[chosen] if hasattr(values, "iloc") else values[chosen]


def concatenate(parts: list[Any]) -> Any:
    """Arrays, CSR matrices, frames or Nones, one below the other."""
    if len(parts) == 1 or parts[0] is None:
        return parts[0]
    if sp.issparse(parts[0]):
        return sp.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if hasattr(parts[0], "with_columns"):
        import polars as pl

        return pl.concat(parts, how="vertical_relaxed")
    return np.concatenate(parts)


def as_blocks(X: Any, y: Any = None, weight: Any = None) -> Iterator[Block]:
    """Blocks of a stream, an iterator of (X, y[, weight]) or of X, or of arrays; none is empty."""
    start = 0
    for parts in _parts(X, y, weight):
        X_part, y_part, weight_part = parts
        block = Block(X_part, y_part, weight_part, start)
        for name, part in (("y", block.y), ("sample_weight", block.weight)):
            if part is not None and _num_samples(part) != len(block):
                raise ValueError(
                    f"The block from row {start} on has {len(block)} rows of X, but "
                    f"{_num_samples(part)} of {name}: yield as many of each."
                )
        if len(block):
            yield block
        start += len(block)


def only_rows(X: Iterable[Any]) -> Iterator[Any]:
    """The rows X of every block of a stream."""
    return (block.X for block in as_blocks(X))


def recut(blocks: Iterator[Block], n_rows: int) -> Iterator[Block]:
    """The same rows in blocks of exactly `n_rows`, but for the last.

    So that neither the size of a stream's batches nor single rows change sums or speed.
    """
    waiting: list[Block] = []
    held = 0
    for block in blocks:
        waiting.append(block)
        held += len(block)
        if held < n_rows:
            continue
        whole = join(waiting)
        full = held - held % n_rows
        for first in range(0, full, n_rows):
            yield whole.rows(slice(first, first + n_rows))
        waiting = [whole.rows(slice(full, held))] if full < held else []
        held -= full
    if waiting:
        yield join(waiting)


def join(blocks: list[Block]) -> Block:
    """Return consecutive blocks as one."""
    columns = zip(*(block.parts for block in blocks), strict=True)
    X, y, weight = (concatenate(list(parts)) for parts in columns)
    return Block(X, y, weight, blocks[0].start)


def _parts(X: Any, y: Any, weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Tuples (X, y, weight) of arrays, or of what a stream yields."""
    if hasattr(X, "shape"):
        for first in range(0, X.shape[0], ARRAY_ROWS):
            rows = slice(first, first + ARRAY_ROWS)
            yield take(X, rows), take(y, rows), take(weight, rows)
        return
    if y is not None or weight is not None:
        raise ValueError(
            "y and sample_weight are given beside a stream of blocks: let the stream yield "
            "(X, y) or (X, y, sample_weight) instead."
        )
    for item in X:
        parts = item if isinstance(item, tuple | list) else (item,)
        if not 1 <= len(parts) <= 3:
            raise ValueError(
                f"A stream yielded {len(parts)} parts; (X, y) or (X, y, sample_weight) is needed."
            )
        X_part, y_part, weight_part = map(_array, (*parts, None, None)[:3])
        yield X_part, y_part, weight_part


def _array(part: Any) -> Any:
    part = as_frame(part)
    return part if part is None or hasattr(part, "shape") else np.asarray(part)
