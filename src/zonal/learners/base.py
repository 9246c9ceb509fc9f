"""What every learner shares: its features, rows in blocks, moments of blocks."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from .._typing import Array, FloatArray
from .._validation import check_count
from ..features import KernelFeatures, LearnedMetric, SphereEncoder, Standardizer
from ..features.automatic import automatic_features
from ..moments.moments import Moments
from ..rows import sample_rows
from ..rows.progress import progress
from ..rows.threads import block_slices, ordered_map
from ..selection.table import Records, selection_table
from .chain import features_gradient
from .compact import Compact, compact

__all__ = ["Learner"]

# Features held at a time, in bytes, by each thread.
BLOCK_BYTES = 1 << 24
# Products of features, in bytes, from which there is one at a time, by all threads of BLAS.
WIDE_BYTES = 1 << 28
# Rows whose mean is the shift of the moments.
SHIFT_ROWS = 1024


# What learners learn besides the attributes that end in an underscore.
_PRIVATE_STATE = frozenset(
    [
        "_components",
        "_done",
        "_posterior",
        "_selection",
        "_single",
        "_solution",
        "_stream",
        "_widths",
        "_y_columns",
    ]
)


class Learner(BaseEstimator):
    """Base class of learners: the parameters `features`, `budget`, `random_state`, `verbose`."""

    features: Any
    budget: int
    random_state: Any
    verbose: bool

    def _reset(self) -> None:
        """Forget whatever was learnt, so that a fit that fails leaves nothing behind."""
        for name in list(vars(self)):
            if name in _PRIVATE_STATE or (name.endswith("_") and not name.startswith("_")):
                delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` or `partial_fit` has come to its end."""
        return bool(getattr(self, "_done", False))

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Validate rows. Frames stay frames, for features that pick columns by name."""
        if hasattr(X, "columns") and hasattr(X, "dtypes"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if _num_samples(X) == 0:
                raise ValueError("X has 0 rows; at least one is needed.")
            return X
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )

    def _check_weight(
        self, X: Any, sample_weight: Any, *, allow_zero: bool = False
    ) -> FloatArray | None:
        """Validate weights. A later chunk may weigh nothing; the rows of a fit may not."""
        if sample_weight is None:
            return None
        rows = np.empty((_num_samples(X), 0))
        weight = np.asarray(sample_weight)
        if weight.shape == (len(rows),) and not weight.any():
            if allow_zero:
                return np.zeros(len(rows))
            raise ValueError("All sample weights are zero: at least one row must count.")
        return np.asarray(
            _check_sample_weight(weight, rows, dtype=np.float64, ensure_non_negative=True)
        )

    def _fit_features(
        self, X: Any, y: Any, weight: FloatArray | None, targets: FloatArray | None = None
    ) -> Any:
        """A fitted copy of the features, or those chosen for the targets [n, t]."""
        if isinstance(self.features, str):
            if self.features != "auto":
                raise ValueError(
                    f"features={self.features!r} must be 'auto' or a transformer such as "
                    "zonal.GegenbauerFeatures()."
                )
            check_count("budget", self.budget, type(self).__name__)
            chosen = self._chosen_features(X, y, weight, targets)
            if chosen is not None:
                return chosen
            features = automatic_features(self.budget)
        elif hasattr(self.features, "fit") and hasattr(self.features, "transform"):
            features = clone(self.features)
        else:
            raise TypeError(
                f"features={self.features!r} must be 'auto' or a transformer with fit and "
                "transform, such as zonal.GegenbauerFeatures()."
            )
        _seed(features, self.random_state)
        return features.fit(X, y, **_weight_arguments(features, weight))

    def _chosen_features(
        self, X: Any, y: Any, weight: FloatArray | None, targets: FloatArray | None
    ) -> Any:
        """Features chosen on a pilot sample and fitted to it; None where nothing can be chosen."""
        from ..selection.search import MIN_ROWS, select_features  # which uses learners' machinery

        n_rows = _num_samples(X)
        counting = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
        if targets is None or len(counting) < MIN_ROWS or not np.ptp(targets, axis=0).any():
            return None
        pilot = counting[sample_rows(len(counting))]
        features, self._selection = select_features(
            _safe_indexing(X, pilot),
            targets[pilot].astype(np.float64),
            np.ones(len(pilot)) if weight is None else weight[pilot],
            n_components=self.budget,
            n_rows=getattr(self, "_n_rows_ahead", len(counting)),  # of which these are a sample
            y=_safe_indexing(y, pilot),
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            verbose=self.verbose,
        )
        return features

    @property
    def selection_(self) -> Any:
        """What ``features="auto"`` tried, as a table: a pandas frame where pandas is installed."""
        self._check_fitted()
        if not hasattr(self, "_selection"):
            raise AttributeError(
                "Nothing was chosen: features were given, there are no targets, or too few rows."
            )
        return selection_table(self._selection)

    def _html_repr(self) -> str:
        """scikit-learn's diagram, and below it the table of what was tried."""
        diagram = str(super()._html_repr())
        if not hasattr(self, "_selection"):
            return diagram
        table = Records(self._selection)._repr_html_()  # pandas would leave rows out
        return f"{diagram}<details><summary>What was tried</summary>{table}</details>"

    def _fit_blocks(self, X: Any, y: Any, weight: Any, checkpoint: Any) -> Self:
        """Fit to rows in blocks, on a cluster or one after the other."""
        from ..streaming.fit import fit_moments

        fit_moments(self, X, y, weight, checkpoint)
        return self

    def _transform(self, X: Any, features: Any = None) -> Array:
        """Features of a few rows, dense: [n, D]."""
        features = self.features_ if features is None else features
        # Frames between our own steps would only be turned into arrays again.
        output = {"transform_output": "default"} if _is_ours(features) else {}
        with config_context(**output):
            Z = features.transform(X)
        Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z)
        return Z if Z.dtype in (np.float32, np.float64) else Z.astype(np.float64)

    def _map(
        self,
        X: Any,
        function: Callable[[Array], Array],
        description: str = "",
        form: Compact | None = None,
    ) -> Array:
        """Apply a function to the features of rows (or to a form of them), block by block: [n, …].

        Each thread takes rows all the way from X to the result, in memory that it uses again.
        """
        form = form or Compact(self.features_, self.n_columns_, None)
        out: Array | None = None
        scratch, lock = _Scratch(), threading.Lock()

        def work(rows: slice) -> None:
            nonlocal out
            part = function(self._features(_rows(X, rows), scratch, form))
            with lock:
                if out is None:
                    out = np.empty((_num_samples(X), *part.shape[1:]), part.dtype)
            out[rows] = part

        # Twice the rows that features take at a time: every block has its rows checked again.
        slices = list(block_slices(_num_samples(X), form.n_columns // 2))
        shown = progress(slices, self.verbose and bool(description), description)
        for _ in ordered_map(work, shown, self._n_threads):
            pass
        return np.empty(0) if out is None else out

    def _compact(self, X: Any) -> Compact:
        """The narrowest form of the features that pays for these rows."""
        return compact(self.features_, self.n_columns_, _num_samples(X))

    def _features(self, X: Any, scratch: "_Scratch", form: Compact) -> Array:
        """A form of the features of a few rows, in memory that the next call overwrites: [n, D]."""
        dtype = getattr(X, "dtype", None)
        if isinstance(form.features, KernelFeatures) and dtype in (np.float32, np.float64):
            out = scratch.array((_num_samples(X), form.n_columns), dtype)
            return form.features.transform_into(X, out)
        return self._transform(X, form.features)

    @property
    def _n_threads(self) -> int | None:
        """Threads that take blocks of rows: all (None), or one for transformers of others."""
        return None if _is_ours(self.features_) else 1

    def _gradient(self, X: Any, coef: FloatArray) -> Array:
        """Gradients of t functions Z β, with β [D, t], at rows: [n, t, d]."""
        return features_gradient(self.features_, self._check_rows(X, reset=False), coef)

    def _slices(self, X: Any, n_targets: int = 0, n_rows: int | None = None) -> Iterator[slice]:
        """Slices of the rows of X, or of so many of them."""
        n_rows = _num_samples(X) if n_rows is None else n_rows
        itemsize = 4 if getattr(X, "dtype", None) == np.float32 else 8
        width = self.n_columns_ + n_targets
        # No fewer rows than columns: their products take as much memory and time.
        step = max(width, BLOCK_BYTES // (itemsize * width))
        return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))

    def _start(self, X: Any, Y: Array) -> FloatArray:
        """The shift of the moments; learns the number of columns."""
        shift = self._shift(X, Y)
        self.n_columns_ = len(shift) - Y.shape[1]
        return shift

    def _shift(self, X: Any, Y: Array, form: Compact | None = None) -> FloatArray:
        """The mean of features (or a form of them) and targets of some rows."""
        chosen = sample_rows(_num_samples(X), SHIFT_ROWS)
        Z = self._transform(_safe_indexing(X, chosen), form and form.features)
        return np.concatenate(
            [Z.mean(axis=0, dtype=np.float64), Y[chosen].mean(axis=0, dtype=np.float64)]
        )

    def _accumulate(
        self,
        X: Any,
        Y: Array,
        weight: FloatArray | None,
        labels: npt.NDArray[np.intp] | None,
        moments: list[Moments],
    ) -> None:
        """Add rows to the moments of their groups (`labels`; None: all to the first)."""
        n_rows = _num_samples(X)
        numbers = (
            [np.arange(n_rows)]
            if labels is None
            else [np.flatnonzero(labels == group) for group in range(len(moments))]
        )
        # Blocks are of one group and full: smaller ones would have more products to add.
        jobs = [
            (group, chosen[rows])
            for group, chosen in enumerate(numbers)
            for rows in self._slices(X, Y.shape[1], len(chosen))
        ]
        jobs.sort(key=lambda job: job[1][0])  # groups side by side, so that X is read once
        scratch = _Scratch(), _Scratch()
        form = self._compact(X)
        shift = moments[0].shift if form.mixing is None else self._shift(X, Y, form)
        parts = [Moments(shift, target.n_targets) for target in moments]

        def work(job: tuple[int, npt.NDArray[np.intp]]) -> tuple[int, Array, int, float]:
            group, chosen = job
            part_weight = None if weight is None else weight[chosen]
            rows = _take(X, chosen)
            block = self._augmented(rows, Y[chosen], part_weight, parts[group], scratch, form)
            return group, block.T @ block, len(block), float(np.finfo(block.dtype).eps)

        # Each thread takes rows all the way from X to their products; the sums are taken in order,
        # so that they do not depend on the threads.
        shown = progress(jobs, self.verbose, f"{type(self).__name__}: rows")
        n_threads = self._n_threads
        if parts[0].gram.nbytes > WIDE_BYTES:  # a few products at a time would fill the memory
            n_threads = 1
        for group, *products in ordered_map(work, shown, n_threads):
            parts[group].add(*products)
        # Only now, so that an error in the middle leaves the moments as they were.
        for target, part in zip(moments, parts, strict=True):
            wide = part if form.mixing is None else part.mixed(form.mixing).shifted(target.shift)
            target.add(wide.gram, wide.n_rows, wide.precision)

    def _augmented(
        self,
        X: Any,
        Y: Array,
        weight: FloatArray | None,
        moments: Moments,
        scratch: "tuple[_Scratch, _Scratch]",
        form: Compact,
    ) -> Array:
        """Rows (z - a, y - b, 1) √w, in one matrix."""
        width = moments.n_features
        # Not written to their place at once: compiled code is several times faster where rows
        # follow each other in memory, and the shift has to be subtracted anyway.
        Z = self._features(X, scratch[0], form)
        if Z.shape[1] != width:
            raise ValueError(
                f"The features of this chunk have {Z.shape[1]} columns, but those of the first had "
                f"{width}: all chunks must have the same columns."
            )
        Y = Y - moments.shift[width:]
        dtype = Z.dtype if _is_moderate(Y) and _is_moderate(weight) else np.dtype(np.float64)
        block = scratch[1].array((len(Z), len(moments.shift) + 1), dtype)
        np.subtract(Z, moments.shift[:width].astype(dtype), out=block[:, :width])
        block[:, width:-1] = Y
        block[:, -1] = 1
        if weight is not None:
            block *= np.sqrt(weight)[:, None].astype(block.dtype)
        return block

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        parts = self.features if isinstance(self.features, tuple | list) else [self.features]
        tags.input_tags.sparse = all(
            isinstance(part, str)
            or (hasattr(part, "__sklearn_tags__") and get_tags(part).input_tags.sparse)
            for part in parts
        )
        return tags

    def _check_fitted(self) -> None:
        check_is_fitted(self)


class _Scratch(threading.local):
    """A thread's memory for one array, used again for the next: fresh pages cost much."""

    def __init__(self) -> None:
        self._memory: Array = np.empty(0)

    def array(self, shape: tuple[int, int], dtype: Any) -> Array:
        """An array of that shape, with whatever is in it."""
        size = shape[0] * shape[1]
        if self._memory.dtype != dtype or self._memory.size < size:
            self._memory = np.empty(size, dtype)
        return self._memory[:size].reshape(shape)


def _rows(X: Any, rows: slice) -> Any:
    """A slice of rows of an array, a sparse matrix or a frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _is_moderate(values: Array | None) -> bool:
    """Whether sums of squares of these numbers are well within the range of float32."""
    if values is None:
        return True
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    return bool(largest == 0 or 1e-12 < largest < 1e12)


def _take(X: Any, numbers: npt.NDArray[np.intp]) -> Any:
    """Rows by ascending numbers: a slice, which copies nothing, where none is left out."""
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first + 1 == len(numbers):
        return _rows(X, slice(first, last + 1))
    return _safe_indexing(X, numbers)


def _is_ours(features: Any) -> bool:
    """Whether features may be evaluated in several threads at once."""
    steps = [step for _, step in features.steps] if isinstance(features, Pipeline) else [features]
    ours = KernelFeatures | Standardizer | SphereEncoder | LearnedMetric
    return all(isinstance(step, ours) for step in steps)


def _seed(features: Any, random_state: Any) -> None:
    """Seed what the features leave to chance from the learner's own seed, if it has one."""
    parameters = features.get_params(deep=True) if hasattr(features, "get_params") else {}
    unset = sorted(
        name
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    if random_state is not None and unset:
        rng = check_random_state(random_state)
        seeds = {name: int(rng.randint(np.iinfo(np.int32).max)) for name in unset}
        features.set_params(**seeds)


def _weight_arguments(features: Any, weight: FloatArray | None) -> dict[str, FloatArray]:
    """Arguments that take the sample weights to whatever learns from the rows."""
    if weight is None:
        return {}
    if isinstance(features, Pipeline):
        return {
            f"{name}__sample_weight": weight
            for name, step in features.steps
            if has_fit_parameter(step, "sample_weight")
        }
    return {"sample_weight": weight} if has_fit_parameter(features, "sample_weight") else {}
