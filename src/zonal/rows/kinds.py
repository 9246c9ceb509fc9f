"""Which kinds of rows there are: arrays, frames, streams of blocks, Dask collections."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .hashing import LEARN_ROWS

__all__ = ["is_dask", "is_frame", "is_many", "is_stream"]

# The libraries whose frames are known.
FRAMES = ("pandas", "polars")


def is_frame(X: Any) -> bool:
    """Tell whether X is a table with names: a frame of pandas or polars, not imported here."""
    return type(X).__module__.split(".")[0] in FRAMES and hasattr(X, "columns")


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask collection; Dask itself is not imported."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def is_stream(X: Any) -> bool:
    """Tell whether X is walked over block by block: an iterator, `zonal.stream`, a data loader.

    So is a memory map of more rows than a map learns from, for it may not fit into memory.
    """
    if isinstance(X, np.memmap):
        return X.ndim == 2 and len(X) > LEARN_ROWS
    array_like = isinstance(X, list | tuple | str | bytes | Mapping) or any(
        hasattr(X, name) for name in ("shape", "__array__", "__dataframe__")
    )
    return isinstance(X, Iterable) and not array_like


def is_many(X: Any) -> bool:
    """Tell whether X comes in blocks of rows, on a cluster or one after the other."""
    return is_dask(X) or is_stream(X)
