"""Cross-validation by moments: which rows are summed together, and which sums make a split."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils.validation import check_consistent_length

from ..rows import row_hash

__all__ = ["Split", "Splits", "check_n_folds", "hashed_folds", "make_splits", "of_folds"]


class Split(NamedTuple):
    """One split: the groups of rows that make its training and its test part."""

    train: tuple[int, ...]
    test: tuple[int, ...]


@dataclass(frozen=True)
class Splits:
    """A label for every row, and the splits in terms of these labels.

    Attributes
    ----------
    labels : ndarray of int, of shape (n_rows,)
        The group of each row. Rows of one group are in the same parts of all splits.
    n_groups : int
    splits : tuple of Split
    """

    labels: npt.NDArray[np.intp]
    n_groups: int
    splits: tuple[Split, ...]


def hashed_folds(start: int, stop: int, n_folds: int) -> npt.NDArray[np.intp]:
    """Folds of rows start, …, stop - 1 by a fixed hash of their numbers.

    Not the number modulo the folds, which would put each row of a grid between neighbours of the
    other fold. The first rows go round, so that no fold is empty.
    """
    numbers = np.arange(start, stop)
    folds = (row_hash(numbers) % np.uint64(n_folds)).astype(np.intp)
    return np.where(numbers < n_folds, numbers, folds)


def of_folds(n_folds: int) -> tuple[Split, ...]:
    """Each fold is the test part once."""
    everything = range(n_folds)
    return tuple(Split(tuple(g for g in everything if g != k), (k,)) for k in everything)


def make_splits(
    cv: Any, X: Any, y: Any, n_rows: int, classifier: bool, groups: Any = None
) -> Splits:
    """Groups of rows for an integer, a scikit-learn splitter or (train, test) index pairs.

    `groups`, a label for each row, is what splitters such as GroupKFold keep together; an integer
    `cv` then means so many folds of whole groups.
    """
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        n_folds = check_n_folds(int(cv))
        if groups is not None:
            return make_splits(GroupKFold(n_folds), X, y, n_rows, classifier, groups)
        if n_rows < n_folds:
            raise ValueError(
                f"cv={n_folds} folds need at least {n_folds} rows, but n_samples={n_rows}: pass "
                "more rows, fewer folds or a number as alpha."
            )
        return Splits(hashed_folds(0, n_rows, n_folds), n_folds, of_folds(n_folds))
    splitter = check_cv(cv, y, classifier=classifier)
    pairs = [
        (_indices(train, n_rows, k, "training"), _indices(test, n_rows, k, "test"))
        for k, (train, test) in enumerate(_pairs(splitter, X, y, groups))
    ]
    if not pairs:
        raise ValueError("cv gave no splits: pass at least one (train, test) pair.")
    # Rows that are in the same parts of every split are summed together.
    membership = np.zeros((n_rows, 2 * len(pairs)), dtype=bool)
    for k, (train, test) in enumerate(pairs):
        membership[train, 2 * k] = True
        membership[test, 2 * k + 1] = True
    patterns, labels = np.unique(membership, axis=0, return_inverse=True)
    splits = tuple(
        Split(
            tuple(np.flatnonzero(patterns[:, 2 * k]).tolist()),
            tuple(np.flatnonzero(patterns[:, 2 * k + 1]).tolist()),
        )
        for k in range(len(pairs))
    )
    return Splits(labels.ravel().astype(np.intp), len(patterns), splits)


def _pairs(splitter: Any, X: Any, y: Any, groups: Any) -> list[Any]:
    """Return the pairs of a splitter; one that wants groups and has none says how to give them."""
    if groups is not None:
        check_consistent_length(X, groups)
    try:
        return list(splitter.split(X, y, groups))
    except ValueError as error:
        if groups is None and "'groups'" in str(error):
            raise ValueError(
                f"cv={splitter!r} needs the group of each row: pass groups to fit, as in "
                "fit(X, y, groups=groups)."
            ) from error
        raise


def _indices(rows: Any, n_rows: int, split: int, part: str) -> npt.NDArray[np.intp]:
    """Row numbers of a part of a split: at least one, each once, all among the rows."""
    found = np.asarray(rows)
    if found.dtype == bool and found.shape == (n_rows,):
        found = np.flatnonzero(found)
    whole = found.ndim == 1 and len(found) > 0 and np.issubdtype(found.dtype, np.integer)
    if not whole or found.min() < -n_rows or found.max() >= n_rows:
        raise ValueError(
            f"The {part} rows of split {split} of cv must be row numbers below {n_rows}, at least "
            f"one of them; got {rows!r}."
        )
    if len(np.unique(found % n_rows)) < len(found):
        raise ValueError(
            f"The {part} rows of split {split} of cv name a row twice: use sample_weight to count "
            "rows more than once."
        )
    return found.astype(np.intp)


def check_n_folds(n_folds: int) -> int:
    """Return the number of folds if there are at least two."""
    if n_folds < 2:
        raise ValueError(f"cv={n_folds} must be at least 2 folds, a splitter or index pairs.")
    return n_folds
