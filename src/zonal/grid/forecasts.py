"""Whether a grid asks for times after the last that a model knows."""

import warnings
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .cells import Cells
from .times import as_dates, as_years

__all__ = ["say_forecast"]


def say_forecast(result: Any, cells: Cells, model: Any) -> Any:
    """Return a map with the attribute ``forecast`` and warn, where it is one.

    Models of `zonal.grid.fit`, and those of places and dates, know their last time.

    Parameters
    ----------
    result : xarray.Dataset
    cells : Cells
        With the times that were asked.
    model : fitted estimator
    """
    last = _last_time(model)
    if last is None or cells.axes.time is None:
        return result
    times = cells.data[cells.axes.time]
    asked = as_dates(times) if isinstance(last, np.datetime64) else as_years(times)
    later = int(np.sum(np.asarray(asked) > last))
    if not later:
        return result
    said = np.datetime_as_string(last, "D") if isinstance(last, np.datetime64) else f"{last:.6g}"
    text = f"{later} of {times.size} times lie after {said}, the last that the model knows"
    warnings.warn(
        f"The map is a forecast: {text}. It goes back to what stays and to the season, and its "
        "intervals widen, the later the time is.",
        UserWarning,
        stacklevel=3,
    )
    return result.assign_attrs(forecast=text)


def _last_time(model: Any) -> Any:
    last = getattr(model, "field_", {}).get("last")
    if last is not None:
        return float(last)
    learner = model[-1] if isinstance(model, Pipeline) else model
    return getattr(getattr(learner, "encoder_", None), "last_", None)
