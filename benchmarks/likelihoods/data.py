"""The datasets, and how they are split."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["CLASSES", "CLOUDS", "COUNTS", "Task", "task"]

DATA = Path(__file__).parents[1] / "data"
CLASSES = ("abalone", "mushroom", "pendigits", "magic", "shuttle", "connect4")
CLOUDS = ("modis_cloud-random", "modis_cloud-block")
#: Responses with the likelihoods that are tried.
COUNTS = {
    "bikeshare": ("negative_binomial", "poisson"),
    "abalone-rings": ("poisson",),
    "jason3-wind": ("gamma",),
}
# Of these, rows for training and rows for the test.
FEW_ROWS = 2_000
# Of the cloud image: training pixels, and where the block of 30 × 30 is.
PIXELS, COLUMN, ROW, SIDE = 6_000, 100, 60, 30


class Task(NamedTuple):
    """Training and test rows."""

    X: npt.NDArray[np.floating]
    y: npt.NDArray[np.generic]
    X_test: npt.NDArray[np.floating]
    y_test: npt.NDArray[np.generic]


def task(name: str, seed: int) -> Task:
    """Return one split: a fifth is held out; of clouds, all but 6,000 pixels, or a block."""
    rng = np.random.default_rng(seed)
    if name in COUNTS:
        X, y = _responses(name)
        order = rng.permutation(len(y))
        train, test = np.sort(order[:FEW_ROWS]), np.sort(order[FEW_ROWS : 2 * FEW_ROWS])
        return Task(X[train], y[train], X[test], y[test])
    dataset, _, kind = name.partition("-")
    with np.load(DATA / f"{dataset}.npz") as file:
        X, y = file["X"], file["y"].astype(np.int64)
    if not kind:
        return _split(X, y, rng)
    inside = (X[:, 0] >= COLUMN) & (X[:, 0] < COLUMN + SIDE)
    inside &= (X[:, 1] >= ROW) & (X[:, 1] < ROW + SIDE)
    if kind == "block":
        train = np.sort(rng.permutation(np.flatnonzero(~inside))[:PIXELS])
        test = np.flatnonzero(inside)
    else:
        order = rng.permutation(len(y))
        train, test = np.sort(order[:PIXELS]), np.sort(order[PIXELS:])
    return Task(X[train], y[train], X[test], y[test])


def _responses(name: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return all rows of numbers and their counts or amounts."""
    if name == "bikeshare":
        frame = pd.read_csv(DATA / "tables" / "bikeshare.csv.gz")
        y = frame["bikers"].to_numpy(np.float64)
        frame = frame.drop(columns=["bikers", "casual", "registered"])
        X = frame.apply(lambda c: c if c.dtype.kind in "if" else c.astype("category").cat.codes)
        return X.to_numpy(np.float64), y
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
