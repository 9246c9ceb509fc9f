"""Dask collections as lists of delayed blocks of rows."""

import math
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Rows", "row_blocks"]


class Rows(NamedTuple):
    """A collection cut into blocks of rows.

    Attributes
    ----------
    blocks : list of dask.delayed.Delayed
    lengths : tuple of int or None
        How many rows each has, where this is known.
    """

    blocks: list[Any]
    lengths: tuple[int, ...] | None


def row_blocks(values: Any, like: Rows | None = None, name: str = "X") -> Rows:
    """Blocks of a Dask array, frame or series, or of an array cut like another collection.

    Parameters
    ----------
    values : Dask collection, or array if `like` is given
    like : Rows, optional
        The blocks whose rows these belong to.
    name : str
        What errors call the values.
    """
    import dask.array as da

    if like is not None and not hasattr(values, "dask"):
        if like.lengths is None:
            raise ValueError(
                f"{name} is in memory, but the chunks of X have unknown sizes, so that it cannot "
                f"be cut like X: pass {name} as a Dask collection, or call "
                "X.compute_chunk_sizes() first."
            )
        values = np.asarray(values)
        if len(values) != sum(like.lengths):
            raise ValueError(f"{name} has {len(values)} rows, but X has {sum(like.lengths)}.")
        chunks = (like.lengths, *((size,) for size in values.shape[1:]))
        values = da.from_array(values, chunks=chunks)
    if not isinstance(values, da.Array):
        if not hasattr(values, "to_delayed") or not hasattr(values, "npartitions"):
            raise TypeError(
                f"{name} is a {type(values).__name__}; Dask arrays, frames and series can be used."
            )
        found = Rows(_partitions(values), None)
    else:
        found = _array_blocks(values, like)
    if like is not None:
        if len(found.blocks) != len(like.blocks):
            raise ValueError(
                f"{name} has {len(found.blocks)} partitions, but X has {len(like.blocks)}: "
                "repartition them alike."
            )
        if None not in (found.lengths, like.lengths) and found.lengths != like.lengths:
            raise ValueError(
                f"{name} has {sum(found.lengths or ())} rows, but X has {sum(like.lengths or ())}."
            )
    return found


def _partitions(values: Any) -> list[Any]:
    """Return the partitions of a frame or series as it counts them.

    Where few columns are read from Parquet, Dask's optimiser reads several files as one, so that
    columns of the same frame would come in other pieces than their neighbours.
    """
    found = list(values.to_delayed())
    if len(found) == values.npartitions:
        return found
    return list(values.to_delayed(optimize_graph=False))


def _array_blocks(values: Any, like: Rows | None) -> Rows:
    if values.ndim not in (1, 2):
        raise ValueError(f"A Dask array of shape {values.shape} has no rows: one or two axes do.")
    if values.ndim == 2 and len(values.chunks[1]) > 1:
        values = values.rechunk({1: -1})
    known = not any(math.isnan(size) for size in values.chunks[0])
    wanted = None if like is None else like.lengths
    if known and wanted is not None and sum(wanted) == values.shape[0]:
        values = values.rechunk({0: wanted})
    lengths = tuple(int(size) for size in values.chunks[0]) if known else None
    return Rows(list(values.to_delayed().ravel()), lengths)
