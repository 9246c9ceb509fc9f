"""The splits of these benchmarks."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold, train_test_split

import zonal

from ..automatic.data import load

__all__ = ["CLASSES", "GLOBE", "Task", "blocks", "random"]

GLOBE = ("elevation", "climate_berkeley", "co2")
CLASSES = ("magic", "shuttle")
# The side of a block in degrees, and the folds of blocks of which some calibrate.
SIDE, N_FOLDS, N_USED = 10, 20, 6


class Task(NamedTuple):
    """Training and test rows; `cv` is what our learners are told of the rows they will meet."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    cv: Any = 2


def random(name: str, seed: int) -> Task:
    """A random tenth of the rows is the test."""
    if name in CLASSES:
        X, y = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)
        X = np.asarray(X, np.float64)
    else:
        X, y = load(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.1, random_state=seed)
    return Task(X, y, X_test, y_test)


def blocks(name: str, seed: int) -> Task:
    """The rows of a tenth of all blocks of 10° × 10° are the test; calibrated by such blocks.

    Folds of a twentieth of the blocks, so that gaps are about as wide as those of the test.
    """
    X, y = load(name)
    place = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)[0][:, :2]
    cells = np.floor(place / SIDE).astype(int) @ [1000, 1]
    labels = np.unique(cells)
    held = np.random.default_rng(seed).permutation(labels)[: len(labels) // 10]
    test = np.isin(cells, held)
    folds = GroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(
        X[~test], groups=cells[~test]
    )
    return Task(X[~test], y[~test], X[test], y[test], list(folds)[:N_USED])
