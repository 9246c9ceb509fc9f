"""Ridge regression from moments: the solution for one alpha, and errors for many."""

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numba import get_num_threads

from .._typing import Array, FloatArray
from ..rows.threads import ordered_map
from .folds import Split
from .moments import Moments
from .solve import Eigen, solve_ridge

__all__ = ["Solution", "choose_alpha", "default_alphas", "solve", "split_errors", "summary"]


@dataclass(frozen=True)
class Solution:
    """A fitted ridge regression.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_targets)
    intercept : ndarray of shape (n_targets,)
    alpha : float
    cv_results : dict
        Empty where alpha was given.
    """

    coef: FloatArray
    intercept: FloatArray
    alpha: float
    cv_results: dict[str, Array] = field(default_factory=dict)


def center(moments: Moments, fit_intercept: bool) -> FloatArray:
    """What features and targets are taken about: their mean, or zero without intercept."""
    return moments.mean() if fit_intercept else np.zeros_like(moments.shift)


def solve(
    moments: Moments, alpha: float, fit_intercept: bool, cv_results: dict[str, Array] | None = None
) -> Solution:
    """Minimise Σ w (y - zᵀβ - β₀)² + α ‖β‖²."""
    width, middle = moments.n_features, center(moments, fit_intercept)
    products = moments.products(middle)
    coef = solve_ridge(products[:width, :width], products[:width, width:], alpha, moments.precision)
    intercept = middle[width:] - middle[:width] @ coef
    return Solution(coef, intercept, alpha, cv_results or {})


def default_alphas(moments: Moments) -> FloatArray:
    """20 values from 1e-10 to 1 times trace(ZᵀZ)/D, geometric."""
    scale = moments.squares(np.zeros_like(moments.shift))[: moments.n_features].mean()
    return (scale or 1.0) * np.geomspace(1e-10, 1, 20)


def split_errors(
    train: Moments, test: Moments, alphas: FloatArray, fit_intercept: bool
) -> FloatArray:
    """Mean squared errors on the test rows of models fitted to the training rows.

    Both come from moments alone, with one eigendecomposition for all alphas.

    Returns
    -------
    ndarray of shape (n_alphas,)
        Averaged over targets.
    """
    width, middle = train.n_features, center(train, fit_intercept)
    fitted, held_out = train.products(middle), test.products(middle)
    eigen = Eigen.of(fitted[:width, :width])
    rotated = eigen.vectors.T @ fitted[:width, width:]
    gram, cross = held_out[:width, :width], held_out[:width, None, width:]
    squares = np.diag(held_out)[width:]
    errors = []
    # Coefficients of several alphas side by side, but no more columns than the Gram matrix has: it
    # costs less to multiply that than to rotate it.
    step = max(1, width // rotated.shape[1])
    for first in range(0, len(alphas), step):
        shrink = np.stack([eigen.shrink(alpha) for alpha in alphas[first : first + step]], axis=1)
        shape = width, shrink.shape[1], rotated.shape[1]
        coef = eigen.vectors @ (shrink[:, :, None] * rotated[:, None, :]).reshape(width, -1)
        fitted_part = (gram @ coef).reshape(shape)
        explained = np.sum(coef.reshape(shape) * (2 * cross - fitted_part), axis=0)
        errors.append(np.maximum(squares - explained, 0.0).mean(axis=1) / test.weight)
    return np.concatenate(errors)


def choose_alpha(
    groups: list[Moments], splits: tuple[Split, ...], alphas: FloatArray, fit_intercept: bool
) -> dict[str, Array]:
    """Errors of every alpha on every split, as `cv_results_`."""

    def errors(item: tuple[int, Split]) -> FloatArray:
        number, split = item
        train, test = (merge([groups[g] for g in part]) for part in (split.train, split.test))
        check_split(number, train, test)
        return split_errors(train, test, alphas, fit_intercept)

    # Splits side by side where there are enough of them for all threads, else one after the
    # other, each with all threads.
    n_threads = None if len(splits) >= get_num_threads() else 1
    return summary(alphas, np.array(list(ordered_map(errors, enumerate(splits), n_threads))))


def check_split(number: int, train: Moments, test: Moments) -> None:
    """Raise ValueError if a part of a split has no rows that count."""
    for name, part in (("training", train), ("test", test)):
        if part.weight <= 0:
            raise ValueError(
                f"Split {number} of the cross-validation has no {name} rows of positive weight "
                f"({part.n_rows} rows in all): pass more rows, fewer folds or a number as alpha."
            )


def summary(alphas: FloatArray, errors: FloatArray) -> dict[str, Array]:
    """The table of a cross-validation from errors [n_splits, n_alphas]."""
    table: dict[str, Any] = {
        "alpha": alphas,
        "mean_test_mse": errors.mean(axis=0),
        "std_test_mse": errors.std(axis=0),
    }
    return table | {f"split{k}_test_mse": row for k, row in enumerate(errors)}


def merge(moments: list[Moments]) -> Moments:
    """The moments of all rows of several groups."""
    return reduce(add, moments)
