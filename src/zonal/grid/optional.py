"""The libraries of the extra ``geo``, imported when they are first needed."""

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["library"]

WHAT_FOR = {
    "xarray": "Grids",
    "pandas": "Grids",
    "dask": "Grids in chunks",
    "pyproj": "Projected coordinates",
    "rioxarray": "GeoTIFF files",
    "matplotlib": "Maps",
}
EXTRA = {"matplotlib": "plot"}


@cache
def library(name: str) -> Any:
    """Return a library by name; one that is not installed is named in the error."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        extra = EXTRA.get(package, "geo")
        raise ImportError(
            f"{WHAT_FOR[package]} need the library {package}: pip install 'zonal[{extra}]'."
        ) from error
