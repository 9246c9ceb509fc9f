"""Tables in files: CSV, Parquet, NPZ and Zarr, in batches of rows, through pyarrow."""

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from .._typing import Array
from ..features.sphere_encoder import DEGREES
from .errors import CommandError, near
from .npz import npz_arrays

__all__ = [
    "Columns",
    "Rows",
    "Table",
    "TableRows",
    "check_complete",
    "csv_delimiter",
    "numbers",
    "open_table",
    "parquet_files",
    "read_rows",
    "whole_numbers",
    "zarr_array",
]

# Rows of Parquet and NPZ, and bytes of CSV, that are read at a time.
BATCH_ROWS = 1 << 16
BATCH_BYTES = 1 << 24
DELIMITERS = ",;\t|"
CSV_ENDINGS = (".csv", ".tsv", ".txt")
ADVICE = ", or leave such rows out with --drop-missing"
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


@dataclass(frozen=True)
class Rows:
    """Rows of numbers [n, d] with their columns' names, and a target [n] if one was asked for."""

    X: Array
    y: Array | None
    inputs: list[str]
    n_dropped: int

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.X)

    def __iter__(self) -> Iterator[tuple[Array, Any]]:
        """All of them as one block, as `TableRows` yields many."""
        yield self.X, self.y


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
                raise _not_numbers(path, name, strange[name])
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


@dataclass(frozen=True)
class Columns:
    """What is read of every row, checked: numbers X, and a target y.

    Attributes
    ----------
    table : Table
    inputs : list of str
        The columns of X.
    target : str or None
        The column of y.
    labels : bool
        Whether y are classes, which may be text, and not numbers.
    drop_missing : bool
        Leave out rows in which a value is missing, instead of complaining.
    degrees : dict of str to (str, int, int)
        Columns that are angles: what they are called, the lowest and the highest value.
    """

    table: Table
    inputs: list[str]
    target: str | None = None
    labels: bool = False
    drop_missing: bool = False
    degrees: dict[str, tuple[str, int, int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        inputs: list[str] | None = None,
        ignore: list[str] | None = None,
        target: str | None = None,
        labels: bool = False,
        drop_missing: bool = False,
        lat: str | None = None,
        lon: str | None = None,
    ) -> "Columns":
        """The columns that options name; X are by default all but `target` and `ignore`."""
        if target is not None:
            table.check(target, "target column")
        left_out = [table.check(name) for name in ignore or []] + ([target] if target else [])
        asked = dict.fromkeys(inputs or (name for name in table.types if name not in left_out))
        chosen = [table.check(name) for name in asked]
        if target in chosen:
            raise CommandError(
                f"The target {target!r} is among the inputs: leave it out of --input."
            )
        if not chosen:
            raise CommandError(
                f"{table.path} has no column left to learn from: its columns are "
                f"{', '.join(map(repr, table.types))}."
            )
        angles = {
            name: (angle, *DEGREES[angle])
            for name, angle in ((lat, "latitude"), (lon, "longitude"))
            if name is not None
        }
        return cls(table, chosen, target, labels, drop_missing, angles)

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return [*self.inputs, self.target] if self.target else self.inputs

    @property
    def dtype(self) -> Any:
        """That of X."""
        return _dtype(self.table, self._numeric)

    @property
    def _numeric(self) -> list[str]:
        return self.inputs if self.labels else self.names

    def parse(self, batch: Any, first_row: int) -> tuple[Array, Any]:
        """X [b, d] and y [b] or None of a batch that begins with a certain row of the table."""
        values = numbers(self.table, batch, self._numeric, first_row)
        if not self.drop_missing:
            check_complete(self.table, batch, values, self._numeric, first_row, ADVICE)
        self._check_degrees(values, first_row)
        known = np.isfinite(values).all(axis=1)
        if self.target is None:
            return values[known], None
        if not self.labels:
            # Contiguous rows, which the last column would interrupt.
            return np.ascontiguousarray(values[known, :-1]), values[known, -1]
        marks = _tidy(batch.column(self.target))
        present = ~marks.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        if not self.drop_missing and not present.all():
            raise CommandError(
                f"Row {first_row + int(np.argmin(present)) + 1} (counted from 1, without the "
                f"header) of {self.table.path} has no {self.target!r}. Fill it{ADVICE}."
            )
        known &= present
        marks = marks.filter(pa.array(known))
        if _is_text(marks.type):
            return values[known], np.array(marks.to_pylist(), dtype=str)
        return values[known], marks.to_numpy(zero_copy_only=False)

    def _check_degrees(self, values: Array, first_row: int) -> None:
        for name, (angle, low, high) in self.degrees.items():
            column = values[:, self.inputs.index(name)]
            outside = np.flatnonzero((column < low) | (column > high))
            if len(outside):
                raise CommandError(
                    f"Row {first_row + outside[0] + 1} (counted from 1, without the header) of "
                    f"{self.table.path} has {column[outside[0]]:g} in column {name!r}, which is "
                    f"not a {angle}: those are degrees from {low} to {high}. Are --lat and --lon "
                    "swapped? If not, correct or remove such rows."
                )


class TableRows:
    """Blocks (X, y) of the rows of a table; every iteration reads the file anew.

    Classes in text that are all whole numbers become numbers, in every pass after the first.

    Attributes
    ----------
    inputs : list of str
        The columns of X.
    n_rows, n_dropped : int
        Rows with and without missing values, known after a pass.
    advance : callable
        Is told how many rows were read.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._whole = False
        self.inputs = columns.inputs
        self.n_rows = self.n_dropped = 0
        self.advance: Callable[[int], None] = lambda rows: None

    def __iter__(self) -> Iterator[tuple[Array, Any]]:
        first = n_rows = 0
        whole = True
        for batch in self._columns.table.batches(self._columns.names):
            X, y = self._columns.parse(batch, first)
            whole = whole and whole_numbers(y) is not None
            yield X, self.classes(y)
            first += batch.num_rows
            n_rows += len(X)
            self.advance(batch.num_rows)
        if not n_rows:
            raise CommandError(
                f"Every row of {self._columns.table.path} lacks a number: there is nothing to "
                "learn."
            )
        self.n_rows, self.n_dropped, self._whole = n_rows, first - n_rows, whole

    def classes(self, y: Any) -> Any:
        """Targets as they are, or text as numbers if a whole pass found nothing else."""
        return whole_numbers(y) if self._whole else y


def whole_numbers(y: Any) -> Array | None:
    """Labels in text that all say whole numbers as such, else None.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.cli.read import whole_numbers
    >>> whole_numbers(np.array(["12", "-3"]))
    array([12, -3])
    >>> whole_numbers(np.array(["12", "0x1F"])) is None
    True
    """
    if y is None or y.dtype.kind != "U":
        return None
    text = pa.array(y)
    # Arrow by itself takes 0x1F for 31.
    if not pc.all(pc.match_substring_regex(text, "^-?[0-9]+$"), min_count=0).as_py():
        return None
    try:
        return np.asarray(pc.cast(text, pa.int64()))
    except pa.ArrowInvalid:  # beyond 64 bits
        return None


def read_rows(
    table: Table, *, advance: Callable[[int], None] = lambda rows: None, **options: Any
) -> Rows:
    """All rows of a table in memory.

    Parameters
    ----------
    table : Table
    advance : callable
        Is told how many rows were read.
    **options
        As `Columns.of` takes them.
    """
    rows = TableRows(Columns.of(table, **options))
    rows.advance = advance
    parts = list(rows)
    X = np.concatenate([part for part, _ in parts])
    y = None
    if options.get("target") is not None:
        y = rows.classes(np.concatenate([part for _, part in parts]))
    return Rows(X, y, rows.inputs, rows.n_dropped)


def numbers(table: Table, batch: Any, columns: list[str], first_row: int = 0) -> Array:
    """Columns of a batch as numbers [b, d], with NaN for what is missing.

    float32 if no column is more precise than that in the file, else float64.
    """
    out = np.empty((batch.num_rows, len(columns)), _dtype(table, columns))
    for number, name in enumerate(columns):
        out[:, number] = _as_numbers(table, name, batch.column(name), first_row)
    return out


def _dtype(table: Table, columns: list[str]) -> Any:
    small = all(_is_small(table.types[name]) for name in columns)
    return np.dtype(np.float32 if small else np.float64)


def _is_small(kind: Any) -> bool:
    narrow = (pa.float32(), pa.float16(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
    return kind in narrow or pa.types.is_boolean(kind)


def _is_text(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _tidy(column: Any) -> Any:
    """A column without a dictionary; text without spaces around it, null if nothing is left."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not _is_text(column.type):
        return column
    text = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)


