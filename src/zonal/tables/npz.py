"""NPZ files: their arrays as columns, without those that only unpickling could restore."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from .._typing import Array
from .arrow import arrow
from .errors import TableError
from .table import Table

__all__ = ["npz_arrays", "open_npz"]

# What damage shows as; RuntimeError where it looks like a password or an unknown way of packing.
DAMAGE = (
    ValueError, OSError, EOFError, RuntimeError, TokenError, zipfile.BadZipFile, zlib.error
)  # fmt: skip


def npz_arrays(path: Path) -> dict[str, Array]:
    """Return all arrays of an archive by name; those of Python objects hold None throughout.

    Parameters
    ----------
    path : path

    Returns
    -------
    dict of str to ndarray
        Objects are not loaded, since a pickle may run any code; but their shape and type are
        known, so that they are no obstacle where they are not used.
    """
    arrays = {}
    # Not numpy.load, which has no way to tell the shape of an array that it refuses.
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if not member.endswith(".npy"):
                    continue
                with archive.open(member) as file:
                    shape, dtype = _header(file)
                if dtype.hasobject:
                    array = np.empty(shape, object)
                else:
                    with archive.open(member) as file:
                        array = npy.read_array(file, allow_pickle=False)
                arrays[member.removesuffix(".npy")] = array
    except DAMAGE as error:
        raise TableError(
            f"{path} is not a NumPy archive, or it is damaged: {error}. Write it anew with "
            "numpy.savez."
        ) from error
    return arrays


def open_npz(path: Path) -> Table:
    """Open an NPZ file; it is held in memory.

    Every array of one axis with as many entries as the longest is a column, and so is each column
    of an array of two axes. ``feature_names``, an array of text, names the latter.
    """
    pa = arrow()
    columns = _columns(path)
    types: dict[str, Any] = {}
    for name, array in columns.items():
        try:
            types[name] = pa.from_numpy_dtype(array.dtype)
        except pa.ArrowNotImplementedError:
            types[name] = array.dtype  # such as complex numbers: an error only if it is used

    def read(names: list[str], batch_rows: int) -> Iterator[Any]:
        table = pa.table({name: pa.array(_native(columns[name])) for name in names})
        yield from table.to_batches(batch_rows)

    n_rows = len(next(iter(columns.values()), ()))
    return Table(str(path), "npz", [path], types, n_rows, read)


def _columns(path: Path) -> dict[str, Array]:
    arrays = npz_arrays(path)
    named = arrays.pop("feature_names", np.empty(0))
    if named.dtype.hasobject:
        raise TableError(
            f"'feature_names' of {path} holds Python objects, which are not loaded: save it as "
            "text, with feature_names.astype(str)."
        )
    n_rows = max((len(array) for array in arrays.values() if array.ndim > 0), default=0)
    columns: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.ndim == 1 and len(array) == n_rows:
            columns[name] = array
        elif array.ndim == 2 and len(array) == n_rows:
            names = named.astype(str).ravel().tolist()
            if len(names) != array.shape[1]:
                names = [f"{name}{number}" for number in range(array.shape[1])]
            columns.update(zip(names, array.T, strict=True))
    return columns


def _native(array: Array) -> Array:
    """Return the array contiguous and in the byte order of this machine, as Arrow needs it."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    # Versions 2 and 3 differ in the letters of field names only.
    first = npy.read_magic(file) == (1, 0)
    read = npy.read_array_header_1_0 if first else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype
