"""Cells of tables, whoever holds them: pandas, polars, arrays of numbers or of objects.

A column is read as numbers (float64, NaN for a gap; durations in seconds), as dates (datetime64 in
microseconds, NaT for a gap), as times of day (timedelta64 since midnight) or as text (an object
array of str, None for a gap). Nothing but NumPy is imported.
"""

import datetime
import numbers
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...._typing import Array
from ....rows.levels import levels_of

__all__ = ["Cells", "as_text", "columns_of", "gaps_of", "is_plain"]


class Cells(NamedTuple):
    """One column.

    Attributes
    ----------
    kind : {"number", "text", "date", "time"}
    values : ndarray of shape (n,)
    order : tuple of str, or None
        The levels of an ordered categorical, from the lowest to the highest.
    measure : {"real", "whole", "seconds"}
        What numbers are: of a type of whole numbers, or seconds that were durations.
    """

    kind: str
    values: Array
    order: tuple[str, ...] | None = None
    measure: str = "real"


def is_plain(X: Any) -> bool:
    """Tell whether all columns of a frame are finite numbers, which need no encoding."""
    return all(
        cells.kind == "number"
        and cells.measure != "seconds"
        and bool(np.isfinite(cells.values).all())
        for _, cells in _each_column(X)  # none is read after the first that is no number
    )


def columns_of(X: Any) -> dict[str, Cells]:
    """Return the columns of a frame, or of a two-dimensional array, by name or number."""
    return dict(_each_column(X))


def _each_column(X: Any) -> Iterator[tuple[str, Cells]]:
    library = _library(X)
    if library == "polars":
        yield from ((name, _of_polars(X[name])) for name in X.columns)
        return
    for j in range(X.shape[1]):
        if library == "pandas":
            yield str(X.columns[j]), _of_pandas(X.iloc[:, j])
        elif X.dtype.kind == "O":
            yield f"x{j}", _of_objects(X[:, j])
        else:
            yield f"x{j}", Cells("number", X[:, j].astype(np.float64))


def _library(X: Any) -> str:
    return type(X).__module__.split(".")[0]


def _of_pandas(column: Any) -> Cells:
    dtype = column.dtype
    if hasattr(dtype, "categories"):
        order = tuple(map(str, dtype.categories)) if dtype.ordered else None
        found = _of_objects(column.to_numpy(dtype=object))
        return Cells("text", as_text(found), order) if order else found
    if dtype.kind in "iuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return Cells("number", values, measure="whole" if dtype.kind in "iu" else "real")
    if type(dtype).__name__ == "PeriodDtype":
        column, dtype = column.dt.to_timestamp(), np.dtype("datetime64[us]")
    if dtype.kind == "M":
        aware = getattr(dtype, "tz", None) is not None
        column = column.dt.tz_convert("UTC").dt.tz_localize(None) if aware else column
        return Cells("date", column.to_numpy(dtype="datetime64[us]"))
    if dtype.kind == "m":
        seconds = _seconds(column.to_numpy(dtype="timedelta64[us]"))
        return Cells("number", seconds, measure="seconds")
    return _of_objects(column.to_numpy(dtype=object))


def _of_polars(column: Any) -> Cells:
    dtype, name = column.dtype, str(column.dtype)
    if dtype.is_numeric():
        values = np.array(column.to_list(), dtype=np.float64)
        return Cells("number", values, measure="whole" if dtype.is_integer() else "real")
    if name == "Date" or name.startswith("Datetime"):
        return Cells("date", column.to_numpy().astype("datetime64[us]"))
    if name.startswith("Duration"):
        seconds = _seconds(column.to_numpy().astype("timedelta64[us]"))
        return Cells("number", seconds, measure="seconds")
    objects = np.array(column.to_list(), dtype=object)
    if name.startswith("Enum"):
        return Cells("text", as_text(_of_objects(objects)), tuple(dtype.categories.to_list()))
    return _of_objects(objects)


