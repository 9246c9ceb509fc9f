"""Pictures of maps, with matplotlib alone: predictions, uncertainty, residuals, folds."""

from textwrap import fill
from typing import Any

import numpy as np

from .._typing import Array
from ..evaluation import BlockKFold
from .axes import Axes, degrees, find_axes
from .optional import library
from .projections import MapProjection, fitting_projection
from .times import is_time

__all__ = ["draw", "draw_cells", "draw_field", "draw_folds", "draw_points", "fold_colours"]

LINES = {"color": "#000000", "alpha": 0.18, "linewidth": 0.5, "zorder": 3}


def draw(result: Any, *, title: str | None = None, projection: Any = None) -> Any:
    """Draw what `fill` or `predict_grid` found: the prediction and, below it, its uncertainty.

    Parameters
    ----------
    result : xarray.Dataset
        With ``prediction`` and perhaps ``std``. Of further dimensions the first entry is drawn.
    title : str, optional
        By default the name of the variable and the time.
    projection : MapProjection, optional
        By default the globe (Robinson), a pole (orthographic) or a plain map, as the data need.

    Returns
    -------
    matplotlib.figure.Figure
        ``figure.savefig("map.png")`` writes it.
    """
    axes = find_axes(result, is_time)
    places = {*result[axes.latitude].dims, *result[axes.longitude].dims}
    one = result.isel({dim: 0 for dim in result.dims if dim not in places}).load()
    names = [name for name in ("prediction", "std") if name in one]
    figure = library("matplotlib.figure").Figure(
        figsize=(7.5, 3.9 * len(names)), layout="constrained", dpi=150
    )
    panels = np.atleast_1d(figure.subplots(len(names), 1))
    for panel, name in zip(panels, names, strict=True):
        values = one[name]
        units = values.attrs.get("units", "")
        label = str(values.attrs.get("long_name", name)) + (f" ({units})" if units else "")
        style = {"cmap": "magma_r", "vmin": 0.0} if name == "std" else {}
        artist = draw_field(panel, values, axes, projection, **style)
        figure.colorbar(artist, ax=panel, label=fill(label, 36), shrink=0.85, aspect=30)
    figure.suptitle(title if title is not None else _moment(one, axes))
    return figure


def draw_field(
    panel: Any, values: Any, axes: Axes, projection: MapProjection | None = None, **style: Any
) -> Any:
    """Draw a field on an empty panel; colours are centred where values have both signs.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
    values : xarray.DataArray of two dimensions
    axes : Axes
        Where its cells are.
    projection : MapProjection, optional
    **style
        Of ``pcolormesh``.
    """
    y, x = values[axes.latitude], values[axes.longitude]
    if axes.projection is not None:  # a plane already
        plane = values.transpose(*y.dims, *x.dims).values
        panel.set(aspect="equal", xlabel=axes.longitude, ylabel=axes.latitude)
        return panel.pcolormesh(x.values, y.values, plane, rasterized=True, **colours(plane, style))
    lat, lon = degrees(y, "latitude").values, degrees(x, "longitude").values
    projection = projection or fitting_projection(lat, lon)
    if lat.ndim == 2:
        flat = values.transpose(*y.dims).values
        return draw_points(panel, lat.ravel(), lon.ravel(), flat.ravel(), projection, **style)
    field = values.transpose(*y.dims, *x.dims).values
    return draw_cells(panel, lat, lon, field, projection, **style)


