"""Targets of a metric on a common scale: numbers, or the indicators of classes."""

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from ...._typing import Array, FloatArray

__all__ = ["standard_targets"]

# Whole numbers with more values than this are quantities, not codes of classes.
MAX_CLASSES = 30


def standard_targets(y: Any, weights: FloatArray, task: str) -> FloatArray:
    """Return targets of mean zero and of variance one in all: [n, t].

    Parameters
    ----------
    y : array-like of shape (n,) or (n, n_targets)
        Numbers or labels.
    weights : ndarray of shape (n,)
        Weights of the rows.
    task : {"auto", "regression", "classification"}
        What y holds.
    """
    classes = _has_classes(np.asarray(y), task)
    if classes:
        labels = column_or_1d(y)
        targets = (labels[:, None] == np.unique(labels[weights > 0])).astype(np.float64)
    else:
        values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        targets = values.reshape(len(values), -1)
        # Squares of what is left do not overflow.
        targets = targets / _nonzero(np.abs(targets).max(axis=0))
    share = weights / weights.sum()
    targets = targets - share @ targets
    variance = share @ targets**2
    variance[variance < np.finfo(float).eps ** 1.5] = 0.0  # rounding of a constant
    targets[:, variance == 0] = 0.0
    # Indicators share a unit; the units of targets do not matter.
    whole = variance.sum() if classes else variance * np.count_nonzero(variance)
    return np.asarray(targets / np.sqrt(_nonzero(whole)))


def _has_classes(y: Array, task: str) -> bool:
    """Whether targets are labels of classes."""
    if task != "auto":
        return task == "classification"
    if y.dtype.kind in "iu":
        return y.ndim == 1 and len(np.unique(y)) <= MAX_CLASSES
    return y.dtype.kind in "bUSO" and type_of_target(y) in ("binary", "multiclass")


def _nonzero(values: FloatArray) -> FloatArray:
    """Return values, with ones for zeros."""
    return np.where(values == 0, 1.0, values)
