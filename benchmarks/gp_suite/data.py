"""Six datasets of UCI and Delve, as the Gaussian-process literature uses them."""

from pathlib import Path

import numpy as np

from ..suite.cells import Task

__all__ = ["NAMES", "task"]

DATA = Path(__file__).parents[1] / "data"
NAMES = ("kin40k", "protein", "keggdirected", "elevators", "pol", "bike")


def task(name: str, split: str) -> Task:
    """Return one of ten splits, 90 to 10; columns and targets have mean 0 and std 1 in training.

    The splits are those of uci_datasets, but for protein, whose test rows are random by the number.
    """
    with np.load(DATA / f"{name}.npz") as data:
        X, y = data["X"].astype(np.float64), data["y"].astype(np.float64)
        if "tests" in data:
            test = data["tests"][:, int(split)]
        else:
            order = np.random.default_rng(int(split)).permutation(len(y))
            test = np.zeros(len(y), bool)
            test[order[: len(y) // 10]] = True
    spread = X[~test].std(axis=0)
    X = (X - X[~test].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    y = (y - y[~test].mean()) / y[~test].std()
    return Task(X[~test], y[~test], X[test], y[test])
