r"""The pilot sample: a few thousand rows that stand for all of the data.

A candidate is scored by ridge regression on two thirds of the pilot, at the best of a path of
alphas, and its squared error on the last third. That error would favour features that are coarse:
with few rows per column, fine features cost more variance than they will with all rows. So the
final candidates are also scored with half of the training rows, and the error is continued to all
n rows under the law :math:`e(n) = e_\infty + c/n`,

.. math:: e(n) = e(m) - (e(m/2) - e(m)) \left(1 - \frac m n\right).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..learners.folds import hashed_folds
from ..learners.moments import Moments
from ..learners.path import default_alphas, solve, split_errors

__all__ = ["Pilot"]


@dataclass(frozen=True)
class Pilot:
    """Rows with targets, and how they are split.

    Attributes
    ----------
    rows : ndarray or CSR matrix of shape (n, d)
        Columns on a common scale.
    targets : ndarray of shape (n, t)
        Numbers, of about unit variance.
    weights : ndarray of shape (n,)
    n_rows : int
        The number of rows of the whole data.
    """

    rows: Any
    targets: FloatArray
    weights: FloatArray
    n_rows: int

    def with_rows(self, rows: Any) -> "Pilot":
        """The same pilot in other coordinates."""
        return Pilot(rows, self.targets, self.weights, self.n_rows)

    def part(self, n_pilot: int) -> "Pilot":
        """Fewer rows, spread evenly over the pilot."""
        chosen = np.linspace(0, self.rows.shape[0] - 1, n_pilot).astype(int)
        return Pilot(self.rows[chosen], self.targets[chosen], self.weights[chosen], self.n_rows)

    @property
    def folds(self) -> npt.NDArray[np.intp]:
        """0 and 1 for the halves of the training rows, 2 for the others."""
        return hashed_folds(0, self.rows.shape[0], 3)

    def error(self, features: Any, extrapolate: bool) -> float:
        """The squared error that ridge regression on features would have on new rows.

        Parameters
        ----------
        features : transformer
            Not fitted yet; it is fitted here.
        extrapolate : bool
            Whether the error is that with all rows of the data.
        """
        features.fit(self.rows, sample_weight=self.weights)
        parts = self._moments(features.transform(self.rows))
        both = parts[0] + parts[1]
        alphas = default_alphas(both)
        errors = split_errors(both, parts[2], alphas, True)
        best = int(np.argmin(errors))
        error = float(errors[best])
        if not extrapolate:
            return error
        # Half of the rows need half of the alpha, or a little more or less: a few solutions, which
        # cost less than the decomposition for all alphas.
        near = alphas[max(best - 1, 0) : best + 3] / 2
        half = min(_held_out_error(parts[0], parts[2], alpha) for alpha in near)
        n_training = both.n_rows
        gain = max(half - error, 0.0) * (1 - min(n_training / self.n_rows, 1.0))
        return error - min(gain, error / 2)

    def _moments(self, Z: Array) -> list[Moments]:
        shift = np.concatenate([Z.mean(axis=0, dtype=np.float64), self.targets.mean(axis=0)])
        block = np.column_stack([Z, self.targets, np.ones(len(Z))])
        block[:, :-1] -= shift
        block *= np.sqrt(self.weights)[:, None]
        moments = []
        for fold in range(3):
            part = Moments(shift, self.targets.shape[1])
            part.update(np.ascontiguousarray(block[self.folds == fold]))
            moments.append(part)
        return moments


def _held_out_error(train: Moments, test: Moments, alpha: float) -> float:
    """The squared error on test rows of the ridge regression on training rows, from moments."""
    coef, middle, width = solve(train, alpha, True).coef, train.mean(), train.n_features
    held_out = test.products(middle)
    gram, cross = held_out[:width, :width], held_out[:width, width:]
    squares = np.diag(held_out)[width:]
    explained = np.sum(coef * (2 * cross - gram @ coef), axis=0)
    return float(np.maximum(squares - explained, 0.0).mean() / test.weight)
