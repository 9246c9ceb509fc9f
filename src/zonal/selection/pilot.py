r"""The pilot sample: a few thousand rows that stand for all of the data.

A candidate is scored by ridge regression on two thirds of the pilot, at the best of a path of
alphas, and its squared error on the last third. That error would favour features that are coarse:
with few rows per column, fine features cost more variance than they will with all rows. So the
final candidates are also scored with half of the training rows, and the error is continued to all
n rows under the law :math:`e(n) = e_\infty + c/n`,

.. math:: e(n) = e(m) - (e(m/2) - e(m)) \left(1 - \frac m n\right).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..moments import Moments
from ..moments.folds import hashed_folds
from ..moments.held_out import HeldOut, least_error
from ..moments.ridge import default_alphas

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
    held_out : ndarray of bool, of shape (n,), or None
        The rows that errors are measured on; None: a third, by a hash of their numbers.
    """

    rows: Any
    targets: FloatArray
    weights: FloatArray
    n_rows: int
    held_out: npt.NDArray[np.bool_] | None = None

    def with_rows(self, rows: Any) -> "Pilot":
        """Return the same pilot in other coordinates."""
        return replace(self, rows=rows)

    def share(self, share: float) -> "Pilot":
        """Return a share of the training rows, spread evenly over them, with all held-out rows."""
        folds = self.folds
        training = np.flatnonzero(folds < 2)
        few = np.linspace(0, len(training) - 1, max(int(share * len(training)), 1)).astype(int)
        chosen = np.sort(np.append(training[few], np.flatnonzero(folds == 2)))
        parts = (self.rows[chosen], self.targets[chosen], self.weights[chosen])
        return Pilot(*parts, self.n_rows, folds[chosen] == 2)

    @property
    def folds(self) -> npt.NDArray[np.intp]:
        """0 and 1 for the halves of the training rows, 2 for the others."""
        n_pilot = self.rows.shape[0]
        if self.held_out is None:
            return hashed_folds(0, n_pilot, 3)
        return np.where(self.held_out, 2, hashed_folds(0, n_pilot, 2))

    def spread(self) -> float:
        """Return the squared error of the mean on the rows that errors are measured on."""
        held_out = self.folds == 2
        squares = np.square(self.targets[held_out] - self.targets[~held_out].mean(axis=0))
        return float(np.average(squares.mean(axis=1), weights=self.weights[held_out]))

    def error(self, features: Any, extrapolate: bool) -> float:
        """Return the squared error that ridge regression on features would have on new rows.

        Parameters
        ----------
        features : transformer
            Not fitted yet; it is fitted here.
        extrapolate : bool
            Whether the error is that with all rows of the data.
        """
        features.fit(self.rows, sample_weight=self.weights)
        parts = self.moments(features)
        both = parts[0] + parts[1]
        alphas = default_alphas(both)
        error = least_error(HeldOut.of(both, parts[2]).error, alphas)
        if not extrapolate:
            return error
        half = least_error(HeldOut.of(parts[0], parts[2]).error, alphas)
        n_training = both.n_rows
        gain = max(half - error, 0.0) * (1 - min(n_training / self.n_rows, 1.0))
        return error - min(gain, error / 2)

    def moments(self, features: Any) -> list[Moments]:
        """Sum the moments of the three folds; one at a time has its features in memory."""
        moments: list[Moments] = []
        for fold in range(3):
            chosen = np.flatnonzero(self.folds == fold)
            Z, targets = features.transform(self.rows[chosen]), self.targets[chosen]
            shift = (
                moments[0].shift
                if moments
                else np.concatenate([Z.mean(axis=0, dtype=np.float64), targets.mean(axis=0)])
            )
            block = np.column_stack([Z, targets, np.ones(len(chosen))])
            block[:, :-1] -= shift
            block *= np.sqrt(self.weights[chosen])[:, None]
            part = Moments(shift, targets.shape[1])
            part.update(block)
            moments.append(part)
        return moments
