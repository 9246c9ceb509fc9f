"""``zonal predict`` on a grid: from options to a map in a file."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._suggestions import near
from ..grid import predict_grid
from ..grid.cells import CHUNK_CELLS
from ..grid.extent import GLOBE, region_of
from ..grid.files import check_holds, open_grid, write_grid
from ..grid.matching import MissingColumns, columns_of
from ..grid.optional import library
from ..grid.prediction import grid_of
from .console import Screen
from .errors import CommandError
from .map_sizes import announce_map, thinned

__all__ = [
    "RESULT_BYTES",
    "MapRequest",
    "box_of",
    "in_options",
    "moment_of",
    "open_map",
    "pairs_of",
    "predict_map",
    "renamed_grid",
]

# Of a cell: prediction, standard deviation and two ends, in float64.
RESULT_BYTES = 32.0


@dataclass(frozen=True)
class MapRequest:
    """A map as the options ask for it.

    Attributes
    ----------
    out : path
        Where it goes; the ending tells how.
    like : path or None
        A file whose grid is taken.
    resolution : float or None
        The step of a grid of latitudes and longitudes.
    extent : str or None
        West, south, east and north of it, or "globe"; the region of the data if None.
    time : list of str or None
        Dates, or numbers as the model knows them.
    values : list of str or None
        Columns that are the same everywhere: ``name=value``.
    rename : list of str or None
        Variables of the file under the names of columns: ``old=new``.
    coverage : float
        The probability of the intervals.
    yes : bool
        Whether a large map is wanted.
    coastlines : bool
        Whether a picture has coasts.
    max_distance : float or None
        Kilometres beyond which cells stay empty.
    """

    out: Path
    like: Path | None = None
    resolution: float | None = None
    extent: str | None = None
    time: list[str] | None = None
    values: list[str] | None = None
    rename: list[str] | None = None
    coverage: float = 0.9
    yes: bool = False
    coastlines: bool = False
    max_distance: float | None = None


def predict_map(model: Any, path: Path, asked: MapRequest, screen: Screen) -> int:
    """Predict on a grid and write it, chunk by chunk; return the number of cells.

    Parameters
    ----------
    model : fitted regressor
    path : path
        The file to write, which becomes ``asked.out``.
    asked : MapRequest
    screen : Screen
    """
    options: dict[str, Any] = {
        "coverage": asked.coverage,
        "at": pairs_of("--set", asked.values),
        "max_distance": asked.max_distance,
    }
    when = None if not asked.time else [moment_of(text) for text in asked.time]
    if asked.like is not None:
        if asked.extent or asked.resolution:
            raise CommandError(f"{asked.like} is a whole grid: leave --grid and --extent out.")
        grid = renamed_grid(open_map(asked.like), asked)
        options |= {"time": when}
        _note_unused(model, grid, asked.like, screen)
        dims = _answered(model, like=grid, **options)["prediction"].dims
    else:
        if asked.rename:
            raise CommandError("--rename is for the variables of a grid: name its file.")
        west, south, east, north = box_of(asked.extent, model, asked.resolution)
        grid, dims = grid_of((south, north), (west, east), when, asked.resolution)
        options |= {"chunks": "auto"}
        if when is not None:  # a model without a time is an error
            few = thinned(grid, dims, 1).drop_vars("time")
            _answered(model, like=few, time=when, **options)
    check_holds(asked.out, grid)
    sizes = {"time": len(when or [0]), **grid.sizes}
    n_cells = math.prod(sizes[dim] for dim in dims)

    def sample(count: int) -> Any:
        few = thinned(grid, [dim for dim in dims if dim in grid.dims], count)
        return _answered(model, like=few, **options).compute()["prediction"]

    announce_map(
        screen, "The map", n_cells, RESULT_BYTES * n_cells, sample, yes=asked.yes,
        advice="Choose a wider --grid or a smaller --extent.",
    )  # fmt: skip
    found = _answered(model, like=grid, **options)
    with screen.stage("Predicting", n_cells, "cells"):
        write_grid(found, path, coastlines=asked.coastlines)
    return n_cells


def open_map(path: Path) -> Any:
    """Open a grid in chunks of a moderate size, so that the file may be larger than memory."""
    with library("dask").config.set({"array.chunk-size": 8 * CHUNK_CELLS}):
        return open_grid(path, chunks="auto")


def _answered(model: Any, **options: Any) -> Any:
    """Predict on a grid; what is missing is asked for in the words of options."""
    with in_options():
        return predict_grid(model, **options)


@contextmanager
def in_options() -> Iterator[None]:
    """Ask for columns that a grid lacks in the words of options."""
    try:
        yield
    except MissingColumns as error:
        given = " ".join(f"--set {name}=..." for name in error.names)
        words = str(error).split(":")[0]
        raise CommandError(
            f"{words}: add {given} for what is the same everywhere, --time for a time, or name a "
            f"NetCDF or GeoTIFF file that holds {error.names[0]!r} (--rename if it has another "
            "name there)."
        ) from error


def pairs_of(option: str, texts: list[str] | None) -> dict[str, str]:
    """Return names and values of an option such as ``--set kind=urban``."""
    pairs = [text.partition("=") for text in texts or []]
    for name, sign, value in pairs:
        if not (name and sign and value):
            raise CommandError(
                f"{option} {name + sign + value!r} must be a name and a value, such as kind=urban."
            )
    return {name: value for name, _, value in pairs}


def renamed_grid(grid: Any, asked: MapRequest) -> Any:
    """Return a grid whose variables have the names that ``--rename`` gives them."""
    names = pairs_of("--rename", asked.rename)
    known = [str(name) for name in grid.variables]
    for name in names:
        if name not in known:
            raise CommandError(
                f"--rename {name}={names[name]}: {asked.like} has no variable {name!r}."
                f"{near(name, known)} Variables: {', '.join(map(repr, known))}."
            )
    return grid.rename(names)


def _note_unused(model: Any, grid: Any, path: Path, screen: Screen) -> None:
    columns = {name.lower() for name in columns_of(model) or []}
    labels = ("standard_name", "long_name")
    unused = [
        str(name)
        for name, values in grid.data_vars.items()
        if values.ndim
        and not {str(name).lower(), *(str(values.attrs.get(k, "")).lower() for k in labels)}
        & columns
    ]
    if unused:
        screen.note(f"Variables of {path} that the model does not use: {', '.join(unused)}.")


def box_of(extent: str | None, model: Any, step: float | None) -> Any:
    """Return west, south, east and north of a map."""
    if extent is None:
        return region_of(model, step or 1.0)
    if extent == "globe":
        return GLOBE
    try:
        numbers = [float(part) for part in extent.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 4:
        raise CommandError(
            f"--extent {extent!r} must be four numbers, west,south,east,north, such as "
            "5,45,15,55; or globe."
        )
    return numbers


def moment_of(text: str) -> Any:
    """Return a time as a number where it is one, else as text."""
    try:
        return float(text)
    except ValueError:
        return text
