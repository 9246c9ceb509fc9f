"""Noise that varies, as a function of features: ridge on the logarithms of squared errors."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .numerics import ALPHAS
from .variance import OutOfFold, log_squares, shares_of

__all__ = ["RidgeVariance", "ridge_variance"]


@dataclass(frozen=True)
class RidgeVariance:
    """A log variance that is linear in features.

    Attributes
    ----------
    coef : ndarray of shape (D, n_targets)
    intercept : ndarray of shape (n_targets,)
    low, high : ndarrays of shape (n_targets,)
        The range at the rows that it was learnt from, beyond which it is not continued.
    """

    coef: FloatArray
    intercept: FloatArray
    low: FloatArray
    high: FloatArray

    def of(self, Z: Array) -> FloatArray:
        """Return log variances from features [n, D]: [n, n_targets]."""
        return np.clip(Z @ self.coef.astype(Z.dtype) + self.intercept, self.low, self.high)


def ridge_variance(
    out_of_fold: OutOfFold, columns: FloatArray, folds: npt.NDArray[np.intp] | None = None
) -> tuple[FloatArray | None, FloatArray]:
    """Find coefficients of columns [n, r] that make forecasts better.

    Each row is judged by a ridge regression that leaves it out, in closed form, or leaves out its
    fold: errors of one block are alike, and must not tell about each other.

    Returns
    -------
    coef : ndarray of shape (r, n_targets) or None
        Of columns about their mean; None: a constant variance is as good.
    log_variance : ndarray of shape (n, n_targets)
        Of each row, from the others.
    """
    targets = log_squares(out_of_fold.scores())
    weight = out_of_fold.weight
    constant = np.zeros_like(targets)
    alone = folds is not None and (folds == folds[0]).all()
    if len(targets) <= 2 * columns.shape[1] or alone:
        return None, constant
    centred = columns - np.average(columns, axis=0, weights=weight)
    whole = _Ridge.of(centred, targets, weight)
    if not whole.values.any():
        return None, constant
    alphas = ALPHAS * whole.values.mean()
    if folds is None:
        tried = [whole.left_out(centred, targets, weight, alpha) for alpha in alphas]
    else:
        tried = list(_by_folds(centred, targets, weight, alphas, folds))
    best, coef, log_variance = 1.0, None, constant
    for alpha, found in zip(alphas, tried, strict=True):
        share, ratio = shares_of(out_of_fold, found)
        if share and ratio < best:
            best, coef, log_variance = ratio, share * whole.coef(alpha), share * found
    return coef, log_variance


@dataclass(frozen=True)
class _Ridge:
    """A ridge regression for every alpha."""

    values: FloatArray
    vectors: FloatArray
    projected: FloatArray

    @classmethod
    def of(cls, columns: FloatArray, targets: FloatArray, weight: FloatArray) -> "_Ridge":
        weighted = columns * weight[:, None]
        values, vectors = np.linalg.eigh(weighted.T @ columns)
        return cls(np.maximum(values, 0.0), vectors, vectors.T @ (weighted.T @ targets))

    def coef(self, alpha: float) -> FloatArray:
        return np.asarray(self.vectors @ (self.projected / (self.values + alpha)[:, None]))

    def left_out(
        self, columns: FloatArray, targets: FloatArray, weight: FloatArray, alpha: float
    ) -> FloatArray:
        """Predict each row by the others: [n, n_targets]."""
        rotated = columns @ self.vectors
        leverage = weight * (rotated**2 @ (1 / (self.values + alpha)) + 1 / weight.sum())
        error = (targets - columns @ self.coef(alpha)) / np.maximum(1 - leverage, 0.1)[:, None]
        return np.asarray(targets - error)


def _by_folds(
    columns: FloatArray,
    targets: FloatArray,
    weight: FloatArray,
    alphas: FloatArray,
    folds: npt.NDArray[np.intp],
) -> FloatArray:
    """Predict the rows of each fold by the others, for every alpha: [n_alphas, n, n_targets]."""
    found = np.zeros((len(alphas), *targets.shape))
    for fold in np.unique(folds):
        rest, mine = folds != fold, folds == fold
        ridge = _Ridge.of(columns[rest], targets[rest], weight[rest])
        for number, alpha in enumerate(alphas):
            found[number, mine] = columns[mine] @ ridge.coef(alpha)
    return found
