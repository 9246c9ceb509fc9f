"""Features of groups of columns, each with a map of its own."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from .._typing import Array, FloatArray
from ..rows import sample_rows
from .base import KernelFeatures
from .training_sample import TrainingSample

__all__ = ["GroupedFeatures"]

# Rows by which columns are compared.
SQUARED_ROWS = 2_000


class GroupedFeatures(KernelFeatures):
    """Base class of maps that are made of maps of groups of columns.

    Subclasses define `_combine(sample)`, which chooses among the groups' columns and sets
    `eigenvalues_`, and `evaluator`.
    """

    kernel = None
    random_state = None

    features_: list[KernelFeatures]
    columns_: list[npt.NDArray[np.intp]]
    eigenvalues_: FloatArray

    def __init__(self, groups: Any, n_components: int = 1024) -> None:
        self.groups = groups
        self.n_components = n_components

    def _resolve_kernel(self, sample: TrainingSample) -> None:
        """Do nothing: there is no one kernel, each group has its own."""

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        pairs = self._checked_groups()
        self.columns_ = [self._columns(columns) for columns, _ in pairs]
        self.features_ = [clone(features) for _, features in pairs]
        for columns, features in zip(self.columns_, self.features_, strict=True):
            features.fit(sample.rows[:, columns], sample_weight=sample.weights)
        self._combine(sample)
        return len(self.eigenvalues_)

    @abstractmethod
    def _combine(self, sample: TrainingSample) -> None:
        """Choose among the columns of the groups, and set `eigenvalues_`."""

    def _checked_groups(self) -> list[tuple[Any, KernelFeatures]]:
        advice = (
            "groups must be a list of pairs (columns, features) such as "
            "[([0, 1, 2], zonal.HarmonicFeatures()), ([3], zonal.HarmonicFeatures())]"
        )
        try:
            pairs = [(columns, features) for columns, features in self.groups]
        except (TypeError, ValueError):
            raise ValueError(f"groups={self.groups!r}: {advice}.") from None
        if not pairs:
            raise ValueError(f"groups is empty: {advice}.")
        for _, features in pairs:
            if not isinstance(features, KernelFeatures):
                raise TypeError(f"{features!r} is not a feature map of zonal: {advice}.")
        return pairs

    def _columns(self, columns: Any) -> npt.NDArray[np.intp]:
        """Find the columns of a group, from numbers, names, a slice or a mask."""
        everything = np.arange(self.n_features_in_)
        names = [str(name) for name in getattr(self, "feature_names_in_", [])]
        try:
            if isinstance(columns, slice):
                found = everything[columns]
            else:
                keys: list[Any] = [columns] if isinstance(columns, str | int) else list(columns)
                if any(isinstance(key, str) for key in keys):
                    keys = [names.index(key) for key in keys]
                found = everything[np.asarray(keys)]
        except (TypeError, ValueError, IndexError):
            found = everything[:0]
        if not len(found) or len(np.unique(found)) < len(found):
            known = f"names {names}" if names else f"numbers from 0 to {self.n_features_in_ - 1}"
            raise ValueError(
                f"columns={columns!r} of {type(self).__name__} must name at least one column, each "
                f"only once: X has the {known}."
            )
        return found

    def _squares(self, sample: TrainingSample) -> list[FloatArray]:
        """Return the mean squares of the columns of each group, over at most so many rows."""
        chosen = sample_rows(sample.rows.shape[0], SQUARED_ROWS)
        rows, weights = sample.rows[chosen], sample.weights[chosen]
        shares = weights / weights.sum()
        return [
            np.asarray(np.square(features.transform(rows[:, columns])).T @ shares)
            for columns, features in zip(self.columns_, self.features_, strict=True)
        ]

    def _diagonals(self, X: Any) -> list[Array]:
        """Return k(x, x) of the exact kernel of each group."""
        X = self._valid(X)
        return [
            features.kernel_diag(X[:, columns])
            for columns, features in zip(self.columns_, self.features_, strict=True)
        ]

    def _parts(self, dtype: npt.DTypeLike) -> Callable[[Any], Iterator[Array]]:
        """Return a function that computes the features of each group for a block of rows."""
        evaluators = [features.evaluator(dtype) for features in self.features_]

        def parts(rows: Any) -> Iterator[Array]:
            for evaluate, columns, features in zip(
                evaluators, self.columns_, self.features_, strict=True
            ):
                part = np.empty((rows.shape[0], features.n_columns), dtype)
                evaluate(rows[:, columns], part)
                yield part

        return parts

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return sum(features.n_columns + features.scratch_width for features in self.features_)
