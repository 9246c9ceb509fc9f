r"""Errors of observations that are known: the noise of row i has the variance v_i + s.

v is given with the rows, s is a common part that the evidence finds (what instruments do not tell,
such as what varies within a cell). Rows then have the weights 1/(v_i + s), and the noise of a row
of weight one is not free any more.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial import cKDTree

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..moments import Moments
from ..rows import sample_rows
from ..rows.block import take
from .evidence import Evidence

__all__ = ["KnownErrors"]

# Rows by which s is found for features, and those whose nearest rows give a first idea of it.
FEATURE_ROWS, NEAR_ROWS = 2_000, 10_000
# The range of s that is searched, in units of the mean variance of what is learnt.
LOWEST, HIGHEST = 1e-8, 2.0


@dataclass(frozen=True)
class KnownErrors:
    """What the noise has beside the variances that are given.

    Attributes
    ----------
    extra : float
        s.
    learnt : bool
        Whether s is found by evidence.
    """

    extra: float = 0.0
    learnt: bool = True

    def weights(self, precision: FloatArray) -> FloatArray:
        """Return 1/(v + s), where 1/v is given."""
        return np.asarray(precision / (1 + self.extra * precision))

    def relative(self, precision: FloatArray) -> tuple[FloatArray, float]:
        """Return weights of mean one, and the noise variance of a row of weight one."""
        weight = self.weights(precision)
        unit = float(weight.mean())
        return weight / unit, 1 / unit

    def guessed(self, X: Any, y: Array, precision: FloatArray) -> "KnownErrors":
        """Start with half of the mean square of what differs between nearest rows, less v."""
        if not self.learnt or not isinstance(X, np.ndarray) or len(X) < 3:
            return self
        few = sample_rows(len(X), NEAR_ROWS)
        rows = np.asarray(X[few], np.float64)
        rows = rows / (rows.std(axis=0) + 1e-300)
        nearest: Any = cKDTree(rows).query(rows, [2])[1]
        near = np.minimum(nearest[:, 0], len(few) - 1)
        y, v = np.asarray(y, np.float64)[few].ravel(), 1 / precision[few]
        extra = float(np.mean((y - y[near]) ** 2 - v - v[near])) / 2
        return replace(self, extra=max(extra, 0.0))

    def refined(
        self, space: FeatureSpace, X: Any, y: Array, precision: FloatArray, constant: bool
    ) -> "KnownErrors":
        """Return s of the largest evidence of features at some rows."""
        if not self.learnt:
            return self
        few = sample_rows(len(y), FEATURE_ROWS)
        Z = np.asarray(space.transform(take(X, few)), np.float64)
        target = np.asarray(y, np.float64)[few].reshape(len(few), 1)
        rows = np.column_stack([Z, target])
        shift = rows.mean(axis=0)
        block = np.column_stack([rows - shift, np.ones(len(rows))])

        def loss(extra: float) -> float:
            weight = replace(self, extra=extra).weights(precision[few])
            moments = Moments(shift, 1)
            moments.update(np.ascontiguousarray(block * np.sqrt(weight)[:, None]))
            evidence = Evidence(moments, constant)
            noise = np.full(1, 1 / moments.unit)
            found = evidence.log_evidence(evidence.best_alpha(noise), noise)
            return -found - 0.5 * float(np.log(weight / moments.unit).sum())

        spread = float(target.var()) or 1.0
        bounds = math.log(LOWEST * spread), math.log(HIGHEST * spread)
        found = minimize_scalar(
            lambda log: loss(math.exp(log)), bounds=bounds, method="bounded",
            options={"xatol": 0.05},
        )  # fmt: skip
        best = 0.0 if loss(0.0) <= found.fun else math.exp(float(found.x))
        return replace(self, extra=best)
