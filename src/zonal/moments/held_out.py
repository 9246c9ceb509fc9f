"""Errors of ridge regressions on rows that they have not seen, from moments alone."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..rows.threads import ordered_map, thread_count
from .folds import Split
from .moments import Moments
from .ridge import Eigen, center, solve_above_rounding

__all__ = [
    "HeldOut",
    "best_alpha",
    "check_split",
    "cross_validate",
    "falling_end",
    "least_error",
    "summary",
]

# Errors that differ by less are ties: relative to the smallest, and to the targets' variance.
TIE, FLOOR = 1e-4, 1e-10


@dataclass(frozen=True)
class HeldOut:
    """Ridge regression on training rows and its error on test rows.

    Attributes
    ----------
    fitted, held_out : ndarray of shape (D + t, D + t)
        Products of features and targets about the training mean (about zero without intercept),
        of training and test rows.
    width : int
        The number of features D.
    precision, weight : float
        The precision of the sums; the weight of the test rows.
    rank : int
        The largest rank that so many training rows have.
    """

    fitted: FloatArray
    held_out: FloatArray
    width: int
    precision: float
    weight: float
    rank: int

    @classmethod
    def of(cls, train: Moments, test: Moments, fit_intercept: bool = True) -> "HeldOut":
        """Make it of the moments of training and test rows."""
        middle = center(train, fit_intercept)
        products = train.products(middle), test.products(middle)
        rank = max(train.n_rows - int(fit_intercept), 0)
        return cls(*products, train.n_features, train.precision, test.weight, rank)

    @cached_property
    def _eigen(self) -> Eigen:
        D = self.width
        return Eigen.of(self.fitted[:D, :D], rank=self.rank)

    def error(self, alpha: float) -> float:
        """Return the mean squared error on the test rows, averaged over targets.

        By a Cholesky factorisation where alpha is above the rounding of the sums: a few of them
        cost less than the eigendecomposition that serves all alphas.
        """
        D = self.width
        system, rhs = self.fitted[:D, :D], self.fitted[:D, D:]
        coef = solve_above_rounding(system, rhs, alpha, self.precision)
        if coef is None:
            coef = self._eigen.solve(rhs, alpha)
        return float(self._errors(coef[:, None, :])[0])

    def errors(self, alphas: FloatArray) -> FloatArray:
        """Return the errors for many alphas, by one eigendecomposition: [n_alphas]."""
        D, eigen = self.width, self._eigen
        rotated = eigen.vectors.T @ self.fitted[:D, D:]
        errors = []
        # Coefficients of several alphas side by side, but no more columns than the Gram matrix has:
        # it costs less to multiply that than to rotate it.
        step = max(1, D // rotated.shape[1])
        for first in range(0, len(alphas), step):
            shrink = np.stack([eigen.shrink(a) for a in alphas[first : first + step]], axis=1)
            shape = D, shrink.shape[1], rotated.shape[1]
            parts = shrink[:, :, None] * rotated[:, None, :]  # [rank, n_alphas, t]
            coef = eigen.vectors @ parts.reshape(len(parts), shape[1] * shape[2])
            errors.append(self._errors(coef.reshape(shape)))
        return np.concatenate(errors)

    def _errors(self, coef: FloatArray) -> FloatArray:
        """Return the errors of coefficients [D, n_alphas, t], averaged over targets."""
        D = self.width
        gram, cross = self.held_out[:D, :D], self.held_out[:D, None, D:]
        fitted_part = (gram @ coef.reshape(D, -1)).reshape(coef.shape)
        explained = np.sum(coef * (2 * cross - fitted_part), axis=0)
        squares = np.diag(self.held_out)[D:]
        return np.maximum(squares - explained, 0.0).mean(axis=1) / self.weight


def best_alpha(
    alphas: FloatArray, errors: FloatArray, variance: float, precision: float = 0.0
) -> float:
    """Return the alpha of the smallest error; of those that are as good, the largest.

    On a few rows, or where the features say nothing, many alphas have the same error but for
    rounding, which must not decide: not the order of the rows, their chunks, or the units of y.

    Parameters
    ----------
    alphas, errors : ndarrays of shape (n,)
        What was tried, and mean squared errors.
    variance : float
        That of the targets: an error of 1e-10 of it is nothing.
    precision : float
        The machine precision of the sums that the errors are made of.
    """
    return float(alphas[_as_good(errors, variance, precision)].max())


def _as_good(errors: FloatArray, variance: float, precision: float) -> npt.NDArray[np.bool_]:
    """Tell which errors are the smallest, or a tie with it."""
    least = errors.min()
    return np.asarray(errors <= least + TIE * least + max(FLOOR, precision) * variance)


def falling_end(
    alphas: FloatArray, errors: FloatArray, variance: float, precision: float = 0.0
) -> str | None:
    """Tell whether the error still falls, by more than a tie, at an end of what was tried.

    Parameters
    ----------
    alphas, errors, variance, precision
        As for `best_alpha`.

    Returns
    -------
    {"smallest", "largest"} or None
        The end whose alpha has no equal; None where there is none, or where fewer than three
        alphas leave nothing between the ends.
    """
    as_good = alphas[_as_good(errors, variance, precision)]
    if len(np.unique(alphas)) < 3 or len(np.unique(as_good)) > 1:
        return None
    return {alphas.min(): "smallest", alphas.max(): "largest"}.get(as_good[0])


def least_error(error: Callable[[float], float], alphas: FloatArray) -> float:
    """Return the least error of all alphas: every fourth, then downhill from the best of those.

    Against alpha the error falls (variance), then rises (bias), so that not all need be tried: the
    first five from above span eight orders of magnitude, and the smaller ones are for targets
    that want the smallest of these. Of equal errors the larger alpha counts.
    """
    known: dict[int, float] = {}

    def at(index: int) -> tuple[float, int]:
        if index not in known:
            known[index] = error(alphas[index])
        return known[index], -index

    places = range(max(len(alphas) - 3, 0), -1, -4)
    best = min(places[:5], key=at)
    for before, place in pairwise(places[4:]):
        if best != before:
            break
        best = min(before, place, key=at)
    while (step := min(range(max(best - 1, 0), min(best + 2, len(alphas))), key=at)) != best:
        best = step
    return known[best]


def cross_validate(
    groups: list[Moments], splits: tuple[Split, ...], alphas: FloatArray, fit_intercept: bool
) -> dict[str, Array]:
    """Find the errors of every alpha on every split, as `cv_results_`."""

    def errors(item: tuple[int, Split]) -> FloatArray:
        number, split = item
        train, test = (Moments.merged([groups[g] for g in part]) for part in split)
        check_split(number, train, test)
        return HeldOut.of(train, test, fit_intercept).errors(alphas)

    # Splits side by side where there are enough of them for all threads, else one after the
    # other, each with all threads.
    n_threads = None if len(splits) >= thread_count() else 1
    return summary(alphas, np.array(list(ordered_map(errors, enumerate(splits), n_threads))))


def check_split(number: int, train: Moments, test: Moments) -> None:
    """Raise ValueError if a part of a split has no rows that count."""
    for name, part in (("training", train), ("test", test)):
        if part.weight <= 0:
            raise ValueError(
                f"Split {number} of the cross-validation has no {name} rows of positive weight "
                f"({part.n_rows} rows in all): pass more rows, fewer folds or a number as alpha."
            )


def summary(
    alphas: FloatArray, errors: FloatArray, weight: FloatArray | None = None
) -> dict[str, Array]:
    """Make the table of a cross-validation from errors [n_splits, n_alphas] and their weights."""
    mean = np.average(errors, axis=0, weights=weight)
    table: dict[str, Any] = {
        "alpha": alphas,
        "mean_test_mse": mean,
        "std_test_mse": np.sqrt(np.average((errors - mean) ** 2, axis=0, weights=weight)),
    }
    return table | {f"split{k}_test_mse": row for k, row in enumerate(errors)}
