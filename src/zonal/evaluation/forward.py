"""Cross-validation of forecasts: the past is known, the future is asked for."""

from collections.abc import Iterator
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from .._typing import Array, FloatArray
from .._validation import check_count, check_positive
from ..features.columns.time_column import TIME_NAMES

__all__ = ["ForwardKFold", "times_of"]


class ForwardKFold(BaseCrossValidator):
    """K splits at the end of a series: each predicts a span of time from all rows before it.

    Rows are split by their times, never by their order, and rows of one time stay together. The
    last spans of the series are the test parts, one after the other:

    .. code-block:: text

        split 1   known known known | asked
        split 2   known known known   known | asked
        split 3   known known known   known   known | asked

    Parameters
    ----------
    n_splits : int, default=5
        The number of splits K.
    time : str or int, default="auto"
        The column of times, by name or by number: numbers or dates. ``"auto"``: of a frame the
        first column of dates, or the first that is named like a time; of an array the last one.
    horizon : float, optional
        How far each split predicts, in the units of the column (days for dates). By default the
        K + 1 spans have equally many different times.
    gap : float, default=0.0
        Rows less than this before the first asked time are left out of what is known.

    See Also
    --------
    sklearn.model_selection.TimeSeriesSplit : The same by the order of the rows.
    BlockKFold : Blocks in space and time, with rows known before and after them.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> day = np.repeat(np.arange(12.0), 3)[:, None]  # three stations
    >>> for train, test in zonal.ForwardKFold(n_splits=2).split(day):
    ...     print(day[train].max(), day[test].min(), day[test].max())
    3.0 4.0 7.0
    7.0 8.0 11.0
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        time: str | int = "auto",
        horizon: float | None = None,
        gap: float = 0.0,
    ) -> None:
        self.n_splits = n_splits
        self.time = time
        self.horizon = horizon
        self.gap = gap

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return check_count("n_splits", self.n_splits, "ForwardKFold")

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the row numbers of the training and the test part of each split.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with a column of times.
        y, groups : ignored
        """
        n_splits, times = self.get_n_splits(), times_of(X, self.time, "ForwardKFold")
        if self.gap != 0:
            check_positive("gap", self.gap, "ForwardKFold")
        edges = self._edges(np.unique(times), n_splits)
        for start, stop in pairwise(edges):
            known = np.flatnonzero(times < start - self.gap)
            asked = np.flatnonzero((times >= start) & (times < stop))
            if not len(known) or not len(asked):
                raise ValueError(
                    f"The split of ForwardKFold at time {start:g} has {len(known)} rows before it "
                    f"and {len(asked)} rows to predict: take fewer splits, or a shorter gap or "
                    "horizon."
                )
            yield known, asked

    def _edges(self, times: FloatArray, n_splits: int) -> FloatArray:
        """Return where the test spans begin, and where the last one ends."""
        last = np.nextafter(times[-1], np.inf)
        if self.horizon is not None:
            length = check_positive("horizon", self.horizon, "ForwardKFold")
            return np.asarray(last - length * np.arange(n_splits, -1, -1))
        if len(times) <= n_splits:
            raise ValueError(
                f"{n_splits} splits of ForwardKFold need at least {n_splits + 1} different times, "
                f"but the rows have {len(times)}: take fewer splits."
            )
        places = np.linspace(0, len(times), n_splits + 2)[1:-1].round().astype(int)
        return np.append(times[places], last)


def times_of(X: Any, time: str | int, owner: str) -> FloatArray:
    """Return the times of rows as numbers: [n]; dates become days since 1970.

    Parameters
    ----------
    X : array-like or frame of shape (n, d)
    time : str or int
        The column, or "auto".
    owner : str
        Who asks, for messages.
    """
    column = _column(X, time, owner)
    values = np.asarray(column)
    if values.dtype.kind == "O":  # dates that are objects; anything else has no order of numbers
        try:
            values = values.astype("datetime64[us]")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The times of {owner} hold {values[0]!r}, neither a number nor a date: convert "
                "the column, with pandas.to_datetime for text."
            ) from error
    if values.dtype.kind == "M":
        gaps = np.isnat(values)
        found = values.astype("datetime64[us]").astype(np.int64) / 86_400e6
    else:
        found = values.astype(np.float64)
        gaps = ~np.isfinite(found)
    if gaps.any():
        raise ValueError(
            f"Row {int(np.argmax(gaps))} has no time, and {owner} needs one in every row: leave "
            "out such rows."
        )
    return np.asarray(found)


def _column(X: Any, time: str | int, owner: str) -> Any:
    if not hasattr(X, "columns"):
        rows = np.asarray(X)
        rows = rows.reshape(len(rows), -1)
        if isinstance(time, str) and time != "auto":
            raise ValueError(
                f"time={time!r} of {owner} is a name, but X is an array without names: give the "
                "number of the column, or a frame."
            )
        return rows[:, -1 if isinstance(time, str) else time]
    names = list(X.columns)
    if isinstance(time, Integral):
        return X[names[time]]
    if time != "auto":
        if time not in names:
            raise ValueError(
                f"time={time!r} of {owner} is no column of X, which has "
                f"{', '.join(map(str, names))}."
            )
        return X[time]
    dated = [name for name in names if np.asarray(X[name]).dtype.kind == "M"]
    named = [name for name in names if str(name).lower() in TIME_NAMES]
    if not dated and not named:
        raise ValueError(
            f"{owner} finds no column of times among {', '.join(map(str, names))}: give its name, "
            f"as in {owner}(time={str(names[-1])!r})."
        )
    return X[(dated or named)[0]]
