"""Ridge regression at the best of a path of alphas, from sums over the rows of folds or groups."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..features.columns.table.encoding import SplitTable
from ..moments import Moments
from ..moments.folds import Split, Splits, of_folds
from ..moments.held_out import (
    HeldOut,
    best_alpha,
    check_split,
    cross_validate,
    falling_end,
    summary,
)
from ..moments.left_out import left_out_errors
from ..moments.ridge import Solution, default_alphas, solve
from ..rows import Block
from ..rows.block import take
from ..rows.copies import merge_copies
from ..rows.reservoir import Reservoir
from .alpha_end import warn_of_end
from .feature_calibration import Folded, fold_predictions
from .from_sums import FromSums
from .local_solution import MOST_SPLITS
from .recipe import MIN_ROWS, Recipe
from .ridge_posterior import RidgePosterior
from .sampled_sums import SampledSums
from .summation import Summation

__all__ = ["check_alphas", "few_groups", "seen_in", "solve_folds", "solve_splits"]

# Moments of more groups of rows than fit here are found split by split, with a pass for each.
GROUP_BYTES = 1 << 30


def solve_folds(
    recipe: Recipe, summation: Summation, sums: SampledSums, merges_copies: bool
) -> FromSums:
    """Solve for the coefficients, from the moments of folds by row number.

    Parameters
    ----------
    recipe : Recipe
        Its alpha is a number or "cv".
    summation : Summation
    sums : SampledSums
    merges_copies : bool
        Whether copies of a row count as one where rows are left out one by one.
    """
    total = Moments.merged(sums.moments)
    if not isinstance(recipe.alpha, str):
        solution = solve(total, float(recipe.alpha), recipe.fit_intercept)
    else:
        results = _leaving_out(recipe, summation, sums, total, merges_copies)
        if results is None:
            splits, alphas = of_folds(len(sums.moments)), _grid(recipe, total)
            results = cross_validate(sums.moments, splits, alphas, recipe.fit_intercept)
        solution = _best(recipe, total, results)
    return FromSums(summation.space, sums, solution, recipe.fit_intercept)


def _leaving_out(
    recipe: Recipe, summation: Summation, sums: SampledSums, total: Moments, merges_copies: bool
) -> dict[str, Array] | None:
    """Find errors of few rows, each left out once; None where they are many, or not all kept."""
    few = 1 < total.n_counting < MIN_ROWS
    if not few or len(sums.rows) < total.n_counting:
        return None
    X, Y = sums.rows.rows(), sums.rows.y
    weight: FloatArray | None = np.ones(len(Y))
    if sums.rows.weight is not None:
        weight = np.asarray(sums.rows.weight)
    if merges_copies:  # streams and chunks have not been searched for copies before
        weight = merge_copies(X, Y, weight)
    assert weight is not None
    counting = np.flatnonzero(weight)
    if len(counting) < 2:
        return None
    alphas, Z = _grid(recipe, total), summation.space.transform(take(X, counting))
    errors = left_out_errors(Z, Y[counting], weight[counting], alphas, recipe.fit_intercept)
    return summary(alphas, errors, weight[counting])


def few_groups(plan: Splits, table: SplitTable | None) -> bool:
    """Tell whether the splits share their sums; not, where rows are others in each of them."""
    return table is None and plan.n_groups <= 2 * len(plan.splits) + 1


def solve_splits(
    recipe: Recipe, summation: Summation, block: Block, plan: Splits, table: SplitTable | None
) -> FromSums:
    """Solve for the coefficients at the alpha that a splitter finds best.

    Parameters
    ----------
    recipe : Recipe
        Its alpha is "cv".
    summation : Summation
    block : Block
        All rows, with targets [n, t].
    plan : Splits
        Groups of the rows, and splits in terms of these.
    table : SplitTable or None
        Rows as they are in each split, where that depends on the split.
    """
    together = few_groups(plan, table) and plan.n_groups * summation.n_bytes <= GROUP_BYTES
    labels, n_groups = (plan.labels, plan.n_groups) if together else (None, 1)
    groups = summation.groups(block, labels, n_groups)
    total = Moments.merged(groups)
    alphas = _grid(recipe, total)
    known: Iterable[Moments]
    if together:
        results = cross_validate(groups, plan.splits, alphas, recipe.fit_intercept)
        known = (Moments.merged([groups[k] for k in split.train]) for split in plan.splits)
    else:
        results, known = _split_by_split(recipe, summation, block, plan, table, alphas)
    solution = _best(recipe, total, results)
    rows, folded = _fold_predictions(
        recipe, summation, Reservoir.of(block), plan, table, known, solution
    )
    # Groups that are not folds by row number cannot be continued.
    sums = SampledSums([total], rows)
    return FromSums(summation.space, sums, solution, recipe.fit_intercept, folded=folded)


def _split_by_split(
    recipe: Recipe,
    summation: Summation,
    block: Block,
    plan: Splits,
    table: SplitTable | None,
    alphas: FloatArray,
) -> tuple[dict[str, Array], list[Moments]]:
    """Find errors of splits that have few sums in common, with a pass for each.

    The moments of the training rows are kept, for the intervals, of as many splits as fit.
    """
    errors: list[Array] = []
    known: list[Moments] = []
    most = max(1, min(MOST_SPLITS, GROUP_BYTES // summation.n_bytes))
    for number, split in enumerate(plan.splits):
        # Rows in neither part, the training part, the test part, both.
        labels = np.isin(plan.labels, split.train) + 2 * np.isin(plan.labels, split.test)
        rows = block if table is None else replace(block, X=seen_in(table, plan, split))
        parts = summation.groups(rows, labels, 4)
        train, test = parts[1] + parts[3], parts[2] + parts[3]
        check_split(number, train, test)
        errors.append(HeldOut.of(train, test, recipe.fit_intercept).errors(alphas))
        known += [train] if number < most else []
    return summary(alphas, np.array(errors)), known


def seen_in(table: SplitTable, plan: Splits, split: Split) -> Array:
    """Return all rows as they are to a model of the training rows of a split."""
    return table.rows(np.isin(plan.labels, split.train))


def _fold_predictions(
    recipe: Recipe,
    summation: Summation,
    rows: Reservoir,
    plan: Splits,
    table: SplitTable | None,
    known: Iterable[Moments],
    solution: Solution,
) -> tuple[Reservoir, Folded | None]:
    """Predict the sampled test rows of splits by moments of their training rows.

    None where the sample has no test row of these splits. Rows of a table become what they are
    while they are held out.
    """
    if table is not None:
        rows = replace(rows, held=rows.held.copy())
    parts = list(_predicted_parts(recipe, summation, rows, plan, table, known, solution))
    if not parts:
        warnings.warn(
            f"None of the {len(rows)} rows that calibrate intervals is a test row of cv: they are "
            "left out one by one, so that intervals do not hold in gaps.",
            UserWarning,
            stacklevel=2,
        )
        return rows, None
    each = [np.concatenate(column) for column in zip(*(part[:4] for part in parts), strict=True)]
    return rows, Folded(each[0], each[1], each[2], each[3])


def _predicted_parts(
    recipe: Recipe,
    summation: Summation,
    rows: Reservoir,
    plan: Splits,
    table: SplitTable | None,
    known: Iterable[Moments],
    solution: Solution,
) -> Iterator[Folded]:
    labels, done = plan.labels[rows.numbers], np.zeros(len(rows), bool)
    for number, (split, train) in enumerate(zip(plan.splits, known, strict=False)):
        mine = np.flatnonzero(np.isin(labels, split.test) & ~done)
        done[mine] = True
        if not len(mine):
            continue
        own = solve(train, solution.alpha, recipe.fit_intercept)
        posterior = RidgePosterior.of([train], own, recipe.fit_intercept)
        if table is not None:
            rows.held[mine] = seen_in(table, plan, split)[rows.numbers[mine]]
        found = fold_predictions(posterior, summation.space, take(rows.rows(), mine), mine)
        yield found._replace(folds=np.full(len(mine), number))


def _grid(recipe: Recipe, total: Moments) -> FloatArray:
    if recipe.alphas is None:
        return default_alphas(total)
    return np.asarray(recipe.alphas, dtype=np.float64)


def _best(recipe: Recipe, total: Moments, results: dict[str, Array]) -> Solution:
    errors, alphas = results["mean_test_mse"], results["alpha"]
    if not np.isfinite(errors).all():
        raise ValueError(
            "The cross-validation errors are not finite: targets, features or weights are beyond "
            "the range of numbers. Scale them, or give a number as alpha."
        )
    variance = total.squares()[total.n_features :].mean() / total.weight
    alpha = best_alpha(alphas, errors, variance, total.precision)
    end = falling_end(alphas, errors, variance, total.precision)
    warn_of_end(end, alpha, given=recipe.alphas is not None)
    return solve(total, alpha, recipe.fit_intercept, results)


def check_alphas(alphas: Any) -> FloatArray | None:
    """Return the alphas to try as numbers, or None for the default path."""
    if alphas is None:
        return None
    found = np.asarray(alphas, dtype=np.float64)
    if found.ndim != 1 or not len(found) or not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(f"alphas={alphas!r} must be numbers of at least 0.")
    return found
