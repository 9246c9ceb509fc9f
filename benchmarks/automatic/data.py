"""The datasets of these benchmarks."""

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import zonal

__all__ = ["load", "split"]


def load(name: str) -> tuple[Any, Any]:
    """Rows as a user has them: unit vectors, and time on an interval of length one."""
    X, y = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if name == "protein":
        return X, y
    place = zonal.datasets.to_sphere(X[:, 0], X[:, 1])
    if name == "elevation":
        return place, y / 1000
    time_ = (X[:, 2:] - X[:, 2:].min(axis=0)) / np.ptp(X[:, 2:], axis=0)
    return np.column_stack([place, time_]), np.log10(y) if name == "co2" else y


def split(X: Any, y: Any, **options: Any) -> Any:
    """90 % for training, 10 % for the test: X_train, X_test, y_train, y_test."""
    return train_test_split(X, y, test_size=0.1, random_state=0, **options)
