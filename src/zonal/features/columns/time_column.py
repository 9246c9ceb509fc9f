"""Which column of a frame is a time, and after how long it comes back."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array, FloatArray
from ...tables.dates import LIKELY_YEARS
from ...tables.text import TextFormat, as_dates, kind_of, meaning
from .facts import CIRCLES, DAY, MONTHS, SEASONS, YEAR
from .table.cells import Cells

__all__ = [
    "TIME_NAMES",
    "TimeColumn",
    "as_years",
    "check_time",
    "date_form_of",
    "find_time",
    "with_dates",
]

#: Names of columns that hold times.
TIME_NAMES = ("time", "date", "datetime", "timestamp", "day", "month", "year", "hour", "t")


class TimeColumn(NamedTuple):
    """A time.

    Attributes
    ----------
    name : str
    periods : tuple of float
        After which it may come back, in its own units; dates are in years.
    goes_on : bool
        Whether it has more than twelve values, and these do not lie within one period: fewer tell
        neither a trend nor a season.
    """

    name: str
    periods: tuple[float, ...]
    goes_on: bool = True


def date_form_of(cells: Cells) -> TextFormat | None:
    """Return the form of dates that are written as text, as in a CSV; None for other cells."""
    if cells.kind != "text" or cells.order is not None:
        return None
    form = meaning({word for word in cells.values if word is not None})
    return form if kind_of(form) == "date" else None


def with_dates(columns: dict[str, Cells]) -> dict[str, Cells]:
    """Return columns with dates that are written as text read as dates."""
    forms = {name: date_form_of(cells) for name, cells in columns.items()}
    return {
        name: cells if form is None else Cells("date", as_dates(cells.values, form)[0])
        for (name, cells), form in zip(columns.items(), forms.values(), strict=True)
    }


def find_time(columns: dict[str, Cells], wanted: Any = "auto") -> TimeColumn | None:
    """Return the one column of dates, or the one that is named like a time; None for none.

    Parameters
    ----------
    columns : dict of str to Cells
        Of a frame.
    wanted : "auto", str, or sequence of floats
        The name of the column, or its periods.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.features.columns.table.cells import Cells
    >>> from zonal.features.columns.time_column import find_time
    >>> find_time({"lat": Cells("number", np.zeros(12)), "month": Cells("number", np.arange(12.0))})
    TimeColumn(name='month', periods=(12.0,), goes_on=False)
    """
    named = isinstance(wanted, str) and wanted != "auto"
    if named:
        if wanted not in columns:
            raise ValueError(
                f"time={wanted!r} is no column of X, which has {', '.join(map(repr, columns))}: "
                "give the name of the column of times."
            )
        found = [wanted]
    else:
        dates = [name for name, cells in columns.items() if cells.kind == "date"]
        found = dates or [name for name in columns if name.lower() in TIME_NAMES]
    if len(found) != 1 or columns[found[0]].kind not in ("date", "number"):
        return None
    name = found[0]
    cells = columns[name]
    periods = _periods(name.lower(), cells) if isinstance(wanted, str) else wanted
    goes_on = len(np.unique(cells.values)) > MONTHS
    if goes_on and cells.kind == "number" and len(periods):
        goes_on = bool(np.nanmax(cells.values) - np.nanmin(cells.values) >= min(periods))
    return TimeColumn(name, tuple(periods), goes_on)


def check_time(time: Any, owner: str) -> Any:
    """Return "auto", the name of a column, periods as a tuple, or None; else raise ValueError."""
    if time is None or isinstance(time, str):
        return time
    try:
        periods = np.atleast_1d(np.asarray(time, np.float64))
    except (TypeError, ValueError):
        periods = np.array([np.nan])
    if periods.ndim == 1 and (np.isfinite(periods) & (periods > 0)).all():
        return tuple(periods.tolist())
    raise ValueError(
        f"time={time!r} of {owner} must be the periods of the last column, positive numbers, or () "
        "for none; None if that is not a time."
    )


def as_years(dates: Array) -> FloatArray:
    """Return dates as years of equal length since 1970, plus 1970."""
    days = np.asarray(dates).astype("datetime64[us]").astype(np.int64) / (DAY * 1e6)
    return np.asarray(1970 + days / YEAR)


def _periods(name: str, cells: Cells) -> Sequence[float]:
    if cells.kind == "date":
        return _of_years(np.unique(as_years(cells.values[~np.isnat(cells.values)])))
    times = np.unique(cells.values[np.isfinite(cells.values)])
    if len(times) == 0:
        return ()
    if name in CIRCLES and times[0] >= 0 and times[-1] <= CIRCLES[name]:
        return (CIRCLES[name],)
    steps = np.diff(times)
    # Twelve equal steps are the months of a year, whatever its unit: 1 to 12, or parts of a year.
    if len(times) == MONTHS and np.ptp(steps) <= 0.2 * steps.mean():
        whole = steps.mean() * MONTHS
        return (float(whole),) if round(whole, 1) in (1.0, 12.0) else ()
    # Not all of them whole: years with parts, as grids have them.
    likely = LIKELY_YEARS.start <= times[0] and times[-1] <= LIKELY_YEARS.stop
    if likely and (times % 1 != 0).any():
        return _of_years(times)
    return (YEAR,) if name == "day" and np.ptp(times) >= 2 * YEAR else ()


def _of_years(times: FloatArray) -> tuple[float, ...]:
    """Return the periods that times in years cover twice, at steps that tell of them (Nyquist)."""
    if len(times) < 2:
        return ()
    step = float(np.median(np.diff(times)))
    return tuple(one for one in SEASONS if np.ptp(times) >= 2 * one and step < one / 2)
