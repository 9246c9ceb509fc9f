"""Compare methods of yours with ours, on data of yours or on ours.

Run: python -m benchmarks.compare mine.py [--data NAME ...] [--rows N] [--split random|blocks]

`mine.py` has a dictionary METHODS of functions (X, y, X_test) -> predictions, or a dictionary
DATASETS of functions () -> (X, y), or both. See benchmarks/README.md.
"""

import argparse
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import zonal

from .local.data import Task, blocks, random
from .measure import table

Method = Callable[[Any, Any, Any], Any]
HEADER = ("data", "method", "test MSE", "R²", "seconds")
OURS = ("elevation", "climate_berkeley", "climate", "co2", "protein")


def ours(X: Any, y: Any, X_test: Any) -> Any:
    return zonal.KernelRidge(random_state=0).fit(X, y).predict(X_test)


def neighbors(X: Any, y: Any, X_test: Any) -> Any:
    model = make_pipeline(StandardScaler(), KNeighborsRegressor(8, weights="distance"))
    return model.fit(X, y).predict(X_test)


METHODS: dict[str, Method] = {"zonal": ours, "8 nearest rows": neighbors}


def task(name: str, datasets: dict[str, Any], split: str, rows: int) -> Task:
    """Return training and test rows, at most so many of each kind, chosen at random."""
    if name in datasets:
        X, X_test, y, y_test = train_test_split(*datasets[name](), test_size=0.1, random_state=0)
        found = Task(X, y, X_test, y_test)
    elif name in OURS:
        found = blocks(name) if split == "blocks" else random(name)
    else:
        raise SystemExit(f"There is no dataset {name!r}: use {', '.join([*datasets, *OURS])}.")
    rng = np.random.default_rng(0)
    train = rng.permutation(len(found.y))[:rows]
    test = rng.permutation(len(found.y_test))[:rows]
    return Task(found.X[train], found.y[train], found.X_test[test], found.y_test[test])


def line(name: str, method: str, function: Method, given: Task) -> tuple[str, ...]:
    start = time.perf_counter()
    predicted = function(given.X, given.y, given.X_test)
    seconds = time.perf_counter() - start
    mse = float(np.mean((np.asarray(predicted) - given.y_test) ** 2))
    return name, method, f"{mse:.4g}", f"{1 - mse / given.y_test.var():.4f}", f"{seconds:.1f}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare")
    parser.add_argument("file", type=Path, help="Python with METHODS, DATASETS or both")
    parser.add_argument("--data", nargs="*", help="names of yours or of ours; by default yours")
    parser.add_argument("--rows", type=int, default=10_000, help="use at most so many rows")
    parser.add_argument("--split", choices=["random", "blocks"], default="random")
    asked = parser.parse_args(arguments)
    mine = runpy.run_path(str(asked.file))
    datasets = mine.get("DATASETS", {})
    methods = METHODS | mine.get("METHODS", {})
    rows = []
    for name in asked.data or list(datasets) or ["elevation"]:
        given = task(name, datasets, asked.split, asked.rows)
        for method, function in methods.items():
            rows.append(line(name, method, function, given))
            print(*rows[-1], sep=" | ", flush=True)
    print(f"\n{table(rows, HEADER)}")


if __name__ == "__main__":
    main()
