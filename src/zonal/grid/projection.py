"""Coordinates on a plane: from a map projection to latitude and longitude, by pyproj."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from .optional import library

__all__ = ["Projection", "crs_of"]


@dataclass(frozen=True)
class Projection:
    """A coordinate reference system.

    Attributes
    ----------
    wkt : str
        What pyproj knows it by.
    """

    wkt: str

    @classmethod
    def of(cls, crs: Any) -> "Projection":
        """Return a projection by EPSG code ("EPSG:32633", 32633), WKT, PROJ string or CF dict."""
        pyproj = library("pyproj")
        if isinstance(crs, str) and crs.isdigit():
            crs = int(crs)
        try:
            known = pyproj.CRS.from_cf(crs) if isinstance(crs, dict) else pyproj.CRS(crs)
        except pyproj.exceptions.CRSError as error:
            raise ValueError(
                f"crs={crs!r} is not a coordinate reference system that pyproj knows: use an EPSG "
                f"code such as 'EPSG:32633'. ({error})"
            ) from error
        return cls(known.to_wkt())

    def to_degrees(self, x: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return latitudes and longitudes of places on the plane."""
        lon, lat = _change(self.wkt, "EPSG:4326", *np.broadcast_arrays(x, y))
        outside = ~np.isfinite(lat)
        if outside.any():
            place = int(np.argmax(outside.ravel()))
            raise ValueError(
                f"The place x={np.broadcast_to(x, lat.shape).ravel()[place]:g}, "
                f"y={np.broadcast_to(y, lat.shape).ravel()[place]:g} lies outside of the "
                "projection: leave such places out, or correct crs."
            )
        return lat, lon

    def to_plane(self, lat: Any, lon: Any) -> tuple[FloatArray, FloatArray]:
        """Return x and y of places by their latitudes and longitudes."""
        return _change("EPSG:4326", self.wkt, lon, lat)


def _change(old: str, new: str, x: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    change = library("pyproj").Transformer.from_crs(old, new, always_xy=True)
    first, second = change.transform(np.asarray(x, np.float64), np.asarray(y, np.float64))
    return first, second


def crs_of(data: Any) -> Any:
    """Return the coordinate reference system that a grid names (CF grid_mapping), or None."""
    names = {"spatial_ref", "crs"}
    variables = data.data_vars.values() if hasattr(data, "data_vars") else [data]
    for variable in variables:
        names |= {str(variable.attrs.get("grid_mapping", variable.encoding.get("grid_mapping")))}
    known = {**getattr(data, "data_vars", {}), **data.coords}
    for name in sorted(names & set(known)):
        attrs = known[name].attrs
        wkt = attrs.get("crs_wkt") or attrs.get("spatial_ref")
        if wkt:
            return wkt
        if attrs.get("grid_mapping_name"):
            return dict(attrs)
    return data.attrs.get("crs")
