"""From rows of any kind to what walks over them, and methods that take all kinds."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from .block import concatenate, only_rows
from .dask import DaskSource
from .dask_map import map_blocks
from .kinds import is_dask, is_many, is_stream
from .source import Source
from .stream import StreamSource

__all__ = ["blockwise", "sample_of", "sampled", "source_of"]

Method = TypeVar("Method", bound=Callable[..., Any])


def source_of(X: Any, y: Any = None, weight: Any = None) -> Source:
    """Return what walks over rows in blocks.

    Parameters
    ----------
    X : Dask collection, stream of blocks, or array
    y, weight : optional
        Targets and weights, unless a stream yields them.
    """
    return DaskSource(X, y, weight) if is_dask(X) else StreamSource(X, y, weight)


def sample_of(X: Any, y: Any = None, weight: Any = None) -> tuple[Any, Any, Any]:
    """Return the (at most 10,000) rows that a map learns from, out of rows in blocks.

    Parameters
    ----------
    X : Dask collection, stream of blocks or memory map
        Rows; a stream yields their targets and weights too.
    y, weight : Dask collections or arrays, optional
        Targets and weights.

    Returns
    -------
    X, y, weight
        Those of the rows with the smallest hashes of their numbers among all that weigh anything:
        the same that `fit` looks at in an array, whatever the blocks. Of an iterator, which can be
        walked over only once, the first rows; they are used up.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.rows import sample_of
    >>> X = np.arange(30_000.0)[:, None]
    >>> rows, _, _ = sample_of(iter([X[:20_000], X[20_000:]]))
    >>> rows.shape
    (10000, 1)
    """
    found = source_of(X, y, weight).survey().sample
    return found.X, found.y, found.weight


def sampled(X: Any, sample_weight: Any = None) -> tuple[Any, Any]:
    """Return the rows and weights that a map learns from; of rows in blocks, a sample.

    Returns
    -------
    X, sample_weight
        As they are, unless X comes in blocks.
    """
    if not is_many(X):
        return X, sample_weight
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
            return map_blocks(self, method.__name__, X, *args, **kwargs)
        if is_stream(X) and not isinstance(X, np.memmap):  # a memory map is sliced as any array
            parts = [method(self, rows, *args, **kwargs) for rows in only_rows(X)]
            if not parts:
                raise ValueError("X has 0 rows; at least one is needed: the stream has no blocks.")
            if isinstance(parts[0], tuple):
                return tuple(np.concatenate(part) for part in zip(*parts, strict=True))
            return concatenate(parts)
        return method(self, X, *args, **kwargs)

    return cast(Method, wrapper)
