"""Grids on the command line: the cells of a file as a table, and where its rows are."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..features.columns.sphere_encoder import DEGREES, named_like
from ..grid.cells import Field
from ..grid.extent import Extent
from ..grid.files import MAP_ENDINGS, is_grid_file, open_grid
from ..grid.nearness import rounded_places
from ..grid.projection import Projection
from ..rows import source_of
from ..tables import Table, open_table
from ..tables.survey import survey_columns
from ..tables.table import cut
from .console import Screen
from .errors import CommandError

__all__ = [
    "Place",
    "check_map_name",
    "check_numbers_only",
    "field_of",
    "grid_table",
    "open_rows",
    "whereabouts",
]


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
    screen: Screen | None = None,
    ignore: Any = (),
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
    screen : Screen, optional
        Where it is said that columns of a table were recognised as latitude and longitude. None:
        they are not looked for.
    ignore : sequence of str
        Columns that are left out.
    """
    if not is_grid_file(path):
        if lat == lon == "none":
            lat, lon, screen = None, None, None
        if crs is not None and (lat is None or lon is None):
            raise CommandError(
                f"--crs {crs} is the projection of two columns: name them with --lat (northing) "
                "and --lon (easting)."
            )
        table = open_table(path)
        if lat is None and lon is None and screen is not None:
            lat, lon = _recognised(table, [target, *ignore], inputs, screen)
        return table, Place(lat, lon, crs, inputs)
    if lat is not None or lon is not None:
        raise CommandError(f"{path} is a grid, whose axes are known: leave --lat and --lon out.")
    grid = field_of(path, target, inputs, crs)
    attrs = {key: value for key, value in grid.values.attrs.items() if isinstance(value, str)}
    return grid_table(path, grid), Place("latitude", "longitude", attrs=attrs)


def _recognised(
    table: Table, others: list[str], inputs: list[str] | None, screen: Screen
) -> tuple[str | None, str | None]:
    """Return the columns of a table that are latitudes and longitudes by name and by value."""
    names = [name for name in (inputs or table.types) if name not in others]
    found = {angle: [names[k] for k in named_like(angle, names)] for angle in DEGREES}
    if any(len(columns) != 1 for columns in found.values()):
        return None, None
    lat, lon = found["latitude"][0], found["longitude"][0]
    survey = survey_columns(table, [lat, lon])
    for name, (low, high) in zip((lat, lon), DEGREES.values(), strict=True):
        column = survey[name]
        whole = column.plain and not column.n_missing
        if not (whole and low <= column.low and column.high <= high):
            return None, None
    screen.note(
        f"{lat!r} and {lon!r} are taken as places on the globe (--lat none --lon none: as numbers)."
    )
    return lat, lon


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


def whereabouts(rows: Any, place: Place, inputs: list[str]) -> tuple[list[float] | None, Any]:
    """Return the region of all rows of a table, as `Extent.box` has it, and their places.

    Parameters
    ----------
    rows : TrainingRows
    place : Place
    inputs : list of str
        The columns of X.

    Returns
    -------
    box : list of float or None
    places : ndarray of shape (n, 2) or None
        Distinct ones, in degrees and rounded.
    """
    where = place.columns(inputs)
    if where is None:
        return None, None
    of_block = partial(_whereabouts_of_block, where=where, crs=place.crs)
    found = source_of(*rows.all()).reduce(of_block, _joined, 1 << 16)
    return (None, None) if found is None else (list(found[0].box), found[1])


def _whereabouts_of_block(block: Any, where: tuple[int, int], crs: str | None) -> Any:
    lat, lon = _degrees(block, where, crs)
    return Extent.of(lat, lon), rounded_places(np.column_stack([lat, lon]))


def _joined(left: Any, right: Any) -> Any:
    return left[0] + right[0], np.unique(np.vstack([left[1], right[1]]), axis=0)


def _degrees(block: Any, where: tuple[int, int], crs: str | None) -> tuple[Any, Any]:
    """Return latitudes and longitudes of the rows of a block that have both."""
    X = block.X
    columns = [X.iloc[:, k] if hasattr(X, "iloc") else X[:, k] for k in where]
    lat, lon = (np.asarray(column, dtype=np.float64) for column in columns)
    known = np.isfinite(lat) & np.isfinite(lon)
    if crs is not None:
        return Projection.of(crs).to_degrees(lon[known], lat[known])
    return lat[known], lon[known]
