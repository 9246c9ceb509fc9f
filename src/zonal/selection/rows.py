"""The rows that a choice looks at: on a common scale, in an order of their own, some held out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from .._typing import Array, FloatArray
from .._validation import is_sparse
from ..features.columns.structure import prepare
from ..moments.folds import Splits
from ..rows import sample_rows
from ..rows.copies import content_hash
from .pilot import Pilot

__all__ = ["HeldOut", "Rows", "content_order", "splits_of"]

#: Rows that candidates are scored on: enough for a standard error of about 2.5 % of a mean square.
MAX_QUERIES = 3_000


class HeldOut(NamedTuple):
    """Rows that candidates are scored on, and the rows that are known then.

    Attributes
    ----------
    train, test, queries : ndarrays of int
        What is known, what is not, and what is predicted among the latter.
    rows : ndarray of shape (n, d) or None
        All rows as they are to a model of the training rows, where that depends on the split.
    """

    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]
    queries: npt.NDArray[np.intp]
    rows: Array | None = None

    def in_columns(self, step: Any) -> "HeldOut":
        """Return the same split in the columns that a fitted step makes of these."""
        return self if self.rows is None else self._replace(rows=step.transform(self.rows))

    def of_pilot(
        self, pilot: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the rows of a pilot that are in either part, and which of them are not known.

        All rows of the test part are held out: beside the queries, they would tell what is in the
        gap.
        """
        pilot = pilot[np.isin(pilot, np.concatenate([self.train, self.test]))]
        return pilot, np.isin(pilot, self.test)


def splits_of(
    plan: Splits,
    counting: npt.NDArray[np.intp],
    seen: Callable[[npt.NDArray[np.bool_]], Array] | None = None,
) -> list[HeldOut]:
    """Return the splits of a splitter, with `MAX_QUERIES` queries in all.

    Parameters
    ----------
    plan : Splits
        Groups of rows, and splits in terms of these.
    counting : ndarray of int
        Rows of positive weight.
    seen : callable, optional
        Returns all rows as they are to a model of some, by a mask of these.
    """
    found = []
    for split in plan.splits:
        train, test = (
            counting[np.isin(plan.labels[counting], part)] for part in (split.train, split.test)
        )
        few = sample_rows(len(test), max(MAX_QUERIES // len(plan.splits), 1))
        if len(train) and len(test):
            rows = None if seen is None else seen(np.isin(plan.labels, split.train))
            found.append(HeldOut(train, test, test[few], rows))
    return found


def content_order(X: Any) -> npt.NDArray[np.intp]:
    """Return an order of the rows that their content decides, not how they are stored.

    Columns are standardised and rounded to float32 first, so that neither units nor sums in another
    order change it. Sparse rows stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.selection.rows import content_order
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> bool((X[content_order(X)] == X[::-1][content_order(1000 * X[::-1])]).all())
    True
    """
    if is_sparse(X):
        return np.arange(X.shape[0])
    values = np.asarray(X, np.float64)
    # Of a constant column only rounding would be left.
    values = values[:, np.ptp(values, axis=0) > 0]
    unit = (values - values.mean(axis=0)) / values.std(axis=0)
    return np.argsort(content_hash(unit.astype(np.float32)), kind="stable")


@dataclass(frozen=True)
class Rows:
    """Rows on a common scale, with targets of about unit variance.

    Attributes
    ----------
    step : fitted transformer or None
        What brings columns to a common scale; None: they are.
    rows : ndarray of shape (n, d)
    y : array-like of shape (n,)
        The targets as they were given, for a learned metric.
    targets : ndarray of shape (n, t)
    weights : ndarray of shape (n,) or None
    sphere : ndarray of shape (3,) or None
        The columns that are unit vectors.
    splits : tuple of HeldOut
    pilot : Pilot
        A few thousand of the rows, by which features are compared.
    chosen : ndarray of int
        Which of the rows are the pilot's.
    pilot_y : array-like
        The targets of its rows as they were given.
    split_by_user : bool
        Whether the splits are those of a splitter.
    """

    step: BaseEstimator | None
    rows: Array
    y: Any
    targets: FloatArray
    weights: FloatArray | None
    sphere: npt.NDArray[np.intp] | None
    splits: tuple[HeldOut, ...]
    pilot: Pilot
    chosen: npt.NDArray[np.intp]
    pilot_y: Any
    split_by_user: bool = False

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        targets: FloatArray,
        weights: FloatArray | None,
        counting: npt.NDArray[np.intp],
        splits: list[HeldOut] | None = None,
        scaled: bool = False,
        n_rows: int | None = None,
        step: Any = None,
    ) -> "Rows":
        """Draw the pilot, scale the columns and hold rows out.

        Parameters
        ----------
        X, y, targets, weights
            The rows, or a sample of them.
        counting : ndarray of int
            The rows of positive weight, in the order in which samples are drawn.
        splits : list of HeldOut, optional
            Those of a splitter; by default random rows are held out.
        scaled : bool
            Whether the columns are on a common scale already.
        n_rows : int, optional
            The number of all rows, where these are a sample.
        step : transformer, optional
            What brings columns to a common scale, not fitted; by default that of `prepare`.
        """
        pilot, held_out = counting[sample_rows(len(counting))], None
        seen = X
        if splits:
            pilot, held_out = splits[0].of_pilot(pilot)
            seen = X if splits[0].rows is None else splits[0].rows
        own = np.ones(len(pilot)) if weights is None else weights[pilot]
        few = _safe_indexing(seen, pilot)
        if step is None:
            step, rows, sphere = prepare(few, own, scaled)
        else:
            rows, sphere = step.fit(few, sample_weight=own).transform(few), None
        spread = targets[pilot].std(axis=0)
        unit = targets / np.where(spread > 0, spread, 1.0)
        sample = Pilot(rows, unit[pilot], own, n_rows or len(targets), held_out)
        given = bool(splits)
        if not splits:
            queries = pilot[sample.folds == 2][:MAX_QUERIES]
            train = np.setdiff1d(np.arange(len(targets)), queries)
            splits = [HeldOut(train, queries, queries)]
        everything = X if step is None else step.transform(X)
        found = _safe_indexing(y, pilot)
        held = tuple(splits)
        return cls(step, everything, y, unit, weights, sphere, held, sample, pilot, found, given)

    @property
    def dim(self) -> int:
        """The number of columns."""
        return int(self.rows.shape[1])
