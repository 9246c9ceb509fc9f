"""Grids in files: NetCDF, and GeoTIFF by rioxarray."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .._suggestions import near
from .axes import find_axes
from .maps import draw
from .optional import library
from .times import is_time

__all__ = ["GRID_ENDINGS", "MAP_ENDINGS", "is_grid_file", "open_grid", "write_grid"]

NETCDF = (".nc", ".nc4", ".cdf", ".netcdf", ".h5")
TIFF = (".tif", ".tiff")
GRID_ENDINGS = NETCDF + TIFF
MAP_ENDINGS = (*GRID_ENDINGS, ".png", ".pdf", ".svg")


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
        return _bands(library("rioxarray").open_rasterio(path, masked=True, chunks=chunks))
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


def write_grid(result: Any, path: Path) -> None:
    """Write predictions on a grid: NetCDF, GeoTIFF or a picture, by the ending of the name.

    Chunks of Dask are computed and written one after the other.
    """
    ending = path.suffix.lower()
    if ending in NETCDF:
        encoding = {
            name: {"zlib": True, "complevel": 4, "_FillValue": np.nan} for name in result.data_vars
        }
        with warnings.catch_warnings():
            # Of a time that changes its calendar.
            warnings.filterwarnings("ignore", "Times can't be serialized", UserWarning)
            result.to_netcdf(path, encoding=encoding)
    elif ending in TIFF:
        _write_raster(result, path)
    elif ending in MAP_ENDINGS:
        draw(result).savefig(path)
    else:
        raise ValueError(
            f"{path} cannot be written: its name must end in {', '.join(MAP_ENDINGS)}, not "
            f"{path.suffix!r}."
        )


def _write_raster(result: Any, path: Path) -> None:
    library("rioxarray")
    axes = find_axes(result, is_time)
    y, x = axes.latitude, axes.longitude
    if result[y].ndim != 1 or result[x].ndim != 1:
        raise ValueError(f"{path} needs rows and columns: {y!r} and {x!r} have two dimensions.")
    long = [dim for dim in result.dims if dim not in (y, x) and result.sizes[dim] > 1]
    if long:
        raise ValueError(
            f"{path} would hold one map, but there are {result.sizes[long[0]]} along {long[0]!r}: "
            "select one of them, or write NetCDF (.nc)."
        )
    plane = result.squeeze([dim for dim in result.dims if dim not in (y, x)], drop=True)
    crs = "EPSG:4326" if axes.projection is None else axes.projection.wkt
    if axes.projection is None:
        turned = (plane[x] + 180) % 360 - 180
        plane = plane.assign_coords({x: turned}).sortby(x)
    plane = plane.sortby(y, ascending=False).rename({y: "y", x: "x"})
    plane = plane.drop_vars([name for name in plane.coords if name not in ("x", "y")])
    _check_steps(path, plane)
    bands = plane.transpose("y", "x").to_array("band").astype(np.float32)
    bands.attrs["long_name"] = tuple(str(name) for name in plane.data_vars)
    bands.rio.write_crs(crs).rio.write_nodata(np.nan).rio.to_raster(path, compress="deflate")


def _check_steps(path: Path, plane: Any) -> None:
    for axis in ("x", "y"):
        steps = np.diff(plane[axis].values)
        if len(steps) and np.ptp(steps) > 1e-3 * abs(steps.mean()):
            raise ValueError(
                f"{path} needs equal steps along {axis}, but they run from {steps.min():g} to "
                f"{steps.max():g}: write NetCDF (.nc) instead."
            )
