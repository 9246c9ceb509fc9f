"""``zonal fill``: a grid without holes, and how sure each value is."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ..._suggestions import near
from ...grid import fill as fill_grid
from ...grid import fit as fit_grid
from ...grid import predict_grid
from ...grid.cells import Field, as_dataset
from ...grid.checking import HiddenCheck, check_holes
from ...grid.files import check_holds, is_grid_file, packing_of, write_grid
from ...grid.filling import own_covariates
from ...grid.masks import mask_of
from ...grid.nearness import check_distance
from ...learners import KernelRidge
from ...persistence import save
from .. import options as opt
from ..console import Screen
from ..errors import CommandError
from ..grids import check_map_name
from ..map_sizes import announce_map, check_bytes, thinned
from ..mapping import RESULT_BYTES, open_map
from ..models import LocalPart, load_grid_model
from ..outputs import outputs
from ..validation import parse_cv

__all__ = ["fill"]


def fill(
    data: Annotated[
        Path,
        typer.Argument(metavar="GRID", help="NetCDF or GeoTIFF.", show_default=False),
    ],
    target: Annotated[
        str,
        typer.Option(metavar="VAR", help="The variable to fill.", rich_help_panel=opt.TABLE),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Where the filled grid goes: .nc, .tif, or a picture (.png).",
            show_default=False,
        ),
    ],
    interval: opt.Interval = 0.9,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            "-i",
            metavar="VAR",
            help="Another variable to learn from, such as a height; repeat it for more.",
            rich_help_panel=opt.TABLE,
            show_default=False,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="VAR",
            help="A variable that is not 0 in the cells that are wanted, such as a mask of the "
            "sea. All cells if left out.",
            rich_help_panel=opt.TABLE,
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="A model that zonal fit has saved; else one is fitted to the cells with a value.",
            rich_help_panel=opt.MODEL,
            show_default=False,
        ),
    ] = None,
    cv: opt.Cv = None,
    budget: opt.Budget = 1024,
    local: opt.Local = LocalPart.AUTO,
    crs: opt.Crs = None,
    keep_name: Annotated[
        bool,
        typer.Option(
            "--keep-name",
            help="Call the variables VAR, VAR_std, VAR_lower and VAR_upper.",
            rich_help_panel=opt.OUTPUTS,
        ),
    ] = False,
    packed: Annotated[
        bool,
        typer.Option(
            "--packed",
            help="Pack values into integers as the file does (scale_factor, add_offset); std "
            "stays a number.",
            rich_help_panel=opt.OUTPUTS,
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Hide known cells in the shape of the holes and say how well they are found: "
            "about a third of the time of the fit.",
            rich_help_panel=opt.RUN,
        ),
    ] = True,
    max_distance: opt.MaxDistance = None,
    coastlines: opt.Coastlines = False,
    save_model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the fitted model goes.",
            rich_help_panel=opt.OUTPUTS,
            show_default=False,
        ),
    ] = None,
    time_limit: opt.TimeLimit = None,
    seed: opt.Seed = 0,
    force: opt.Force = False,
    yes: opt.Yes = False,
    as_json: opt.Json = False,
) -> None:
    """Fill the holes of a grid, with standard deviations and intervals.

    The output has the variables `prediction`, `std`, `lower` and `upper`, with CF attributes.
    Cells with a value keep it. Chunks are read, filled and written one after the other.

    For example:

    - `zonal fill sst.nc --target sst --out filled.nc --interval 0.9`

    - `zonal fill sst.nc --target sst --cv block:10deg --out filled.png --coastlines`
    """
    screen = Screen(as_json)
    check_map_name(out)
    if not is_grid_file(data):
        raise CommandError(f"{data} is not a grid: give NetCDF (.nc) or GeoTIFF (.tif).")
    folds = parse_cv(cv)
    if max_distance is not None:
        check_distance(max_distance)
    with outputs(out, save_model, force=force) as (path, model_path):
        grid = as_dataset(open_map(data))
        fitted = None if model is None else load_grid_model(model)
        covariates = inputs or (() if fitted is None else own_covariates(fitted, grid, target))
        options = {"covariates": covariates, "crs": crs}
        field = Field.of(grid, target, covariates, crs, constant=True)
        wanted = _wanted(where, grid, field, data)
        packing = packing_of(grid[target]) if packed else None
        check_holds(out, field.values)
        n_cells = int(field.values.size)
        n_bytes = RESULT_BYTES * n_cells
        advice = "Take a part of the grid, or a coarser one."
        check_bytes("The filled grid", n_cells, n_bytes, yes=yes, advice=advice)
        if fitted is None:
            learner = KernelRidge(
                cv=folds or 2,
                local=None if local is LocalPart.NONE else "auto",
                budget=budget,
                time_limit=time_limit,
                random_state=seed,
            )
            with screen.stage("Fitting"):
                fitted = fit_grid(grid, target, model=learner, **options)
        found: HiddenCheck | str | None = None
        if check and model is None:
            with screen.stage("Checking"):
                found = check_holes(field, fitted, interval, wanted, seed)
        holes = _count_holes(field, wanted)

        def sample(count: int) -> Any:
            few = thinned(grid, field.cells.dims, count)
            return predict_grid(fitted, like=few, crs=crs).compute()["prediction"]

        # A model that took minutes is not thrown away for want of --yes.
        announce_map(
            screen, "What is filled", holes, n_bytes, sample, yes=True, advice=""
        )  # fmt: skip
        with screen.stage("Filling", n_cells, "cells"):
            filled = fill_grid(
                grid,
                target,
                model=fitted,
                where=wanted,
                coverage=interval,
                keep_name=keep_name,
                max_distance=max_distance,
                **options,
            )
            write_grid(filled, path, packing=packing, coastlines=coastlines)
        if save_model is not None:
            save(fitted, model_path)
    units = str(field.values.attrs.get("units", ""))
    screen.note(f"{n_cells:,} cells, {holes:,} of them filled: {out}")
    if found is not None:
        screen.note(_in_words(found, interval, units))
    result = {
        "data": data,
        "target": target,
        "cells": n_cells,
        "filled": holes,
        "check": asdict(found) if isinstance(found, HiddenCheck) else found,
        "out": out,
    }
    screen.finish({**result, **({"known": fitted.n_rows_} if model is None else {"model": model})})


def _wanted(where: str | None, grid: Any, field: Field, data: Path) -> Any:
    if where is None:
        return None
    if where not in grid:
        known = [str(name) for name in grid.variables]
        raise CommandError(
            f"{data} has no variable {where!r} for --where.{near(where, known)} Variables: "
            f"{', '.join(map(repr, known))}."
        )
    return mask_of(where, grid, field.cells.dims)


def _count_holes(field: Field, wanted: Any) -> int:
    """Count the cells without a value that are wanted, and whose covariates are known."""
    missing = field.values.isnull()
    for name in field.cells.covariates:
        missing = missing & field.cells.data[name].notnull()
    return int((missing if wanted is None else missing & wanted).sum())


def _in_words(found: HiddenCheck | str, interval: float, units: str) -> str:
    if isinstance(found, str):
        return f"How well holes are filled was not measured: {found}."
    return (
        f"Of the known cells {found.n_hidden:,} were hidden ({found.shape}) and found again with a "
        f"root mean squared error of {found.rmse:.3g}{' ' * bool(units)}{units}; "
        f"{found.inside:.0%} of them were inside their {interval:.0%} intervals."
    )
