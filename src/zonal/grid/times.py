"""Times as numbers: years, with the part of the year that has passed."""

import re
from typing import Any

import numpy as np

from .._typing import Array, FloatArray

__all__ = ["as_dates", "as_years", "is_time"]

# Years that one of these lasts.
UNITS = {
    "second": 1 / (365.2425 * 86400), "sec": 1 / (365.2425 * 86400), "s": 1 / (365.2425 * 86400),
    "minute": 1 / (365.2425 * 1440), "min": 1 / (365.2425 * 1440),
    "hour": 1 / (365.2425 * 24), "hr": 1 / (365.2425 * 24), "h": 1 / (365.2425 * 24),
    "day": 1 / 365.2425, "d": 1 / 365.2425,
    "week": 7 / 365.2425, "month": 1 / 12, "year": 1.0, "yr": 1.0,
}  # fmt: skip
SINCE = re.compile(r"\s*(\w+)\s+since\s+(-?\d+)(?:-(\d+))?(?:-(\d+))?", re.IGNORECASE)


def is_time(coordinate: Any) -> bool:
    """Tell whether a coordinate of xarray holds times: by its type, CF attributes or name."""
    attrs = coordinate.attrs
    return bool(
        coordinate.dtype.kind == "M"
        or _is_cftime(coordinate)
        or SINCE.match(str(attrs.get("units", "")))
        or attrs.get("standard_name") == "time"
        or attrs.get("axis") == "T"
        or str(coordinate.name).lower() in ("time", "t", "date", "datetime")
    )


def as_years(coordinate: Any) -> FloatArray:
    """Return times as years: 2020.5 is the middle of 2020.

    Parameters
    ----------
    coordinate : xarray.DataArray
        Of dates (NumPy's or cftime's), of numbers with CF units ("hours since 1900-01-01"), or of
        other numbers, which stay as they are.
    """
    values = np.asarray(coordinate.values)
    if values.dtype.kind == "M":
        return _of_dates(values)
    if _is_cftime(coordinate):
        return np.array([_of_cftime(date) for date in values.ravel()]).reshape(values.shape)
    if values.dtype.kind not in "iuf":
        raise ValueError(
            f"The time {coordinate.name!r} holds values of type {values.dtype}, neither dates nor "
            "numbers: convert it, with pandas.to_datetime for text."
        )
    units = str(coordinate.attrs.get("units", ""))
    found = SINCE.match(units)
    numbers = values.astype(np.float64)
    if not found:
        return numbers
    word = found[1].lower()
    length = UNITS.get(word) or UNITS.get(word.removesuffix("s"))
    if length is None:
        raise ValueError(
            f"The time {coordinate.name!r} has units={units!r}, whose {found[1]!r} is unknown: use "
            f"one of {', '.join(UNITS)}, or decode the dates first."
        )
    year, month, day = (int(part or 1) for part in found.groups()[1:])
    return numbers * length + year + (month - 1) / 12 + (day - 1) / 365.2425


def as_dates(coordinate: Any) -> Array:
    """Return times as dates of NumPy, for models that were fitted to dates.

    Dates of other calendars keep year, month and day; where ours has no such day, and for numbers
    (as `as_years` reads them), the part of the year that has passed decides.

    Parameters
    ----------
    coordinate : xarray.DataArray
        As `as_years` takes it.
    """
    values = np.asarray(coordinate.values)
    if values.dtype.kind == "M":
        return values.astype("M8[us]")
    dates = _of_years(as_years(coordinate))
    if _is_cftime(coordinate):
        for place, date in np.ndenumerate(values):
            try:
                dates[place] = np.datetime64(date.isoformat(), "us")
            except ValueError:  # the 30th of February of a year of 360 days
                continue
    return dates


def _of_years(years: FloatArray) -> Array:
    whole = np.floor(years)
    start = (whole.astype(np.int64) - 1970).astype("M8[Y]")
    length = (start + 1).astype("M8[us]") - start.astype("M8[us]")
    passed = ((years - whole) * length.astype(np.int64)).astype("m8[us]")
    return np.asarray(start.astype("M8[us]") + passed)


def _is_cftime(coordinate: Any) -> bool:
    if coordinate.dtype != object or not coordinate.size:
        return False
    first = np.asarray(coordinate.values).ravel()[0]
    return hasattr(first, "calendar") and hasattr(first, "dayofyr")


def _of_dates(dates: Array) -> FloatArray:
    years = dates.astype("M8[Y]")
    start, end = years.astype("M8[us]"), (years + 1).astype("M8[us]")
    passed = (dates.astype("M8[us]") - start) / (end - start)
    return np.asarray(years.astype(np.int64) + 1970 + passed)


def _of_cftime(date: Any) -> float:
    start = date.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
    length = start.replace(year=date.year + 1) - start
    return float(date.year + (date - start) / length)
