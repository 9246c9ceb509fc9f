"""Zarr arrays with an attribute that names their columns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .arrow import arrow
from .errors import TableError
from .table import Table, cut, named_types

__all__ = ["open_zarr", "zarr_array"]


def zarr_array(path: Path) -> tuple[Any, list[str]]:
    """Return a Zarr array [n, columns] and its attribute ``columns``, the list of their names."""
    try:
        import zarr
    except ImportError as error:
        raise ImportError(f"{path} needs zarr: pip install 'zonal[dask]'.") from error
    try:
        array: Any = zarr.open_array(path, mode="r")
    except (ValueError, OSError, KeyError) as error:
        raise TableError(f"{path} is not a Zarr array: {error}") from error
    names = array.attrs.get("columns")
    if array.ndim != 2 or not isinstance(names, list) or len(names) != array.shape[1]:
        raise TableError(
            f"{path} has the shape {array.shape} and the attribute columns={names!r}: an array of "
            "shape (rows, columns) is needed, with a list of the columns' names as its attribute "
            "'columns'."
        )
    return array, [str(name) for name in names]


def open_zarr(path: Path) -> Table:
    """Open a Zarr array [n, columns]."""
    pa = arrow()
    array, names = zarr_array(path)
    kind = pa.from_numpy_dtype(array.dtype)

    def batches(columns: list[str], step: int) -> Iterator[Any]:
        places = [names.index(name) for name in columns]
        for first in range(0, array.shape[0], step):
            rows = array[first : first + step]
            yield pa.record_batch([pa.array(rows[:, place]) for place in places], names=columns)

    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        # Whole chunks, since each is read and unpacked as a whole.
        step = max(1, batch_rows // array.chunks[0]) * array.chunks[0]
        yield from cut(batches(columns, step), batch_rows)

    types = named_types(path, names, [kind] * len(names))
    return Table(str(path), "zarr", [path], types, array.shape[0], read)
