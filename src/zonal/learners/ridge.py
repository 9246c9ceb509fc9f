"""Kernel ridge regression on explicit features, in one pass over the data."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, is_classifier
from sklearn.utils.validation import _num_samples, check_array, check_consistent_length

from .._typing import Array, FloatArray
from ..moments.folds import Splits, check_n_folds, hashed_folds, make_splits, of_folds
from ..moments.moments import Moments
from ..moments.path import (
    Solution,
    check_split,
    choose_alpha,
    default_alphas,
    merge,
    solve,
    split_errors,
    summary,
)
from ..rows.dispatch import blockwise
from ..rows.kinds import is_many
from .base import Learner

__all__ = ["KernelRidge", "RidgeLearner"]

# Moments of more groups of rows than fit here are found split by split, with a pass for each.
GROUP_BYTES = 1 << 30


class RidgeLearner(Learner):
    """Ridge regression from moments: what the regressor and the classifier share."""

    _solution: Solution | None

    def __init__(
        self,
        features: Any = "auto",
        alpha: float | str = "cv",
        *,
        alphas: npt.ArrayLike | None = None,
        cv: Any = 2,
        fit_intercept: bool = True,
        budget: int = 1024,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.alpha = alpha
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def _fit_rows(self, X: Any, y: Any, Y: Array, weight: FloatArray | None) -> None:
        """Learn the features, sum the moments, solve."""
        self._check_alpha()
        self.n_rows_ = _num_samples(X)
        if self.alpha == "cv":
            plan = make_splits(self.cv, X, y, self.n_rows_, is_classifier(self))
        self.features_ = self._fit_features(X, y, weight, Y)
        shift = self._start(X, Y)
        if self.alpha != "cv":
            self.moments_ = [Moments(shift, Y.shape[1])]
            self._accumulate(X, Y, weight, None, self.moments_)
            self._solution = solve(self.moments_[0], float(self.alpha), self.fit_intercept)
            return
        n_bytes = plan.n_groups * 8 * (len(shift) + 1) ** 2
        if plan.n_groups <= 2 * len(plan.splits) + 1 and n_bytes <= GROUP_BYTES:
            groups = [Moments(shift, Y.shape[1]) for _ in range(plan.n_groups)]
            self._accumulate(X, Y, weight, plan.labels, groups)
            total = merge(groups)
            results = choose_alpha(groups, plan.splits, self._grid(total), self.fit_intercept)
        else:
            groups = [Moments(shift, Y.shape[1])]
            self._accumulate(X, Y, weight, None, groups)
            total = groups[0]
            results = self._split_by_split(X, Y, weight, plan, self._grid(total), shift)
        # Groups that are not folds by row number can not be continued.
        self.moments_ = groups if isinstance(self.cv, Integral) else [total]
        self._solution = self._best(total, results)

    def _split_by_split(
        self,
        X: Any,
        Y: Array,
        weight: FloatArray | None,
        plan: Splits,
        alphas: FloatArray,
        shift: FloatArray,
    ) -> dict[str, Array]:
        """Errors of splits that overlap in too many ways, with a pass over the data for each."""
        errors = []
        for number, split in enumerate(plan.splits):
            # Rows in neither part, the training part, the test part, both.
            parts = [Moments(shift, Y.shape[1]) for _ in range(4)]
            labels = np.isin(plan.labels, split.train) + 2 * np.isin(plan.labels, split.test)
            self._accumulate(X, Y, weight, labels, parts)
            train, test = parts[1] + parts[3], parts[2] + parts[3]
            check_split(number, train, test)
            errors.append(split_errors(train, test, alphas, self.fit_intercept))
        return summary(alphas, np.array(errors))

    def _add_rows(self, X: Any, y: Any, Y: Array, weight: FloatArray | None) -> None:
        """Add a chunk; the first one also decides the features."""
        self._check_alpha()
        n_folds = self._n_folds()
        if not self.__sklearn_is_fitted__():
            self.features_ = self._fit_features(X, y, weight, Y)
            shift = self._start(X, Y)
            self.moments_ = [Moments(shift, Y.shape[1]) for _ in range(n_folds)]
            self.n_rows_ = 0
        self._check_groups(n_folds)
        stop = self.n_rows_ + _num_samples(X)
        labels = hashed_folds(self.n_rows_, stop, n_folds) if n_folds > 1 else None
        self._accumulate(X, Y, weight, labels, self.moments_)
        self.n_rows_ = stop
        self._solution = None

    def _check_groups(self, n_folds: int) -> None:
        if len(self.moments_) != n_folds:
            raise ValueError(
                f"The model holds {len(self.moments_)} folds of rows, but alpha={self.alpha!r} and "
                f"cv={self.cv!r} now ask for {n_folds}: fit it again."
            )

    def _n_folds(self) -> int:
        if self.alpha != "cv":
            return 1
        if isinstance(self.cv, Integral) and not isinstance(self.cv, bool):
            return check_n_folds(int(self.cv))
        raise ValueError(
            f"partial_fit assigns folds by row number and needs an integer cv, not {self.cv!r}; "
            "use fit for splitters and index pairs, or a number as alpha."
        )

    def _solved(self) -> Solution:
        """The solution, found now if chunks were added since it was last found."""
        self._check_fitted()
        if self._solution is None:
            self._check_alpha()
            self._check_groups(self._n_folds())
            total = merge(self.moments_)
            if self.alpha == "cv":
                splits = of_folds(len(self.moments_))
                results = choose_alpha(self.moments_, splits, self._grid(total), self.fit_intercept)
                self._solution = self._best(total, results)
            else:
                self._solution = solve(total, float(self.alpha), self.fit_intercept)
        return self._solution

    def _best(self, total: Moments, results: dict[str, Array]) -> Solution:
        errors, alphas = results["mean_test_mse"], results["alpha"]
        if not np.isfinite(errors).all():
            raise ValueError(
                "The cross-validation errors are not finite: targets, features or weights are "
                "beyond the range of numbers. Scale them, or give a number as alpha."
            )
        # Errors within rounding of the smallest are ties, which go to the strongest alpha.
        targets = total.squares()[total.n_features :].mean() / total.weight
        alpha = float(alphas[errors <= errors.min() + 1e-10 * targets].max())
        return solve(total, alpha, self.fit_intercept, results)

    def _grid(self, total: Moments) -> FloatArray:
        if self.alphas is None:
            return default_alphas(total)
        alphas = np.asarray(self.alphas, dtype=np.float64)
        if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alphas={self.alphas!r} must be numbers of at least 0.")
        return alphas

    def _check_alpha(self) -> None:
        name = isinstance(self.alpha, str)
        number = isinstance(self.alpha, Real) and not isinstance(self.alpha, bool)
        if not ((name and self.alpha == "cv") or (number and 0 <= float(self.alpha) < np.inf)):
            raise ValueError(f"alpha={self.alpha!r} must be 'cv' or a number of at least 0.")

    def _scores(self, X: Any) -> Array:
        """Z β + β₀ for rows: [n, n_targets]."""
        solution = self._solved()
        X = self._check_rows(X, reset=False)
        form = self._compact(X)
        coef = form.coefficients(solution.coef)

        def score(Z: Array) -> Array:
            return Z @ coef.astype(Z.dtype) + solution.intercept.astype(Z.dtype)

        return self._map(X, score, form=form)

    @property
    def alpha_(self) -> float:
        """The regularisation used."""
        return self._solved().alpha

    @property
    def cv_results_(self) -> dict[str, Array]:
        """Alphas with their cross-validated errors (empty for a given alpha)."""
        return self._solved().cv_results


class KernelRidge(RegressorMixin, RidgeLearner):
    r"""Kernel ridge regression on explicit features.

    .. math::

        \min_{\beta, \beta_0} \sum_i w_i (y_i - z_i^\top \beta - \beta_0)^2 + \alpha \|\beta\|^2

    One pass over the rows, block by block; what is kept is a D × D matrix of moments for each
    fold. The whole path of alphas comes from one eigendecomposition per fold. (Splitters whose
    parts overlap in many ways take a pass for each split.)

    Parameters
    ----------
    features : transformer or "auto", default="auto"
        A feature map of this library or any scikit-learn transformer. ``"auto"``: scales
        the columns and chooses the kernel, its length scale, the feature map and a learned metric
        or none on a pilot of at most 10,000 rows, by the error on a third of them (see
        ``selection_``). With fewer than 300 rows: standardised columns and Gegenbauer features of
        a Gaussian kernel with median bandwidth.
    alpha : float or "cv", default="cv"
        The regularisation α, the paper's λ. ``"cv"``: the one with the smallest mean squared
        error in cross-validation, used unchanged on all rows (the paper's protocol).
    alphas : array-like, optional
        The values to try, by default 20 from 1e-10 to 1 times trace(ZᵀZ)/D.
    cv : int, splitter or iterable of (train, test), default=2
        An integer assigns folds by a fixed hash of the row number, whatever the chunks. Splitters
        and index pairs work as in scikit-learn, e.g. blocks in space; in `fit` only.
    fit_intercept : bool, default=True
        Whether β₀ is fitted, or zero.
    budget : int, default=1024
        The number of columns D if ``features="auto"``.
    random_state : int, RandomState instance or None, default=None
        The seed of the features, unless they have one of their own.
    verbose : bool, default=False
        Show a progress bar on fits of more than two seconds.

    Attributes
    ----------
    features_ : transformer
        The fitted features. `partial_fit` learns them from its first chunk.
    coef_ : ndarray of shape (D,) or (n_targets, D)
        β.
    intercept_ : float or ndarray of shape (n_targets,)
        β₀.
    alpha_ : float
        The α used.
    cv_results_ : dict
        ``alpha``, ``mean_test_mse``, ``std_test_mse`` and ``split<k>_test_mse``.
    moments_ : list of Moments
        The sums over the rows seen, for each fold.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (500, 2))
    >>> y = np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.01 * rng.standard_normal(500)
    >>> model = zonal.KernelRidge(budget=256, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None
    ) -> Self:
        """Fit to all rows.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or a Dask array or frame; or blocks (X, y) of rows, from `zonal.stream` or any
            iterator.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, unless X yields them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights w_i; a row of weight 2 counts as two rows.
        checkpoint : path-like or Checkpoint, optional
            A file for the sums of the rows seen so far, from which a fit that was killed goes on.

        Returns
        -------
        self
        """
        if checkpoint is not None or is_many(X):
            return self._fit_blocks(X, y, sample_weight, checkpoint)
        self._reset()
        X = self._check_rows(X, reset=True)
        y = self._check_y(X, y)
        self._single = y.ndim == 1
        self._fit_rows(X, y, y.reshape(len(y), -1), self._check_weight(X, sample_weight))
        self._done = True
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data.

        Given the features, the result does not depend on how the rows are cut into chunks. The
        coefficients are found when they are next needed.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
        """
        first = not self.__sklearn_is_fitted__()
        if first:
            self._reset()
        X = self._check_rows(X, reset=first)
        y = self._check_y(X, y)
        Y = y.reshape(len(y), -1)
        if first:
            self._single = y.ndim == 1
        elif Y.shape[1] != self.moments_[0].n_targets:
            raise ValueError(
                f"This chunk has {Y.shape[1]} targets, but the first had "
                f"{self.moments_[0].n_targets}."
            )
        weight = self._check_weight(X, sample_weight, allow_zero=not first)
        self._add_rows(X, y, Y, weight)
        self._done = True
        return self

    @blockwise
    def predict(self, X: Any) -> Array:
        """Predict targets: [n_samples] or [n_samples, n_targets]."""
        scores = self._scores(X)
        return scores[:, 0] if self._single else scores

    def gradient(self, X: Any) -> Array:
        r"""Gradients of the prediction, :math:`\nabla f(x) = \sum_c \beta_c \nabla z_c(x)`.

        With respect to the columns of X as they are, in closed form. The features must be a map
        of this library, alone or after linear steps (`Standardizer`, scalers of scikit-learn).

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_targets, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> X = np.linspace(-3, 3, 200)[:, None]
        >>> model = zonal.KernelRidge(budget=64, random_state=0).fit(X, np.sin(X[:, 0]))
        >>> bool(np.abs(model.gradient(X) - np.cos(X)).max() < 0.01)
        True
        """
        gradient = self._gradient(X, self._solved().coef)
        return gradient[:, 0] if self._single else gradient

    @property
    def coef_(self) -> FloatArray:
        """Coefficients β of the features."""
        coef = self._solved().coef.T
        return coef[0] if self._single else coef

    @property
    def intercept_(self) -> Any:
        """Intercept β₀."""
        intercept = self._solved().intercept
        return float(intercept[0]) if self._single else intercept

    def _check_y(self, X: Any, y: Any) -> Array:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y = check_array(y, ensure_2d=False, dtype=[np.float64, np.float32], input_name="y")
        check_consistent_length(X, y)
        return np.asarray(y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
