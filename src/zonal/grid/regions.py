"""Regions of a grid: labels, masks and polygons as weights of cells."""

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import Array, FloatArray
from .cells import Cells, is_known
from .optional import library

__all__ = ["cell_weights", "region_names", "regions_of"]


def regions_of(regions: Any, cells: Cells) -> tuple[list[Any], Any]:
    """Return the names of regions, and which cells belong to each: [n_cells, n_regions].

    Parameters
    ----------
    regions : DataArray, array-like, GeoDataFrame or sequence of polygons
        Labels of cells (0, NaN and empty text: none), True and False, or polygons in degrees (or
        in the units of the grid's x and y), which may overlap and hold the cells whose centres are
        in them.
    cells : Cells
        Of the whole grid, in memory.
    """
    if hasattr(regions, "geometry") and hasattr(regions, "index"):
        frame = regions
        if getattr(frame, "crs", None) is not None and cells.axes.projection is None:
            frame = frame.to_crs("EPSG:4326")
        return _polygons(list(frame.geometry), list(regions.index), cells)
    if isinstance(regions, list | tuple) and regions and hasattr(regions[0], "geom_type"):
        return _polygons(list(regions), list(range(len(regions))), cells)
    labels = _labels(regions, cells)
    if labels.dtype == bool:
        return [True], sp.csr_array(labels.ravel()[:, None].astype(np.float64))
    known = is_known(labels)
    if labels.dtype.kind in "iuf":
        known = known & (labels != 0)
    names, place = np.unique(labels[known], return_inverse=True)
    rows = np.flatnonzero(known.ravel())
    shape = (labels.size, len(names))
    return names.tolist(), sp.csr_array((np.ones(len(rows)), (rows, place)), shape)


def region_names(regions: Any) -> str:
    """Return the name of the dimension of regions: that of the labels, if they have one."""
    name = getattr(regions, "name", None)
    return str(name) if isinstance(name, str) else "region"


def cell_weights(weights: Any, cells: Cells) -> FloatArray:
    """Return the weight of each cell: given, or its area on the globe: [n_cells].

    By default cos(latitude) where the grid has latitudes and longitudes, else one.
    """
    shape = tuple(cells.data.sizes[dim] for dim in cells.dims)
    if weights is not None:
        found = np.asarray(_on_grid(weights, cells, "weights"), np.float64)
        if not (np.isfinite(found).all() and (found >= 0).all()):
            raise ValueError("weights of cells must be finite numbers of at least 0.")
        return found.ravel()
    axes = cells.axes
    if axes.latitude is None or axes.is_plane:
        return np.ones(int(np.prod(shape)))
    latitude = cells.rows()["latitude"].to_numpy(np.float64)
    return np.asarray(np.cos(np.radians(latitude)).clip(0))


def _labels(regions: Any, cells: Cells) -> Array:
    found = _on_grid(regions, cells, "regions")
    if found.dtype.kind not in "biufOUS":
        raise ValueError(
            f"regions holds values of type {found.dtype}: labels (numbers or words) or True and "
            "False are needed."
        )
    return found


def _on_grid(values: Any, cells: Cells, name: str) -> Array:
    """Return values in all cells, in the grid's order of dimensions."""
    xr = library("xarray")
    shape = tuple(cells.data.sizes[dim] for dim in cells.dims)
    if isinstance(values, xr.DataArray):
        extra = [str(dim) for dim in values.dims if dim not in cells.dims]
        sizes = {dim: cells.data.sizes[dim] for dim in values.dims if dim in cells.dims}
        if extra or any(values.sizes[dim] != size for dim, size in sizes.items()):
            raise ValueError(
                f"{name} has the dimensions {dict(values.sizes)}, and the grid "
                f"{dict(zip(cells.dims, shape, strict=True))}: bring it onto the grid first."
            )
        return cells.block(cells.data.assign({f"_{name}": values.variable})).array(f"_{name}")
    found = np.asarray(values)
    if found.shape != shape:
        raise ValueError(
            f"{name} has the shape {found.shape}, and the grid "
            f"{dict(zip(cells.dims, shape, strict=True))}: one value for each cell is needed."
        )
    return found


def _polygons(shapes: list[Any], names: list[Any], cells: Cells) -> tuple[list[Any], Any]:
    try:
        shapely = import_module("shapely")
    except ImportError as error:
        raise ImportError("Polygons need the library shapely: pip install shapely.") from error
    rows = cells.rows()
    axes = cells.axes
    if axes.projection is None:
        x, y = rows["longitude"].to_numpy(np.float64), rows["latitude"].to_numpy(np.float64)
    else:
        x, y = (cells.array(str(axis)).ravel() for axis in (axes.longitude, axes.latitude))
    inside: list[npt.NDArray[np.bool_]] = []
    for shape in shapes:
        found = shapely.contains_xy(shape, x, y)
        if not axes.is_plane:  # longitudes from -180 or from 0, whatever the grid has
            found |= shapely.contains_xy(shape, x - 360, y) | shapely.contains_xy(shape, x + 360, y)
        inside.append(found)
    return names, sp.csr_array(np.column_stack(inside).astype(np.float64))
