"""Tables in files: CSV, Parquet and NPZ, in batches of rows, through pyarrow."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from .._typing import Array
from .errors import CommandError, near

__all__ = ["Rows", "Table", "check_complete", "numbers", "open_table", "read_rows"]

# Rows of Parquet and NPZ, and bytes of CSV, that are read at a time.
BATCH_ROWS = 1 << 16
BATCH_BYTES = 1 << 24
DELIMITERS = ",;\t|"
CSV_ENDINGS = (".csv", ".tsv", ".txt")
ADVICE = ", or leave such rows out with --drop-missing"
ENDINGS = (*CSV_ENDINGS, ".csv.gz", ".parquet", ".pq", ".npz")


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


def open_table(path: Path) -> Table:
    """Open a file and look at its columns, not yet at its rows."""
    if not path.exists():
        folder = path.parent
        others = [item.name for item in folder.iterdir()] if folder.is_dir() else []
        raise CommandError(f"There is no file {path}.{near(path.name, others)}")
    if path.is_dir():
        raise CommandError(f"{path} is a folder, not a file.")
    if path.stat().st_size == 0:
        raise CommandError(f"{path} is empty.")
    name = path.name.lower()
    try:
        if name.endswith((".parquet", ".pq")):
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


def _open_parquet(path: Path) -> Table:
    with pa.parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows

    def read(columns: list[str]) -> Iterator[Any]:
        with pa.parquet.ParquetFile(path) as file:
            yield from file.iter_batches(BATCH_ROWS, columns=columns)

    return Table(path, _types(path, schema.names, schema.types), n_rows, read)


def _open_csv(path: Path) -> Table:
    with pa.input_stream(path, compression="detect") as stream:
        header = stream.read(1 << 16).split(b"\n")[0].decode("utf-8-sig")
    parse = pa.csv.ParseOptions(delimiter=max(DELIMITERS, key=header.count))
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
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError) as error:
        raise CommandError(f"{path} is not a NumPy archive of plain arrays: {error}") from error
    columns: dict[str, Array] = {}
    n_rows = max((len(array) for array in arrays.values() if array.ndim > 0), default=0)
    for name, array in arrays.items():
        if array.ndim == 1 and len(array) == n_rows:
            columns[name] = array
        elif array.ndim == 2 and len(array) == n_rows:
            named = arrays.get("feature_names", np.empty(0)).astype(str).tolist()
            if len(named) != array.shape[1]:
                named = [f"{name}{number}" for number in range(array.shape[1])]
            columns.update(zip(named, array.T, strict=True))
    table = pa.table({name: np.ascontiguousarray(array) for name, array in columns.items()})

    def read(columns: list[str]) -> Iterator[Any]:
        yield from table.select(columns).to_batches(BATCH_ROWS)

    return Table(path, dict(zip(table.column_names, table.schema.types, strict=True)), n_rows, read)


def _types(path: Path, names: list[str], types: list[Any]) -> dict[str, Any]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CommandError(
            f"{path} has several columns of one name: {', '.join(map(repr, twice))}. Rename them."
        )
    return dict(zip(names, types, strict=True))


def read_rows(
    table: Table,
    *,
    inputs: list[str] | None = None,
    ignore: list[str] | None = None,
    target: str | None = None,
    labels: bool = False,
    drop_missing: bool = False,
    advance: Callable[[int], None] = lambda rows: None,
) -> Rows:
    """Read numbers for learning.

    Parameters
    ----------
    table : Table
    inputs : list of str, optional
        The columns of X; by default all but `target` and those of `ignore`.
    target : str, optional
        The column of y.
    labels : bool
        Whether y are classes, which may be text, and not numbers.
    drop_missing : bool
        Leave out rows in which a number is missing, instead of complaining.
    advance : callable
        Is told how many rows were read.
    """
    if target is not None:
        table.check(target, "target column")
    left_out = [table.check(name) for name in ignore or []] + ([target] if target else [])
    chosen = [table.check(name) for name in inputs or table.types if inputs or name not in left_out]
    if target in chosen:
        raise CommandError(f"The target {target!r} is among the inputs: leave it out of --input.")
    if not chosen:
        raise CommandError(
            f"{table.path} has no column left to learn from: its columns are "
            f"{', '.join(map(repr, table.types))}."
        )
    columns = [*chosen, target] if target else chosen
    parts: list[tuple[Array, Any]] = []
    first = n_dropped = 0
    for batch in table.batches(columns):
        numeric = chosen if labels or target is None else columns
        values = numbers(table, batch, numeric, first)
        if not drop_missing:
            check_complete(table, batch, values, numeric, first, ADVICE)
        known = np.isfinite(values).all(axis=1)
        marks = None
        if labels and target:
            marks = _labels(batch.column(target))
            present = marks.is_valid().to_numpy(zero_copy_only=False)
            if not drop_missing and not present.all():
                raise CommandError(
                    f"Row {first + int(np.argmin(present)) + 1} (counted from 1, without the "
                    f"header) of {table.path} has no {target!r}. Fill it{ADVICE}."
                )
            known &= present
            marks = marks.filter(pa.array(known))
        parts.append((values if known.all() else values[known], marks))
        n_dropped += int((~known).sum())
        first += batch.num_rows
        advance(batch.num_rows)
    X = np.concatenate([values for values, _ in parts])
    if not len(X):
        raise CommandError(f"Every row of {table.path} lacks a number: there is nothing to learn.")
    if target is None:
        return Rows(X, None, chosen, n_dropped)
    if not labels:
        # Contiguous rows, which the last column would interrupt.
        return Rows(np.ascontiguousarray(X[:, :-1]), X[:, -1].copy(), chosen, n_dropped)
    return Rows(X, _as_classes(pa.chunked_array([marks for _, marks in parts])), chosen, n_dropped)


def numbers(table: Table, batch: Any, columns: list[str], first_row: int = 0) -> Array:
    """Columns of a batch as numbers [b, d], with NaN for what is missing.

    float32 if no column is more precise than that in the file, else float64.
    """
    small = all(_is_small(table.types[name]) for name in columns)
    out = np.empty((batch.num_rows, len(columns)), np.float32 if small else np.float64)
    for number, name in enumerate(columns):
        out[:, number] = _as_numbers(table, name, batch.column(name), first_row)
    return out


def _is_small(kind: Any) -> bool:
    narrow = (pa.float32(), pa.float16(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
    return kind in narrow or pa.types.is_boolean(kind)


def _is_text(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _as_numbers(table: Table, name: str, column: Any, first_row: int) -> Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if _is_text(kind):
        column = pc.utf8_trim_whitespace(column)
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
        raise CommandError(
            f"Column {name!r} of {table.path} holds values of type {kind}, not numbers. Convert "
            f"it, or leave it out with --ignore {name!r}."
        )
    if pa.types.is_boolean(kind):
        column = pc.cast(column, pa.int8())
    return np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False))


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


def _labels(column: Any) -> Any:
    """Classes of a batch; text and whole numbers stay what they are."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return pc.utf8_trim_whitespace(column) if _is_text(column.type) else column


def _as_classes(labels: Any) -> Array:
    """Classes of all rows, as numbers where the text of a CSV file says numbers."""
    if _is_text(labels.type):
        try:
            return np.asarray(pc.cast(labels, pa.int64()).to_numpy())
        except pa.ArrowInvalid:
            return np.array(labels.to_pylist(), dtype=str)
    return np.asarray(labels.to_numpy())


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
