"""Checks of what learners predict: numbers, or labels of classes."""

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._typing import Array
from .._validation import check_values

__all__ = ["check_labels", "check_n_targets", "check_numbers", "require"]


def require(y: Any, owner: str) -> None:
    """Raise ValueError if there is no target."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")


def check_numbers(y: Any, owner: str) -> Array:
    """Return targets as finite numbers: [n] or [n, n_targets]."""
    require(y, owner)
    check_values(y, "y")
    return np.asarray(
        check_array(y, ensure_2d=False, dtype=[np.float64, np.float32], input_name="y")
    )


def check_labels(y: Any, owner: str) -> Array:
    """Return labels of classes: [n]."""
    require(y, owner)
    check_values(y, "y")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return np.asarray(y)


def check_n_targets(found: int, expected: int) -> None:
    """Raise ValueError if a chunk has another number of targets than the first."""
    if found != expected:
        raise ValueError(f"This chunk has {found} targets, but the first had {expected}.")