def draw_cells(
    panel: Any,
    lat: Array,
    lon: Array,
    field: Array,
    projection: MapProjection | None = None,
    **style: Any,
) -> Any:
    """Draw the cells of a grid on an empty panel.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
    lat, lon : ndarrays of shapes (n,) and (m,)
        The middles of the cells, in any order.
    field : ndarray of shape (n, m)
    projection : MapProjection, optional
    **style
        Of ``pcolormesh``.
    """
    projection = projection or fitting_projection(lat, lon)
    lat_edges, lon_edges, field = _edges(lat, lon, field, projection.center)
    x, y = projection(*np.meshgrid(lat_edges, lon_edges, indexing="ij"))
    corners = np.isfinite(x)
    seen = corners[:-1, :-1] & corners[1:, 1:] & corners[:-1, 1:] & corners[1:, :-1]
    shown = np.where(seen, field, np.nan)
    look = {"rasterized": True, **colours(field, style)}
    artist = panel.pcolormesh(np.nan_to_num(x), np.nan_to_num(y), shown, **look)
    frame(panel, projection, lat_edges, lon_edges)
    return artist


def draw_points(
    panel: Any,
    lat: Array,
    lon: Array,
    values: Array,
    projection: MapProjection | None = None,
    **style: Any,
) -> Any:
    """Draw places as coloured dots on an empty panel.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
    lat, lon, values : ndarrays of shape (n,)
    projection : MapProjection, optional
    **style
        Of ``scatter``.
    """
    projection = projection or fitting_projection(lat, lon)
    turned = (np.asarray(lon) - projection.center + 180) % 360 - 180 + projection.center
    x, y = projection(lat, turned)
    size = float(np.clip(60_000 / max(len(x), 1), 1, 20))
    look = {"s": size, "linewidths": 0, "rasterized": True, **colours(values, style)}
    artist = panel.scatter(x, y, c=values, **look)
    frame(panel, projection, np.asarray(lat), turned)
    return artist


def draw_folds(X: Any, cv: Any, *, groups: Any = None, title: str = "Folds") -> Any:
    """Draw which fold each place is in, as a splitter assigns them.

    Parameters
    ----------
    X : frame or array
        With latitudes and longitudes as `BlockKFold` finds them.
    cv : BlockKFold
        Or any other splitter of scikit-learn, of rows (latitude, longitude).
    groups : array-like, optional
        For splitters of groups.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    lat, lon = (cv if isinstance(cv, BlockKFold) else BlockKFold()).places(X)
    folds = np.zeros(len(lat), dtype=int)
    n_splits = 0
    for number, (_, test) in enumerate(cv.split(X, None, groups)):
        folds[test], n_splits = number, number + 1
    figure = library("matplotlib.figure").Figure(figsize=(7.5, 4.2), layout="constrained", dpi=150)
    panel = figure.subplots()
    artist = draw_points(panel, lat, lon, folds, **fold_colours(n_splits))
    bar = figure.colorbar(artist, ax=panel, label="fold", shrink=0.7, aspect=25)
    bar.set_ticks(range(n_splits), labels=[str(k + 1) for k in range(n_splits)])
    figure.suptitle(title)
    return figure


def fold_colours(n_folds: int) -> dict[str, Any]:
    """Return a colour for each of the numbers from 0 on, as the style of points."""
    shades = library("matplotlib").colormaps["tab10" if n_folds <= 10 else "tab20"].colors
    chosen = [shades[k % len(shades)] for k in range(n_folds)]
    palette = library("matplotlib.colors").ListedColormap(chosen)
    return {"cmap": palette, "vmin": -0.5, "vmax": n_folds - 0.5}


def colours(values: Array, style: dict[str, Any]) -> dict[str, Any]:
    """Return colours that suit values: about zero where they have both signs in like measure."""
    if "cmap" in style and "vmin" in style and "vmax" in style:
        return style
    if "norm" in style:  # with limits of its own
        return {"cmap": "viridis", **style}
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    low, high = np.quantile(finite, [0.005, 0.995]) if len(finite) else (0.0, 1.0)
    if low < 0 < high and min(-low, high) > 0.3 * max(-low, high):
        limit = max(-low, high)
        return {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, **style}
    return {"cmap": "viridis", "vmin": low, "vmax": high if high > low else low + 1, **style}


def frame(panel: Any, projection: MapProjection, lat: Array, lon: Array) -> None:
    """Draw meridians and parallels around places, and the edge of the globe."""
    panel.set_aspect("equal")
    whole = projection.outline is not None
    step = 30.0 if whole else _round_step(max(np.ptp(lat), np.ptp(lon)) / 5)
    south, north = (-90.0, 90.0) if whole else (float(np.min(lat)), float(np.max(lat)))
    middle = projection.center
    west, east = (middle - 180, middle + 180) if whole else (float(np.min(lon)), float(np.max(lon)))
    for meridian in np.arange(np.ceil(west / step), np.floor(east / step) + 1) * step:
        side = np.linspace(south, north, 91)
        panel.plot(*projection(side, np.full(91, meridian)), **LINES)
    for parallel in np.arange(np.ceil(south / step), np.floor(north / step) + 1) * step:
        along = np.linspace(west, east, 181)
        panel.plot(*projection(np.full(181, parallel), along), **LINES)
    if whole:
        panel.plot(*np.asarray(projection.outline).T, color="#444444", linewidth=0.8, zorder=4)
        panel.set_axis_off()
        return
    x_ticks = np.arange(np.ceil(west / step), np.floor(east / step) + 1) * step
    y_ticks = np.arange(np.ceil(south / step), np.floor(north / step) + 1) * step
    panel.set_xticks(
        projection(np.zeros(len(x_ticks)), x_ticks)[0], [_degrees(t, "EW") for t in x_ticks]
    )
    panel.set_yticks(
        projection(y_ticks, np.full(len(y_ticks), middle))[1], [_degrees(t, "NS") for t in y_ticks]
    )


def _round_step(width: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is at most as wide."""
    power = 10.0 ** np.floor(np.log10(max(width, 1e-6)))
    return float(power * max(k for k in (1, 2, 5) if k * power <= width * (1 + 1e-9) or k == 1))


