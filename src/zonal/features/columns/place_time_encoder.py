"""Frames of latitude, longitude and a date: points of the sphere, and years."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array, FloatArray
from ...polynomials import to_sphere
from ...tables.text import as_dates
from .facts import DEGREES
from .sphere_encoder import named_like
from .table.cells import Cells, columns_of
from .time_column import as_years, date_form_of, with_dates

__all__ = ["PlaceTimeEncoder"]


class PlaceTimeEncoder(TransformerMixin, BaseEstimator):
    r"""Places and dates as numbers: a point of the sphere, then the time in years.

    `KernelRidge` takes it for a frame that has nothing but a latitude, a longitude and a date,
    which may be text, as a CSV has it. A row becomes (cos φ cos λ, cos φ sin λ, sin φ, t).

    Attributes
    ----------
    names_ : tuple of str
        The columns of latitude, longitude and time.
    kinds_ : dict of str to str
        What they hold: numbers and dates.
    form_ : {"date", "day-first", "month-first"}
        How dates are read that are written as text.
    last_ : numpy.datetime64
        The last date of the rows of `fit`: what is later is a forecast.

    Examples
    --------
    >>> import pandas as pd
    >>> from zonal.features.columns.place_time_encoder import PlaceTimeEncoder
    >>> days = pd.to_datetime(["1970-01-01", "1971-01-01"])
    >>> frame = pd.DataFrame({"date": days, "lat": [0.0, 90.0], "lon": [90.0, 0.0]})
    >>> PlaceTimeEncoder().fit_transform(frame).round().astype(int).tolist()
    [[0, 1, 0, 1970], [0, 0, 1, 1971]]
    """

    thread_safe = True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns.

        Parameters
        ----------
        X : frame of shape (n_samples, 3)
        y : ignored
        """
        given = columns_of(X)
        columns = with_dates(given)
        found = place_time_names(columns)
        if found is None:
            raise ValueError(
                "PlaceTimeEncoder takes a latitude, a longitude (by their names) and a date "
                f"without gaps, but the columns are {', '.join(map(repr, columns))}: use "
                "TableEncoder for other tables."
            )
        self.names_ = found
        self.kinds_ = dict(zip(found, ("number", "number", "date"), strict=True))
        self.form_ = date_form_of(given[found[2]]) or "date"
        self.last_ = columns[found[2]].values.max()
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        return self

    def transform(self, X: Any) -> Array:
        """Return points of the sphere and years: [n, 4]."""
        check_is_fitted(self, "names_")
        columns = columns_of(X)
        missing = [name for name in self.names_ if name not in columns]
        if missing:
            raise ValueError(
                f"X has no column {missing[0]!r}; the model was fitted to "
                f"{', '.join(map(repr, self.names_))}."
            )
        dates = self._dates(columns[self.names_[2]])
        place = [_degrees(name, columns[name], angle)
                 for name, angle in zip(self.names_, DEGREES, strict=False)]  # fmt: skip
        return np.column_stack([to_sphere(*place), as_years(dates)])

    def _dates(self, cells: Cells) -> Array:
        """Return the dates of a column, or raise ValueError that names the first row without."""
        if cells.kind == "text":
            dates, _ = as_dates(cells.values, self.form_)
        elif cells.kind == "date":
            dates = cells.values
        else:
            dates = np.full(len(cells.values), np.datetime64("NaT"))
        missing = np.isnat(dates)
        if missing.any():
            row = int(np.argmax(missing))
            raise ValueError(
                f"The column {self.names_[2]!r} must hold a date in every row, but row {row} "
                f"(counted from 0) has {cells.values[row]!r}: convert it with pandas.to_datetime, "
                "and leave out rows without one."
            )
        return dates

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names of the columns of the output."""
        check_is_fitted(self, "names_")
        return np.array(["sphere_x", "sphere_y", "sphere_z", self.names_[2]], dtype=object)

    @property
    def groups_(self) -> list[str]:
        """The column of the table that each column of the output comes from; a place is one."""
        return [" and ".join(self.names_[:2])] * 3 + [self.names_[2]]


def place_time_names(columns: dict[str, Cells]) -> tuple[str, str, str] | None:
    """Return the columns of latitude, longitude and date of a frame that has no others."""
    names = list(columns)
    angles = [named_like(angle, names) for angle in DEGREES]
    dates = [name for name in names if columns[name].kind == "date"]
    if len(names) != 3 or len(dates) != 1 or any(len(found) != 1 for found in angles):
        return None
    lat, lon = (names[found[0]] for found in angles)
    for name, (low, high) in zip((lat, lon), DEGREES.values(), strict=True):
        cells = columns[name]
        if cells.kind != "number" or not ((low <= cells.values) & (cells.values <= high)).all():
            return None
    if len({lat, lon, dates[0]}) < 3 or np.isnat(columns[dates[0]].values).any():
        return None
    return lat, lon, dates[0]


def _degrees(name: str, cells: Cells, angle: str) -> FloatArray:
    low, high = DEGREES[angle]
    values = cells.values if cells.kind == "number" else np.full(len(cells.values), np.nan)
    outside = ~((low <= values) & (values <= high))
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"{cells.values[row]!r} in row {row} (counted from 0), column {name!r}, is no {angle}: "
            f"those are degrees from {low} to {high}."
        )
    return np.asarray(values, np.float64)
