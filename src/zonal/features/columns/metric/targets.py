"""Targets of a metric on a common scale: numbers, or the indicators of classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from ...._typing import Array, FloatArray
from ..choices import MAX_CLASSES

__all__ = ["StandardTargets", "standard_targets"]


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
    return StandardTargets.of(y, weights, task)(y)


@dataclass(frozen=True)
class StandardTargets:
    """What brings targets to mean zero and a variance of one in all.

    Attributes
    ----------
    classes : ndarray or None
        Labels whose indicators are the targets; None for numbers.
    peak, center, unit : ndarrays of shape (t,)
        Targets become (y / peak - center) / unit.
    """

    classes: Array | None
    peak: FloatArray
    center: FloatArray
    unit: FloatArray

    @classmethod
    def of(
        cls, y: Any, weights: FloatArray, task: str, classes: Array | None = None
    ) -> "StandardTargets":
        """Learn from targets with weights; see `standard_targets`. Classes may be known."""
        if classes is None and _has_classes(np.asarray(y), task):
            classes = np.unique(column_or_1d(y)[weights > 0])
        raw = _columns(y, classes)
        # Squares of what is left do not overflow.
        peak = np.ones(raw.shape[1]) if classes is not None else _nonzero(np.abs(raw).max(axis=0))
        raw = raw / peak
        share = weights / weights.sum()
        center = share @ raw
        variance = share @ (raw - center) ** 2
        constant = variance < np.finfo(float).eps ** 1.5  # rounding
        variance[constant] = 0.0
        # Indicators share a unit; the units of targets do not matter.
        count = np.count_nonzero(variance)
        whole = variance * count if classes is None else np.full(len(variance), variance.sum())
        return cls(classes, peak, center, np.where(constant, np.inf, np.sqrt(_nonzero(whole))))

    def __call__(self, y: Any) -> FloatArray:
        """Return standard targets: [n, t]."""
        return np.asarray((_columns(y, self.classes) / self.peak - self.center) / self.unit)


def _columns(y: Any, classes: Array | None) -> FloatArray:
    """Return numbers, or indicators of classes: [n, t]."""
    if classes is not None:
        return np.asarray(column_or_1d(y)[:, None] == classes, dtype=np.float64)
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    return np.asarray(values.reshape(len(values), -1))


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
