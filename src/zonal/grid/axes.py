"""Where the cells of a grid are: latitudes, longitudes, times and other axes, as CF names them."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from .projection import Projection, crs_of

__all__ = ["Axes", "degrees", "find_axes", "find_plane", "with_places"]

NORTH = {"degrees_north", "degree_north", "degree_n", "degrees_n", "degreen", "degreesn"}
EAST = {"degrees_east", "degree_east", "degree_e", "degrees_e", "degreee", "degreese"}
DEGREES = {"degree", "degrees", "deg", "°"}
RADIANS = {"radian", "radians", "rad"}
WORDS = {
    "latitude": {"lat", "lats", "latitude", "latitudes", "ylat", "navlat"},
    "longitude": {
        "lon",
        "lons",
        "long",
        "lng",
        "longitude",
        "longitudes",
        "xlon",
        "xlong",
        "navlon",
    },
}
AXIS = {"latitude": "Y", "longitude": "X"}
PLANE = {"latitude": {"y", "northing"}, "longitude": {"x", "easting"}}


@dataclass(frozen=True)
class Axes:
    """The coordinates of a grid by their names.

    Attributes
    ----------
    latitude, longitude : str or None
        Coordinates of one or two dimensions; northings and eastings if there is a `projection`.
        None for a grid of other numbers, which names them among `others`.
    projection : Projection or None
        From these to latitude and longitude.
    time : str or None
    others : tuple of str
        Other dimensions with numbers, such as a depth.
    flat : bool
        Whether latitude and longitude are northings and eastings of a projection without a name.
    """

    latitude: str | None
    longitude: str | None
    projection: Projection | None = None
    time: str | None = None
    others: tuple[str, ...] = ()
    flat: bool = False

    @property
    def is_plane(self) -> bool:
        """Tell whether places are numbers of a plane, not degrees."""
        return self.flat or self.projection is not None


def find_axes(
    data: Any, is_time: Any, crs: Any = None, constant: bool = False, places: bool = True
) -> Axes:
    """Find the axes of a DataArray or Dataset.

    CF attributes decide (`units`, `standard_name`, `axis`), then common names.

    Parameters
    ----------
    data : xarray.DataArray or xarray.Dataset
    is_time : callable
        Tells whether a coordinate is a time.
    crs : anything that pyproj takes, optional
        The projection of x and y, by default the one that `data` names.
    constant : bool
        Whether dimensions of length one, and a time without a dimension, are axes too. A model
        cannot learn from them, but may need them.
    places : bool
        Whether latitude and longitude are looked for. If not, all dimensions are times or numbers.
    """
    if not places:
        return Axes(None, None, None, *_others(data, is_time, set(), constant))
    plane = crs_of(data) if crs is None else crs
    latitude, longitude = (_find(data, angle) for angle in WORDS)
    projection = None
    if plane is not None and (crs is not None or latitude is None or longitude is None):
        latitude, longitude = (find_plane(data, angle) for angle in WORDS)
        projection = Projection.of(plane)
    for angle, found in (("latitude", latitude), ("longitude", longitude)):
        if found is None:
            raise ValueError(_missing(data, angle))
    used = {dim for name in (latitude, longitude) for dim in data[name].dims}
    return Axes(str(latitude), str(longitude), projection, *_others(data, is_time, used, constant))


def _others(
    data: Any, is_time: Any, used: set[Any], constant: bool
) -> tuple[str | None, tuple[str, ...]]:
    """Return the time and the other dimensions with numbers, beside those that are used."""
    rest = [dim for dim in data.dims if dim not in used]
    if not constant:
        rest = [dim for dim in rest if data.sizes[dim] > 1]
    times = [dim for dim in rest if dim in data.coords and is_time(data[dim])]
    if not times:  # along a track, or of the whole grid
        beside = [c for name, c in data.coords.items() if name not in data.dims and is_time(c)]
        moving = [c.name for c in beside if c.ndim and c.dtype.kind in "MO" and c.size > 1]
        fixed = [c.name for c in beside if c.ndim == 0] if constant else []
        times = [*moving, *fixed]
    others = []
    for dim in rest:
        if dim in times[:1]:
            continue
        if dim in data.coords and data[dim].dtype.kind in "iuf":
            others.append(str(dim))
        elif data.sizes[dim] > 1:
            raise ValueError(
                f"The dimension {dim!r} has no numbers as coordinates, so that its entries cannot "
                f"be told apart: select one of them, as in data.isel({dim}=0), or assign numbers."
            )
    return (str(times[0]) if times else None), tuple(others)


def with_places(data: Any, is_time: Any) -> Any:
    """Return a Dataset whose latitudes, longitudes and times are coordinates.

    Files of tracks and swaths often hold them as variables like any other.
    """
    found = []
    for angle in WORDS:
        if _find(data, angle) is None:
            found += [_find(data, angle, data.data_vars)]
    if not any(is_time(c) for c in data.coords.values()):
        dates = (v for v in data.data_vars.values() if v.dtype.kind in "MO" and is_time(v))
        found += [str(variable.name) for variable in dates][:1]
    return data.set_coords([name for name in found if name is not None])


def degrees(coordinate: Any, angle: str) -> Any:
    """Return a coordinate of latitudes or longitudes in degrees, longitudes from -180 to 180."""
    units = str(coordinate.attrs.get("units", "")).strip()
    word = units.lower()
    right, wrong = (NORTH, EAST) if angle == "latitude" else (EAST, NORTH)
    if word in RADIANS:
        values = np.degrees(coordinate.astype(np.float64))
    elif not word or word in right | DEGREES:
        values = coordinate.astype(np.float64)
    else:
        swapped = " Are latitude and longitude swapped?" if word in wrong else ""
        raise ValueError(
            f"The {angle} {coordinate.name!r} has units={units!r}, which are not known: use "
            f"{min(right, key=lambda unit: -len(unit))!r}, 'degrees' or 'radians', or remove the "
            f"attribute if it is wrong; give crs=... for coordinates on a plane.{swapped}"
        )
    limit = 90.0 if angle == "latitude" else 720.0
    beyond = np.asarray(np.abs(values) > limit * (1 + 1e-6)).ravel()
    if beyond.any():
        worst = np.asarray(values).ravel()[np.argmax(beyond)]
        raise ValueError(
            f"The {angle} {coordinate.name!r} has the value {worst:g}, beyond {limit:g} degrees: "
            "correct it, or give crs=... for coordinates on a plane."
        )
    return values.clip(-90, 90) if angle == "latitude" else (values + 180) % 360 - 180


def _find(data: Any, angle: str, among: Any = None) -> str | None:
    """Return the coordinate that is a latitude or longitude, those of one dimension first."""
    among = data.coords if among is None else among
    units = NORTH if angle == "latitude" else EAST
    tests = (
        lambda c: str(c.attrs.get("units", "")).lower() in units,
        lambda c: c.attrs.get("standard_name") == angle,
        lambda c: bool(WORDS[angle] & _words(str(c.name))),
    )
    numeric = [c for c in among.values() if c.dtype.kind in "iuf" and 0 < c.ndim <= 2]
    for test in tests:
        found = sorted((c for c in numeric if test(c)), key=lambda c: (c.ndim, c.name != c.dims[0]))
        if found:
            return str(found[0].name)
    return None


def find_plane(data: Any, angle: str) -> str | None:
    """Return the coordinate that is a northing ("latitude") or an easting ("longitude")."""
    axis = AXIS[angle]
    for coordinate in data.coords.values():
        if coordinate.ndim != 1 or coordinate.dtype.kind not in "iuf":
            continue
        known = coordinate.attrs.get("standard_name") == f"projection_{axis.lower()}_coordinate"
        if known or coordinate.attrs.get("axis") == axis:
            return str(coordinate.name)
        if str(coordinate.name).lower() in PLANE[angle]:
            return str(coordinate.name)
    return _find(data, angle)


def _words(name: str) -> set[str]:
    """Return the words of a name in lower case, and all of them together."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    return {*words, "".join(words)}


def _missing(data: Any, angle: str) -> str:
    known = ", ".join(f"{str(name)!r}" for name in data.coords) or "none"
    unit = "degrees_north" if angle == "latitude" else "degrees_east"
    return (
        f"No {angle} was found among the coordinates ({known}): name one {angle!r}, or set its "
        f"attribute units={unit!r}. Coordinates on a plane need crs=..., such as 'EPSG:32633'."
    )
