r"""Length scales of largest evidence: of the kernel, and of single columns where that pays.

Chosen features start it. The evidence is that of a sample of the rows, at the best noise and
amplitude (see `evidence`): on features of the same kind, or, of few rows, of the kernel itself.
Each length scale is moved alone; a move must gain :math:`\tfrac12 \log n`, the price of a parameter
(Schwarz 1978).
"""

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._typing import Array, FloatArray
from ..features.base import KernelFeatures
from ..features.columns import Standardizer
from ..features.groups import GroupedFeatures
from ..moments import Moments
from ..rows import sample_rows
from .evidence import Evidence

__all__ = ["tune_length_scales"]

# Rows and features by which length scales are compared.
ROWS, COLUMNS = 2_000, 512
# The kernel's length scale moves by a factor of at most MOST, a column's by at most 2^STEPS.
MOST, STEPS = 2.0, 3
# Among more columns than this none is moved for itself.
MOST_COLUMNS = 16
NAMES = ("bandwidth", "length_scale")


def tune_length_scales(
    features: Pipeline,
    X: Any,
    targets: FloatArray,
    weight: FloatArray | None,
    factors: tuple[float, ...] = (1.0,),
) -> Pipeline:
    """Return fitted features with length scales of larger evidence, or those given.

    Parameters
    ----------
    features : Pipeline
        Fitted; the last step is a feature map of this library.
    X : array-like of shape (n, d)
        Rows.
    targets : ndarray of shape (n, t)
    weight : ndarray of shape (n,) or None
    factors : tuple of float
        Multiples of the kernel's length scale, of which the best is where the search starts.
    """
    *before, (name, last) = features.steps
    rows, counts = X, np.ones(len(targets)) if weight is None else weight
    with config_context(transform_output="default"):
        for _, step in before:  # the first knows a frame by the names of its columns
            rows = step.transform(rows)
    rows, targets, counts = (np.asarray(part)[counts > 0] for part in (rows, targets, counts))
    start = given = _Scaled.of(last, rows.shape[1])
    if start is None or not np.ptp(targets, axis=0).all():
        return features
    few = sample_rows(len(rows), ROWS)
    evidence = _Search(rows[few], targets[few], counts[few])
    if len(factors) > 1:
        start = max((start.with_kernel(0, factor) for factor in factors), key=evidence.log_evidence)
    # A learned metric knows its columns' scales, and those of a sphere are one.
    first: Any = before[0][1] if len(before) == 1 else None
    free = isinstance(first, Standardizer) and not len(first.keep)
    found = evidence.climb(start, free and 1 < rows.shape[1] <= MOST_COLUMNS)
    if found is given or (found is start and (start.kernels == 1).all()):
        return features
    if free:
        first = copy(first)
        first.scale_ = first.scale_ * found.columns
        before = [(before[0][0], first)]
    map_ = found.map().fit((rows / found.columns).astype(rows.dtype), sample_weight=counts)
    return Pipeline([*before, (name, map_)])


@dataclass(frozen=True)
class _Scaled:
    """A feature map whose length scales are multiplied.

    Attributes
    ----------
    last : KernelFeatures
        The fitted map.
    kernels : ndarray of shape (n_kernels,)
        Factors of the length scales of its kernels: one, or one for each group of a product.
    columns : ndarray of shape (d,)
        Factors of those of the columns.
    """

    last: Any
    kernels: FloatArray
    columns: FloatArray

    @classmethod
    def of(cls, last: Any, n_columns: int) -> "_Scaled | None":
        """Start from a fitted map; None if it has no length scales."""
        parts = last.features_ if isinstance(last, GroupedFeatures) else [last]
        if not all(_has_length_scale(part) for part in parts):
            return None
        return cls(last, np.ones(len(parts)), np.ones(n_columns))

    def map(self, most: int | None = None) -> Any:
        """Return the map, not fitted, with at most that many columns."""
        found = clone(self.last)
        if isinstance(self.last, GroupedFeatures):
            groups = [
                (columns, clone(part).set_params(kernel=_times(fitted.kernel_, factor)))
                for (columns, part), fitted, factor in zip(
                    found.groups, self.last.features_, self.kernels, strict=True
                )
            ]
            found.set_params(groups=groups)
        else:
            found.set_params(kernel=_times(self.last.kernel_, self.kernels[0]))
        if most is not None:
            found.set_params(n_components=min(found.n_components, most))
        return found

    def with_kernel(self, number: int, factor: float) -> "_Scaled":
        kernels = self.kernels.copy()
        kernels[number] *= factor
        return replace(self, kernels=kernels)

    def with_column(self, number: int, factor: float) -> "_Scaled":
        columns = self.columns.copy()
        columns[number] *= factor
        return replace(self, columns=columns)


