"""Checks of what learners predict: numbers, or labels of classes."""

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._typing import Array
from .._validation import check_values
from .numerics import LARGEST

__all__ = [
    "check_labels",
    "check_numbers",
    "check_range",
    "require",
]


def require(y: Any, owner: str) -> None:
    """Raise ValueError if there is no target."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")


def check_numbers(y: Any, owner: str) -> Array:
    """Return targets as finite numbers: [n] or [n, n_targets]."""
    require(y, owner)
    check_values(y, "y")
    _check_no_words(y, owner)
    found = np.asarray(
        check_array(y, ensure_2d=False, dtype=[np.float64, np.float32], input_name="y")
    )
    check_range(found, owner)
    return found


def _check_no_words(y: Any, owner: str) -> None:
    """Raise ValueError that names a word among the targets, and who predicts words."""
    values = np.asarray(y).ravel()
    if values.dtype.kind not in "OUST":
        return
    word = next((one for one in values.tolist() if isinstance(one, str)), None)
    try:
        if word is not None:
            float(word)
    except ValueError as error:
        raise ValueError(
            f"{owner} predicts numbers, but y has words, such as {word!r}: predict classes by "
            "zonal.KernelRidgeClassifier, or pass numbers."
        ) from error


def check_range(y: Array, owner: str) -> None:
    """Raise ValueError if sums of squares of targets would overflow."""
    largest = max(float(y.max(initial=0.0)), -float(y.min(initial=0.0)))
    if largest > LARGEST:
        raise ValueError(
            f"{owner} got targets up to {largest:.3g}, whose squares overflow: they may be up to "
            f"{LARGEST:.0e}. Divide y by a constant, and multiply predictions by it."
        )


def check_labels(y: Any, owner: str) -> Array:
    """Return labels of classes: [n]."""
    require(y, owner)
    check_values(y, "y")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return np.asarray(y)
