"""Panels of maps: cells, points and lines on the axes of matplotlib."""

from typing import Any

import numpy as np

from .._typing import Array
from ..polynomials import to_sphere
from .axes import Axes, degrees
from .coastlines import coastlines
from .optional import library
from .projections import MapProjection, fitting_projection

__all__ = [
    "colours",
    "draw_cells",
    "draw_coastlines",
    "draw_field",
    "draw_points",
    "draw_quadrilaterals",
    "fold_colours",
]

LINES = {"color": "#000000", "alpha": 0.18, "linewidth": 0.5, "zorder": 3}
COAST = {"color": "#000000", "alpha": 0.6, "linewidth": 0.5, "zorder": 3}


def draw_field(
    panel: Any, values: Any, axes: Axes, projection: MapProjection | None = None, **style: Any
) -> Any:
    """Draw a field on an empty panel; colours are centred where values have both signs.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
    values : xarray.DataArray of two dimensions, or of one along a track
    axes : Axes
        Where its cells are.
    projection : MapProjection, optional
    **style
        Of ``pcolormesh``.
    """
    y, x = values[axes.latitude], values[axes.longitude]
    if axes.is_plane:
        plane = values.transpose(*y.dims, *x.dims).values
        panel.set(aspect="equal", xlabel=_label(x), ylabel=_label(y))
        return panel.pcolormesh(x.values, y.values, plane, rasterized=True, **colours(plane, style))
    lat, lon = degrees(y, "latitude").values, degrees(x, "longitude").values
    projection = projection or fitting_projection(lat, lon)
    if y.dims == x.dims and y.ndim == 1:
        return draw_points(panel, lat, lon, values.values, projection, **style)
    if lat.ndim == 2:
        lon = degrees(x.transpose(*y.dims), "longitude").values
        field = values.transpose(*y.dims).values
        return draw_quadrilaterals(panel, lat, lon, field, projection, **style)
    field = values.transpose(*y.dims, *x.dims).values
    return draw_cells(panel, lat, lon, field, projection, **style)


def _label(coordinate: Any) -> str:
    units = coordinate.attrs.get("units", "")
    return f"{coordinate.name} ({units})" if units else str(coordinate.name)


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


def draw_quadrilaterals(
    panel: Any,
    lat: Array,
    lon: Array,
    field: Array,
    projection: MapProjection | None = None,
    **style: Any,
) -> Any:
    """Draw the cells of a curvilinear grid on an empty panel.

    The corners of a cell are in the middle between its own place and those around it. A cell
    across the edge of the map is drawn on both sides.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
    lat, lon : ndarrays of shape (n, m)
        The middles of the cells, in degrees.
    field : ndarray of shape (n, m)
    projection : MapProjection, optional
    **style
        Of ``PolyCollection``.
    """
    projection = projection or fitting_projection(lat, lon)
    corners = _corners(to_sphere(lat.ravel(), lon.ravel()).reshape(*lat.shape, 3))
    corner_lat = np.degrees(np.arctan2(corners[..., 2], np.hypot(corners[..., 0], corners[..., 1])))
    corner_lon = np.degrees(np.arctan2(corners[..., 1], corners[..., 0]))
    around = [corner_lat[:-1, :-1], corner_lat[:-1, 1:], corner_lat[1:, 1:], corner_lat[1:, :-1]]
    sides = [corner_lon[:-1, :-1], corner_lon[:-1, 1:], corner_lon[1:, 1:], corner_lon[1:, :-1]]
    known = np.isfinite(field)
    lats, lons = (np.stack(part, axis=-1)[known] for part in (around, sides))
    middle = (lon[known] - projection.center + 180) % 360 - 180 + projection.center
    lons = middle[:, None] + (lons - middle[:, None] + 180) % 360 - 180
    values = field[known]
    if projection.outline is not None:
        left = (lons < projection.center - 180).any(axis=1)
        right = (lons > projection.center + 180).any(axis=1)
        lats = np.concatenate([lats, lats[left], lats[right]])
        lons = np.concatenate([lons, lons[left] + 360, lons[right] - 360])
        values = np.concatenate([values, values[left], values[right]])
    x, y = projection(lats, lons)
    seen = np.isfinite(x).all(axis=1)
    look = {"rasterized": True, "linewidths": 0, "antialiaseds": False, **colours(field, style)}
    limits = {key: look.pop(key) for key in ("vmin", "vmax") if key in look}
    polygons = library("matplotlib.collections").PolyCollection(
        np.stack([x[seen], y[seen]], axis=-1), array=values[seen], **look
    )
    polygons.set_clim(limits.get("vmin"), limits.get("vmax"))
    panel.add_collection(polygons)
    panel.autoscale_view()
    frame(panel, projection, lats, lons)
    if projection.outline is not None:
        edge = library("matplotlib.patches").Polygon(projection.outline, transform=panel.transData)
        polygons.set_clip_path(edge)
    return polygons


def _corners(points: Array) -> Array:
    """Return the corners of cells from their middles on the sphere: [n, m, 3] to [n+1, m+1, 3]."""
    for axis in (0, 1):
        first = np.take(points, [0], axis)
        last = np.take(points, [-1], axis)
        if points.shape[axis] > 1:  # one more cell at each end, as far as the next one inside
            first = 2 * first - np.take(points, [1], axis)
            last = 2 * last - np.take(points, [-2], axis)
        points = np.concatenate([first, points, last], axis)
    middle = points[:-1, :-1] + points[1:, :-1] + points[:-1, 1:] + points[1:, 1:]
    return middle / np.maximum(np.linalg.norm(middle, axis=-1, keepdims=True), 1e-300)


def draw_coastlines(panel: Any, projection: MapProjection) -> None:
    """Draw the coasts of the world on a panel that has its limits (Natural Earth, 1:110 million).

    Parameters
    ----------
    panel : matplotlib.axes.Axes
    projection : MapProjection
        The one that the panel was drawn with.
    """
    limits = {"xlim": panel.get_xlim(), "ylim": panel.get_ylim()}
    for lat, lon in coastlines():
        turned = (lon - projection.center + 180) % 360 - 180 + projection.center
        x, y = projection(lat, turned)
        # A step across the edge of the map is no line.
        jumps = np.flatnonzero(np.abs(np.diff(turned)) > 180) + 1
        panel.plot(np.insert(x, jumps, np.nan), np.insert(y, jumps, np.nan), **COAST)
    panel.set(**limits)


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
    if not high > low:  # a constant is the middle of its scale
        room = max(abs(low), 1.0) / 20
        return {"cmap": "viridis", "vmin": low - room, "vmax": high + room, **style}
    if low < 0 < high and min(-low, high) > 0.3 * max(-low, high):
        limit = max(-low, high)
        return {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, **style}
    return {"cmap": "viridis", "vmin": low, "vmax": high, **style}


def frame(panel: Any, projection: MapProjection, lat: Array, lon: Array) -> None:
    """Draw meridians and parallels around places, and the edge of the globe."""
    panel.set_aspect("equal")
    whole = projection.outline is not None
    step = 30.0 if whole else _round_step(max(np.ptp(lat), np.ptp(lon)) / 6)
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
    """Return the smallest of 1, 2, 5 and 10 times a power of ten that is at least as wide."""
    power = 10.0 ** np.floor(np.log10(max(width, 1e-6)))
    return float(min(k * power for k in (1, 2, 5, 10) if k * power >= width * (1 - 1e-9)))


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
