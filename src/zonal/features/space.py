"""Fitted features as learners use them: rows go through them block by block, on all cores."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from .._typing import Array, FloatArray
from ..rows import sample_rows
from ..rows.block import take
from ..rows.buffers import Scratch
from ..rows.progress import progress
from ..rows.threads import block_slices, ordered_map
from .chain_rule import features_gradient

__all__ = ["FeatureSpace"]

# Features held at a time, in bytes, by each thread.
BLOCK_BYTES = 1 << 24
# Rows a column from which a narrower form pays: it has to be made, and moments to be widened.
ROWS_A_COLUMN = 16
# A block of a stream is walked over in this many steps, so that all threads have work.
STEPS = 8
# Rows whose mean features are the shift of moments.
SHIFT_ROWS = 1024


@dataclass(frozen=True)
class FeatureSpace:
    """The space that fitted features map rows to.

    Attributes
    ----------
    features : transformer
        A feature map of this library, alone or last in a pipeline, or any transformer.
    n_columns : int
        The number of its columns.
    mixing : ndarray of shape (n_columns, n_columns of the wider map), or None
        G, where these features are a narrower form H of others, Z = H G; None for Z itself.
    """

    features: Any
    n_columns: int
    mixing: FloatArray | None = None

    @property
    def steps(self) -> list[Any]:
        """The steps of a pipeline that do something, or the features alone."""
        return list(_flat(self.features))

    @property
    def before(self) -> Any:
        """What comes before the last step, as one transformer; None for nothing."""
        *before, _ = self.steps
        return _chained(before) if before else None

    @property
    def learnt(self) -> bool:
        """Whether some step is learnt from targets, and not from rows alone."""
        return any(get_tags(step).target_tags.required for step in self.steps)

    @property
    def thread_safe(self) -> bool:
        """Whether several threads may map rows at once: every step says so of itself."""
        return all(getattr(step, "thread_safe", False) for step in self.steps)

    @property
    def n_threads(self) -> int | None:
        """Threads that take blocks of rows: all (None), or one for transformers of others."""
        return None if self.thread_safe else 1

    @property
    def block_rows(self) -> int:
        """Rows of a stream's block that keeps all threads busy."""
        width = max(self.n_columns, 1)
        return STEPS * max(width, BLOCK_BYTES // (8 * width))

    def narrow(self, n_rows: int) -> "FeatureSpace":
        """Return the narrowest known form of the features, if there are enough rows to pay."""
        last = self.steps[-1]
        if n_rows < ROWS_A_COLUMN * self.n_columns or not hasattr(last, "narrow_form"):
            return self
        form = last.narrow_form()
        if form is None:
            return self
        return FeatureSpace(_chained([*self.steps[:-1], form]), len(form.mixing), form.mixing)

    def coefficients(self, coef: FloatArray) -> FloatArray:
        """Return the coefficients on these features of a function Z β of the wider ones: G β."""
        return coef if self.mixing is None else self.mixing @ coef

    def transform(self, X: Any) -> Array:
        """Return the features of a few rows, dense: [n, n_columns]."""
        # Frames between our own steps would only be turned into arrays again.
        output = {"transform_output": "default"} if self.thread_safe else {}
        with config_context(**output):
            Z = self.features.transform(X)
        Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z)
        return Z if Z.dtype in (np.float32, np.float64) else Z.astype(np.float64)

    def fill(self, X: Any, scratch: Scratch) -> Array:
        """Return the features of a few rows, in memory that the next call may overwrite."""
        dtype = getattr(X, "dtype", None)
        if hasattr(self.features, "transform_into") and dtype in (np.float32, np.float64):
            out = scratch.array((_num_samples(X), self.n_columns), dtype)
            return np.asarray(self.features.transform_into(X, out))
        return self.transform(X)

    def map(self, X: Any, function: Callable[[Array], Array], description: str = "") -> Array:
        """Apply a function to the features of rows, block by block: [n, …].

        Each thread takes rows all the way from X to the result, in memory that it uses again.
        A description is shown beside a progress bar.
        """
        out: Array | None = None
        scratch, lock = Scratch(), threading.Lock()

        def work(rows: slice) -> None:
            nonlocal out
            part = function(self.fill(take(X, rows), scratch))
            with lock:
                if out is None:
                    out = np.empty((_num_samples(X), *part.shape[1:]), part.dtype)
            out[rows] = part

        # Twice the rows that features take at a time: every block has its rows checked again.
        slices = list(block_slices(_num_samples(X), self.n_columns // 2))
        shown = progress(slices, bool(description), description)
        for _ in ordered_map(work, shown, self.n_threads):
            pass
        return np.empty(0) if out is None else out

    def slices(self, X: Any, n_targets: int = 0, n_rows: int | None = None) -> Iterator[slice]:
        """Cut the rows of X (or so many of them) into slices whose features fit into memory."""
        n_rows = _num_samples(X) if n_rows is None else n_rows
        itemsize = 4 if getattr(X, "dtype", None) == np.float32 else 8
        width = self.n_columns + n_targets
        # No fewer rows than columns: their products take as much memory and time.
        step = max(width, BLOCK_BYTES // (itemsize * width))
        return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))

    def mean(self, X: Any) -> FloatArray:
        """Return the mean features of some rows, about which sums are taken: [n_columns]."""
        rows = _safe_indexing(X, sample_rows(_num_samples(X), SHIFT_ROWS))
        return np.asarray(self.transform(rows).mean(axis=0, dtype=np.float64))

    def gradient(self, X: Any, coef: FloatArray) -> Array:
        """Return the gradients of t functions Z β, with β [n_columns, t], at rows: [n, t, d]."""
        return features_gradient(self.steps, X, coef)

    def residual_variance(self, X: Any, squares: Array) -> Array:
        """Return the prior variance that the features leave out, max(0, k(x,x) - ‖z‖²): [n].

        Zero for transformers that know no kernel.

        Parameters
        ----------
        X : rows
        squares : ndarray of shape (n,)
            ‖z(x)‖².
        """
        *before, last = self.steps
        if not hasattr(last, "residual_variance"):
            return np.zeros_like(squares)
        rows = _chained(before).transform(X) if before else X
        return np.asarray(last.residual_variance(rows, squares))


def _flat(features: Any) -> Iterator[Any]:
    """Yield the steps of pipelines, and of pipelines in them."""
    if not isinstance(features, Pipeline):
        yield features
        return
    for _, step in features.steps:
        if step is not None and not isinstance(step, str):  # "passthrough"
            yield from _flat(step)


def _chained(steps: list[Any]) -> Any:
    """Return fitted steps as one transformer."""
    if len(steps) == 1:
        return steps[0]
    return Pipeline([(f"step{number}", step) for number, step in enumerate(steps)])
