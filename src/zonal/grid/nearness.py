"""How far cells are from data, in kilometres."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._typing import Array, FloatArray
from ..polynomials.sphere import to_sphere

__all__ = [
    "EARTH_RADIUS",
    "Nearness",
    "check_distance",
    "nearness_of",
    "places_of",
    "rounded_places",
]

#: The mean radius of the Earth in kilometres.
EARTH_RADIUS = 6371.0088
# Places are remembered to this part of a degree, which is at most 0.8 km.
ROUNDED = 0.01
PLACE = ["latitude", "longitude"]


@dataclass(frozen=True)
class Nearness:
    """Which cells are within a distance of places that have data.

    Attributes
    ----------
    places : ndarray of shape (n, 2)
        Degrees of latitude and longitude.
    distance : float
        The largest distance in kilometres.
    """

    places: FloatArray
    distance: float

    def near(self, rows: Any) -> Array:
        """Tell which rows of a frame with latitude and longitude are near: [n]."""
        points = _points(rows[PLACE].to_numpy(np.float64))
        chord = 2 * np.sin(min(self.distance / EARTH_RADIUS, np.pi) / 2)
        # Within rounding: cells that are just so far away count.
        found, _ = self._tree.query(points, distance_upper_bound=chord * (1 + 1e-9) + 1e-12)
        return np.asarray(np.isfinite(found))

    @cached_property
    def _tree(self) -> Any:
        return cKDTree(_points(self.places))


def _points(places: FloatArray) -> FloatArray:
    return np.asarray(to_sphere(places[:, 0], places[:, 1]), np.float64)


def places_of(blocks: Iterable[Any]) -> Array:
    """Return the distinct places of blocks (X, ...) of frames: [n, 2]."""
    found: Array = np.empty((0, 2), np.float32)
    for X, *_ in blocks:
        part = rounded_places(X[PLACE].to_numpy(np.float64))
        found = np.unique(np.vstack([found, part]), axis=0)
    return found


def rounded_places(places: FloatArray) -> Array:
    """Return distinct places in float32, rounded as models remember them: [n, 2]."""
    return (np.unique(np.round(places / ROUNDED), axis=0) * ROUNDED).astype(np.float32)


def nearness_of(model: Any, max_distance: Any) -> Nearness | None:
    """Return which cells are near the data of a model; None where there is no limit."""
    if max_distance is None:
        return None
    reach = check_distance(max_distance)
    places = getattr(model, "table_", {}).get("places")
    if places is None:
        places = getattr(model, "field_", {}).get("places")
    if places is None:
        raise ValueError(
            f"max_distance={max_distance!r} needs a model that knows where its data are: one of "
            "zonal.grid.fit, or of zonal fit with latitudes and longitudes."
        )
    return Nearness(np.asarray(places, np.float64).reshape(-1, 2), reach)


def check_distance(max_distance: Any) -> float:
    """Return a distance, or raise an error if it is none."""
    number = isinstance(max_distance, Real) and not isinstance(max_distance, bool)
    if number and 0 < float(max_distance) < np.inf:
        return float(max_distance)
    raise ValueError(f"max_distance={max_distance!r} must be a positive number of kilometres.")
