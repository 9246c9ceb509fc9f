"""Kernel ridge regression with the kernel itself, on all rows: no features, no n × n matrix."""

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, FloatArray
from .._validation import (
    canonical,
    check_count,
    check_positive,
    is_sparse,
    prediction_dtype,
    valid_rows,
)
from ..kernels import Kernel, as_kernel
from ..moments.folds import make_splits
from ..moments.held_out import best_alpha
from ..persistence.checkpoint import Run
from ..rows import Block, Source, blockwise, sample_rows
from ..rows.array import ArraySource
from ..rows.dask import DaskSource
from ..rows.survey import Survey
from ..solvers.alphas import given_alphas, grid_of_alphas, is_word
from ..solvers.checkpoint import ExactRun
from ..solvers.conjugate_gradients import State
from ..solvers.exact import ExactProblem, draw_centers
from ..solvers.products import KernelProduct
from ..solvers.ridge import Found, Settings
from .base import Learner
from .targets import check_numbers

__all__ = ["ExactKernelRidge"]


class ExactKernelRidge(RegressorMixin, Learner):
    r"""Kernel ridge regression on *all* rows, by preconditioned conjugate gradients.

    .. math::

        f(x) = b + \sum_i a_i\, k(x, x_i), \qquad (K + \alpha W^{-1})\, a + b = y,

    the solution of scikit-learn's ``KernelRidge``, without its n × n matrix: tiles of K are made,
    used and forgotten, on all cores. Features Z of the same kernel precondition the iterations. If
    they are an (ε, α)-spectral approximation, the condition number is at most (1+ε)/(1-ε);
    ``report_`` shows how many iterations that promises beside how many there were.
    Iterations multiply in single precision, with recurrences in double precision; the
    residual that decides is found in double precision.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        A kernel of this library, or its name. Gaussian, Laplacian, Matérn (ν = 1/2, 3/2, 5/2) and
        rational quadratic kernels of dense rows are compiled; all others take longer.
    alpha : float, array-like of shape (n_targets,) or "cv", default=1.0
        The regularisation α > 0, or one for each target. ``"cv"``: the one with the smallest mean
        squared error in cross-validation; all are solved together.
    preconditioner : "auto", feature map or None, default="auto"
        ``"auto"``: Nyström features with 7 √n landmarks, at least 500, by randomly pivoted
        Cholesky among 10,000 rows. Any feature map of this
        library that approximates the kernel will do. None: no preconditioner. With `centers`:
        ``"auto"`` (Falkon's) or None.
    tol : float, default=1e-4
        Where the iterations stop: ‖y - (K + α W⁻¹) a - b‖ ≤ tol ‖y‖ for every target. Predictions
        at the rows are off by no more than that, relative to y.
    centers : int, array-like of shape (n_centers, n_features) or None, default=None
        None: every row has a coefficient. A number M: as many rows, drawn at random, have one
        (Falkon's system, n × M); the rows may then be a stream or live on a cluster, and are never
        gathered. An array: these points have one.
    alphas : array-like, optional
        What ``alpha="cv"`` tries, by default 13 values from 1e-5 to 10 times the mean k(x, x).
    cv : int, splitter or iterable of (train, test), default=2
        How ``alpha="cv"`` holds out rows, as in `KernelRidge`.
    fit_intercept : bool, default=False
        Whether b is fitted, or zero as in scikit-learn's ``KernelRidge``.
    max_iter : int, default=1000
        The largest number of iterations. If they do not suffice, a warning says so.
    warm_start : bool, default=False
        Whether `fit` goes on where the last fit ended, on the same rows and with the same α.
    random_state : int, RandomState instance or None, default=None
        The seed of landmarks and centres.
    verbose : bool, default=False
        Print the residual of every tenth iteration.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        a, of the rows or of the centres.
    X_fit_ : ndarray or CSR matrix of shape (n, n_features)
        The rows or centres that the coefficients belong to.
    intercept_ : float or ndarray of shape (n_targets,)
        b.
    alpha_ : float or ndarray of shape (n_targets,)
        The α used.
    kernel_ : Kernel
        With all parameters resolved to numbers.
    n_iter_ : int
        Iterations.
    report_ : SolverReport
        Iterations predicted and made, residuals, times; ``print(model.report_)``.
    cv_results_ : dict
        ``alpha``, ``mean_test_mse`` and so on; empty for a given alpha.

    Notes
    -----
    Memory: n × D numbers of 4 bytes for the preconditioner, D of its columns. Time of an
    iteration: n²/2 kernel values; in nine columns and two cores 1.4 s for 41,000 rows. Rows of a
    Dask collection are gathered (they are n × d numbers), and the products are shared by the
    workers.

    References
    ----------
    H. Avron, K. L. Clarkson and D. P. Woodruff, "Faster Kernel Ridge Regression Using Sketching
    and Preconditioning", SIAM J. Matrix Anal. Appl. 38 (2017).

    A. Rudi, L. Carratino and L. Rosasco, "FALKON: An Optimal Large Scale Kernel Method", NeurIPS
    2017.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (500, 2))
    >>> y = np.sin(X[:, 0]) * np.cos(X[:, 1])
    >>> model = zonal.ExactKernelRidge(zonal.Gaussian(1.0), alpha=1e-3).fit(X, y)
    >>> K = zonal.Gaussian(1.0)(X)
    >>> exact = np.linalg.solve(K + 1e-3 * np.eye(500), y)
    >>> bool(np.abs(model.predict(X) - K @ exact).max() < 1e-4)
    True
    """

    # Where the last fit ended, for warm starts.
    _state_: State | None = None

    def __init__(
        self,
        kernel: Any = "gaussian",
        alpha: Any = 1.0,
        preconditioner: Any = "auto",
        tol: float = 1e-4,
        *,
        centers: Any = None,
        alphas: npt.ArrayLike | None = None,
        cv: Any = 2,
        fit_intercept: bool = False,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.preconditioner = preconditioner
        self.tol = tol
        self.centers = centers
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None
    ) -> Self:
        """Solve for the coefficients of all rows (or centres).

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows; or a Dask collection, or blocks (X, y) of rows that can be read again and again.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, unless X yields them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights w_i, relative precisions: the noise of a row has the variance σ²/w_i, where the
            weights have the mean one over the rows that count, so that constant weights change
            nothing where α is chosen. A given α, as in scikit-learn, is relative to the weights as
            they are: a row of weight 2 counts as two rows.
        checkpoint : path-like or Checkpoint, optional
            A file for the coefficients so far, written every 16 (`Checkpoint.every`) iterations,
            from which a fit that was killed goes on. It is removed when the fit is done.

        Returns
        -------
        self
        """
        before = self._state_ if self.warm_start else None
        return self._fit(X, y, sample_weight, run=ExactRun(checkpoint, self), before=before)

    @blockwise
    def predict(self, X: Any) -> Array:
        """Predict targets, from kernel values in double precision.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows; or a Dask collection, or a stream of blocks.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        coef = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        product = KernelProduct(self.kernel_, X, self.X_fit_, np.float64)
        dtype = prediction_dtype(X, self._y_dtype_)
        values = (product @ coef + self.intercept_).astype(dtype)
        return values[:, 0] if self._single_ else values

    def _check_parameters(self) -> None:
        name = type(self).__name__
        check_positive("tol", self.tol, name)
        check_count("max_iter", self.max_iter, name)
        known = self.preconditioner is None or hasattr(self.preconditioner, "transform")
        if not known and not is_word(self.preconditioner, "auto"):
            raise ValueError(
                f"preconditioner={self.preconditioner!r} of {name} must be 'auto', None or a "
                "feature map such as zonal.NystroemFeatures(kernel, 2000)."
            )
        if self.centers is not None and hasattr(self.preconditioner, "transform"):
            raise ValueError(
                f"With centers, preconditioner={self.preconditioner!r} of {name} must be 'auto' "
                "(Falkon's, made of the centres) or None."
            )

    def _check_y(self, y: Any) -> Array:
        return check_numbers(y, type(self).__name__)

    def _valid_rows(self, X: Any, *, reset: bool) -> Any:
        return canonical(
            valid_rows(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])
        )

    def _learn(self, survey: Survey, **options: Any) -> tuple[ExactProblem, ExactRun, Any]:
        sample = survey.sample
        self._single_ = sample.y.ndim == 1
        self._y_dtype_ = sample.y.dtype.name
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        rows = sample_rows(sample.X.shape[0])
        weight = None if sample.weight is None else sample.weight[rows]
        self.kernel_: Kernel = as_kernel(self.kernel).resolve(sample.X[rows], weight)
        self.kernel_.check()
        self.cv_results_: dict[str, Array] = {}
        settings = Settings(self.tol, self.max_iter, self.fit_intercept, seed)
        centers = self._find_centers(sample.X, sample.weight, seed)
        problem = ExactProblem(self.kernel_, centers, self.preconditioner, settings)
        return problem, options["run"], options["before"]

    def _find_centers(self, X: Any, weight: FloatArray | None, seed: int) -> Any:
        if self.centers is None:
            return None
        if isinstance(self.centers, Integral):
            return draw_centers(self.centers, X, weight, seed, type(self).__name__)
        centers = valid_rows(self, self.centers, reset=False, dtype=[np.float64, np.float32])
        return np.asarray(centers)

    def _reduce(self, source: Source, resume: Run | None, learnt: Any) -> None:
        problem, run, before = learnt
        by_cv, alphas = is_word(self.alpha, "cv"), None
        if problem.centers is None or by_cv:
            block = self._all_rows(source)
            alphas = self._find_alphas(problem, block)
        if problem.centers is None:
            problem = replace(problem, settings=run.settings(problem.settings, block, before))
            found = problem.on_rows(block, alphas, isinstance(source, DaskSource))
            self.X_fit_ = block.X
        else:
            found = self._on_centers(source, problem, alphas, run, before)
            self.X_fit_ = problem.centers
        self._keep(found)
        run.finish()

    def _all_rows(self, source: Source) -> Block:
        """Return all rows as one block, with targets [n, t]."""
        held = source.hold(np.iinfo(np.int64).max)
        if held is None:
            raise ValueError("X has 0 rows; at least one is needed.")
        block = held if isinstance(source, ArraySource) else self._checked(held, first=False)
        Y = np.asarray(block.y, np.float64).reshape(len(block), -1)
        # In the order of a file, so that a model that was loaded rounds as this one does.
        X = block.X if is_sparse(block.X) else np.ascontiguousarray(block.X)
        return Block(X, Y, block.weight)

    def _find_alphas(self, problem: ExactProblem, block: Block) -> FloatArray:
        """Return the α of every target; by cross-validation if asked for."""
        n_targets = block.y.shape[1]
        if not is_word(self.alpha, "cv"):
            return self._given_alphas(n_targets)
        alphas = grid_of_alphas(self.alphas, self.kernel_, block.X, block.weight)
        plan = make_splits(self.cv, block.X, block.y, len(block), False)
        self.cv_results_ = problem.cross_validated(block, alphas, plan)
        variance = float(block.y.var(axis=0).mean())
        self.alpha_: Any = best_alpha(alphas, self.cv_results_["mean_test_mse"], variance)
        return np.full(n_targets, self.alpha_)

    def _given_alphas(self, n_targets: int) -> FloatArray:
        found = given_alphas(self.alpha, n_targets, type(self).__name__)
        self.alpha_ = float(found[0]) if np.ndim(self.alpha) == 0 else found
        return found

    def _on_centers(
        self, source: Source, problem: ExactProblem, alphas: Any, run: ExactRun, before: Any
    ) -> Found:
        """Solve for the coefficients of the centres, by walks over the rows."""
        if source.once:
            raise ValueError(
                "An iterator can be read only once, but every iteration needs all rows: pass an "
                "array, zonal.stream(path) or a Dask collection."
            )
        walk = partial(self._walk, source)
        sums = problem.sums(walk)
        if alphas is None:
            alphas = self._given_alphas(len(sums.totals) - 1)
        settings = run.settings(problem.settings, (sums.cross, sums.totals), before)
        return replace(problem, settings=settings).on_centers(walk, sums, alphas)

    def _keep(self, found: Found) -> None:
        """Keep a solution, and say so if it is none."""
        coef, intercept = found.coef, found.intercept
        self.report_, self.n_iter_ = found.report, found.report.n_iterations
        if self.warm_start:
            self._state_ = found.state
        self.dual_coef_ = coef[:, 0] if self._single_ else coef
        self.intercept_ = float(intercept[0]) if self._single_ else intercept
        self._sums_ = None
        if not found.report.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: after {self.n_iter_} iterations the "
                f"residual is {found.report.residual:.2g}, above tol={self.tol:g}. Raise max_iter, "
                "use a preconditioner with more columns or a larger alpha, or go on from here with "
                "warm_start=True.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags
