"""Grids in files: NetCDF, and GeoTIFF by rioxarray."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._suggestions import near
from .axes import Axes
from .maps import draw, drawing_axes
from .optional import library

__all__ = [
    "GRID_ENDINGS",
    "MAP_ENDINGS",
    "check_holds",
    "is_grid_file",
    "open_grid",
    "packing_of",
    "write_grid",
]

NETCDF = (".nc", ".nc4", ".cdf", ".netcdf", ".h5")
TIFF = (".tif", ".tiff")
GRID_ENDINGS = NETCDF + TIFF
PICTURES = (".png", ".pdf", ".svg")
MAP_ENDINGS = (*GRID_ENDINGS, *PICTURES)
# How numbers are packed in a file.
PACKING = ("dtype", "scale_factor", "add_offset", "_FillValue")


def is_grid_file(path: Path) -> bool:
    """Tell by its name whether a file holds a grid."""
    return path.suffix.lower() in GRID_ENDINGS


def open_grid(path: Path, chunks: Any = None) -> Any:
    """Open a NetCDF or GeoTIFF file as a Dataset; its values are not read yet.

    Parameters
    ----------
    path : path
    chunks
        As xarray takes them; None: without Dask.

    Returns
    -------
    xarray.Dataset
        Of a GeoTIFF, a variable for each band, by its description or ``band_1`` and so on.
    """
    if not path.exists():
        others = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        raise FileNotFoundError(f"There is no file {path}.{near(path.name, others)}")
    xr = library("xarray")
    if path.suffix.lower() in TIFF:
        tiles = {"y": 512, "x": 512} if chunks == "auto" else chunks
        with _old_affine():
            return _bands(library("rioxarray").open_rasterio(path, masked=True, chunks=tiles))
    try:
        return _decoded(xr, path, chunks)
    except OSError as error:
        raise ValueError(f"{path} cannot be read, it may be damaged: {error}") from error
    except ValueError as error:
        if "engine" not in str(error):
            raise
        raise ImportError(
            f"{path} cannot be opened: NetCDF needs netCDF4 or h5netcdf, pip install "
            f"'zonal[geo]'; or the file is not NetCDF. ({error})"
        ) from error


def _decoded(xr: Any, path: Path, chunks: Any) -> Any:
    try:
        return xr.open_dataset(path, chunks=chunks)
    except ValueError as error:
        # Such as the climatologies of the year 0, which no calendar has.
        if "decode" not in str(error):
            raise
        return xr.open_dataset(path, chunks=chunks, decode_times=False)


def _bands(raster: Any) -> Any:
    """Return the bands of a raster as variables of a Dataset."""
    names = raster.attrs.get("long_name", ())
    names = (names,) if isinstance(names, str) else tuple(names)
    parts = {}
    for place, band in enumerate(raster["band"].values):
        name = names[place] if place < len(names) and names[place] else f"band_{band}"
        attrs = {k: v for k, v in raster.attrs.items() if k in ("units", "grid_mapping")}
        parts[name] = raster.isel(band=place, drop=True).assign_attrs(attrs)
        parts[name].attrs.pop("long_name", None)
    return library("xarray").Dataset(parts)


@contextmanager
def _old_affine() -> Iterator[None]:
    """Be silent about how rasterio and rioxarray multiply: nothing that a user could change."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"(?s).*matmul", DeprecationWarning)
        warnings.filterwarnings("ignore", r"(?s).*matmul", PendingDeprecationWarning)
        yield


def packing_of(values: Any) -> dict[str, Any]:
    """Return how a variable was packed into integers in its file, as xarray's encoding.

    Parameters
    ----------
    values : xarray.DataArray
        Read from a file, or not decoded.

    Raises
    ------
    ValueError
        If it was not packed.
    """
    known = {**values.attrs, **values.encoding}
    packing = {key: known[key] for key in PACKING if key in known}
    if values.dtype.kind in "iu":
        packing["dtype"] = values.dtype
    kind = np.dtype(packing.get("dtype", np.float64)).kind
    if kind not in "iu" or "_FillValue" not in packing:
        raise ValueError(
            f"{values.name!r} is not packed into integers with a _FillValue, so that there is no "
            "such packing to go back to: leave --packed out."
        )
    return packing


def check_holds(path: Path, grid: Any) -> None:
    """Raise ValueError if a kind of file, by its name, cannot hold maps on a grid.

    Parameters
    ----------
    path : path
        Where the maps will go.
    grid : xarray.DataArray or Dataset
        Its dimensions and coordinates are looked at.
    """
    ending = path.suffix.lower()
    if ending in NETCDF:
        return
    axes = drawing_axes(grid)
    if ending in TIFF:
        _check_raster(path, grid, axes)
    elif ending in PICTURES:
        library("matplotlib")


