"""Eleven fields, and what is asked of them: random rows, blocks, days, or what is to come."""

from typing import Any

import numpy as np
import pandas as pd

import zonal

from ..maps.data import kinds
from ..maps.data import load as load_map
from ..space_time.data import DATA
from ..space_time.data import TASKS as IN_TIME
from ..suite.cells import Task

__all__ = ["task"]


def task(title: str, split: str) -> Task:
    """Return one split: columns as a frame for us, points of the sphere and times for a process."""
    name = title.split(",")[0]
    if name == "simulated field":
        return _simulated()
    if name in ("COADS", "elevation"):
        return _map(name.lower(), title.endswith("blocks"), int(split))
    if name == "airs_co2":
        return _soundings()
    given = IN_TIME["kaust_2a_9" if name == "kaust_2a_9" else title]()
    train, test = ~given.asked, given.asked
    told: dict[str, Any] = {"points": (given.X[train], given.X[test]), "time": given.time}
    # What the data set calls its time: a day number has a year of 365.2425 of them.
    when = "day" if name == "noaa_tmax" else "time"
    columns = ["x", "y", when] if name.startswith("kaust") else ["lat", "lon", when]
    frame = pd.DataFrame(np.column_stack([given.place, given.X[:, -1]]), columns=columns)
    if title.endswith("blocks"):
        told["cv"] = zonal.BlockKFold(5, 10, random_state=1)
    elif title.endswith("times"):
        told["cv"] = zonal.ForwardKFold(time=when)
    elif title.endswith("month"):
        told["cv"] = zonal.ForwardKFold(time=when, horizon=30)
    return Task(frame[train], given.y[train], frame[test], given.y[test], told)


def _simulated() -> Task:
    found = zonal.datasets.load_gaps_simulated()
    X, y, test = np.asarray(found.data, float), np.asarray(found.target, float), found.test
    return Task(X[~test], y[~test], X[test], y[test])


def _map(name: str, blocks: bool, fold: int) -> Task:
    places, y = load_map(name)
    splitter, cv = list(kinds().values())[int(blocks)]
    train, test = list(splitter.split(places))[fold]
    points = zonal.datasets.to_sphere(places["lat"], places["lon"])
    told = {"points": (points[train], points[test]), "cv": cv}
    return Task(places.iloc[train], y[train], places.iloc[test], y[test], told)


def _soundings() -> Task:
    """A random tenth of 60,000 random retrievals of CO2; days are a column."""
    with np.load(DATA / "airs_co2.npz") as data:
        order = np.random.default_rng(0).permutation(len(data["y"]))[:60_000]
        X, y = data["X"][order].astype(float), data["y"][order].astype(float)
    points = np.column_stack([zonal.datasets.to_sphere(*X[:, :2].T), X[:, 2]])
    frame, n = pd.DataFrame(X, columns=["lat", "lon", "time"]), len(X) // 10
    told: dict[str, Any] = {"points": (points[n:], points[:n]), "time": ()}
    return Task(frame[n:], y[n:], frame[:n], y[:n], told)
