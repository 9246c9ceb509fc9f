"""Ridge regression from moments: the solution for one alpha, and errors for many."""

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
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
    width = moments.n_features
    raw = moments.products(np.zeros_like(moments.shift))
    scale = np.trace(raw[:width, :width]) / width
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
    V = eigen.vectors
    b_train, b_test = V.T @ fitted[:width, width:], V.T @ held_out[:width, width:]
    S_test = V.T @ held_out[:width, :width] @ V
    squares = np.diag(held_out)[width:]
    errors = []
    for alpha in alphas:
        beta = b_train * eigen.shrink(alpha)[:, None]
        explained = 2 * np.sum(beta * b_test, axis=0) - np.sum(beta * (S_test @ beta), axis=0)
        errors.append(np.maximum(squares - explained, 0.0).mean() / test.weight)
    return np.array(errors)


def choose_alpha(
    groups: list[Moments], splits: tuple[Split, ...], alphas: FloatArray, fit_intercept: bool
) -> dict[str, Array]:
    """Errors of every alpha on every split, as `cv_results_`."""
    errors = []
    for number, split in enumerate(splits):
        train, test = (merge([groups[g] for g in part]) for part in (split.train, split.test))
        check_split(number, train, test)
        errors.append(split_errors(train, test, alphas, fit_intercept))
    return summary(alphas, np.array(errors))


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
