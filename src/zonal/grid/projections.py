"""Map projections for pictures: from degrees to a plane, with NumPy alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from .._typing import Array, FloatArray

__all__ = ["MapProjection", "fitting_projection", "orthographic", "plain", "robinson"]

# Robinson's table (Snyder 1990): length of the parallel and distance from the equator, every 5°.
LENGTHS = (
    1.0, 0.9986, 0.9954, 0.99, 0.9822, 0.973, 0.96, 0.9427, 0.9216, 0.8962, 0.8679, 0.835, 0.7986,
    0.7597, 0.7186, 0.6732, 0.6213, 0.5722, 0.5322,
)  # fmt: skip
HEIGHTS = (
    0.0, 0.062, 0.124, 0.186, 0.248, 0.31, 0.372, 0.434, 0.4958, 0.5571, 0.6176, 0.6769, 0.7346,
    0.7903, 0.8435, 0.8936, 0.9394, 0.9761, 1.0,
)  # fmt: skip
TABLE = CubicSpline(np.arange(0, 95, 5), np.column_stack([LENGTHS, HEIGHTS]))


@dataclass(frozen=True)
class MapProjection:
    """A way to draw places on a plane.

    Attributes
    ----------
    to_plane : callable
        From latitudes and longitudes, relative to `center`, in degrees, to x and y; NaN for what
        cannot be seen.
    center : float
        The longitude in the middle.
    outline : ndarray of shape (n, 2), or None
        The edge of the whole globe.
    """

    to_plane: Callable[[Any, Any], tuple[FloatArray, FloatArray]]
    center: float = 0.0
    outline: Array | None = None

    def __call__(self, lat: Any, lon: Any) -> tuple[FloatArray, FloatArray]:
        """Return x and y of places, with longitudes on the side where they are."""
        return self.to_plane(np.asarray(lat, float), np.asarray(lon, float) - self.center)


def robinson(center: float = 0.0) -> MapProjection:
    """Return Robinson's projection of the globe."""

    def to_plane(lat: Any, lon: Any) -> tuple[FloatArray, FloatArray]:
        length, height = np.moveaxis(TABLE(np.abs(lat)), -1, 0)
        return 0.8487 * length * np.radians(lon), 1.3523 * height * np.sign(lat)

    side = np.linspace(-90, 90, 181)
    edge = [to_plane(side, np.full(181, 180.0)), to_plane(side[::-1], np.full(181, -180.0))]
    return MapProjection(to_plane, center, np.concatenate([np.column_stack(e) for e in edge]))


def orthographic(latitude: float, center: float = 0.0, radius: float = 90.0) -> MapProjection:
    """Return the globe as it is seen from far above a place, or what is within some degrees of it.

    Parameters
    ----------
    latitude, center : float
        The place.
    radius : float
        The distance in degrees up to which places are drawn.
    """
    phi0 = np.radians(latitude)
    least = np.cos(np.radians(radius)) - 1e-12

    def to_plane(lat: Any, lon: Any) -> tuple[FloatArray, FloatArray]:
        phi, lam = np.radians(lat), np.radians(lon)
        x = np.cos(phi) * np.sin(lam)
        y = np.cos(phi0) * np.sin(phi) - np.sin(phi0) * np.cos(phi) * np.cos(lam)
        towards = np.sin(phi0) * np.sin(phi) + np.cos(phi0) * np.cos(phi) * np.cos(lam)
        seen = towards >= least
        return np.where(seen, x, np.nan), np.where(seen, y, np.nan)

    turn = np.radians(np.linspace(0, 360, 361))
    edge = np.sin(np.radians(radius)) * np.column_stack([np.cos(turn), np.sin(turn)])
    return MapProjection(to_plane, center, edge)


def plain(latitude: float = 0.0, center: float = 0.0) -> MapProjection:
    """Return degrees as they are, but for east and west as long as they are at a latitude."""
    shrink = max(np.cos(np.radians(latitude)), 0.1)
    return MapProjection(lambda lat, lon: (lon * shrink, lat), center)


def fitting_projection(lat: Array, lon: Array) -> MapProjection:
    """Choose a projection for places: the globe, a view of a pole, or a plain map of a region."""
    south, north = float(np.min(lat)), float(np.max(lat))
    center, width = _span(np.asarray(lon, dtype=np.float64))
    if width > 180 and (south >= 30 or north <= -30):  # around a pole
        pole = 90.0 if south > 0 else -90.0
        # Places are middles of cells, which go on for a little.
        return orthographic(pole, radius=min(90.0, 93.0 - min(abs(south), abs(north))))
    if width > 150 or north - south > 120:
        return robinson(0.0 if width > 300 else center)
    return plain((south + north) / 2, center)


def _span(lon: FloatArray) -> tuple[float, float]:
    """Return the middle and the width of the shortest range that holds all longitudes."""
    turn = np.unique(lon % 360)
    gaps = np.diff(np.append(turn, turn[0] + 360))
    last = int(np.argmax(gaps))
    width = 360 - gaps[last]
    start = turn[(last + 1) % len(turn)]
    return float((start + width / 2 + 180) % 360 - 180), float(width)
