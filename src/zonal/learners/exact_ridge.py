"""Kernel ridge regression with the kernel itself, on all rows: no features, no n × n matrix."""

import math
import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Array, FloatArray
from .._validation import canonical, check_count, check_positive
from ..features import NystroemFeatures
from ..features.baselines.landmarks import distinct_rows
from ..kernels import Kernel, as_kernel
from ..moments.folds import make_splits
from ..moments.held_out import summary
from ..rows import Block, Source, blockwise, sample_rows
from ..rows.array import ArraySource
from ..rows.dask import DaskSource, active_client
from ..rows.survey import Survey
from ..solvers.on_dask import DaskProduct
from ..solvers.products import KernelProduct
from ..solvers.ridge import SMALL, CenterSums, Found, Settings, solve_centers, solve_rows
from ..solvers.systems import precisions
from .base import Learner
from .checkpoint import Run
from .exact_checkpoint import ExactRun
from .targets import check_numbers

__all__ = ["ExactKernelRidge"]

# Up to so many rows are all landmarks of the automatic preconditioner: it is then exact.
FEW = 1000
# Rows that are mapped at a time for the preconditioner.
MAP_ROWS = 4096
# Alphas that are tried, relative to the mean of k(x, x).
GRID = np.geomspace(1e-5, 10.0, 13)
# Alphas are compared by errors, which need no more accuracy than this.
CV_TOL = 1e-2


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
            Weights w_i; a row of weight 2 counts as two rows.
        checkpoint : path-like or Checkpoint, optional
            A file for the coefficients so far, written every 16 (`Checkpoint.every`) iterations,
            from which a fit that was killed goes on. It is removed when the fit is done.

        Returns
        -------
        self
        """
        self._run = ExactRun(checkpoint, self)
        self._before = getattr(self, "_state_", None) if self.warm_start else None
        try:
            self._fit(X, y, sample_weight)
        finally:
            del self._before, self._run
        return self

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
        values = (product @ coef + self.intercept_).astype(X.dtype)
        return values[:, 0] if self._single_ else values

    def _check_parameters(self) -> None:
        name = type(self).__name__
        check_positive("tol", self.tol, name)
        check_count("max_iter", self.max_iter, name)
        known = self.preconditioner is None or hasattr(self.preconditioner, "transform")
        if not known and not _is(self.preconditioner, "auto"):
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
            validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])
        )

    def _learn(self, survey: Survey) -> None:
        sample = survey.sample
        self._single_ = sample.y.ndim == 1
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
            centers = validate_data(self, self.centers, reset=False, dtype=[np.float64, np.float32])
            return np.asarray(centers)
        check_count("centers", self.centers, type(self).__name__)
        distinct, _ = distinct_rows(X, np.ones(X.shape[0]) if weight is None else weight)
        rng = np.random.default_rng(self._seed_)
        size = min(int(self.centers), len(distinct))
        return X[np.sort(rng.choice(distinct, size, replace=False))]

    def _reduce(self, source: Source, resume: Run | None) -> None:
        if self.centers is None or _is(self.alpha, "cv"):
            held = source.hold(np.iinfo(np.int64).max)
            if held is None:
                raise ValueError("X has 0 rows; at least one is needed.")
            block = held if isinstance(source, ArraySource) else self._checked(held, first=False)
            Y = np.asarray(block.y, np.float64).reshape(len(block), -1)
            block = Block(block.X, Y, block.weight)
            alphas = self._find_alphas(block)
        if self.centers is None:
            found = self._on_rows(
                block, alphas, self._settings(block), isinstance(source, DaskSource)
            )
            self.X_fit_ = block.X
        else:
            found = self._on_centers(source, alphas if _is(self.alpha, "cv") else None)
        self._take(found)
        self._run.finish()

    def _take(self, found: Found) -> None:
        """Keep a solution, and say so if it is none."""
        coef, intercept = found.coef, found.intercept
        self.report_, self.n_iter_ = found.report, found.report.n_iterations
        if self.warm_start:
            self._state_ = found.state
        self.dual_coef_ = coef[:, 0] if self._single_ else coef
        self.intercept_ = float(intercept[0]) if self._single_ else intercept
        self._sums_ = self._solution_ = None
        if not found.report.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: after {self.n_iter_} iterations the "
                f"residual is {found.report.residual:.2g}, above tol={self.tol:g}. Raise max_iter, "
                "use a preconditioner with more columns or a larger alpha, or go on from here with "
                "warm_start=True.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _find_alphas(self, block: Block) -> FloatArray:
        """Return the α of every target; by cross-validation if asked for."""
        n_targets = block.y.shape[1]
        if not _is(self.alpha, "cv"):
            return self._given_alphas(n_targets)
        alphas = self._grid(block)
        plan = make_splits(self.cv, block.X, block.y, len(block), False)
        errors = []
        for split in plan.splits:
            train, test = (np.flatnonzero(np.isin(plan.labels, part)) for part in split)
            errors.append(self._path_errors(block.rows(train), block.rows(test), alphas))
        self.cv_results_ = summary(alphas, np.array(errors))
        best = float(alphas[np.argmin(self.cv_results_["mean_test_mse"])])
        self.alpha_: Any = best
        return np.full(n_targets, best)

    def _given_alphas(self, n_targets: int) -> FloatArray:
        name = type(self).__name__
        if isinstance(self.alpha, Real):
            self.alpha_ = check_positive("alpha", self.alpha, name, ' of any size, or "cv"')
            return np.full(n_targets, self.alpha_)
        try:
            alphas = np.asarray(self.alpha, np.float64)
        except (TypeError, ValueError):
            alphas = np.empty(0)
        if alphas.shape != (n_targets,) or not (np.isfinite(alphas) & (alphas > 0)).all():
            raise ValueError(
                f"alpha={self.alpha!r} of {name} must be 'cv', a positive number, or one for each "
                f"of the {n_targets} targets."
            )
        self.alpha_ = alphas
        return alphas

    def _grid(self, block: Block) -> FloatArray:
        if self.alphas is None:
            rows = block.X[sample_rows(len(block), 1000)]
            return np.asarray(GRID * float(self.kernel_.diag(rows).mean(dtype=np.float64)))
        alphas = np.asarray(self.alphas, np.float64)
        if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
            raise ValueError(f"alphas={self.alphas!r} must be positive numbers.")
        return alphas

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
        product: Callable[[bool], Any] = precisions(self.kernel_, block.X)
        if on_cluster:
            product = partial(_dask_product, {}, self.kernel_, block.X)
        features = None if self.preconditioner is None else partial(self._features, block)
        return solve_rows(product, block.y, alphas, block.weight, features, settings)

    def _features(self, block: Block) -> Array:
        """Return the features of the preconditioner, in single precision if they are many."""
        features = self.preconditioner
        if _is(features, "auto"):
            rank = len(block) if len(block) <= FEW else max(500, math.ceil(7 * len(block) ** 0.5))
            features = NystroemFeatures(
                self.kernel_, rank, sampling="rpcholesky", random_state=self._seed_
            )
            learnt = block.rows(sample_rows(len(block)))
        else:
            features, learnt = clone(features), block
        with warnings.catch_warnings():  # fewer distinct rows than landmarks are all landmarks
            warnings.filterwarnings("ignore", "n_components=.* exceeds", UserWarning)
            features.fit(learnt.X, sample_weight=learnt.weight)
        out: Array | None = None
        for first in range(0, len(block), MAP_ROWS):
            part = features.transform(block.X[first : first + MAP_ROWS])
            part = part.toarray() if hasattr(part, "toarray") else part
            if out is None:
                dtype = np.float64 if len(block) <= SMALL else np.float32
                out = np.empty((len(block), part.shape[1]), dtype)
            out[first : first + MAP_ROWS] = part
        assert out is not None  # there is at least one row
        return out

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


def _is(value: Any, name: str) -> bool:
    """Whether a parameter is that word; comparing an array with it would compare its entries."""
    return isinstance(value, str) and value == name


def _add(left: Any, right: Any) -> Any:
    return left + right


def _dask_product(made: dict[bool, Any], kernel: Kernel, rows: Any, precise: bool) -> DaskProduct:
    """Return what multiplies on the cluster, made when first asked for."""
    if precise not in made:
        client = active_client()
        n_threads = 1 if client is None else sum(client.nthreads().values())
        made[precise] = DaskProduct(kernel, rows, n_threads, np.float64 if precise else np.float32)
    return made[precise]
