"""Tables that commands write: new columns beside those of a table that is read."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from .._typing import Array
from ..features.columns.table.reader import CellError
from ..tables import Table, TableError
from ..tables.frames import frame_of
from ..tables.survey import survey_columns
from ..tables.values import check_complete, numbers, tidy
from .errors import ADVICE, CommandError
from .spreadsheet import SafeCsvWriter
from .standard import is_standard

__all__ = ["check_table_name", "table_writer", "write_columns"]

WRITERS = {
    ".csv": SafeCsvWriter,
    ".parquet": pa.parquet.ParquetWriter,
    ".pq": pa.parquet.ParquetWriter,
}
EMPTY = "leave the prediction of such rows empty with --drop-missing"


def check_table_name(path: Path) -> None:
    """Raise an error for an output table whose name does not say Parquet or CSV."""
    if path.suffix.lower() not in WRITERS and not is_standard(path):
        raise CommandError(
            f"{path} cannot be written: its name must end in {', '.join(WRITERS)}, not "
            f"{path.suffix!r}; - is standard output."
        )


def table_writer(path: Path, schema: pa.Schema) -> Any:
    """Return a context with ``write_batch``, for Parquet or CSV by the file's name."""
    return WRITERS[path.suffix.lower()](path, schema)


def write_columns(
    path: Path,
    table: Table,
    inputs: dict[str, str],
    keep: list[str],
    columns: Callable[[Any], dict[str, Array]],
    advance: Callable[[int], None],
    *,
    kinds: Mapping[str, str] | None = None,
    named: bool = True,
    drop_missing: bool = False,
) -> int:
    """Write new columns for all rows of a table, beside those to keep; return how many rows.

    Parameters
    ----------
    path : path
        The output, Parquet or CSV by its name.
    table : Table
        The input.
    inputs : dict of str to str
        The columns of X, and what they are called in the table.
    keep : list of str
        Columns that are copied.
    columns : callable
        From rows X, an array or a frame, to the new columns, by name.
    advance : callable
        Called with the number of rows written, after each batch.
    kinds : mapping of str to str, optional
        What the inputs of a model of words and gaps hold. None: numbers, without gaps.
    named : bool
        Whether X are frames. Rows of numbers may be arrays.
    drop_missing : bool
        Leave the new columns of rows with missing values empty, instead of raising an error.
    """
    sources = list(inputs.values())
    for name in sources:
        table.check(name, "input column")
    for name in keep:
        table.check(name)
    types = _kept_types(path, table, keep)
    n_rows, writer = 0, None
    try:
        for batch in table.batches(list(dict.fromkeys([*sources, *keep]))):
            if not batch.num_rows:
                continue
            X, known = _rows(table, batch, inputs, n_rows, kinds, drop_missing)
            X = X if named else np.asarray(X)
            new = _explained(columns, X if known.all() else X[known], table, n_rows)
            clash = sorted(set(keep) & set(new))
            if clash:
                raise CommandError(f"--keep {clash[0]} is the name of a column that is made here.")
            kept = {name: _typed(batch.column(name), types.get(name)) for name in keep}
            made = {name: _with_gaps(pa.array(values), known) for name, values in new.items()}
            part = pa.record_batch({**kept, **made})
            if writer is None:
                writer = table_writer(path, part.schema)
            writer.write_batch(part)
            n_rows += batch.num_rows
            advance(batch.num_rows)
    finally:
        if writer is not None:
            writer.close()
    return n_rows


def _rows(
    table: Table,
    batch: Any,
    inputs: dict[str, str],
    first_row: int,
    kinds: Mapping[str, str] | None,
    drop_missing: bool,
) -> tuple[Any, Array]:
    """Return the rows of a batch as a frame, and which of them are predicted."""
    sources = list(inputs.values())
    if kinds is None:
        X = numbers(table, batch, sources, first_row, ADVICE)
        if not drop_missing:
            check_complete(table, batch, X, sources, first_row, EMPTY)
        return pd.DataFrame(X, columns=list(inputs)), np.asarray(np.isfinite(X).all(axis=1))
    numeric = [source for name, source in inputs.items() if kinds.get(name) == "number"]
    frame = frame_of(batch, sources, numeric).set_axis(list(inputs), axis=1)
    if not drop_missing:
        return frame, np.ones(len(frame), dtype=bool)
    return frame, ~frame.isna().to_numpy().any(axis=1)


def _explained(
    columns: Callable[[Any], dict[str, Array]], X: Any, table: Table, first_row: int
) -> dict[str, Array]:
    """Make the new columns; a cell that cannot be read is named by its row in the table."""
    try:
        return columns(X)
    except CellError as error:
        row = first_row + (int(X.index[error.row]) if hasattr(X, "index") else error.row)
        raise TableError(
            f"Column {error.column!r} of {table.path} must hold {error.kind}, as it did in the fit,"
            f" but row {row + 1} (counted from 1, without the header) holds {error.value!r}. "
            "Correct it, or leave the cell empty."
        ) from error


def _kept_types(path: Path, table: Table, keep: list[str]) -> dict[str, Any]:
    """Return the types that columns of CSV have in Parquet, where text would be a loss."""
    if table.kind != "csv" or path.suffix.lower() == ".csv" or not keep:
        return {}
    types = {}
    for name, column in survey_columns(table, keep).items():
        if column.plain and column.n_missing < column.n_rows:
            whole = column.n_whole == column.n_rows - column.n_missing
            types[name] = pa.int64() if whole and abs(column.high) < 2**53 else pa.float64()
    return types


def _typed(column: Any, kind: Any) -> Any:
    if kind is None:
        return column
    # By way of float64, since 1.0 is a whole number too.
    return pa.compute.cast(pa.compute.cast(tidy(column), pa.float64()), kind)


def _with_gaps(values: Any, known: Array) -> Any:
    """Return the values of the rows that are known, with null for the others."""
    places = np.where(known, np.cumsum(known) - 1, 0)
    return values if known.all() else values.take(pa.array(places, mask=~known))
