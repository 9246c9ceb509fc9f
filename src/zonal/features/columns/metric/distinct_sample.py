"""The rows that a metric is learnt from, each once, some of them held out."""

from dataclasses import dataclass, replace

import numpy as np

from ...._typing import FloatArray
from ....rows import row_hash
from ..choices import FOLDS

__all__ = ["DistinctSample", "apply_linear"]


@dataclass(frozen=True)
class DistinctSample:
    """The rows to learn from, each once.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        Distinct rows, in an order that does not depend on that of the data: first those that the
        regression sees, then those held out.
    targets : ndarray of shape (n, t)
        Weighted means of the targets of equal rows.
    weights : ndarray of shape (n,)
        The sums of their weights.
    n_train : int
        How many the regression sees.
    spread : float
        The variance of targets about those means on the held-out rows, which no metric explains.
    """

    rows: FloatArray
    targets: FloatArray
    weights: FloatArray
    n_train: int
    spread: float

    @classmethod
    def of(cls, rows: FloatArray, targets: FloatArray, weights: FloatArray) -> "DistinctSample":
        """Merge equal rows and split the others by a hash of their rank."""
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        inverse = inverse.ravel()
        totals = np.bincount(inverse, weights).astype(np.float64)
        sums = [np.bincount(inverse, weights * target) for target in targets.T]
        means = np.column_stack(sums) / totals[:, None]
        held_out = row_hash(np.arange(len(distinct))) % np.uint64(FOLDS) == 0
        order = np.argsort(held_out, kind="stable")
        within = np.square(targets - means[inverse]).sum(axis=1)
        lost = weights * held_out[inverse]
        spread = float(lost @ within) / (float(lost.sum()) or 1.0)
        n_train = int(np.count_nonzero(~held_out))
        return cls(distinct[order], means[order], totals[order], n_train, spread)

    def mapped(self, linear: FloatArray) -> "DistinctSample":
        """Return the same sample after a linear map."""
        return replace(self, rows=apply_linear(linear, self.rows))

    @property
    def usable(self) -> bool:
        """Whether there is a target that changes, and rows to learn and to compare on."""
        fewest = min(self.n_train, len(self.rows) - self.n_train)
        return fewest >= 2 and bool(self.targets.any())


def apply_linear(linear: FloatArray, rows: FloatArray) -> FloatArray:
    """Return rows after a map that is a matrix [k, d], or factors of the columns [d]."""
    return rows * linear if linear.ndim == 1 else np.asarray(rows @ linear.T)
