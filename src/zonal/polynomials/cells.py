"""Cells of equal area on the sphere, in bands of latitude."""

import numpy as np

from .._typing import Array, FloatArray

__all__ = ["EqualAreaCells"]


class EqualAreaCells:
    r"""A partition of the sphere into N cells of the same area, each about as wide as high.

    Bands of latitude of about the same height hold :math:`n_1, n_2, \ldots` cells, in proportion
    to their area. The edges of the bands are then moved to

    .. math:: \sin\varphi_k = \frac{2}{N} \sum_{i \le k} n_i - 1,

    so that all cells have exactly the area :math:`4\pi / N` (on the sphere, area is proportional to
    the difference of the sines of latitude, by Archimedes).

    Parameters
    ----------
    side : float
        The side of a cell in degrees of a great circle, about; from above 0 to 180.

    Attributes
    ----------
    edges : ndarray of shape (n_bands + 1,)
        Sines of latitude, from -1 to 1.
    counts : ndarray of shape (n_bands,)
        The cells of each band; cell 0 of a band begins at longitude -180°.

    Examples
    --------
    >>> from zonal.polynomials.cells import EqualAreaCells
    >>> cells = EqualAreaCells(30.0)
    >>> cells.counts
    array([ 3,  8, 11, 11,  8,  3])
    >>> cells.number([-90.0, 0.0, 0.0], [0.0, -180.0, 180.0])
    array([ 1, 22, 22])
    """

    def __init__(self, side: float) -> None:
        n_bands = max(1, round(180 / side))
        sines = np.sin(np.radians(np.linspace(-90, 90, n_bands + 1)))
        # A band has the area 2π (difference of sines), a cell about side².
        areas = 2 * np.pi * np.diff(sines)
        self.counts = np.maximum(1, np.rint(areas / np.radians(side) ** 2)).astype(np.int64)
        self.edges: FloatArray = np.append(0.0, np.cumsum(self.counts)) * 2 / self.counts.sum() - 1

    def __len__(self) -> int:
        return int(self.counts.sum())

    def number(self, lat: Array | list[float], lon: Array | list[float]) -> Array:
        """Return the numbers of the cells that hold places, in degrees: [n]."""
        sines = np.sin(np.radians(np.asarray(lat, dtype=np.float64)))
        band = np.searchsorted(self.edges[1:-1], sines, side="right")
        # In degrees, of which the remainder is exact: 190 and -170 are one place.
        east = (np.asarray(lon, dtype=np.float64) + 180) % 360.0
        counts = self.counts[band]
        # A longitude just below -180° is rounded to a whole turn.
        place = np.minimum((east / 360 * counts).astype(np.int64), counts - 1)
        first = np.append(0, np.cumsum(self.counts))[band]
        return np.asarray(first + place)
