"""The datasets, and how they are split.

The cloud image is split as its published comparison is (A. Zammit-Mangion, M. Sainsbury-Dale and
others, FRK v2; github.com/MattSainsbury-Dale/FRKv2_src, ``scripts/MODIS_control.R`` and
``MODIS_analysis.R``), with R's own random numbers: 6,000 pixels by ``set.seed(1)``, and a block of
30 × 30 whose lower left neighbour ``set.seed(2)`` draws; outside the block all pixels are known.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from .r_random import RRandom

__all__ = ["CLASSES", "CLOUDS", "COUNTS", "Task", "task"]

DATA = Path(__file__).parents[1] / "data"
CLASSES = (
    "abalone",
    "mushroom",
    "pendigits",
    "magic",
    "shuttle",
    "connect4",
    "diamonds-cut",
    "flights-late",
)
CLOUDS = ("modis_cloud-random", "modis_cloud-block")
#: Responses with the likelihoods that are tried.
COUNTS = {
    "bikeshare": ("negative_binomial", "poisson"),
    "abalone-rings": ("poisson",),
    "jason3-wind": ("gamma",),
}
# Of tables whose classes are told: so many rows; words are numbered.
TABLE_ROWS = 15_000
# Of these, rows for training and rows for the test.
FEW_ROWS = 2_000
# Of the cloud image: training pixels drawn at random, and the side of the block.
PIXELS, SIDE = 6_000, 30


class Task(NamedTuple):
    """Training and test rows."""

    X: npt.NDArray[np.floating]
    y: npt.NDArray[np.generic]
    X_test: npt.NDArray[np.floating]
    y_test: npt.NDArray[np.generic]


def task(name: str, seed: int) -> Task:
    """Return one split: a fifth is held out; of clouds, all but 6,000 pixels, or a block.

    The first split of clouds is the published one.
    """
    rng = np.random.default_rng(seed)
    if name in COUNTS:
        X, y = _responses(name)
        order = rng.permutation(len(y))
        train, test = np.sort(order[:FEW_ROWS]), np.sort(order[FEW_ROWS : 2 * FEW_ROWS])
        return Task(X[train], y[train], X[test], y[test])
    if name in ("diamonds-cut", "flights-late"):
        return _split(*_labelled(name, rng), rng)
    dataset, _, kind = name.partition("-")
    with np.load(DATA / f"{dataset}.npz") as file:
        X, y = file["X"], file["y"].astype(np.int64)
    if not kind:
        return _split(X, y, rng)
    known = _outside_block(X, seed + 2) if kind == "block" else _drawn(X, seed + 1)
    return Task(X[known], y[known], X[~known], y[~known])


def _drawn(X: npt.NDArray[np.floating], seed: int) -> npt.NDArray[np.bool_]:
    """Tell which pixels ``sample`` draws."""
    known = np.zeros(len(X), np.bool_)
    known[RRandom(seed).sample(len(X), PIXELS) - 1] = True
    return known


def _outside_block(X: npt.NDArray[np.floating], seed: int) -> npt.NDArray[np.bool_]:
    """Tell which pixels are outside the block, whose corner is drawn where it fits."""
    fits = np.flatnonzero((X.max(axis=0) > X + SIDE).all(axis=1))
    corner = X[fits[RRandom(seed).sample(len(fits), 1)[0] - 1]]
    past = X - corner
    return ~((past > 0) & (past <= SIDE)).all(axis=1)


def _labelled(
    name: str, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return some rows of a table and their classes: the cut of diamonds; flights that are late."""
    dataset, _, kind = name.partition("-")
    frame = pd.read_csv(DATA / "tables" / f"{dataset}.csv.gz")
    if kind == "cut":
        y = frame.pop("cut").astype("category").cat.codes
    else:
        frame = frame[frame["arr_delay"].notna()]
        y = frame["arr_delay"] > 15
        known = ["month", "day", "sched_dep_time", "sched_arr_time", "carrier", "origin", "dest"]
        frame = frame[[*known, "distance"]]
    rows = np.sort(rng.permutation(len(frame))[:TABLE_ROWS])
    return _numbers(frame)[rows], y.to_numpy(np.int64)[rows]


def _numbers(frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return a table as numbers; words are numbered in their order."""
    found = frame.apply(lambda c: c if c.dtype.kind in "if" else c.astype("category").cat.codes)
    return found.to_numpy(np.float64)


def _responses(name: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return all rows of numbers and their counts or amounts."""
    if name == "bikeshare":
        frame = pd.read_csv(DATA / "tables" / "bikeshare.csv.gz")
        y = frame["bikers"].to_numpy(np.float64)
        frame = frame.drop(columns=["bikers", "casual", "registered"])
        return _numbers(frame), y
    dataset, _, kind = name.partition("-")
    with np.load(DATA / f"{dataset}.npz") as file:
        X, y = file["X"].astype(np.float64), file["rings" if kind == "rings" else "y"]
    y = y.astype(np.float64).ravel()
    if kind == "wind":  # an amount
        return X[y > 0], y[y > 0]
    return X, y


def _split(
    X: npt.NDArray[np.floating], y: npt.NDArray[np.generic], rng: np.random.Generator
) -> Task:
    order = rng.permutation(len(y))
    n_test = len(y) // 5
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    return Task(X[train], y[train], X[test], y[test])