def _check_raster(path: Path, grid: Any, axes: Axes) -> None:
    y, x = grid[axes.latitude], grid[axes.longitude]
    advice = "write NetCDF (.nc) or a picture (.png) instead."
    if y.dims == x.dims and y.ndim == 1:
        raise ValueError(f"{path}: GeoTIFF holds rows and columns, and this is a track: {advice}")
    if y.ndim != 1 or x.ndim != 1:
        raise ValueError(
            f"{path}: GeoTIFF holds rows and columns, but {y.name!r} and {x.name!r} have two "
            f"dimensions (a curvilinear grid): {advice}"
        )
    long = [dim for dim in grid.dims if dim not in (*y.dims, *x.dims) and grid.sizes[dim] > 1]
    if long:
        raise ValueError(
            f"{path}: GeoTIFF holds one map, but there are {grid.sizes[long[0]]} along "
            f"{str(long[0])!r}: select one of them first, or {advice}"
        )
    for axis, values in ((y, y.values), (x, _raster_columns(x.values, axes))):
        steps = np.diff(np.sort(values))
        if not _equal(steps):
            raise ValueError(
                f"{path}: GeoTIFF needs equal steps along {axis.name!r}, but they run from "
                f"{steps.min():g} to {steps.max():g}: write NetCDF (.nc) instead."
            )


def _raster_columns(x: Any, axes: Axes) -> Any:
    """Return longitudes from -180 to 180, or as they are across the date line."""
    if axes.is_plane:
        return x
    turned = (x + 180) % 360 - 180
    return turned if _equal(np.diff(np.sort(turned))) else x


def _equal(steps: Any) -> bool:
    return not len(steps) or bool(np.ptp(steps) <= 1e-3 * abs(steps.mean()))


def write_grid(
    result: Any, path: Path, *, packing: dict[str, Any] | None = None, coastlines: bool = False
) -> None:
    """Write predictions on a grid: NetCDF, GeoTIFF or a picture, by the ending of the name.

    Chunks of Dask are computed and written one after the other.

    Parameters
    ----------
    result : xarray.Dataset
    path : path
    packing : dict, optional
        How numbers are packed into NetCDF, as `packing_of` returns it. What does not fit into it
        is an error, so that the whole result is held in memory first.
    coastlines : bool
        Whether pictures have coasts.
    """
    ending = path.suffix.lower()
    if packing is not None and ending not in NETCDF:
        raise ValueError(f"{path}: packed integers go into NetCDF (.nc); leave --packed out.")
    with one_chunk_at_a_time():
        if ending in NETCDF:
            _write_netcdf(result, path, packing)
        elif ending in TIFF:
            _write_raster(result, path)
        elif ending in PICTURES:
            draw(result, coastlines=coastlines).savefig(path)
        else:
            raise ValueError(
                f"{path} cannot be written: its name must end in {', '.join(MAP_ENDINGS)}, not "
                f"{path.suffix!r}."
            )


@contextmanager
def one_chunk_at_a_time() -> Iterator[None]:
    """Compute chunks of Dask in this thread, in order, so that one of them is held at a time."""
    try:
        dask = library("dask")
    except ImportError:  # then nothing is in chunks
        yield
        return
    with dask.config.set(scheduler="synchronous"):
        yield


def _write_netcdf(result: Any, path: Path, packing: dict[str, Any] | None) -> None:
    plain = {"zlib": True, "complevel": 4, "_FillValue": np.nan}
    encoding = {name: dict(plain) for name in result.data_vars}
    if packing is not None:
        result = result.load()  # once, for the range of the values is looked at first
        limits = np.iinfo(np.dtype(packing["dtype"]))
        scale, offset = packing.get("scale_factor", 1.0), packing.get("add_offset", 0.0)
        ends = sorted(scale * np.array([limits.min, limits.max], dtype=np.float64) + offset)
        for name in result.data_vars:
            if not str(name).endswith("std"):
                _check_fits(str(name), result[name], *ends)
                encoding[name] = {"zlib": True, "complevel": 4, **packing}
    with warnings.catch_warnings():
        # Of a time that changes its calendar.
        warnings.filterwarnings("ignore", "Times can't be serialized", UserWarning)
        result.to_netcdf(path, encoding=encoding)


def _check_fits(name: str, values: Any, low: float, high: float) -> None:
    least, most = float(values.min()), float(values.max())
    if least < low or most > high:
        raise ValueError(
            f"{name!r} runs from {least:g} to {most:g}, but the packing of the file holds "
            f"{low:g} to {high:g}: leave --packed out."
        )


def _write_raster(result: Any, path: Path) -> None:
    library("rioxarray")
    axes = drawing_axes(result)
    _check_raster(path, result, axes)
    y, x = str(axes.latitude), str(axes.longitude)
    plane = result.squeeze([dim for dim in result.dims if dim not in (y, x)], drop=True)
    crs = "EPSG:4326" if axes.projection is None else axes.projection.wkt
    columns = _raster_columns(plane[x].values, axes)
    plane = plane.assign_coords({x: (x, columns)}).sortby(x)
    plane = plane.sortby(y, ascending=False).rename({y: "y", x: "x"})
    plane = plane.drop_vars([name for name in plane.coords if name not in ("x", "y")])
    bands = plane.transpose("y", "x").to_array("band").astype(np.float32)
    bands.attrs["long_name"] = tuple(str(name) for name in plane.data_vars)
    with _old_affine():
        if not axes.flat:
            bands = bands.rio.write_crs(crs)
        bands.rio.write_nodata(np.nan).rio.to_raster(path, compress="deflate")
