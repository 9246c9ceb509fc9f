"""Rows of places and times, and which of them are asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import zonal

__all__ = ["TASKS", "Task"]

DATA = Path(__file__).parents[1] / "data"
# Blocks of 10° on a side, of which a tenth is held out.
BLOCKS, SHARE = 700, 0.1


class Task(NamedTuple):
    """Rows, of which the last column is the time, and what is asked for.

    `place` are latitude and longitude in degrees, or x and y; `time` the periods of the time.
    `alike` are rows that can be held out of the training rows for a method that needs it, of the
    same kind as those that are asked for: days, stations, the last month, blocks; None: any rows.
    """

    X: np.ndarray
    y: np.ndarray
    asked: np.ndarray
    place: np.ndarray
    time: Any
    alike: np.ndarray | None = None


def _load(name: str) -> dict[str, np.ndarray]:
    with np.load(DATA / f"{name}.npz") as data:
        return {key: data[key] for key in data.files}


def _random(n: int) -> np.ndarray:
    asked = np.zeros(n, bool)
    asked[np.random.default_rng(0).permutation(n)[-(n // 10) :]] = True
    return asked


def _blocks(place: np.ndarray, seed: int = 0) -> np.ndarray:
    cell = np.floor((place[:, 0] + 90) / 10) * 36 + np.floor((place[:, 1] % 360) / 10)
    return np.random.default_rng(seed).random(BLOCKS)[cell.astype(int)] < SHARE


def months(name: str, split: str) -> Task:
    """Twelve months at places on land: random rows, or all months of blocks of 10°."""
    data = _load(name)
    place, month = data["X"][:, :2].astype(float), data["X"][:, 2].astype(float)
    X = np.column_stack([zonal.datasets.to_sphere(*place.T), month])
    asked = _random(len(X)) if split == "random" else _blocks(place)
    alike = None if split == "random" else _blocks(place, seed=1)
    return Task(X, data["y"].astype(float), asked, place, 12.0, alike)


def kaust(number: int, last: int | None = None) -> Task:
    """Simulated fields of the KAUST competition, with the rows that it asks for.

    With a last time, the ten times after it are asked for instead: one forecast alone tells little.
    """
    data = _load(f"kaust_2a_{number}")
    X, y, asked = data["X"].astype(float), data["y"].astype(float), data["test"].astype(bool)
    if last is not None:
        known = ~asked & (X[:, 2] <= last + 10)
        X, y = X[known], y[known]
        asked = X[:, 2] > last
    return Task(X, y, asked, X[:, :2], ())


def stations(split: str) -> Task:
    """Daily maxima of four years: a tenth of the days, of the stations, or the last 30 days."""
    data = _load("noaa_tmax")
    place, day = data["X"][:, :2].astype(float), data["X"][:, 2].astype(float)
    X = np.column_stack([zonal.datasets.to_sphere(*place.T), day])
    if split == "last month":
        asked, alike = day > day.max() - 30, day > day.max() - 60
    else:
        label = (
            day.astype(int) if split == "days" else np.unique(place, axis=0, return_inverse=True)[1]
        )
        label = np.unique(label, return_inverse=True)[1].ravel()
        asked, alike = (
            np.random.default_rng(seed).random(label.max() + 1)[label] < SHARE for seed in (0, 1)
        )
    return Task(X, data["y"].astype(float), asked, place, 365.25, alike)


def tracks(name: str) -> Task:
    """Tracks of a satellite, soundings of floats: whole days held out, a fifth of them."""
    data = _load(name)
    place, time = data["X"][:, :2].astype(float), data["X"][:, 2].astype(float)
    day = time / 86400 if name == "jason3" else time
    y = data["y"].astype(float)
    X = np.column_stack([zonal.datasets.to_sphere(place[:, 0], place[:, 1]), day])
    label = np.unique(np.floor(day).astype(int), return_inverse=True)[1]
    asked = np.random.default_rng(0).permutation(label.max() + 1)[label] < (label.max() + 1) / 5
    return Task(X, y if y.ndim == 1 else y[:, 0], asked, place, ())


TASKS: dict[str, Callable[[], Task]] = {
    **{
        f"{name}, {split}": (lambda name=name, split=split: months(name, split))
        for name in ("climate_berkeley", "co2_column", "climate")
        for split in ("random", "blocks")
    },
    **{f"kaust_2a_{number}": (lambda number=number: kaust(number)) for number in (1, 6, 9)},
    **{
        f"kaust_2a_9, times {last + 1} to {last + 10}": (lambda last=last: kaust(9, last))
        for last in (40, 50, 60, 70, 80)
    },
    **{
        f"noaa_tmax, {split}": (lambda split=split: stations(split))
        for split in ("days", "stations", "last month")
    },
    "jason3, days": lambda: tracks("jason3"),
    "argo, days": lambda: tracks("argo"),
}
