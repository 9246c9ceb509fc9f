"""Methods that map rows to rows, on the blocks of Dask collections."""

import math
import uuid
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._typing import Array
from .cluster import require_dask
from .dask_blocks import row_blocks
from .kinds import is_dask
from .shipping import Shipped
from .threads import one_thread

__all__ = ["map_blocks"]


def map_blocks(model: Any, method: str, X: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a method to each block of rows, lazily.

    Parameters
    ----------
    model : estimator
        Fitted.
    method : str
        Takes rows, and returns an array with as many rows, or a tuple of them.
    X : Dask array or frame
    *args, **kwargs
        More arguments; another Dask collection among the former is cut into blocks like X.

    Returns
    -------
    dask.array.Array, or a tuple of them
        Chunked like X; of a frame, with unknown chunk sizes.
    """
    require_dask()
    import dask

    rows = row_blocks(X)
    others = [
        row_blocks(other, rows, "Y").blocks if is_dask(other) else [other] * len(rows.blocks)
        for other in args
    ]
    probes = [_probe(value) if is_dask(value) else value for value in (X, *args)]
    example = getattr(model, method)(*probes, **kwargs)
    outputs = example if isinstance(example, tuple) else (example,)
    empty = tuple(output[:0] for output in outputs)
    # The sums that only `fit` needs are most of a fitted learner.
    light = model.without_sums() if hasattr(model, "without_sums") else model
    worker = dask.delayed(Shipped(light), traverse=False, pure=False)
    call = dask.delayed(_call, pure=False, nout=len(empty))
    results = [
        call(worker, method, empty, *block, **kwargs)
        for block in zip(rows.blocks, *others, strict=True)
    ]
    lengths = rows.lengths or (math.nan,) * len(rows.blocks)
    arrays = tuple(
        _stacked([result[place] for result in results], lengths, output)
        for place, output in enumerate(empty)
    )
    return arrays if isinstance(example, tuple) else arrays[0]


def _call(model: Shipped, method: str, empty: tuple[Any, ...], *rows: Any, **kwargs: Any) -> Any:
    if not _num_samples(rows[0]):
        return empty
    with one_thread():
        result = getattr(model.value, method)(*rows, **kwargs)
    return result if isinstance(result, tuple) else (result,)


def _stacked(parts: list[Any], lengths: tuple[float, ...], empty: Array) -> Any:
    """One Dask array of delayed blocks; unlike by `da.concatenate`, empty ones stay."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    name = f"zonal-{uuid.uuid4().hex}"
    tail = (0,) * (empty.ndim - 1)
    layer = {(name, number, *tail): part.key for number, part in enumerate(parts)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=parts)
    chunks = (lengths, *((size,) for size in empty.shape[1:]))
    return da.Array(graph, name, chunks, meta=empty)


def _probe(values: Any) -> Any:
    """One made-up row of unit norm, which tells the shape and type of results."""
    if hasattr(values, "_meta_nonempty"):
        row = values._meta_nonempty.iloc[:1].copy()
        numbers = row.select_dtypes("number").columns if row.ndim == 2 else []
        for name in numbers:
            row[name] = np.asarray([len(numbers) ** -0.5]).astype(row[name].dtype)
        return row
    width = values.shape[1] if values.ndim == 2 else 1
    row = np.full((1, width), width**-0.5).astype(values.dtype)
    return row if values.ndim == 2 else row[0]
