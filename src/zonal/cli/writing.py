"""Tables that commands write: new columns beside those of a table that is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .._typing import Array
from ..tables import Table
from ..tables.values import check_complete, numbers
from .errors import ADVICE, CommandError

__all__ = ["check_table_name", "table_writer", "write_columns"]

WRITERS = {
    ".csv": pa.csv.CSVWriter,
    ".parquet": pa.parquet.ParquetWriter,
    ".pq": pa.parquet.ParquetWriter,
}
EMPTY = "leave the prediction of such rows empty with --drop-missing"


def check_table_name(path: Path) -> None:
    """Raise an error for an output table whose name does not say Parquet or CSV."""
    if path.suffix.lower() not in WRITERS:
        raise CommandError(
            f"{path} cannot be written: its name must end in {', '.join(WRITERS)}, not "
            f"{path.suffix!r}."
        )


def table_writer(path: Path, schema: pa.Schema) -> Any:
    """Return a context with ``write_batch``, for Parquet or CSV by the file's name."""
    return WRITERS[path.suffix.lower()](path, schema)


def write_columns(
    path: Path,
    table: Table,
    inputs: list[str],
    keep: list[str],
    columns: Callable[[Array], dict[str, Array]],
    advance: Callable[[int], None],
    *,
    drop_missing: bool = False,
) -> int:
    """Write new columns for all rows of a table, beside those to keep; return how many rows.

    Parameters
    ----------
    path : path
        The output, Parquet or CSV by its name.
    table : Table
        The input.
    inputs : list of str
        The columns of X.
    keep : list of str
        Columns that are copied.
    columns : callable
        From X [b, d] to the new columns, by name.
    advance : callable
        Called with the number of rows written, after each batch.
    drop_missing : bool
        Leave the new columns of rows with missing values empty, instead of raising an error.
    """
    for name in inputs:
        table.check(name, "input column")
    for name in keep:
        table.check(name)
    n_rows, writer = 0, None
    try:
        for batch in table.batches(list(dict.fromkeys([*inputs, *keep]))):
            if not batch.num_rows:
                continue
            X = numbers(table, batch, inputs, n_rows, ADVICE)
            if not drop_missing:
                check_complete(table, batch, X, inputs, n_rows, EMPTY)
            known = np.asarray(np.isfinite(X).all(axis=1))
            new = columns(X if known.all() else X[known])
            clash = sorted(set(keep) & set(new))
            if clash:
                raise CommandError(f"--keep {clash[0]} is the name of a column that is made here.")
            kept = {name: batch.column(name) for name in keep}
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


def _with_gaps(values: Any, known: Array) -> Any:
    """Return the values of the rows that are known, with null for the others."""
    places = np.where(known, np.cumsum(known) - 1, 0)
    return values if known.all() else values.take(pa.array(places, mask=~known))
