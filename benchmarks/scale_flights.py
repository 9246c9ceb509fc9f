"""A table of 2,700,000 rows: flights of half a year, their delays by date, distance and airports.

The table is `data/flights-3m.parquet` of the npm package vega-datasets 3.2.1 (13 MB, not part of
this repository). Run: python -m benchmarks.scale_flights path/to/flights-3m.parquet; writes
results/scale_flights.md. With LightGBM installed it is run beside, with early stopping on a tenth
of the training rows.
"""

import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import zonal

from .measure import table, verdict

RESULT = Path(__file__).parent / "results" / "scale_flights.md"
N_TEST, TARGET, LEVEL = 300_000, "delay", 0.9


class Clock:
    """CPU and wall seconds since it was made."""

    def __init__(self) -> None:
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def stop(self) -> "Clock":
        """Keep the seconds until now."""
        self.cpu, self.wall = time.process_time() - self.cpu, time.perf_counter() - self.wall
        return self

    def __str__(self) -> str:
        return f"{self.cpu:.0f} s ({self.wall:.0f} s)"


def split(path: str) -> tuple[Any, Any]:
    """Return training and test rows."""
    frame = pd.read_parquet(path)
    order = np.random.default_rng(0).permutation(len(frame))
    return tuple(
        frame.iloc[part].reset_index(drop=True) for part in (order[N_TEST:], order[:N_TEST])
    )


def ours(train: Any, test: Any) -> tuple[list[str], list[Any]]:
    """Fit the default model; return a line of the table, and what it has."""
    X, y = train.drop(columns=TARGET), train[TARGET].to_numpy(float)
    queries, truth = test.drop(columns=TARGET), test[TARGET].to_numpy(float)
    model = zonal.KernelRidge(random_state=0)  # imports what it needs
    fit = Clock()
    model.fit(X, y)
    fit, asked = fit.stop(), Clock()
    predicted = model.predict(queries)
    asked, intervals = asked.stop(), Clock()
    low, high = model.predict_interval(queries, LEVEL)
    intervals.stop()
    held = float(np.mean((low <= truth) & (truth <= high)))
    error = float(np.sqrt(np.mean((predicted - truth) ** 2)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    line = [
        "**zonal**",
        str(fit),
        str(asked),
        str(intervals),
        f"{error:.2f}",
        f"{100 * held:.1f} %",
        f"{peak:.1f} GB",
    ]
    return line, [fit.wall, asked.wall, error, held, model]


def lightgbm(train: Any, test: Any) -> list[str] | None:
    """The same by LightGBM: dates as a time, a time of day and a day of the week."""
    try:
        from lightgbm import LGBMRegressor, early_stopping
    except ImportError:
        return None

    def rows(frame: Any) -> Any:
        date = frame["date"]
        own = {
            "day": (date - pd.Timestamp("2001-01-01")).dt.total_seconds() / 86400,
            "hour": date.dt.hour + date.dt.minute / 60,
            "weekday": date.dt.weekday,
        }
        words = {name: frame[name].astype(levels[name]) for name in levels}
        return frame[["distance"]].assign(**own, **words)

    levels = {
        name: pd.CategoricalDtype(sorted(train[name].unique()))
        for name in ("origin", "destination")
    }
    X, y, queries = rows(train), train[TARGET].to_numpy(float), rows(test)
    known = np.arange(len(y)) % 10 > 0
    clock = Clock()
    model = LGBMRegressor(n_estimators=2000, random_state=0, n_jobs=2, verbose=-1)
    stop = [early_stopping(20, verbose=False)]
    model.fit(X[known], y[known], eval_set=[(X[~known], y[~known])], callbacks=stop)
    fit, clock = str(clock.stop()), Clock()
    error = np.sqrt(np.mean((model.predict(queries) - test[TARGET]) ** 2))
    return ["LightGBM", fit, str(clock.stop()), "", f"{error:.2f}", "", ""]


def main(path: str) -> None:
    train, test = split(path)
    line, found = ours(train, test)
    print(line, flush=True)
    written(line, *found, None)
    other = lightgbm(train, test)
    if other is not None:
        written(line, *found, other)


def written(
    line: list[str],
    fit: float,
    asked: float,
    error: float,
    held: float,
    model: Any,
    other: list[str] | None,
) -> None:
    """Write the page."""
    lines = [line] if other is None else [line, other]
    combined = [
        one["encoding"]
        for one in model.encoder_.columns_
        if "means of the target over" in one["encoding"]
    ]
    share, met = f"{100 * held:.1f} %", "yes" if 0.89 <= held <= 0.91 else "no"
    text = [
        "# A table of millions of rows",
        f"Flights in the United States from January to June 2001 (vega-datasets, flights-3m): "
        f"{model.n_rows_:,} rows to learn from, {N_TEST:,} random ones to predict; the delay from "
        "date, distance, origin and destination. Random rows of the same days: what is asked is "
        "how late a flight was when other flights of that day are known, not a forecast; no row "
        "occurs in both, and means over combinations leave out a row's own fold. CPU seconds, and "
        f"wall seconds in brackets: two cores, of a load of {os.getloadavg()[0]:.0f} in all. "
        "`python -m benchmarks.scale_flights`",
        table(lines, ("model", "choice and fit", "predictions", "intervals", "RMSE, minutes",
                      "90 % intervals hold", "peak memory")),
        table(
            [
                verdict("choice and fit, by the clock", fit, 60.0, " s"),
                verdict("predictions, by the clock", asked, 20.0, " s"),
                verdict("RMSE", error, 29.5, " minutes"),
                ("90 % intervals hold", share, "89 to 91 %", met),
            ],
            ("what", "measured", "goal", "met"),
        ),
        f"Chosen: {_words(model)}. Of words and times: {'; '.join(combined) or 'nothing'}.",
    ]  # fmt: skip
    RESULT.write_text("\n\n".join(text) + "\n")
    print("\n\n".join(text))


def _words(model: Any) -> str:
    """Name what was chosen, with weights."""
    records = [one for one in model.recipe_.records if one.get("weight")]
    return "; ".join(
        f"{one['features']} of {one['columns']} columns, local part {one['local']}, weight "
        f"{one['weight']:.2f}"
        for one in records
    )


if __name__ == "__main__":
    main(sys.argv[1])
