"""The datasets of these benchmarks, and how they are split."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold, train_test_split

import zonal

from ..automatic.data import load

__all__ = ["GLOBE", "Task", "blocks", "gaps", "random"]

GLOBE = ("elevation", "climate_berkeley", "climate", "co2")
# The side of a block, in degrees.
SIDE = 10


class Task(NamedTuple):
    """Training and test rows; `cv` is what our learners are told of the rows they will meet."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    cv: Any = 2


def random(name: str, seed: int = 0) -> Task:
    """A random tenth of the rows is the test."""
    X, X_test, y, y_test = train_test_split(*load(name), test_size=0.1, random_state=seed)
    return Task(X, y, X_test, y_test)


def blocks(name: str, seed: int = 0) -> Task:
    """The rows of a tenth of all blocks of 10° × 10° are the test."""
    X, y = load(name)
    place = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)[0][:, :2]
    cells = np.floor(place / SIDE).astype(int) @ [1000, 1]
    labels = np.unique(cells)
    held = np.random.default_rng(seed).permutation(labels)[: len(labels) // 10]
    test = np.isin(cells, held)
    folds = list(GroupKFold(5, shuffle=True, random_state=0).split(X[~test], groups=cells[~test]))
    return Task(X[~test], y[~test], X[test], y[test], folds)


def gaps() -> Task:
    """The simulated field; `cv` is blocks of the training rows, a tenth of the domain wide."""
    found = zonal.datasets.load_gaps_simulated()
    X, y, test = found.data.astype(float), found.target.astype(float), found.test
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    cells = np.floor((X - low) / width * 9.999).astype(int) @ [10, 1]
    train = ~test
    folds = list(GroupKFold(5, shuffle=True, random_state=0).split(X[train], groups=cells[train]))
    return Task(X[train], y[train], X[test], y[test], folds)