def _of_objects(values: Array) -> Cells:
    """Read cells of any type: one kind if all are of it, else text."""
    kinds = set(map(type, values))
    if kinds == {str}:  # most words occur often
        levels, codes = levels_of(values)
        return Cells("text", np.array([word.strip() or None for word in levels], object)[codes])
    gaps = np.array([type(cell) is not str and _is_gap(cell) for cell in values], dtype=bool)
    known = values[~gaps]
    kinds = {type(cell) for cell in known}
    if kinds and all(
        issubclass(kind, numbers.Number) and not issubclass(kind, bool | np.bool_) for kind in kinds
    ):
        found = np.full(len(values), np.nan)
        found[~gaps] = [float(cell) for cell in known]
        whole = all(issubclass(kind, numbers.Integral) for kind in kinds)
        return Cells("number", found, measure="whole" if whole else "real")
    if kinds and all(issubclass(kind, datetime.timedelta | np.timedelta64) for kind in kinds):
        durations = np.full(len(values), np.timedelta64("NaT"), dtype="timedelta64[us]")
        durations[~gaps] = [np.timedelta64(cell, "us") for cell in known]
        return Cells("number", _seconds(durations), measure="seconds")
    if kinds and all(issubclass(kind, datetime.time) for kind in kinds):
        times = np.full(len(values), np.timedelta64("NaT"), dtype="timedelta64[us]")
        times[~gaps] = [_since_midnight(cell) for cell in known]
        return Cells("time", times)
    if kinds and all(kind.__name__ == "Period" and hasattr(kind, "to_timestamp") for kind in kinds):
        known, kinds = np.array([cell.to_timestamp() for cell in known]), {datetime.datetime}
    if kinds and all(issubclass(kind, datetime.date | np.datetime64) for kind in kinds):
        dates = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]")
        dates[~gaps] = [_as_utc(cell) for cell in known]
        return Cells("date", dates)
    strange = next(
        (k for k in kinds if issubclass(k, dict | list | tuple | set | np.ndarray)), None
    )
    if strange is not None:
        raise TypeError(
            f"A cell holds a {strange.__name__}; every cell of a table must be a string or a number"
            " (argument must be a string or a number), or a date."
        )
    words = np.full(len(values), None, dtype=object)
    words[~gaps] = [str(cell).strip() or None for cell in known]
    return Cells("text", words)


def _is_gap(cell: Any) -> bool:
    """Tell None, NaN, NaT and pandas.NA, which does not even equal itself."""
    if cell is None or isinstance(cell, str):
        return cell is None
    if type(cell).__name__ == "NAType":
        return True
    return bool(np.ndim(cell) == 0 and cell != cell)


def _as_utc(cell: Any) -> np.datetime64:
    if getattr(cell, "tzinfo", None) is not None:
        cell = cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(cell, "us")


def _since_midnight(cell: datetime.time) -> np.timedelta64:
    seconds = (cell.hour * 60 + cell.minute) * 60 + cell.second
    return np.timedelta64(seconds * 1_000_000 + cell.microsecond, "us")


def gaps_of(values: Array) -> Array:
    """Tell which values of a column are missing: NaN, NaT or None."""
    if values.dtype.kind == "O":
        return np.array([value is None for value in values], dtype=bool)
    return np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values)


def as_text(cells: Cells) -> Array:
    """Return any cells as text, numbers in their shortest form: 3, not 3.0."""
    if cells.kind == "text":
        return cells.values
    gaps = gaps_of(cells.values)
    words = np.full(len(gaps), None, dtype=object)
    if cells.kind == "time":
        day = np.datetime64("1970-01-01T00", "us")
        words[~gaps] = [str(cell)[11:19] for cell in day + cells.values[~gaps]]
    elif cells.kind == "date":
        words[~gaps] = [str(cell) for cell in cells.values[~gaps]]
    else:
        words[~gaps] = [f"{cell:.15g}" for cell in cells.values[~gaps]]
    return words


def _seconds(values: Array) -> Array:
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / 1e6)
