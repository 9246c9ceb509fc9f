"""Tables in files: CSV, Parquet, NPZ and Zarr, in batches of rows, through pyarrow."""

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .._typing import Array
from .errors import CommandError, near
from .npz import npz_arrays

__all__ = [
    "Table",
    "csv_delimiter",
    "not_numbers",
    "open_table",
    "parquet_files",
    "zarr_array",
]

# Rows of Parquet and NPZ, and bytes of CSV, that are read at a time.
BATCH_ROWS = 1 << 16
BATCH_BYTES = 1 << 24
DELIMITERS = ",;\t|"
CSV_ENDINGS = (".csv", ".tsv", ".txt")
ENDINGS = (*CSV_ENDINGS, ".csv.gz", ".parquet", ".pq", ".npz", ".zarr")


@dataclass(frozen=True)
class Table:
    """A file of named columns.

    Attributes
    ----------
    path : path
    types : dict of str to pyarrow type
        The columns, in their order. All those of CSV are text until they are used.
    n_rows : int or None
        None where only reading tells (CSV).
    read : callable
        Gives batches of rows, with the columns named.
    """

    path: Path
    types: dict[str, Any]
    n_rows: int | None
    read: Callable[[list[str]], Iterator[Any]]

    def check(self, name: str, role: str = "column") -> str:
        """Return the name of a column that there is."""
        if name in self.types:
            return name
        names = [repr(known) for known in self.types]
        shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        raise CommandError(
            f"{self.path} has no {role} {name!r}.{near(name, self.types)} Its columns are {shown}."
        )

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """Batches of the rows of some columns; at least one row, or an error."""
        empty = True
        try:
            for batch in self.read(columns):
                empty = empty and batch.num_rows == 0
                yield batch
        except pa.ArrowInvalid as error:
            raise CommandError(f"{self.path} can not be read: {error}") from error
        if empty:
            raise CommandError(f"{self.path} has columns, but no rows.")


def open_table(path: Path) -> Table:
    """Open a file and look at its columns, not yet at its rows."""
    if not path.exists():
        folder = path.parent
        others = [item.name for item in folder.iterdir()] if folder.is_dir() else []
        raise CommandError(f"There is no file {path}.{near(path.name, others)}")
    name = path.name.lower()
    if path.is_dir() and not name.endswith(".zarr") and not parquet_files(path):
        raise CommandError(f"{path} is a folder, and no Parquet files (*.parquet) are in it.")
    if path.is_file() and path.stat().st_size == 0:
        raise CommandError(f"{path} is empty.")
    try:
        if name.endswith(".zarr"):
            table = _open_zarr(path)
        elif path.is_dir() or name.endswith((".parquet", ".pq")):
            table = _open_parquet(path)
        elif name.endswith(".npz"):
            table = _open_npz(path)
        elif name.removesuffix(".gz").endswith(CSV_ENDINGS):
            table = _open_csv(path)
        else:
            raise CommandError(
                f"{path} is of a kind that is not read here: its name must end in "
                f"{', '.join(ENDINGS)}."
            )
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise CommandError(f"{path} can not be read, it may be damaged: {error}") from error
    if not table.types:
        raise CommandError(f"{path} has no columns.")
    return table


