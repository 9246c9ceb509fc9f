"""``zonal predict``: predictions for a table, batch by batch."""

from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.base import is_classifier, is_regressor

from ..._typing import Array
from ...grid.files import is_grid_file
from ...learners import KernelGLM
from ...tables import open_table
from .. import options as opt
from ..console import Screen
from ..errors import CommandError
from ..grids import check_map_name
from ..mapping import MapRequest, predict_map
from ..models import found_inputs, kinds_of, load_grid_model, load_model
from ..outputs import outputs
from ..responses import AtParts
from ..standard import is_standard, spooled
from ..writing import check_table_name, write_columns

__all__ = ["predict"]

# What predictions are of, in a table that lacks a column of the fit.
PARTS = {
    "exposure": "predictions are those of an exposure of one",
    "offset": "predictions are those of an offset of zero",
    "trials": "predictions are those of one trial",
}


def predict(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="What zonal fit has saved.", show_default=False),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Where the predictions go: .parquet or .csv, one row for each of DATA, - is "
            "standard output; a map goes to .nc, .tif or .png.",
            show_default=False,
        ),
    ],
    data: opt.DataOrGrid = None,
    grid: opt.GridStep = None,
    extent: opt.Extent = None,
    time: opt.MapTime = None,
    values: opt.MapValues = None,
    rename: opt.MapRename = None,
    max_distance: opt.MaxDistance = None,
    coastlines: opt.Coastlines = False,
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="Add a column std: the standard deviation of the predicted function (without the "
            "noise of observations).",
        ),
    ] = False,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", help="Add a column with the probability of each class: probability_CLASS."
        ),
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Add the columns lower and upper: an interval that holds this share of new "
            "observations, such as 0.9. A map has them anyway, of 0.9 if nothing is said.",
            show_default=False,
        ),
    ] = None,
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
    yes: opt.Yes = False,
    as_json: opt.Json = False,
) -> None:
    """Predict the rows of a table with a saved model, or a map.

    DATA is read, predicted and written in batches, so that it may be larger than memory. The output
    has the column `prediction`. Words that the fit has not seen and gaps are predicted too, if the
    table of the fit had words or gaps. The column of exposures that a fit of counts had is used if
    DATA has it.

    For example:

    - `zonal predict houses.zonal new.parquet --out predicted.parquet --std --keep id`

    - `zonal predict houses.zonal new.csv --out predicted.csv --interval 0.9`

    - `zonal predict sst.zonal --grid 0.25 --time 2020-06-15 --out map.nc`

    - `zonal predict stations.zonal terrain.nc --time 2020-07-15 --set kind=urban --out map.nc`
    """
    screen = Screen(as_json)
    is_map = grid is not None or (data is not None and is_grid_file(data))
    _check_kind(
        is_map,
        {"--proba": proba, "--keep": keep, "--drop-missing": drop_missing},
        {"--extent": extent, "--time": time, "--set": values, "--max-distance": max_distance},
    )
    if is_map:
        check_map_name(out)
        with outputs(out, force=force) as (path,):
            fitted = load_grid_model(model)
            asked = MapRequest(
                out, data, grid, extent, time, values, rename,
                0.9 if interval is None else interval, yes, coastlines, max_distance,
            )  # fmt: skip
            n_cells = predict_map(fitted, path, asked, screen)
        screen.note(f"{n_cells:,} cells: {out}")
        screen.finish({"model": str(model), "cells": n_cells, "out": str(out)})
        return
    if data is None:
        raise CommandError("Name a table to predict, or give --grid STEP for a map.")
    check_table_name(out)
    if is_standard(out) and as_json:
        raise CommandError("--out - and --json both write to standard output: choose one.")
    data = spooled(data)
    with outputs(out, force=force) as (path,):
        fitted = load_model(model)
        _check_asked(fitted, std=std, proba=proba, interval=interval)
        table = open_table(data)
        inputs, kinds = found_inputs(fitted, table, screen), kinds_of(fitted)
        named = hasattr(fitted, "feature_names_in_")
        part = fitted.table_.get("part_column")
        if part is not None and part in table.types:
            fitted = AtParts(fitted, fitted.table_["part"], part)
            inputs, named = {**inputs, part: part}, True
            kinds = None if kinds is None else {**kinds, part: "number"}
        elif part is not None:
            screen.note(f"{data} has no column {part!r}: {PARTS[fitted.table_['part']]}.")

        def columns(X: Any) -> dict[str, Array]:
            found = fitted.predict(X, return_std=True) if std else (fitted.predict(X),)
            made = dict(zip(("prediction", "std"), found, strict=False))
            if proba:
                names = (f"probability_{label}" for label in fitted.classes_)
                made |= dict(zip(names, fitted.predict_proba(X).T, strict=True))
            if interval is not None:
                ends = fitted.predict_interval(X, interval)
                made |= dict(zip(("lower", "upper"), ends, strict=True))
            return made

        with screen.stage("Predicting", table.n_rows) as advance:
            n_rows = write_columns(
                path,
                table,
                inputs,
                keep or [],
                columns,
                advance,
                kinds=kinds,
                named=named,
                drop_missing=drop_missing,
            )
    screen.note(f"{n_rows:,} predictions: {out}")
    screen.finish({"model": str(model), "data": str(data), "rows": n_rows, "out": str(out)})


def _check_kind(is_map: bool, of_tables: dict[str, Any], of_maps: dict[str, Any]) -> None:
    """Raise an error for options that mean nothing for a map, or for a table."""
    asked = [name for name, value in (of_tables if is_map else of_maps).items() if value]
    if asked and is_map:
        raise CommandError(f"{asked[0]} is for tables: leave it out to predict a map.")
    if asked:
        raise CommandError(f"{asked[0]} is for maps: give --grid STEP, or leave it out.")


def _check_asked(model: Any, *, std: bool, proba: bool, interval: float | None) -> None:
    """Raise an error for what a model does not know."""
    name = type(model).__name__
    if std and not is_regressor(model):
        raise CommandError(f"--std needs a regression model; this one is a {name}.")
    if std and isinstance(model, KernelGLM):
        raise CommandError(
            "--std is for models by least squares; this one has a likelihood: use --interval."
        )
    if proba and not is_classifier(model):
        raise CommandError(f"--proba needs a model of classes; this one is a {name}.")
    if interval is None:
        return
    if not 0 < interval < 1:
        raise CommandError(f"--interval {interval:g} must be between 0 and 1, such as 0.9.")
    if not hasattr(model, "predict_interval"):
        raise CommandError(f"--interval needs a regression model; this one is a {name}.")
