"""Columns of a table on a plane, as latitudes and longitudes."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import valid_rows
from .projection import Projection

__all__ = ["PlaneDecoder"]


class PlaneDecoder(TransformerMixin, BaseEstimator):
    """Northings and eastings of a map projection become latitudes and longitudes, in degrees.

    Parameters
    ----------
    crs : str or int
        The coordinate reference system, as pyproj takes it: "EPSG:32633", 32633.
    y, x : int
        The numbers of the columns of northings and eastings. The others stay as they are.

    Attributes
    ----------
    wkt_ : str
        The system in full.
    n_features_in_ : int

    Examples
    --------
    >>> from zonal.grid.plane import PlaneDecoder
    >>> decoder = PlaneDecoder("EPSG:32633", y=1, x=0)
    >>> decoder.fit_transform([[500000.0, 0.0]]).round(6) + 0.0  # the meridian of 15° east
    array([[15.,  0.]])
    """

    def __init__(self, crs: str | int, y: int = 0, x: int = 1) -> None:
        self.crs = crs
        self.y = y
        self.x = x

    def fit(self, X: Any, y: Any = None) -> Self:
        """Look the projection up; nothing is learnt from rows."""
        valid_rows(self, X, dtype=[np.float64, np.float32], ensure_min_features=2)
        self.wkt_ = Projection.of(self.crs).wkt
        return self

    def transform(self, X: Any) -> Array:
        """Return rows with degrees in place of northings and eastings, in float64."""
        check_is_fitted(self, "wkt_")
        rows = valid_rows(self, X, dtype=np.float64, reset=False, copy=True)
        lat, lon = Projection(self.wkt_).to_degrees(rows[:, self.x], rows[:, self.y])
        rows[:, self.y], rows[:, self.x] = lat, lon
        return np.asarray(rows)