def _not_numbers(path: Path, name: str, kind: Any) -> CommandError:
    return CommandError(
        f"Column {name!r} of {path} holds values of type {kind}, not numbers. Convert it, or leave "
        f"it out with --ignore {name!r}."
    )


def _as_numbers(table: Table, name: str, column: Any, first_row: int) -> Array:
    column = _tidy(column)
    kind = column.type
    if _is_text(kind):
        if not _is_numeric(column):
            row = _first_text(column)
            raise CommandError(
                f"Column {name!r} of {table.path} must hold numbers, but row {first_row + row + 1} "
                f"(counted from 1, without the header) holds {column[row].as_py()!r}. Correct it, "
                f"or leave the column out with --ignore {name!r}."
            )
    elif not (
        pa.types.is_floating(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        raise _not_numbers(table.path, name, kind)
    if pa.types.is_boolean(kind):
        column = pc.cast(column, pa.int8())
    # Whole numbers above 2^53, such as times in nanoseconds, are rounded: that is not an error.
    column = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _is_numeric(text: Any) -> bool:
    try:
        pc.cast(text, pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _first_text(text: Any) -> int:
    """The first row of a column that is not a number, by bisection."""
    low, high = 0, len(text)  # all rows below `low` are numbers, some row below `high` is not
    while high - low > 1:
        middle = (low + high) // 2
        if _is_numeric(text.slice(low, middle - low)):
            low = middle
        else:
            high = middle
    return low


def check_complete(
    table: Table, batch: Any, values: Array, columns: list[str], first_row: int, advice: str = ""
) -> None:
    """Name the first row of a batch in which a number is missing or infinite."""
    known = np.isfinite(values).all(axis=1)
    if known.all():
        return
    row = int(np.argmin(known))
    name = columns[int(np.argmin(np.isfinite(values[row])))]
    value = batch.column(name)[row].as_py()
    found = "nothing" if value is None else repr(value)
    raise CommandError(
        f"Row {first_row + row + 1} (counted from 1, without the header) of {table.path} has "
        f"{found} in column {name!r}, where a finite number must be. Fill it{advice}."
    )
