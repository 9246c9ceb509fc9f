"""Rows that do not come as one array: which they are, and methods that take them."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from .rows import LEARN_ROWS

__all__ = ["blockwise", "is_dask", "is_many", "is_stream", "sampled"]

Method = TypeVar("Method", bound=Callable[..., Any])


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; Dask itself is not imported."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def is_stream(X: Any) -> bool:
    """Whether X is walked over block by block: an iterator, `zonal.stream`, a data loader.

    So is a memory map of more rows than a map learns from, for it may not fit into memory.
    """
    if isinstance(X, np.memmap):
        return X.ndim == 2 and len(X) > LEARN_ROWS
    array_like = isinstance(X, list | tuple | str | bytes | Mapping) or any(
        hasattr(X, name) for name in ("shape", "__array__", "__dataframe__")
    )
    return isinstance(X, Iterable) and not array_like


def is_many(X: Any) -> bool:
    """Whether X comes in blocks of rows, on a cluster or one after the other."""
    return is_dask(X) or is_stream(X)


def sampled(X: Any, sample_weight: Any = None) -> tuple[Any, Any]:
    """Rows and weights that a map learns from; of rows in blocks, a sample by row number.

    Returns
    -------
    X, sample_weight
        As they are, unless X comes in blocks.
    """
    if not is_many(X):
        return X, sample_weight
    from .streaming.sampling import sample_of

    rows, _, weight = sample_of(X, None, sample_weight)
    return rows, weight


def blockwise(method: Method) -> Method:
    """Let a method that maps rows to rows take them in blocks.

    For a Dask collection the result is lazy and chunked like the input; for a stream of blocks it
    is one array.
    """

    @wraps(method)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if is_dask(X):
            from .distributed.mapping import map_blocks

            return map_blocks(self, method.__name__, X, *args, **kwargs)
        if is_stream(X) and not isinstance(X, np.memmap):  # a map is sliced as any array
            from .streaming.blocks import only_rows

            parts = [method(self, rows, *args, **kwargs) for rows in only_rows(X)]
            if parts and isinstance(parts[0], tuple):
                return tuple(np.concatenate(part) for part in zip(*parts, strict=True))
            return np.concatenate(parts)
        return method(self, X, *args, **kwargs)

    return cast(Method, wrapper)
