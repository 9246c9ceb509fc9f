"""``zonal draw``: whole maps drawn from the posterior of a model."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ...grid import sample_grid
from ...grid.files import NETCDF
from ...grid.prediction import grid_of
from .. import options as opt
from ..console import Screen
from ..errors import CommandError
from ..map_sizes import check_bytes
from ..mapping import (
    MapRequest,
    box_of,
    in_options,
    moment_of,
    open_map,
    pairs_of,
    renamed_grid,
)
from ..models import load_grid_model
from ..outputs import outputs

__all__ = ["draw"]


def draw(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="What zonal fit has saved.", show_default=False),
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Where the maps go: .nc.", show_default=False),
    ],
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[GRID]",
            help="A grid to take: NetCDF (.nc) or GeoTIFF (.tif).",
            show_default=False,
        ),
    ] = None,
    grid: opt.GridStep = None,
    extent: opt.Extent = None,
    time: opt.MapTime = None,
    values: opt.MapValues = None,
    rename: opt.MapRename = None,
    draws: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="How many maps.", rich_help_panel=opt.MAP),
    ] = 10,
    noise: Annotated[
        bool,
        typer.Option(
            "--noise",
            help="Add the noise of observations, independent in each cell.",
            rich_help_panel=opt.MAP,
        ),
    ] = False,
    seed: opt.Seed = 0,
    force: opt.Force = False,
    yes: opt.Yes = False,
    as_json: opt.Json = False,
) -> None:
    """Draw whole maps from the posterior of a model.

    Each map is one that the data allow: what cells have in common is in it, so that its mean over
    a region, its maximum or the share of it above a threshold are draws of these. The output has
    the dimension `draw`; the same seed gives the same maps.

    For example:

    - `zonal draw sst.zonal --grid 1 --draws 100 --out draws.nc`
    """
    screen = Screen(as_json)
    if out.suffix.lower() not in NETCDF:
        raise CommandError(
            f"{out} cannot be written: draws go into NetCDF, so the name must end in .nc, not "
            f"{out.suffix!r}."
        )
    if (data is None) == (grid is None):
        raise CommandError("Give either a GRID to take or --grid STEP for a map.")
    with outputs(out, force=force) as (path,):
        fitted = load_grid_model(model)
        asked = MapRequest(out, data, grid, extent, time, values, rename, yes=yes)
        options = _options(fitted, asked)
        n_cells = math.prod(options["like"].sizes.values()) * len(time or [0])
        check_bytes(
            "All maps together", n_cells, 8.0 * n_cells * draws, yes=yes,
            advice="Choose a wider --grid, a smaller --extent or fewer --draws.",
        )  # fmt: skip
        with screen.stage("Drawing"), in_options():
            found = sample_grid(fitted, n_samples=draws, random_state=seed, noise=noise, **options)
        found.to_dataset().to_netcdf(path)
    screen.note(f"{draws:,} maps of {found[0].size:,} cells: {out}")
    result = {"model": str(model), "draws": draws, "cells": found[0].size, "out": str(out)}
    screen.finish(result)


def _options(model: Any, asked: MapRequest) -> dict[str, Any]:
    """Return what `sample_grid` takes for a map that was asked for."""
    when = None if not asked.time else [moment_of(text) for text in asked.time]
    options: dict[str, Any] = {"at": pairs_of("--set", asked.values)}
    if asked.like is not None:
        if asked.extent:
            raise CommandError(f"{asked.like} is a whole grid: leave --extent out.")
        return options | {"like": renamed_grid(open_map(asked.like), asked), "time": when}
    if asked.rename:
        raise CommandError("--rename is for the variables of a grid: name its file.")
    west, south, east, north = box_of(asked.extent, model, asked.resolution)
    grid, _ = grid_of((south, north), (west, east), None, asked.resolution)
    return options | {"like": grid, "time": when}
