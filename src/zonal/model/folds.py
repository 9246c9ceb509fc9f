"""Which folds or splits `cv` and `groups` ask for."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from ..features.columns.table.encoding import SplitTable
from ..moments.folds import Splits, check_n_folds, make_splits
from ..rows import Block
from ..rows.survey import Survey
from .encoders import is_mixed

__all__ = ["check_alpha", "count_folds", "path_cost", "plan_folds", "splits_rows"]


def _by_cv(alpha: Any) -> bool:
    """Tell whether alpha is found by cross-validation, not given and not by evidence."""
    return isinstance(alpha, str) and alpha == "cv"


def splits_rows(alpha: Any, cv: Any, groups: Any) -> bool:
    """Tell whether a splitter, not the hash of row numbers, makes the folds."""
    is_number = isinstance(cv, Integral) and groups is None
    return _by_cv(alpha) and not is_number


def count_folds(alpha: Any, cv: Any, groups: Any) -> int:
    """Return the number of folds by row number; one where no alpha is cross-validated."""
    if not _by_cv(alpha):
        return 1
    if isinstance(cv, Integral) and not isinstance(cv, bool) and groups is None:
        return check_n_folds(int(cv))
    raise ValueError(
        "partial_fit, like a stream of more rows than are held in memory, assigns folds by row "
        f"number and needs an integer cv without groups, not {cv!r}; use fit on fewer rows for "
        "splitters and index pairs, or a number as alpha."
    )


def check_alpha(alpha: Any, rule: str = "cv") -> None:
    """Raise ValueError unless alpha is the name of a rule or a number of at least zero."""
    name = isinstance(alpha, str)
    number = isinstance(alpha, Real) and not isinstance(alpha, bool)
    if not ((name and alpha == rule) or (number and 0 <= float(alpha) < np.inf)):
        raise ValueError(f"alpha={alpha!r} must be {rule!r} or a number of at least 0.")


def path_cost(alpha: Any, n_sums: int) -> float:
    """Return how long systems take, in eigendecompositions of their size.

    A path of alphas has a tridiagonal form for each fold, the evidence has one; a given alpha needs
    a Cholesky factor.
    """
    if _by_cv(alpha):
        return 0.8 * n_sums
    return 0.8 if isinstance(alpha, str) else 0.2


def plan_folds(
    alpha: Any,
    cv: Any,
    groups: Any,
    survey: Survey,
    raw: Block | None,
    encoder: Any,
    classifier: bool,
) -> tuple[int, Splits | None, SplitTable | None]:
    """Return the number of folds by row number, and the splits of a splitter.

    Parameters
    ----------
    alpha : float, "cv" or "evidence"
    cv, groups
        As learners take them.
    survey : Survey
        The rows as numbers, all of them or a sample.
    raw : Block
        The rows as they were given, of which splitters may want columns by name.
    encoder : transformer or None
        What made numbers of them.
    classifier : bool

    Returns
    -------
    n_folds : int
    plan : Splits or None
    table : SplitTable or None
        The table that is encoded again for each split.
    """
    if not survey.whole or not _by_cv(alpha):
        return count_folds(alpha, cv, groups), None, None
    assert raw is not None
    X = survey.sample.X if encoder is None else raw.X
    plan = make_splits(cv, X, survey.sample.y, survey.n_rows, classifier, groups)
    if not splits_rows(alpha, cv, groups):
        return plan.n_groups, None, None
    return 1, plan, encoder.split_table(*raw.parts) if is_mixed(encoder) else None
