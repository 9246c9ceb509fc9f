"""The one way to fit: survey the rows, learn from a sample, sum over all of them, solve.

A learner defines three methods and gets arrays, frames, streams, Dask, checkpoints and
`partial_fit` in return:

- ``_learn(survey)`` learns from the sample everything that must be fixed before rows are summed;
- ``_sums(block)`` returns sums over the rows of a block, which ``_merge(left, right)`` adds up;
- ``_solve(sums)`` returns the solution. `fit` calls it at its end; after `partial_fit`, the first
  use of ``_solution`` does.

Rows are checked first. A learner that sums other rows than those it is given (encoded ones, for
example) also defines ``_read(block)``, which learns the change, and ``_prepared(block)``, which
applies it.

The name of every learnt attribute ends in an underscore.
"""

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import (
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from .._suggestions import check_keywords
from .._typing import FloatArray
from .._validation import as_frame, check_weight, valid_rows
from ..persistence.checkpoint import Run
from ..rows import Block, Source, source_of
from ..rows.array import ArraySource
from ..rows.copies import merge_copies
from ..rows.kinds import is_dask, is_frame, is_many
from ..rows.progress import phase
from ..rows.survey import Sample, Survey
from ..rows.threads import single_threaded_blas

__all__ = ["Learner"]


class Learner(BaseEstimator):
    """Base class of learners; see the module for what a subclass defines."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Answer an unknown keyword with the one that was probably meant."""
        super().__init_subclass__(**options)
        check_keywords(cls)

    #: Whether progress bars are shown; a parameter of most learners.
    verbose = False
    #: Rows of a block, where a source lets us cut blocks of any size.
    _block_rows: Any = 1 << 16
    # The result of `_solve`; None until it is needed, and again after more rows were added.
    _solution_: Any = None

    def _read(self, block: Block, survey: Survey, source: Source | None) -> dict[str, Any]:
        """Learn from a sample how checked rows become those that are summed.

        Returns
        -------
        dict
            Further arguments of `_learn`: what it needs to know of the rows before they change.
        """
        return {}

    def _prepared(self, block: Block, numbers: Any = None) -> Block:
        """Return checked rows as they are summed. Rows of a sample come with their numbers."""
        return block

    def _learn(self, survey: Survey, **options: Any) -> Any:
        """Learn from ``survey.sample`` what must be fixed before rows are summed."""

    def _sums(self, block: Block) -> Any:
        """Return sums over the checked rows of a block."""
        raise NotImplementedError(f"{type(self).__name__} must define _sums(block).")

    def _merge(self, left: Any, right: Any) -> Any:
        """Return the sums over the rows of both."""
        return left + right

    def _solve(self, sums: Any) -> Any:
        """Return what follows from the sums over all rows."""
        return sums

    def _title(self, what: str) -> str:
        """Return the title of a progress bar, empty unless `verbose`."""
        return f"{type(self).__name__}: {what}" if self.verbose else ""

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter cannot be used."""

    def _check_y(self, y: Any) -> Any:
        """Return valid targets, or None where they are ignored."""
        return None

    def _fit(
        self,
        X: Any,
        y: Any = None,
        weight: Any = None,
        checkpoint: Any = None,
        **options: Any,
    ) -> Self:
        """Fit to rows of any kind; a fit that fails leaves nothing behind.

        `_open` and `_learn` receive the options.
        """
        if checkpoint is not None and is_dask(X):
            raise ValueError(
                f"checkpoint={checkpoint!r} is for streams; Dask itself repeats what a lost worker "
                "had done. Leave checkpoint out."
            )
        self._reset()
        try:
            self._check_parameters()
            source = self._open(X, y, weight, checkpoint is not None, **options)
            run = None if checkpoint is None else Run(checkpoint, self)
            learnt: Any = None
            if run is None or not run.started:
                with single_threaded_blas:
                    source, learnt = self._begin(source, **options)
            self._reduce(source, run, learnt)
        except BaseException:
            self._reset()
            raise
        if run is not None:
            run.finish()
        return self

    def _open(self, X: Any, y: Any, weight: Any, resumable: bool = False, **options: Any) -> Source:
        """Return the source of the rows; a resumable one walks over blocks, not over an array."""
        if not resumable and not is_many(X):
            return self._held(Block(X, y, weight), **options)
        return source_of(X, y, weight)

    def _held(self, block: Block, **options: Any) -> ArraySource:
        """Return all rows, in memory, as a source of checked rows."""
        checked = self._checked(block, first=True)
        if checked.y is not None and self._merges_copies(**options):
            checked = replace(checked, weight=merge_copies(*checked.parts))
        return ArraySource(checked)

    def _begin(self, source: Source, **options: Any) -> tuple[Source, Any]:
        """Survey the rows and learn from the sample; return the rows to sum and what is learnt."""
        survey = source.survey(labels=is_classifier(self))
        sample = survey.sample
        block = Block(*sample[1:])
        if not survey.whole:
            if sample.weight is not None and not len(sample.numbers):
                raise ValueError("All sample weights are zero: at least one row must count.")
            block = self._checked(block, first=True)
        known = self._read(block, survey, None if survey.whole else source)
        prepared = self._prepared(block, sample.numbers)
        survey = survey._replace(sample=Sample(sample.numbers, *prepared.parts))
        self.n_rows_ = survey.n_rows
        learnt = self._learn(survey, **options, **known)
        return ArraySource(prepared) if survey.whole else source, learnt

    def _reduce(self, source: Source, resume: Run | None, learnt: Any) -> None:
        """Sum over all rows and solve; `learnt` is what `_learn` returned."""
        phase("summing over the rows", self.verbose)
        light = self._snapshot()
        light.verbose = bool(self.verbose) and isinstance(source, ArraySource)
        sums = self._walk(source, light._sums, light._merge, light, resume)
        self._sums_ = sums
        self.n_rows_ = self._n_summed(sums)
        phase("solving", self.verbose)
        self._solution_ = self._solve(sums)

    def _walk(
        self,
        source: Source,
        function: Callable[[Block], Any],
        merge: Callable[[Any, Any], Any],
        light: "Learner | None" = None,
        resume: Run | None = None,
        block_rows: int | None = None,
    ) -> Any:
        """Merge what a function makes of the blocks of rows.

        Rows of an array are checked and prepared already. Other rows are checked where they are,
        by `light`, a copy of this learner without sums.
        """
        if not isinstance(source, ArraySource):
            function = partial(_on_checked, light or self._snapshot(), function)
        merge_some, title = partial(_merged, merge), self._title("blocks of rows")
        return source.reduce(function, merge_some, block_rows or self._block_rows, resume, title)

    def _n_summed(self, sums: Any) -> int:
        """Return the number of rows in the sums, the only place that knows it of an iterator."""
        return self.n_rows_

    def _partial_fit(self, X: Any, y: Any = None, weight: Any = None, classes: Any = None) -> Self:
        """Add a chunk of rows; the first chunk is the sample."""
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        if first:
            self._reset()
        start = 0 if first else self.n_rows_
        block = self._checked(Block(X, y, weight, start), first=first)
        if first:
            survey = ArraySource(block).survey()._replace(whole=False, classes=classes)
            known = self._read(block, survey, None)
            block = self._prepared(block)
            sample = Sample(survey.sample.numbers, *block.parts)
            self._learn(survey._replace(sample=sample), **known)
        else:
            block = self._prepared(block)
        sums = self._sums(block)
        # Only now, so that an error in the middle leaves the model as it was.
        self._sums_ = sums if first else self._merge(self._sums_, sums)
        self.n_rows_ = start + len(block)
        self._solution_ = None
        return self

    @property
    def _solution(self) -> Any:
        """The solution: a slot that is filled here if rows were added since the last one."""
        check_is_fitted(self)
        if self._solution_ is None:
            self._solution_ = self._solve(self._sums_)
        return self._solution_

    def _checked(self, block: Block, *, first: bool) -> Block:
        """Validate rows, targets and weights; the first rows decide what columns there are."""
        X = self._valid_rows(block.X, reset=first)
        y = self._check_y(block.y)
        if y is not None:
            check_consistent_length(X, y)
        weight = self._check_weight(X, block.weight, allow_zero=not first)
        return Block(X, y, weight, block.start)

    def _merges_copies(self, **options: Any) -> bool:
        """Tell whether two equal rows count as one row of twice the weight."""
        return False

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Validate rows that are to be predicted."""
        return self._valid_rows(X, reset=reset)

    def _valid_rows(self, X: Any, *, reset: bool) -> Any:
        """Validate rows. Frames stay frames, for features that pick columns by name."""
        X = as_frame(X)
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if _num_samples(X) == 0:
                raise ValueError("X has 0 rows; at least one is needed.")
            return X
        return valid_rows(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _check_weight(self, X: Any, sample_weight: Any, *, allow_zero: bool) -> FloatArray | None:
        """Validate weights. Those of a later chunk may all be zero, those of the first not."""
        if sample_weight is None:
            return None
        if not has_fit_parameter(self, "sample_weight"):
            raise ValueError(f"{type(self).__name__} takes no sample weights, but got some.")
        return check_weight(sample_weight, _num_samples(X), allow_zero=allow_zero)

    def _reset(self) -> None:
        """Forget everything that was learnt."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _snapshot(self) -> Self:
        """Return a copy without sums, small enough to be sent to the workers that hold the rows."""
        light = copy.copy(self)
        light._sums_ = None
        return light

    def without_sums(self) -> Self:
        """Return a copy that predicts the same, but cannot be continued by `partial_fit`.

        The sums are most of a fitted learner, and only further rows need them.
        """
        self._solution  # noqa: B018  # found now
        return self._snapshot()

    def restore(self, other: "Learner") -> None:
        """Take over what another learner of the same class and parameters has learnt."""
        for name, value in vars(other).items():
            if name.endswith("_"):
                setattr(self, name, value)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` or `partial_fit` has come to its end."""
        return hasattr(self, "_sums_")


def _on_checked(learner: Learner, function: Callable[[Block], Any], block: Block) -> Any:
    """Check rows as a learner does and call a function on them; None for no rows."""
    if not len(block):
        return None
    return function(learner._prepared(learner._checked(block, first=False)))


def _merged(merge: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Merge two results; None is that of no rows."""
    if left is None or right is None:
        return right if left is None else left
    return merge(left, right)
