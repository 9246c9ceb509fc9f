"""Pictures of maps, with matplotlib alone: predictions, uncertainty, folds, sheets of times."""

from itertools import product
from textwrap import fill
from typing import Any

import numpy as np

from ..evaluation import BlockKFold
from .axes import Axes, degrees, find_axes, find_plane, with_places
from .optional import library
from .panels import (
    colours,
    draw_cells,
    draw_coastlines,
    draw_field,
    draw_points,
    fold_colours,
)
from .projections import fitting_projection
from .times import is_time

__all__ = [
    "colours",
    "draw",
    "draw_cells",
    "draw_field",
    "draw_folds",
    "draw_points",
    "drawing_axes",
    "fold_colours",
]

# The most small maps of a sheet; of more times so many are drawn, evenly spaced.
MOST_MAPS = 24


def draw(
    result: Any, *, title: str | None = None, projection: Any = None, coastlines: bool = False
) -> Any:
    """Draw what `fill` or `predict_grid` found: the prediction and, below it, its uncertainty.

    Further dimensions, such as many times, make a sheet of small maps with one scale.

    Parameters
    ----------
    result : xarray.Dataset or DataArray
        With ``prediction`` and perhaps ``std`` (or ``sst`` and ``sst_std``); of any other Dataset
        all variables on the grid are drawn.
    title : str, optional
        By default the coordinates that the whole picture shares, such as its time.
    projection : MapProjection, optional
        By default the globe (Robinson), a pole (orthographic) or a plain map, as the data need.
    coastlines : bool, default=False
        Whether the coasts of the world are drawn (Natural Earth, 1:110 million).

    Returns
    -------
    matplotlib.figure.Figure
        ``figure.savefig("map.png")`` writes it.
    """
    data = _as_dataset(result)
    axes = drawing_axes(data)
    places = {*data[axes.latitude].dims, *data[axes.longitude].dims}
    names = _variables(data, places)
    extra = [dim for dim in data[names[0]].dims if dim not in places]
    entries = [
        dict(zip(extra, place, strict=True))
        for place in product(*(range(data.sizes[dim]) for dim in extra))
    ]
    shown = [entries[k] for k in np.unique(np.linspace(0, len(entries) - 1, MOST_MAPS).round())
             .astype(int)] if len(entries) > MOST_MAPS else entries  # fmt: skip
    one = data[names].isel(shown[0]) if len(shown) == 1 else data[names]
    words = _moment(one) if title is None else title
    if len(shown) < len(entries):
        words = f"{words}{', ' if words else ''}{len(shown)} of {len(entries)}"
    columns = int(np.ceil(np.sqrt(len(shown))))
    rows = -(-len(shown) // columns)
    ratio = _ratio(data, axes)
    # Maps that are as high as wide go side by side.
    beside = len(names) if len(shown) == 1 and ratio > 0.7 else 1
    width = 3.0 * columns + 1.5 if len(shown) > 1 else 5.5 if ratio > 0.7 else 7.5
    height = (width - 1.5) / columns * ratio * rows + 0.8
    figure = library("matplotlib.figure").Figure(
        figsize=(width * beside, height * len(names) / beside), layout="constrained", dpi=150
    )
    parts = np.ravel(figure.subfigures(len(names) // beside, beside))
    for part, name in zip(parts, names, strict=True):
        chosen = [data[name].isel(entry).load() for entry in shown]
        _draw_sheet(part, chosen, name, axes, (rows, columns), projection, coastlines)
    figure.suptitle(words)
    return figure


def _draw_sheet(
    part: Any, fields: list[Any], name: str, axes: Axes, shape: tuple[int, int], projection: Any,
    coast: bool,
) -> None:  # fmt: skip
    """Draw one variable at several times with one scale, in a part of a figure."""
    panels = np.atleast_1d(part.subplots(*shape, squeeze=False)).ravel()
    values = np.concatenate([np.ravel(field.values) for field in fields])
    style = {"cmap": "magma_r", "vmin": 0.0} if name == "std" or name.endswith("_std") else {}
    look = colours(values, style)
    if not look["vmax"] > look["vmin"]:
        look["vmax"] = look["vmin"] + 1.0
    artist = None
    for panel, field in zip(panels, fields, strict=False):
        artist = draw_field(panel, field, axes, projection, **look)
        if len(fields) > 1:
            panel.set_title(_moment(field), fontsize="small")
            panel.tick_params(labelsize="x-small")
        if coast and not axes.is_plane:
            lat = degrees(field[axes.latitude], "latitude").values
            lon = degrees(field[axes.longitude], "longitude").values
            draw_coastlines(panel, projection or fitting_projection(lat, lon))
    for panel in panels[len(fields) :]:
        panel.set_visible(False)
    units = str(fields[0].attrs.get("units", ""))
    label = str(fields[0].attrs.get("long_name", name))
    # As high as one map of one column, or as the sheet.
    bar = part.colorbar(artist, ax=panels.tolist(), shrink=0.85, aspect=30)
    bar.set_label(fill(f"{label} ({units})" if units else label, 36))
    known = values[np.isfinite(values)]
    if len(known) and np.ptp(known) == 0:  # one value has one mark
        bar.set_ticks([float(known[0])], labels=[f"{float(known[0]):.6g}"])


def drawing_axes(data: Any) -> Axes:
    """Return the axes of a map: latitude and longitude, or y and x of a plane without a name."""
    try:
        return find_axes(data, is_time, constant=True)
    except ValueError:
        y, x = (find_plane(data, angle) for angle in ("latitude", "longitude"))
        if y is None or x is None:
            raise
        return Axes(y, x, flat=True)


def _as_dataset(result: Any) -> Any:
    xr = library("xarray")
    if isinstance(result, xr.DataArray):
        result = result.to_dataset(name=result.name or "values", promote_attrs=False)
    if not isinstance(result, xr.Dataset):
        raise TypeError(
            f"{type(result).__name__} is not a map: pass an xarray.Dataset or DataArray, such as "
            "zonal.fill returns."
        )
    return with_places(result, is_time)


def _variables(data: Any, places: set[Any]) -> list[str]:
    """Return what is drawn: a prediction and its standard deviation, or all there is."""
    found = [
        str(name)
        for name, values in data.data_vars.items()
        if places <= set(values.dims) and values.dtype.kind in "iufb"
    ]
    for name in found:
        std = "std" if name == "prediction" else f"{name}_std"
        if std in found:
            return [name, std]
    if "prediction" in found:
        return ["prediction"]
    if not found:
        known = ", ".join(repr(str(name)) for name in data.data_vars) or "none"
        raise ValueError(
            f"There is nothing to draw: no variable of numbers (there is {known}) has the "
            f"dimensions {', '.join(map(str, sorted(map(str, places))))}."
        )
    return found


def _ratio(data: Any, axes: Axes) -> float:
    """Return the height of a map relative to its width, about."""
    y, x = data[axes.latitude], data[axes.longitude]
    if axes.is_plane:
        return float(np.clip(np.ptp(y.values) / max(np.ptp(x.values), 1e-300), 0.3, 1.6))
    lat, lon = degrees(y, "latitude").values, degrees(x, "longitude").values
    projection = fitting_projection(lat, lon)
    if projection.outline is not None:
        span = np.ptp(projection.outline, axis=0)
        return float(np.clip(span[1] / span[0], 0.3, 1.0))
    turned = (lon - projection.center + 180) % 360 - 180
    shrink = projection(0.0, projection.center + 1.0)[0]
    width = max(float(np.ptp(turned)) * float(shrink), 1e-9)
    return float(np.clip(np.ptp(lat) / width, 0.3, 1.6))


def draw_folds(X: Any, cv: Any, *, groups: Any = None, title: str = "Folds") -> Any:
    """Draw which fold each place is in, as a splitter assigns them.

    Parameters
    ----------
    X : frame or array
        With latitudes and longitudes, or coordinates, as `BlockKFold` finds them.
    cv : BlockKFold
        Or any other splitter of scikit-learn, of rows (latitude, longitude).
    groups : array-like, optional
        For splitters of groups.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    plane = isinstance(cv, BlockKFold) and cv.coordinates is not None
    if plane:
        x, y = _two_columns(X, cv.coordinates)
    else:
        y, x = (cv if isinstance(cv, BlockKFold) else BlockKFold()).places(X)
    folds = np.zeros(len(y), dtype=int)
    n_splits = 0
    for number, (_, test) in enumerate(cv.split(X, None, groups)):
        folds[test], n_splits = number, number + 1
    figure = library("matplotlib.figure").Figure(figsize=(7.5, 4.2), layout="constrained", dpi=150)
    panel = figure.subplots()
    if plane:
        panel.set(aspect="equal", xlabel=cv.coordinates[0], ylabel=cv.coordinates[-1])
        artist = panel.scatter(x, y, c=folds, s=8, linewidths=0, **fold_colours(n_splits))
    else:
        artist = draw_points(panel, y, x, folds, **fold_colours(n_splits))
    bar = figure.colorbar(artist, ax=panel, label="fold", shrink=0.7, aspect=25)
    bar.set_ticks(range(n_splits), labels=[str(k + 1) for k in range(n_splits)])
    figure.suptitle(title)
    return figure


def _two_columns(X: Any, coordinates: Any) -> list[Any]:
    """Return the first and the last of the columns that blocks are made of."""
    chosen = (coordinates[0], coordinates[-1])
    if hasattr(X, "columns"):
        names = list(X.columns)
        return [np.asarray(X[c if isinstance(c, str) else names[c]]) for c in chosen]
    return [np.asarray(X)[:, c] for c in chosen]


def _moment(one: Any) -> str:
    """Return the coordinates that were selected, in words."""
    parts = []
    for name, coordinate in one.coords.items():
        if coordinate.ndim == 0 and coordinate.dtype.kind in "iufMO" and name != "spatial_ref":
            value = coordinate.values
            words = str(value)[:10] if coordinate.dtype.kind in "MO" else f"{float(value):g}"
            parts.append(f"{name} {words}")
    return ", ".join(parts)
