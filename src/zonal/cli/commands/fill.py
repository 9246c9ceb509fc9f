"""``zonal fill``: a grid without holes, and how sure each value is."""

from pathlib import Path
from typing import Annotated

import typer

from ...grid import fill as fill_grid
from ...grid import fit as fit_grid
from ...grid.files import is_grid_file, open_grid, write_grid
from ...learners import KernelRidge
from ...persistence import save
from .. import options as opt
from ..console import Screen
from ..errors import CommandError
from ..grids import check_map_name
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
    as_json: opt.Json = False,
) -> None:
    """Fill the holes of a grid, with standard deviations and intervals.

    The output has the variables `prediction`, `std`, `lower` and `upper`, with CF attributes.
    Cells with a value keep it. Chunks are read, filled and written one after the other.

    For example:

    - `zonal fill sst.nc --target sst --out filled.nc --interval 0.9`

    - `zonal fill sst.nc --target sst --cv block:10deg --out filled.png`
    """
    screen = Screen(as_json)
    check_map_name(out)
    if not is_grid_file(data):
        raise CommandError(f"{data} is not a grid: give NetCDF (.nc) or GeoTIFF (.tif).")
    folds = parse_cv(cv)
    with outputs(out, save_model, force=force) as (path, model_path):
        grid = open_grid(data, chunks={})
        wanted = None
        if where is not None:
            if where not in grid:
                raise CommandError(f"{data} has no variable {where!r} for --where.")
            wanted = grid[where].fillna(0) != 0
        options = {"covariates": inputs or (), "crs": crs}
        if model is not None:
            fitted = load_grid_model(model)
        else:
            learner = KernelRidge(
                cv=folds or 2,
                local=None if local is LocalPart.NONE else "auto",
                budget=budget,
                time_limit=time_limit,
                random_state=seed,
            )
            with screen.stage("Fitting"):
                fitted = fit_grid(grid, target, model=learner, **options)
        with screen.stage("Filling"):
            filled = fill_grid(
                grid, target, model=fitted, where=wanted, coverage=interval, **options
            )
            write_grid(filled, path)
        if save_model is not None:
            save(fitted, model_path)
    n_cells = int(filled["prediction"].size)
    screen.note(f"{n_cells:,} cells: {out}")
    screen.finish(
        {"data": data, "target": target, "cells": n_cells, "known": fitted.n_rows_, "out": out}
        if model is None
        else {"data": data, "target": target, "cells": n_cells, "model": model, "out": out}
    )
