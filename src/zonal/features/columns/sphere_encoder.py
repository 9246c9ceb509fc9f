"""Tables with latitude and longitude as points of the sphere and scaled columns."""

import math
import re
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_is_fitted,
)

from ..._typing import Array, FloatArray
from ..._validation import check_choice, valid_rows
from ...datasets.heights import height_at
from ...polynomials import to_sphere
from ...rows.dispatch import blockwise, sampled
from .facts import DEGREES
from .standardizer import Standardizer

__all__ = ["DEGREES", "SphereEncoder", "find_column", "named_like"]

# The words of a column's name that "auto" looks for.
WORDS = {"latitude": {"lat", "latitude"}, "longitude": {"lon", "long", "lng", "longitude"}}


class SphereEncoder(TransformerMixin, BaseEstimator):
    r"""Latitude and longitude as unit vectors, the other columns on a common scale.

    A row with latitude φ and longitude λ, in degrees, becomes the point of the sphere S²

    .. math:: (\cos\varphi\cos\lambda,\; \cos\varphi\sin\lambda,\; \sin\varphi),

    followed by its other columns. Degrees are no coordinates for a kernel: 179° and -179° are
    neighbours, and at a pole all longitudes are one place.

    Parameters
    ----------
    latitude, longitude : str or int, default="auto"
        The column by name or by number (from the end if negative). ``"auto"`` is the one column
        of a frame with the word lat or latitude in its name (lon, long, lng or longitude), in
        upper or lower case: ``lat``, ``LAT_DEG``, ``y_lat``, ``decimalLatitude``.
    rest : {"standardize", "interval", "passthrough", "drop"}, default="standardize"
        What becomes of the other columns: mean zero and standard deviation one (learnt as by
        `Standardizer`, from at most 10,000 rows), scaled so that the rows of `fit` fill
        `interval`, left as they are, or left out.
    interval : pair of float, default=(0.0, 1.0)
        The ends for ``rest="interval"``. Rows that `fit` has not seen may fall outside.
    out_of_range : {"error", "wrap"}, default="error"
        What happens to latitudes outside [-90, 90] and longitudes outside [-180, 360].
        ``"error"`` names the first such row. ``"wrap"`` walks on around the globe: 100° north at
        longitude 0° is 80° north at 180°.
    height : bool, default=False
        Whether the height of the ground at a place of the Earth, in kilometres, becomes a column
        after the place (`zonal.datasets.height_at`, which ships with the package). Climate follows
        the ground: in gaps between rows it tells what places alone do not.

    Attributes
    ----------
    columns_ : ndarray of shape (2,)
        The numbers of the latitude and longitude columns.
    rest_ : ndarray of shape (n_rest,)
        The numbers of the other columns that are kept, in their order.
    center_, scale_ : ndarrays of shape (n_rest,)
        What is subtracted from the other columns (mean, minimum or 0) and what they are then
        divided by (1 for constant columns); ``interval[0]`` is added for ``rest="interval"``.
    n_features_in_ : int
        The number of columns, at least two.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the rows of `fit` had any.

    Examples
    --------
    >>> import pandas as pd
    >>> import zonal
    >>> places = pd.DataFrame({"time": [2.0, 4.0], "lat": [0.0, 90.0], "lon": [90.0, 0.0]})
    >>> encoder = zonal.SphereEncoder().fit(places)
    >>> encoder.transform(places).round(6) + 0.0
    array([[ 0.,  1.,  0., -1.],
           [ 0.,  0.,  1.,  1.]])
    >>> list(encoder.get_feature_names_out())
    ['sphere_x', 'sphere_y', 'sphere_z', 'time']

    The height of the ground too, in kilometres, in Tibet and in the middle of the Pacific:

    >>> places = pd.DataFrame({"lat": [30.5, 0.5], "lon": [90.5, -140.5]})
    >>> zonal.SphereEncoder(height=True).fit_transform(places)[:, 3].round(1)
    array([ 5. , -4.4])
    """

    thread_safe = True

    def __init__(
        self,
        latitude: str | int = "auto",
        longitude: str | int = "auto",
        *,
        rest: str = "standardize",
        interval: tuple[float, float] = (0.0, 1.0),
        out_of_range: str = "error",
        height: bool = False,
    ) -> None:
        self.latitude = latitude
        self.longitude = longitude
        self.rest = rest
        self.interval = interval
        self.out_of_range = out_of_range
        self.height = height

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the columns and learn the scale of the others.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows of numbers, with at least two columns.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        X, sample_weight = sampled(X, sample_weight)
        X = self._valid(X, reset=True)
        name = type(self).__name__
        check_choice("rest", self.rest, ("standardize", "interval", "passthrough", "drop"), name)
        check_choice("out_of_range", self.out_of_range, ("error", "wrap"), name)
        if not isinstance(self.height, bool | np.bool_):
            raise ValueError(f"height={self.height!r} of {name} must be True or False.")
        low, high = self._check_interval()
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.columns_ = np.array([self._find("latitude"), self._find("longitude")])
        if self.columns_[0] == self.columns_[1]:
            names = getattr(self, "feature_names_in_", None)
            raise ValueError(
                f"latitude={self.latitude!r} and longitude={self.longitude!r} of {name} are the "
                f"same column. {_present(names, X.shape[1])}"
            )
        self._angles(X)
        self.rest_ = np.delete(np.arange(X.shape[1]), self.columns_)
        if self.rest == "drop":
            self.rest_ = self.rest_[:0]
        self._offset = low if self.rest == "interval" else 0.0
        # Of all columns, so that no other column at all is no special case.
        center, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if self.rest == "standardize":
            scaler = Standardizer().fit(X, sample_weight=weights)
            center, scale = scaler.mean_, scaler.scale_
        elif self.rest == "interval":
            center, scale = _span(X, weights)
            scale = np.where(scale > 0, scale / (high - low), 1.0)
        self.center_, self.scale_ = center[self.rest_], scale[self.rest_]
        return self

    @blockwise
    def transform(self, X: Any) -> Array:
        """Return points of the sphere, heights if they are wanted, then the other columns.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, 3 + n_rest), or 4 + n_rest with heights
            Computed in float64; rounded to float32 if X is float32.
        """
        check_is_fitted(self, "scale_")
        X = self._valid(X, reset=False)
        others = (X[:, self.rest_].astype(np.float64) - self.center_) / self.scale_ + self._offset
        angles = self._angles(X)
        places = [to_sphere(*angles)]
        if self.height:
            places.append(height_at(*angles)[:, None] / 1000)
        return np.hstack([*places, others]).astype(X.dtype, copy=False)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names of the columns of the output.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of X, if `fit` has seen none.

        Returns
        -------
        ndarray of shape (3 + n_rest,), or 4 + n_rest with heights
            ``sphere_x``, ``sphere_y``, ``sphere_z``, ``height`` if it is wanted, and the names of
            the other columns.
        """
        check_is_fitted(self, "scale_")
        names = np.asarray(_check_feature_names_in(self, input_features), dtype=object)
        place = ["sphere_x", "sphere_y", "sphere_z", *(["height"] if self.height else [])]
        return np.array([*place, *names[self.rest_]], dtype=object)

    @property
    def groups_(self) -> list[str]:
        """The column of the table that each column of the output comes from; a place is one."""
        check_is_fitted(self, "scale_")
        names = np.asarray(_check_feature_names_in(self, None), dtype=object)
        place = " and ".join(map(str, names[self.columns_]))
        return [place] * (4 if self.height else 3) + [str(name) for name in names[self.rest_]]

    def _valid(self, X: Any, reset: bool) -> Array:
        # Afterwards the number of columns is that of fit, and the error says so.
        least = 2 if reset else 1
        dtypes = [np.float64, np.float32]
        return valid_rows(self, X, dtype=dtypes, ensure_min_features=least, reset=reset)

    def _check_interval(self) -> tuple[float, float]:
        ends = self.interval
        is_pair = isinstance(ends, tuple | list) and len(ends) == 2
        if is_pair and all(isinstance(end, Real) and math.isfinite(end) for end in ends):
            low, high = map(float, ends)
            if low < high:
                return low, high
        raise ValueError(
            f"interval={ends!r} of {type(self).__name__} must be two finite numbers, the smaller "
            "one first."
        )

    def _find(self, angle: str) -> int:
        """Return the number of the latitude or longitude column."""
        names = getattr(self, "feature_names_in_", None)
        owner = type(self).__name__
        return find_column(angle, getattr(self, angle), names, self.n_features_in_, owner)

    def _angles(self, X: Array) -> tuple[Array, Array]:
        """Return latitudes and longitudes of rows in float64, in range."""
        latitude, longitude = X[:, self.columns_].T.astype(np.float64)
        if self.out_of_range == "wrap":
            return _wrap(latitude, longitude)
        for (angle, (low, high)), column, degrees in zip(
            DEGREES.items(), self.columns_, (latitude, longitude), strict=True
        ):
            outside = np.flatnonzero((degrees < low) | (degrees > high))
            if len(outside) > 0:
                row = outside[0]
                names = getattr(self, "feature_names_in_", range(X.shape[1]))
                raise ValueError(
                    f"{X[row, column]} in row {row} (counted from 0), column {names[column]!r}, is "
                    f"not a {angle}: those are degrees from {low} to {high}. Are latitude and "
                    "longitude swapped? If not, correct or remove such rows "
                    f'({len(outside)} in all), or pass out_of_range="wrap".'
                )
        return latitude, longitude

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def find_column(angle: str, wanted: Any, names: Any, width: int, owner: str) -> int:
    """Return the number of the latitude or longitude column.

    Parameters
    ----------
    angle : {"latitude", "longitude"}
    wanted : str or int
        The column by name or by number, or "auto".
    names : sequence of str or None
        The names of the columns, if they have any.
    width : int
        The number of columns.
    owner : str
        Whose parameter it is, for messages.
    """
    what = f"{angle}={wanted!r} of {owner}"
    if isinstance(wanted, Integral) and not isinstance(wanted, bool):
        number = int(wanted)
        if -width <= number < width:
            return number % width
        raise ValueError(
            f"{what} is no column: pass a number from {-width} to {width - 1}. "
            f"{_present(names, width)}"
        )
    if not isinstance(wanted, str):
        raise ValueError(f'{what} must be the name or the number of a column, or "auto".')
    if names is None:
        raise ValueError(
            f"{what} needs a frame with names: {_present(names, width)} Pass the column's "
            f"number instead, such as {angle}=0."
        )
    if wanted == "auto":
        found = named_like(angle, names)
    else:
        found = [i for i, name in enumerate(names) if name == wanted]
    if len(found) == 1:
        return found[0]
    matches = ", ".join(repr(names[i]) for i in found) or "no column"
    raise ValueError(
        f"{what} matches {matches}. {_present(names, width)} Pass the name or the number of "
        f"one of them as {angle}."
    )


def _present(names: Any, width: int) -> str:
    """Describe the columns of X, for an error message."""
    if names is None:
        return f"X has {width} columns and no names."
    return f"The columns are {', '.join(map(repr, names))}."


def named_like(angle: str, names: Any) -> list[int]:
    """Return the numbers of the columns whose names say latitude or longitude."""
    return [number for number, name in enumerate(names) if WORDS[angle] & _words(name)]


def _words(name: str) -> set[str]:
    """Return the words of a name, in lower case: {"gps", "latitude"} for GPSLatitude."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def _span(X: Array, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return minimum and width of every column over the rows that count."""
    rows = X[weights > 0]
    if len(rows) == 0:
        raise ValueError("All sample weights are zero: at least one row must count.")
    minimum = rows.min(axis=0).astype(np.float64)
    return minimum, rows.max(axis=0) - minimum


def _wrap(latitude: FloatArray, longitude: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same places with latitudes from -90 to 90: past a pole is the far side."""
    latitude, longitude = np.fmod(latitude, 360.0), np.fmod(longitude, 360.0)
    latitude -= 360.0 * np.rint(latitude / 360.0)  # from -180 to 180
    over = np.abs(latitude) > 90
    folded = np.copysign(180.0, latitude) - latitude
    return np.where(over, folded, latitude), longitude + 180.0 * over
