"""Gaps in columns of numbers filled by regression on the other columns, where that helps."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.linear_model import RidgeCV

from ...._typing import Array, FloatArray
from ..choices import RARE
from ..numerics import GAP_ALPHAS
from .pilot import best_encoding

__all__ = ["GapRegressions"]


@dataclass(frozen=True)
class GapRegressions:
    """What stands for the gaps of encoded columns: ridge regressions on all others.

    scikit-learn's `IterativeImputer` does the same in rounds, and in one is this; further rounds
    would take gaps of the others for known.

    Attributes
    ----------
    coefs : dict of int to ndarray of shape (d + 1,)
        By the column whose gaps are filled: coefficients of all columns, zero for itself and for
        the next, its indicator; and the constant.
    """

    coefs: dict[int, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Array, columns: list[int], weights: FloatArray) -> "GapRegressions":
        """Fit to encoded rows [n, d]; columns have gaps, and their indicators next to them."""
        coefs = {}
        for column in columns:
            gaps = rows[:, column + 1] > 0
            # Fewer known cells tell nothing of the others, and fewer gaps do not matter.
            if min(np.count_nonzero(gaps), np.count_nonzero(~gaps)) < 10 * RARE:
                continue
            others = np.delete(np.arange(rows.shape[1]), [column, column + 1])
            if not len(others):
                continue
            model = RidgeCV(GAP_ALPHAS)
            model.fit(rows[~gaps][:, others], rows[~gaps, column], weights[~gaps])
            coef = np.zeros(rows.shape[1] + 1)
            coef[others], coef[-1] = model.coef_, model.intercept_
            coefs[column] = coef
        return cls(coefs)

    def fill(self, rows: FloatArray) -> FloatArray:
        """Return encoded rows with other values for gaps, each from the row as it was."""
        found = rows.copy()
        for column, coef in self.coefs.items():
            gaps = rows[:, column + 1] > 0
            found[gaps, column] = rows[gaps] @ coef[:-1] + coef[-1]
        return found

    def helps(self, rows: FloatArray, targets: FloatArray, weights: FloatArray) -> bool:
        """Tell whether a kernel regression does better with gaps that are filled so."""
        return bool(self.coefs) and best_encoding([rows, self.fill(rows)], targets, weights) == 1
