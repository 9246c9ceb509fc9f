"""Noise that varies, as a function of features: ridge on the logarithms of squared errors."""

from dataclasses import dataclass

import numpy as np

from .._typing import Array, FloatArray
from .variance import OutOfFold, log_squares, shares_of

__all__ = ["RidgeVariance", "ridge_variance"]

# Ridges that are tried, in units of the mean eigenvalue.
ALPHAS = np.geomspace(1e-3, 1e3, 7)


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
    out_of_fold: OutOfFold, columns: FloatArray
) -> tuple[FloatArray | None, FloatArray]:
    """Find coefficients of columns [n, r] that make forecasts better.

    Each row is judged by a ridge regression that leaves it out (in closed form).

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
    if len(targets) <= 2 * columns.shape[1]:
        return None, constant
    middle = np.average(columns, axis=0, weights=weight)
    root = np.sqrt(weight)[:, None]
    centred = columns - middle
    values, vectors = np.linalg.eigh((root * centred).T @ (root * centred))
    values = np.maximum(values, 0.0)
    if not values.any():
        return None, constant
    rotated = centred @ vectors
    projected = rotated.T @ (weight[:, None] * targets)
    best, coef, log_variance = 1.0, None, constant
    for alpha in ALPHAS * values.mean():
        shrunk = projected / (values + alpha)[:, None]
        leverage = weight * (rotated**2 @ (1 / (values + alpha)) + 1 / weight.sum())
        error = (targets - rotated @ shrunk) / np.maximum(1 - leverage, 0.1)[:, None]
        share, ratio = shares_of(out_of_fold, targets - error)
        if share and ratio < best:
            best, coef, log_variance = ratio, share * vectors @ shrunk, share * (targets - error)
    return coef, log_variance