@dataclass(frozen=True)
class _Search:
    """Rows, targets and weights by which length scales are compared."""

    rows: Array
    targets: FloatArray
    weight: FloatArray

    def log_evidence(self, scaled: _Scaled) -> float:
        """Return the evidence at the best noise and amplitude."""
        Z = self._features(scaled)
        shift = np.concatenate([Z.mean(axis=0, dtype=np.float64), self.targets.mean(axis=0)])
        block = np.column_stack([Z, self.targets, np.ones(len(Z))])
        block[:, :-1] -= shift
        block *= np.sqrt(self.weight)[:, None]
        moments = Moments(shift, self.targets.shape[1])
        moments.update(block)
        found = Evidence(moments, constant=True)
        return found.log_evidence(found.best_alpha())

    def _features(self, scaled: _Scaled) -> Array:
        """Return features of the rows; of few rows the kernel's own, a root of its matrix."""
        rows, map_ = self.rows / scaled.columns, scaled.map(COLUMNS)
        if len(rows) > COLUMNS or isinstance(map_, GroupedFeatures):
            return np.asarray(map_.fit(rows, sample_weight=self.weight).transform(rows))
        values, vectors = np.linalg.eigh(map_.kernel(rows))
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def climb(self, start: _Scaled, columns: bool) -> _Scaled:
        """Move the kernels' length scales, then those of columns, then the kernels' again."""
        price = 0.5 * math.log(len(self.weight))
        best, height = start, self.log_evidence(start)

        def better(other: _Scaled) -> bool:
            nonlocal best, height
            found = self.log_evidence(other)
            if found <= height + price:
                return False
            best, height = other, found
            return True

        for number in range(len(start.kernels)):
            better(self._best_kernel(best, number))
        moved = False
        for number in range(len(start.columns) if columns else 0):
            for factor in (2.0, 0.5):
                steps = 0
                while steps < STEPS and better(best.with_column(number, factor)):
                    steps += 1
                moved = moved or steps > 0
                if steps:
                    break
        if moved:
            better(self._best_kernel(best, 0))
        return best

    def _best_kernel(self, scaled: _Scaled, number: int) -> _Scaled:
        def at(log: float) -> _Scaled:
            return scaled.with_kernel(number, math.exp(log))

        found = minimize_scalar(
            lambda log: -self.log_evidence(at(log)),
            bounds=(-math.log(MOST), math.log(MOST)),
            method="bounded",
            options={"xatol": 0.05},
        )
        return at(float(found.x))


def _has_length_scale(part: Any) -> bool:
    if not isinstance(part, KernelFeatures):
        return False
    params = part.kernel_.get_params(deep=False)
    return any(np.ndim(params[name]) == 0 for name in NAMES if name in params)


def _times(kernel: Any, factor: float) -> Any:
    """Return the kernel with a length scale that is multiplied."""
    params = kernel.get_params(deep=False)
    own = next(name for name in NAMES if name in params)
    return clone(kernel).set_params(**{own: float(params[own] * factor)})
