"""The way from rows to the exact solution: all rows or fewer centres, and α by held-out rows."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Array, FloatArray
from .._validation import check_count, is_sparse, valid_rows
from ..features.landmarks import distinct_rows
from ..kernels import Kernel, as_kernel
from ..moments.folds import make_splits
from ..moments.held_out import best_alpha, summary
from ..rows import Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.dask import DaskSource
from ..rows.survey import Survey
from ..solvers.conjugate_gradients import State
from ..solvers.on_dask import precisions_on_cluster
from ..solvers.products import KernelProduct
from ..solvers.ridge import CenterSums, Found, Settings, solve_centers, solve_rows
from ..solvers.systems import precisions
from .base import Learner
from .checkpoint import Run
from .exact_alphas import given_alphas, grid_of_alphas, is_word
from .exact_checkpoint import ExactRun
from .exact_preconditioner import preconditioner_features

__all__ = ["ExactLearner"]

# Alphas are compared by errors, which need no more accuracy than this.
CV_TOL = 1e-2


class ExactLearner(Learner):
    """Base class: sets the systems up and solves them; `_take` keeps what was found."""

    kernel: Any
    alpha: Any
    preconditioner: Any
    tol: float
    centers: Any
    alphas: Any
    cv: Any
    fit_intercept: bool
    max_iter: int
    random_state: Any
    _run: ExactRun
    _before: State | None

    @abstractmethod
    def _take(self, found: Found) -> None:
        """Keep a solution."""

    def _learn(self, survey: Survey, **options: Any) -> None:
        sample = survey.sample
        self._single_ = sample.y.ndim == 1
        self._y_dtype_ = sample.y.dtype.name
        self._seed_ = int(check_random_state(self.random_state).randint(1 << 31))
        rows = sample_rows(sample.X.shape[0])
        weight = None if sample.weight is None else sample.weight[rows]
        self.kernel_: Kernel = as_kernel(self.kernel).resolve(sample.X[rows], weight)
        self.kernel_.check()
        self.cv_results_: dict[str, Array] = {}
        if self.centers is not None:
            self.X_fit_ = self._find_centers(sample.X, sample.weight)

    def _find_centers(self, X: Any, weight: FloatArray | None) -> Any:
        if not isinstance(self.centers, Integral):
            centers = valid_rows(self, self.centers, reset=False, dtype=[np.float64, np.float32])
            return np.asarray(centers)
        check_count("centers", self.centers, type(self).__name__)
        distinct, _ = distinct_rows(X, np.ones(X.shape[0]) if weight is None else weight)
        rng = np.random.default_rng(self._seed_)
        size = min(int(self.centers), len(distinct))
        return X[np.sort(rng.choice(distinct, size, replace=False))]

    def _reduce(self, source: Source, resume: Run | None, learnt: Any) -> None:
        if self.centers is None or is_word(self.alpha, "cv"):
            held = source.hold(np.iinfo(np.int64).max)
            if held is None:
                raise ValueError("X has 0 rows; at least one is needed.")
            block = held if isinstance(source, ArraySource) else self._checked(held, first=False)
            Y = np.asarray(block.y, np.float64).reshape(len(block), -1)
            # In the order of a file, so that a model that was loaded rounds as this one does.
            X = block.X if is_sparse(block.X) else np.ascontiguousarray(block.X)
            block = Block(X, Y, block.weight)
            alphas = self._find_alphas(block)
        if self.centers is None:
            found = self._on_rows(
                block, alphas, self._settings(block), isinstance(source, DaskSource)
            )
            self.X_fit_ = block.X
        else:
            found = self._on_centers(source, alphas if is_word(self.alpha, "cv") else None)
        self._take(found)
        self._run.finish()

    def _find_alphas(self, block: Block) -> FloatArray:
        """Return the α of every target; by cross-validation if asked for."""
        n_targets = block.y.shape[1]
        if not is_word(self.alpha, "cv"):
            return self._given_alphas(n_targets)
        alphas = grid_of_alphas(self.alphas, self.kernel_, block.X, block.weight)
        plan = make_splits(self.cv, block.X, block.y, len(block), False)
        errors = []
        for split in plan.splits:
            train, test = (np.flatnonzero(np.isin(plan.labels, part)) for part in split)
            errors.append(self._path_errors(block.rows(train), block.rows(test), alphas))
        self.cv_results_ = summary(alphas, np.array(errors))
        variance = float(block.y.var(axis=0).mean())
        best = best_alpha(alphas, self.cv_results_["mean_test_mse"], variance)
        self.alpha_: Any = best
        return np.full(n_targets, best)

    def _given_alphas(self, n_targets: int) -> FloatArray:
        found = given_alphas(self.alpha, n_targets, type(self).__name__)
        self.alpha_ = float(found[0]) if np.ndim(self.alpha) == 0 else found
        return found

    def _path_errors(self, train: Block, test: Block, alphas: FloatArray) -> FloatArray:
        """Return the mean squared error of every α on test rows, all solved together."""
        n_targets = train.y.shape[1]
        settings = Settings(max(self.tol, CV_TOL), self.max_iter, self.fit_intercept, self._seed_)
        each = Block(train.X, np.repeat(train.y, len(alphas), axis=1), train.weight)
        ridges = np.tile(alphas, n_targets)
        if self.centers is None:
            found, points = self._on_rows(each, ridges, settings, False), train.X
        else:
            source, points = ArraySource(each), self.X_fit_
            found = self._solve_centers(source, ridges, lambda _: settings)
        product = KernelProduct(self.kernel_, test.X, points, np.float32)
        errors = product @ found.coef + found.intercept
        errors -= np.repeat(test.y, len(alphas), axis=1)
        squares = np.average(errors**2, axis=0, weights=test.weight)
        return np.asarray(squares.reshape(n_targets, len(alphas)).mean(axis=0))

    def _on_rows(
        self, block: Block, alphas: FloatArray, settings: Settings, on_cluster: bool
    ) -> Found:
        make = precisions_on_cluster if on_cluster else precisions
        features = None
        if self.preconditioner is not None:
            features = partial(
                preconditioner_features, self.preconditioner, self.kernel_, block, self._seed_
            )
        product: Callable[[bool], Any] = make(self.kernel_, block.X)
        return solve_rows(product, block.y, alphas, block.weight, features, settings)

    def _settings(self, data: Any) -> Settings:
        return Settings(
            self.tol,
            self.max_iter,
            self.fit_intercept,
            self._seed_,
            self._run.begin(data, self._before),
            self._run.watch if self._run.path or self.verbose else None,
        )

    def _on_centers(self, source: Source, alphas: FloatArray | None) -> Found:
        if source.once:
            raise ValueError(
                "An iterator can be read only once, but every iteration needs all rows: pass an "
                "array, zonal.stream(path) or a Dask collection."
            )
        return self._solve_centers(source, alphas, self._settings)

    def _solve_centers(
        self, source: Source, alphas: FloatArray | None, settings: Callable[[Any], Settings]
    ) -> Found:
        sums: CenterSums = self._walk(source, "_cross", _add)
        if alphas is None:
            alphas = self._given_alphas(len(sums.totals) - 1)

        def gram(vectors: FloatArray, precise: bool) -> FloatArray:
            return np.asarray(self._walk(source, "_gram", _add, vectors, precise))

        return solve_centers(
            gram,
            sums,
            self.kernel_,
            self.X_fit_,
            alphas,
            self.preconditioner is not None,
            settings((sums.cross, sums.totals)),
        )

    def _cross(self, block: Block) -> CenterSums:
        """Return what some rows give to the right-hand side."""
        Y = np.asarray(block.y, np.float64).reshape(len(block), -1)
        targets = np.column_stack([Y, np.ones(len(block))])
        if block.weight is not None:
            targets *= block.weight[:, None]
        product = KernelProduct(self.kernel_, block.X, self.X_fit_, np.float64)
        return CenterSums(product.transposed(targets), targets.sum(axis=0))

    def _gram(self, block: Block, vectors: FloatArray, precise: bool) -> FloatArray:
        """Return K_bMᵀ W K_bM V of some rows."""
        dtype = np.float64 if precise else np.float32
        return KernelProduct(self.kernel_, block.X, self.X_fit_, dtype).gram(vectors, block.weight)


def _add(left: Any, right: Any) -> Any:
    return left + right
