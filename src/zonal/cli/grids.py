"""Grids on the command line: the cells of a file as a table, and where predictions go."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..grid import predict_grid
from ..grid.cells import Field
from ..grid.files import MAP_ENDINGS, is_grid_file, open_grid, write_grid
from ..tables import Table, open_table
from ..tables.table import cut
from .errors import CommandError

__all__ = [
    "Place",
    "check_map_name",
    "check_numbers_only",
    "field_of",
    "grid_table",
    "open_rows",
    "predict_map",
]

# Rows of latitude that are predicted and written together.
MAP_ROWS = 64


def field_of(path: Path, target: str, covariates: Any = (), crs: Any = None) -> Field:
    """Open a variable of a file, in chunks, so that it may be larger than memory."""
    return Field.of(open_grid(path, chunks={}), target, tuple(covariates or ()), crs)


def grid_table(path: Path, grid: Field) -> Table:
    """Return the cells of a file that have a value as a table.

    Its columns are latitude, longitude, time and other axes, covariates and the target.

    Parameters
    ----------
    path : path
        What messages call it.
    grid : Field
        Of the file.
    """
    columns, target = grid.cells.columns, grid.target
    types = dict.fromkeys([*columns, target], pa.float64())

    def batches(names: list[str]) -> Iterator[Any]:
        for rows, y in grid:
            parts = {**{name: rows[name].to_numpy() for name in columns}, target: y}
            yield pa.record_batch([pa.array(parts[name]) for name in names], names=names)

    def read(names: list[str], batch_rows: int) -> Iterator[Any]:
        yield from cut(batches(names), batch_rows)

    return Table(str(path), "grid", [path], types, None, read)


@dataclass(frozen=True)
class Place:
    """Which columns say where a row is.

    Attributes
    ----------
    lat, lon : str or None
        Latitude and longitude; northing and easting with a `crs`.
    crs : str or None
    inputs : list of str or None
        The columns to learn from; None: all but the target.
    attrs : dict
        The attributes of the variable that is predicted, of a grid.
    """

    lat: str | None = None
    lon: str | None = None
    crs: str | None = None
    inputs: list[str] | None = None
    attrs: dict[str, str] = field(default_factory=dict)

    def columns(self, inputs: list[str]) -> tuple[int, int] | None:
        """Return the numbers of the columns of latitude and longitude among the inputs."""
        if self.lat is None or self.lon is None:
            return None
        return inputs.index(self.lat), inputs.index(self.lon)

    def notes(self) -> dict[str, Any]:
        """Return what a model has to know to draw maps."""
        if self.lat is None:
            return {}
        return {"place": [self.lat, self.lon], "crs": self.crs, "attrs": self.attrs}


def open_rows(
    path: Path,
    target: str,
    inputs: list[str] | None,
    lat: str | None,
    lon: str | None,
    crs: str | None,
) -> tuple[Table, Place]:
    """Open a table, or a grid as one, and tell which columns say where a row is.

    Parameters
    ----------
    path : path
    target : str
    inputs : list of str, optional
        Of a grid: variables to learn from, beside its axes.
    lat, lon : str, optional
        Columns of a table; those of a grid are known.
    crs : str, optional
        The projection of these columns, or of a grid whose file does not tell.
    """
    if not is_grid_file(path):
        if crs is not None and (lat is None or lon is None):
            raise CommandError(
                f"--crs {crs} is the projection of two columns: name them with --lat (northing) "
                "and --lon (easting)."
            )
        return open_table(path), Place(lat, lon, crs, inputs)
    if lat is not None or lon is not None:
        raise CommandError(f"{path} is a grid, whose axes are known: leave --lat and --lon out.")
    grid = field_of(path, target, inputs, crs)
    attrs = {key: value for key, value in grid.values.attrs.items() if isinstance(value, str)}
    return grid_table(path, grid), Place("latitude", "longitude", attrs=attrs)


def check_numbers_only(place: Place) -> None:
    """Raise an error for a projection of a table that has words, dates or gaps."""
    if place.crs is not None:
        raise CommandError(
            f"--crs {place.crs} takes tables of numbers without gaps: leave words and dates out "
            "with --ignore, rows with gaps with --drop-missing, or convert to degrees first."
        )


def check_map_name(path: Path) -> None:
    """Raise an error for a map whose name does not say what it is to be."""
    if path.suffix.lower() not in MAP_ENDINGS:
        raise CommandError(
            f"{path} cannot be written: the name of a map must end in {', '.join(MAP_ENDINGS)}, "
            f"not {path.suffix!r}."
        )


def predict_map(
    model: Any,
    path: Path,
    *,
    like: Path | None,
    resolution: float | None,
    bounds: str | None,
    time: list[str] | None,
    coverage: float,
) -> int:
    """Predict on a grid and write it, chunk by chunk; return the number of cells.

    Parameters
    ----------
    model : fitted regressor
    path : path
        NetCDF, GeoTIFF or a picture, by its ending.
    like : path, optional
        A file whose grid is taken.
    resolution : float, optional
        The step of a grid of latitudes and longitudes.
    bounds : str, optional
        West, south, east and north of it.
    time : list of str, optional
        Dates, or numbers as the model knows them.
    coverage : float
        The probability of the intervals.
    """
    if like is not None:
        if bounds or time or resolution:
            raise CommandError(f"{like} is a whole grid: leave --grid, --bounds and --time out.")
        found = predict_grid(model, like=open_grid(like, chunks={}), coverage=coverage)
    else:
        west, south, east, north = _box(bounds)
        found = predict_grid(
            model,
            lat=(south, north),
            lon=(west, east),
            time=None if not time else [_moment(text) for text in time],
            resolution=resolution,
            coverage=coverage,
            chunks={"lat": MAP_ROWS},
        )
    write_grid(found, path)
    return int(found["prediction"].size)


def _box(bounds: str | None) -> list[float]:
    if bounds is None:
        return [-180.0, -90.0, 180.0, 90.0]
    try:
        numbers = [float(part) for part in bounds.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 4:
        raise CommandError(
            f"--bounds {bounds!r} must be four numbers: west,south,east,north, such as 5,45,15,55."
        )
    return numbers


def _moment(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