def _degrees(angle: float, sides: str) -> str:
    angle = angle if sides == "NS" else (angle + 180) % 360 - 180
    side = "" if angle == 0 or abs(angle) == 180 else sides[0] if angle > 0 else sides[1]
    return f"{abs(angle):g}°{side}"


def _edges(lat: Array, lon: Array, field: Array, center: float) -> tuple[Array, Array, Array]:
    """Return the edges of cells in rising order, and the field in that order.

    Longitudes begin at the left edge of the map. A cell across that edge is drawn on both sides.
    """
    order = np.argsort(lat)
    lat, field = lat[order], field[order]
    left = center - 180
    turned = (lon - left) % 360 + left
    order = np.argsort(turned)
    turned, field = turned[order], field[:, order]
    edges = _midpoints(turned)
    if 360 - (turned[-1] - turned[0]) <= 1.5 * np.diff(turned, append=turned[-1] + 1).max():
        edges = np.append(edges[:-1], [edges[0] + 360, left + 360 + 1e-9])
        field = np.concatenate([field, field[:, :1]], axis=1)
        edges = np.maximum.accumulate(np.clip(edges, left, left + 360))
    return np.clip(_midpoints(lat), -90, 90), edges, field


def _midpoints(centers: Array) -> Array:
    if len(centers) == 1:
        return np.array([centers[0] - 0.5, centers[0] + 0.5])
    middle = (centers[1:] + centers[:-1]) / 2
    return np.concatenate([[2 * centers[0] - middle[0]], middle, [2 * centers[-1] - middle[-1]]])


def _moment(one: Any, axes: Axes) -> str:
    """Return the coordinates that were selected, in words."""
    parts = []
    for name, coordinate in one.coords.items():
        if coordinate.ndim == 0 and coordinate.dtype.kind in "iufMO" and name != "spatial_ref":
            value = coordinate.values
            words = str(value)[:10] if coordinate.dtype.kind in "MO" else f"{float(value):g}"
            parts.append(f"{name} {words}")
    return ", ".join(parts)
