"""Fitting learners to rows in blocks: features from a sample, moments from all of them."""

import copy
from dataclasses import dataclass
from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from .._typing import FloatArray
from ..learners.base import BLOCK_BYTES
from ..learners.checkpoint import Run
from ..moments.moments import Moments
from ..rows.block import Block
from ..rows.dispatch import source_of
from ..rows.kinds import is_dask

__all__ = ["BlockMoments", "fit_moments"]

# A block is walked over in this many steps, so that all threads have work.
STEPS = 8


@dataclass(frozen=True)
class BlockMoments:
    """The moments of a block of rows: `partial_fit` on a learner that has seen no rows.

    Attributes
    ----------
    learner : Learner
        With fitted features and without moments.
    shift : ndarray of shape (n_features + n_targets,)
    n_targets, n_groups : int
        Of the moments: targets, and groups of rows (folds).
    """

    learner: Any
    shift: FloatArray
    n_targets: int
    n_groups: int

    @classmethod
    def of(cls, learner: Any) -> "BlockMoments":
        """Those of a learner that has learnt its features; its moments are dropped."""
        first = learner.moments_[0]
        task = cls(learner, first.shift, first.n_targets, len(learner.moments_))
        learner.moments_ = []
        return task

    @property
    def block_rows(self) -> int:
        """Rows of a block that keeps all threads busy."""
        width = len(self.shift)
        return STEPS * max(width, BLOCK_BYTES // (8 * width))

    def empty(self) -> list[Moments]:
        """Moments of no rows."""
        return [Moments(self.shift, self.n_targets) for _ in range(self.n_groups)]

    def __call__(self, block: Block) -> list[Moments]:
        """Moments of the rows of a block, for each fold."""
        worker = copy.copy(self.learner)
        worker.moments_ = self.empty()
        if not len(block):
            return worker.moments_
        worker.n_rows_ = block.start  # decides the folds
        weight = {} if block.weight is None else {"sample_weight": block.weight}
        worker.partial_fit(block.X, block.y, **weight)
        return list(worker.moments_)


def merge_moments(left: list[Moments], right: list[Moments]) -> list[Moments]:
    """The moments of the rows of both, for each fold."""
    return [a + b for a, b in zip(left, right, strict=True)]


def fit_moments(
    learner: Any, X: Any, y: Any = None, weight: Any = None, checkpoint: Any = None
) -> Any:
    """Fit a learner that needs nothing but moments to rows in blocks.

    The features are learnt as from the first chunk of `partial_fit`, which is a sample of all
    rows; its moments are then forgotten, and those of all blocks merged.

    Parameters
    ----------
    learner : Learner
        With `partial_fit` and `moments_`.
    X : Dask collection, stream of blocks or array of shape (n_samples, n_features)
        Rows, where a stream yields targets too.
    y, weight : optional
        Targets and weights.
    checkpoint : path-like or Checkpoint, optional
        Where sums are saved on the way.

    Returns
    -------
    Learner
        The learner itself.
    """
    if checkpoint is not None and is_dask(X):
        raise ValueError(
            f"checkpoint={checkpoint!r} is for streams; Dask itself repeats what a lost worker had "
            "done. Leave checkpoint out."
        )
    learner._reset()
    try:
        source = source_of(X, y, weight)
        run = None if checkpoint is None else Run(checkpoint, learner)
        if run is None or not run.started:
            begin(learner, source)
        task = BlockMoments.of(learner)
        learner.moments_ = source.reduce(task, merge_moments, task.block_rows, run)
        if hasattr(learner, "n_rows_"):
            learner.n_rows_ = sum(moments.n_rows for moments in learner.moments_)
        solve = getattr(learner, "_solved", None) or learner._solve
        solve()
    except BaseException:
        learner._reset()  # a fit that fails leaves nothing behind
        raise
    if run is not None:
        run.finish()
    return learner


def begin(learner: Any, source: Any) -> None:
    """Learn features, classes and the shift of the moments from a sample of the rows."""
    labels = is_classifier(learner)
    found = source.survey(labels)
    sample = found.sample
    if labels and sample.y is None:
        raise ValueError(
            f"{type(learner).__name__} requires y to be passed, but the target y is None."
        )
    arguments = {"classes": found.classes} if labels else {}
    if sample.weight is not None:
        if not has_fit_parameter(learner, "sample_weight"):
            raise ValueError(f"{type(learner).__name__} takes no sample weights, but got some.")
        if not len(sample.numbers):
            raise ValueError("All sample weights are zero: at least one row must count.")
        arguments["sample_weight"] = sample.weight
    # An automatic choice of features depends on how many rows there will be.
    learner._n_rows_ahead = found.n_counting
    try:
        learner.partial_fit(sample.X, sample.y, **arguments)
    finally:
        del learner._n_rows_ahead
