"""A linear map in front of the features, learnt from how the targets change with the columns."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
)

from ..._typing import FloatArray
from ..._validation import canonical, check_choice, check_count, is_sparse, valid_rows
from ...kernels import Kernel, as_kernel
from ...kernels.bandwidth import median_distance
from ...kernels.slopes import dense
from ...rows import LEARN_ROWS, sample_rows
from .metric.comparison import best_iterate
from .metric.distinct_sample import DistinctSample, apply_linear
from .metric.outer_product import fourth_root
from .metric.regression import Regression
from .metric.targets import standard_targets
from .numerics import MAX_NUMBERS, MEDIAN_ROWS
from .standardizer import Standardizer

__all__ = ["LearnedMetric"]


class LearnedMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Columns turned and scaled by how much the targets change along them.

    A linear map x ↦ A x to put in front of any kernel feature map, or of any estimator that goes by
    distances. It is found by the average gradient outer product (Radhakrishnan, Beaglehole, Pandit
    and Belkin, 2024): a kernel ridge regression f in the current metric gives

    .. math::

        M = \frac1n \sum_{i=1}^n \nabla f(x_i)\, \nabla f(x_i)^\top = V \Lambda V^\top, \qquad
        A = c\, \Lambda^{1/4} V^\top, \qquad A^\top A = c^2 M^{1/2},

    where c keeps the median distance of the rows as it was; and again in the new metric. Several
    targets, or the indicators of classes, add up their outer products. :math:`\Lambda^{1/4}
    V^\top` is :math:`M^{1/4}` up to a rotation, which no distance sees: the columns of the output
    are directions, the most relevant first.

    All iterates compete on rows that are held out, and so does the identity, which stays unless
    the best is better beyond chance (a paired t test at 97.5 %).

    Parameters
    ----------
    kernel : Kernel or str, default="matern"
        The kernel of the regression. ``"matern"`` is ``Matern(1.5, "median")``. A length scale
        is in units of the standardised columns, whose median distance all iterates share.
    n_iterations : int, default=4
        How often the metric is learnt anew; 0 is the identity.
    diagonal : bool, default=False
        Whether columns are scaled only, each by the fourth root of its entry of M.
    n_components : int, default=1024
        The number of landmarks of the regression, drawn uniformly among distinct rows.
    max_rows : int, default=10_000
        How many rows are learnt from, chosen by row number (fewer beyond 6,700 columns: 6.7e7
        numbers in all).
    standardize : bool, default=True
        Whether columns are brought to mean zero and standard deviation one first (sparse ones are
        not centred). ``False`` is for columns that share a unit, such as points of the sphere.
    task : {"auto", "regression", "classification"}, default="auto"
        What y holds. ``"auto"``: classes if it is strings, booleans or whole numbers (of an integer
        type) with at most 30 values in one column, else numbers.
    random_state : int, RandomState instance or None, default=None
        The seed of the landmarks, and of the sketch for more than 512 columns.

    Attributes
    ----------
    components_ : ndarray of shape (n_out, n_features)
        A in the units of the columns of X: the output is ``(X - mean) @ components_.T``.
    metric_ : ndarray of shape (n_features, n_features)
        AᵀA: distances of the output are :math:`\sqrt{(x-y)^\top A^\top A\, (x-y)}`.
    relevance_ : ndarray of shape (n_features,)
        The share of each column, (AᵀA)_jj · Var(x_j) over their sum, whatever its units.
    scores_ : ndarray of shape (n_done + 1,)
        Mean squared error on held-out rows over the variance of y (one minus R²), for the identity
        and for each iterate; of several targets the mean. Empty where nothing can be learnt:
        y constant, or fewer than two distinct rows in one of the parts.
    best_iteration_ : int
        The iterate in use; 0 is the identity.
    n_features_in_ : int
        d.

    Notes
    -----
    Equal rows count as one row with the sum of their weights and the mean of their targets, which
    is the same regression. So none is on both sides of the split, and weights are repetitions.

    Targets are divided by their standard deviations, so that their units do not matter; indicators
    of classes are not. Beyond 512 columns M is known by a randomised sketch of rank 512.

    References
    ----------
    A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin, "Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models", Science 383, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((500, 6)) * [1, 1, 1, 1, 1, 1000]
    >>> metric = zonal.LearnedMetric(n_components=200, random_state=0).fit(X, np.sin(2 * X[:, 0]))
    >>> bool(metric.relevance_[0] > 0.8)
    True
    >>> bool(metric.scores_[metric.best_iteration_] < 0.2 * metric.scores_[0])
    True
    """

    thread_safe = True

    def __init__(
        self,
        kernel: Any = "matern",
        n_iterations: int = 4,
        diagonal: bool = False,
        *,
        n_components: int = 1024,
        max_rows: int = LEARN_ROWS,
        standardize: bool = True,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_iterations = n_iterations
        self.diagonal = diagonal
        self.n_components = n_components
        self.max_rows = max_rows
        self.standardize = standardize
        self.task = task
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets or labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight 2 counts as two rows (exactly so up to
            `max_rows`, and up to 1,000 distinct rows for the median distance).

        Returns
        -------
        self
        """
        X = self._valid(X, reset=True)
        self._check_parameters()
        kernel = as_kernel(self.kernel)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        chosen = np.flatnonzero(weights > 0)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        check_consistent_length(X, y)
        targets = standard_targets(y, weights, self.task)
        rng = np.random.default_rng(
            check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        )
        self._scaler = Standardizer().fit(X, sample_weight=weights) if self.standardize else None
        n_rows = min(int(self.max_rows), max(MAX_NUMBERS // X.shape[1], 1))
        chosen = chosen[sample_rows(len(chosen), n_rows)]
        rows = dense(self._scaled(X[chosen]))
        sample = DistinctSample.of(rows, targets[chosen], weights[chosen])
        linear = self._learn(sample, kernel, rng)
        self._linear = linear if self._scaler is None else linear / self._scaler.scale_
        share = weights[chosen] / weights[chosen].sum()
        variance = share @ (rows - share @ rows) ** 2
        self.relevance_ = _shares(np.square(linear).reshape(-1, X.shape[1]).sum(axis=0) * variance)
        return self

    def transform(self, X: Any) -> Any:
        """Apply the map.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows; float32 stays float32.

        Returns
        -------
        ndarray of shape (n_samples, n_out)
            Dense, unless X is sparse and its columns are only scaled.
        """
        check_is_fitted(self)
        X = self._valid(X, reset=False)
        if self._scaler is not None and not is_sparse(X):
            X = X - self._scaler.mean_.astype(X.dtype)
        elif self._scaler is not None and self._scaler.mean_.any():
            raise ValueError(
                "Sparse X cannot be centred without filling it: fit on sparse rows too."
            )
        linear = self._linear.astype(X.dtype)
        if linear.ndim == 2:
            return np.asarray(X @ linear.T)
        return X.multiply(linear[None, :]).tocsr() if is_sparse(X) else X * linear

    def linear_map(self) -> FloatArray:
        """Return the linear part of `transform`: the matrix A, or factors [d] of the columns.

        Returns
        -------
        ndarray of shape (n_out, n_features) or (n_features,)
        """
        check_is_fitted(self)
        return self._linear

    @property
    def components_(self) -> FloatArray:
        """A in the units of the columns of X."""
        return np.diag(self._linear) if self._linear.ndim == 1 else self._linear

    @property
    def metric_(self) -> FloatArray:
        """AᵀA in the units of the columns of X."""
        return np.asarray(self.components_.T @ self.components_)

    def _valid(self, X: Any, reset: bool) -> Any:
        dtypes = [np.float64, np.float32]
        return canonical(valid_rows(self, X, accept_sparse="csr", dtype=dtypes, reset=reset))

    def _scaled(self, X: Any) -> Any:
        return X if self._scaler is None else self._scaler.transform(X)

    def _check_parameters(self) -> None:
        name = type(self).__name__
        check_count("n_iterations", self.n_iterations, name, minimum=0)
        check_count("n_components", self.n_components, name)
        check_count("max_rows", self.max_rows, name)
        check_choice("task", self.task, ("auto", "regression", "classification"), name)

    def _learn(
        self, sample: DistinctSample, kernel: Kernel, rng: np.random.Generator
    ) -> FloatArray:
        """Learn the map of standardised columns, a matrix [k, d] or factors [d], and the scores."""
        identity = np.ones(sample.rows.shape[1])
        self.best_iteration_, self.scores_ = 0, np.empty(0)
        if not sample.usable:
            return identity
        few = sample_rows(len(sample.rows), MEDIAN_ROWS)
        few_rows, weights = sample.rows[few], sample.weights[few]
        size = median_distance(few_rows, weights)
        kernel = kernel.resolve(few_rows, weights)
        landmarks = np.sort(rng.permutation(sample.n_train)[: int(self.n_components)])
        maps, losses = [identity], []
        while True:
            # The same landmarks for all, so that the iterates differ in their metric only.
            model = Regression.fit(kernel, sample.mapped(maps[-1]), landmarks)
            losses.append(model.losses)
            if len(maps) > self.n_iterations:
                break
            linear = fourth_root(model, maps[-1], bool(self.diagonal), rng)
            if linear is None:  # a constant prediction has no gradient
                break
            maps.append(linear * (size / median_distance(apply_linear(linear, few_rows), weights)))
        table, held_out = np.array(losses), sample.weights[sample.n_train :]
        self.scores_ = table @ (held_out / held_out.sum()) + sample.spread
        self.best_iteration_ = best_iterate(table, held_out)
        return maps[self.best_iteration_]

    @property
    def _n_features_out(self) -> int:
        return len(self._linear)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has come to its end."""
        return hasattr(self, "relevance_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _shares(values: FloatArray) -> FloatArray:
    """Return values over their sum; equal shares if all are zero."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))