def parquet_files(path: Path) -> list[Path]:
    """A Parquet file, or those of a folder: part.2 before part.10, as Dask has them."""

    def key(file: Path) -> list[Any]:
        return [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", str(file))]

    return [path] if path.is_file() else sorted(path.rglob("*.parquet"), key=key)


def _open_parquet(path: Path) -> Table:
    files = parquet_files(path)
    n_rows = 0
    types: dict[str, Any] = {}
    for place in files:
        with pa.parquet.ParquetFile(place) as file:
            found = _types(place, file.schema_arrow.names, file.schema_arrow.types)
            n_rows += file.metadata.num_rows
        types = types or found
        if found != types:
            raise CommandError(f"{place} has other columns, or of other types, than {files[0]}.")

    def read(columns: list[str]) -> Iterator[Any]:
        for place in files:
            with pa.parquet.ParquetFile(place) as file:
                yield from file.iter_batches(BATCH_ROWS, columns=columns)

    return Table(path, types, n_rows, read)


def zarr_array(path: Path) -> tuple[Any, list[str]]:
    """A Zarr array [n, columns] and its attribute ``columns``, the list of their names."""
    try:
        zarr: Any = importlib.import_module("zarr")
    except ImportError as error:
        raise CommandError(f"{path} needs zarr: pip install 'zonal[dask]'.") from error
    try:
        array = zarr.open_array(path, mode="r")
    except (ValueError, OSError, KeyError) as error:
        raise CommandError(f"{path} is not a Zarr array: {error}") from error
    names = array.attrs.get("columns")
    if array.ndim != 2 or not isinstance(names, list) or len(names) != array.shape[1]:
        raise CommandError(
            f"{path} has the shape {array.shape} and the attribute columns={names!r}: an array of "
            "shape (rows, columns) is needed, with a list of the columns' names as its attribute "
            "'columns'."
        )
    return array, [str(name) for name in names]


def _open_zarr(path: Path) -> Table:
    array, names = zarr_array(path)
    kind = pa.from_numpy_dtype(array.dtype)
    # Whole chunks, since each is read and unpacked as a whole.
    step = max(1, BATCH_ROWS // array.chunks[0]) * array.chunks[0]

    def read(columns: list[str]) -> Iterator[Any]:
        places = [names.index(name) for name in columns]
        for first in range(0, array.shape[0], step):
            rows = array[first : first + step]
            yield pa.record_batch([pa.array(rows[:, place]) for place in places], names=columns)

    return Table(path, _types(path, names, [kind] * len(names)), array.shape[0], read)


def csv_delimiter(path: Path) -> str:
    """The commonest delimiter in the first line."""
    with pa.input_stream(path, compression="detect") as stream:
        header = stream.read(1 << 16).split(b"\n")[0].decode("utf-8-sig")
    return max(DELIMITERS, key=header.count)


def _open_csv(path: Path) -> Table:
    parse = pa.csv.ParseOptions(delimiter=csv_delimiter(path))
    block = pa.csv.ReadOptions(block_size=BATCH_BYTES)

    def start(convert: Any) -> Any:
        stream = pa.input_stream(path, compression="detect")
        return pa.csv.open_csv(
            stream, read_options=block, parse_options=parse, convert_options=convert
        )

    names = start(None).schema.names

    def read(columns: list[str]) -> Iterator[Any]:
        # As text, since a type that is guessed from the first rows is an error in a later one.
        convert = pa.csv.ConvertOptions(
            include_columns=columns,
            column_types={name: pa.string() for name in columns},
            strings_can_be_null=True,
        )
        yield from start(convert)

    return Table(path, _types(path, names, [pa.string()] * len(names)), None, read)


def _open_npz(path: Path) -> Table:
    arrays = npz_arrays(path)
    named = arrays.pop("feature_names", np.empty(0))
    if named.dtype.hasobject:
        raise CommandError(
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
    types: dict[str, Any] = {}
    strange: dict[str, Any] = {}
    for name, array in columns.items():
        try:
            types[name] = pa.from_numpy_dtype(array.dtype)
        except pa.ArrowNotImplementedError:
            # Such as complex numbers. An error only if the column is used.
            types[name], strange[name] = pa.null(), array.dtype

    def read(names: list[str]) -> Iterator[Any]:
        for name in names:
            if name in strange:
                raise not_numbers(path, name, strange[name])
        table = pa.table({name: pa.array(_native(columns[name])) for name in names})
        yield from table.to_batches(BATCH_ROWS)

    return Table(path, types, n_rows, read)


def _native(array: Array) -> Array:
    """Contiguous, and in the byte order of this machine, as Arrow needs it."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def _types(path: Path, names: list[str], types: list[Any]) -> dict[str, Any]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CommandError(
            f"{path} has several columns of one name: {', '.join(map(repr, twice))}. Rename them."
        )
    return dict(zip(names, types, strict=True))


def not_numbers(path: Path, name: str, kind: Any) -> CommandError:
    """What to say of a column of a type that can not be read as numbers."""
    return CommandError(
        f"Column {name!r} of {path} holds values of type {kind}, not numbers. Convert it, or leave "
        f"it out with --ignore {name!r}."
    )
