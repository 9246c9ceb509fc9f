"""``zonal predict``: predictions for a table, batch by batch."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from .._typing import Array
from . import options as opt
from .console import Screen
from .errors import CommandError
from .model import columns_of, load_model
from .std import std_of
from .tables import Table, open_table
from .values import check_complete, numbers
from .write import check_table_name, outputs, table_writer

__all__ = ["predict", "write_columns"]

ADVICE = ", or leave the prediction of such rows empty with --drop-missing"


def predict(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="What zonal fit has saved.", show_default=False),
    ],
    data: opt.Data,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Where the predictions go: .parquet or .csv, one row for each of DATA.",
            show_default=False,
        ),
    ],
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="Add a column std: the standard deviation of the predicted function (without the "
            "noise of observations).",
        ),
    ] = False,
    keep: opt.Keep = None,
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing",
            help="Leave the prediction of rows with missing values empty.",
            rich_help_panel=opt.TABLE,
        ),
    ] = False,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Predict the rows of a table with a saved model.

    DATA is read, predicted and written in batches, so that it may be larger than memory. The output
    has the column `prediction`.

    For example:

    - `zonal predict houses.zonal new.parquet --out predicted.parquet --std --keep id`
    """
    screen = Screen(as_json)
    check_table_name(out)
    with outputs(out, force=force) as (path,):
        fitted = load_model(model)
        spread = std_of(fitted) if std else None

        def columns(X: Array) -> dict[str, Array]:
            found = {"prediction": fitted.predict(X)}
            return {**found, "std": spread(X)} if spread else found

        table = open_table(data)
        with screen.stage("Predicting", table.n_rows) as advance:
            n_rows = write_columns(
                path,
                table,
                columns_of(fitted),
                keep or [],
                columns,
                advance,
                drop_missing=drop_missing,
            )
    screen.note(f"{n_rows:,} predictions: {out}")
    screen.finish({"model": str(model), "data": str(data), "rows": n_rows, "out": str(out)})


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
        Is told how many rows were written.
    drop_missing : bool
        Leave the new columns of rows with missing values empty, instead of complaining.
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
            X = numbers(table, batch, inputs, n_rows)
            if not drop_missing:
                check_complete(table, batch, X, inputs, n_rows, ADVICE)
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
    """Values of the rows that are known, with null for the others."""
    places = np.where(known, np.cumsum(known) - 1, 0)
    return values if known.all() else values.take(pa.array(places, mask=~known))
