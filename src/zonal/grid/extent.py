"""The region that rows lie in, found block by block."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray

__all__ = ["GLOBE", "Extent", "extent_of", "last_time_of", "region_of"]

#: West, south, east and north.
GLOBE = (-180.0, -90.0, 180.0, 90.0)
# Data along two thirds of an axis of the globe are data of the whole axis.
MOST = 2 / 3


@dataclass(frozen=True)
class Extent:
    """The range of latitudes, and that of longitudes in each degree of the circle.

    Ranges of two extents can be merged exactly, which a west and an east end cannot: whether data
    at 170° and -170° are neighbours is known only when all are seen.

    Attributes
    ----------
    south, north : float
    least, most : ndarrays of shape (360,)
        Of the longitudes from 0 to 1, 1 to 2 and so on; infinite where there are none.

    Examples
    --------
    >>> from zonal.grid.extent import Extent
    >>> (Extent.of([10, 12], [175, 179.5]) + Extent.of([11], [-178])).box
    (175.0, 10.0, 182.0, 12.0)
    """

    south: float
    north: float
    least: FloatArray
    most: FloatArray

    @classmethod
    def of(cls, lat: Any, lon: Any) -> "Extent":
        """Return the extent of places in degrees."""
        lat = np.asarray(lat, dtype=np.float64)
        turned = np.asarray(lon, dtype=np.float64) % 360
        least, most = np.full(360, np.inf), np.full(360, -np.inf)
        degree = np.minimum(turned.astype(np.int64), 359)  # rounding may reach 360
        np.minimum.at(least, degree, turned)
        np.maximum.at(most, degree, turned)
        return cls(float(np.min(lat)), float(np.max(lat)), least, most)

    def __add__(self, other: "Extent") -> "Extent":
        """Return the extent of the places of both."""
        return Extent(
            min(self.south, other.south),
            max(self.north, other.north),
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
        )

    @property
    def box(self) -> tuple[float, float, float, float]:
        """West, south, east and north of the smallest box; east may exceed 180.

        Data along most of an axis have all of it.
        """
        low, high = GLOBE[1], GLOBE[3]
        if self.north - self.south <= MOST * 180:
            low, high = self.south, self.north
        filled = np.flatnonzero(np.isfinite(self.least))
        starts, ends = self.least[filled], self.most[filled]
        gaps = np.append(starts[1:], starts[0] + 360) - ends
        last = int(np.argmax(gaps))
        width = 360 - gaps[last]
        if width > MOST * 360:
            return GLOBE[0], low, GLOBE[2], high
        west = float((starts[(last + 1) % len(starts)] + 180) % 360 - 180)
        return west, low, west + float(width), high


def extent_of(blocks: Any, latitude: str = "latitude", longitude: str = "longitude") -> Any:
    """Return the box of blocks (X, ...) of frames, as `Extent.box` has it; None for no rows."""
    total = None
    for X, *_ in blocks:
        part = Extent.of(X[latitude], X[longitude])
        total = part if total is None else total + part
    return None if total is None else list(total.box)


def last_time_of(blocks: Any) -> float | None:
    """Return the largest time in years of blocks (X, ...) of frames; None where they have none."""
    times = [float(np.max(X["time"])) for X, *_ in blocks if "time" in X.columns and len(X)]
    return max(times) if times else None


def region_of(model: Any, step: float) -> tuple[float, float, float, float]:
    """Return the region of a model's data, rounded outwards to whole steps; else the globe.

    Models of `zonal.grid.fit` and of the command line know it.
    """
    known = getattr(model, "table_", {}).get("extent")
    if known is None:
        known = getattr(model, "field_", {}).get("extent")
    if known is None:
        return GLOBE
    west, south, east, north = (float(end) for end in known)
    if east - west < 360:
        west, east = _outwards(west, east, step)
    if (south, north) != GLOBE[1::2]:
        south, north = _outwards(south, north, step)
    # On the edge of the globe there is nothing to round to.
    east = min(east, west + 360)
    return west, max(south, -90.0), east, min(north, 90.0)


def _outwards(low: float, high: float, step: float) -> tuple[float, float]:
    """Return the ends of a range on whole steps, at most one beyond it; never a single place."""
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    if first == last:
        first, last = first - 1, last + 1
    return float(first * step), float(last * step)
