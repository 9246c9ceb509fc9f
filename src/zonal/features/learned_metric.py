"""A linear map in front of the features, learnt from how the targets change with the columns."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.stats
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import svd_flip
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from .._typing import Array, FloatArray
from .._validation import canonical, check_choice, check_count
from ..kernels import Kernel, as_kernel
from ..kernels.bandwidth import median_distance
from ..kernels.slopes import dense
from ..rows import LEARN_ROWS, row_hash, sample_rows
from ..rows.threads import map_rows
from .baselines.landmarks import whitening
from .learned import is_sparse
from .scaling import Standardizer

__all__ = ["LearnedMetric"]

# One distinct row in so many is held out, to compare metrics on.
FOLDS = 5
# Over the mean eigenvalue, strongest first: from little more than the mean of y, so that noise
# is no reason for another metric, to where rounding errors begin to show in the gradients.
ALPHAS = np.geomspace(1e3, 1e-7, 21)
# Rows whose median distance is kept: half a million pairs.
MEDIAN_ROWS = 1000
# An iterate replaces the identity if its gain is real at this (one-sided) confidence.
CONFIDENCE = 0.975
# Whole numbers with more values than this are quantities, not codes of classes.
MAX_CLASSES = 30
# Beyond so many columns the outer products are sketched: no d × d matrix is formed.
MAX_RANK = 512
# Numbers in the rows that are learnt from, 512 MB, and in a block of gradients, 64 MB.
MAX_PILOT = 1 << 26
MAX_BLOCK = 1 << 23
# Numbers of columns times targets whose gradients are found together.
MAX_WIDTH = 1 << 14


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
        targets = self._targets(X, y, weights)
        rng = np.random.default_rng(
            check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        )
        self._scaler = Standardizer().fit(X, sample_weight=weights) if self.standardize else None
        n_rows = min(int(self.max_rows), max(MAX_PILOT // X.shape[1], 1))
        chosen = chosen[sample_rows(len(chosen), n_rows)]
        rows = dense(self._scaled(X[chosen]))
        pilot = Pilot.of(rows, targets[chosen], weights[chosen])
        linear = self._learn(pilot, kernel, rng)
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
                "Sparse X can not be centred without filling it: fit on sparse rows too."
            )
        linear = self._linear.astype(X.dtype)
        if linear.ndim == 2:
            return np.asarray(X @ linear.T)
        return X.multiply(linear[None, :]).tocsr() if is_sparse(X) else X * linear

    def linear_map(self) -> FloatArray:
        """The linear part of `transform`: the matrix A, or factors [d] if columns are only scaled.

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
        return canonical(validate_data(self, X, accept_sparse="csr", dtype=dtypes, reset=reset))

    def _scaled(self, X: Any) -> Any:
        return X if self._scaler is None else self._scaler.transform(X)

    def _check_parameters(self) -> None:
        name = type(self).__name__
        check_count("n_iterations", self.n_iterations, name, minimum=0)
        check_count("n_components", self.n_components, name)
        check_count("max_rows", self.max_rows, name)
        check_choice("task", self.task, ("auto", "regression", "classification"), name)

    def _targets(self, X: Any, y: Any, weights: FloatArray) -> FloatArray:
        """Targets of mean zero and of variance one in all: [n, t]."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        check_consistent_length(X, y)
        classes = self._has_classes(np.asarray(y))
        if classes:
            labels = column_or_1d(y)
            targets = (labels[:, None] == np.unique(labels[weights > 0])).astype(np.float64)
        else:
            values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
            targets = values.reshape(len(values), -1)
            # Squares of what is left do not overflow.
            targets = targets / _nonzero(np.abs(targets).max(axis=0))
        share = weights / weights.sum()
        targets = targets - share @ targets
        variance = share @ targets**2
        variance[variance < np.finfo(float).eps ** 1.5] = 0.0  # rounding of a constant
        targets[:, variance == 0] = 0.0
        # Indicators share a unit; the units of targets do not matter.
        whole = variance.sum() if classes else variance * np.count_nonzero(variance)
        return np.asarray(targets / np.sqrt(_nonzero(whole)))

    def _has_classes(self, y: Array) -> bool:
        if self.task != "auto":
            return self.task == "classification"
        if y.dtype.kind in "iu":
            return y.ndim == 1 and len(np.unique(y)) <= MAX_CLASSES
        return y.dtype.kind in "bUSO" and type_of_target(y) in ("binary", "multiclass")

    def _learn(self, pilot: "Pilot", kernel: Kernel, rng: np.random.Generator) -> FloatArray:
        """The map of standardised columns, a matrix [k, d] or factors [d]; sets the scores."""
        identity = np.ones(pilot.rows.shape[1])
        self.best_iteration_, self.scores_ = 0, np.empty(0)
        if not pilot.usable:
            return identity
        few = sample_rows(len(pilot.rows), MEDIAN_ROWS)
        sample, weights = pilot.rows[few], pilot.weights[few]
        size = median_distance(sample, weights)
        kernel = kernel.resolve(sample, weights)
        landmarks = np.sort(rng.permutation(pilot.n_train)[: int(self.n_components)])
        maps, losses = [identity], []
        while True:
            # The same landmarks for all, so that the iterates differ in their metric only.
            model = Regression.fit(kernel, pilot.mapped(maps[-1]), landmarks)
            losses.append(model.losses)
            if len(maps) > self.n_iterations:
                break
            linear = _root(model, maps[-1], bool(self.diagonal), rng)
            if linear is None:  # a constant prediction has no gradient
                break
            maps.append(linear * (size / median_distance(_apply(linear, sample), weights)))
        table, held_out = np.array(losses), pilot.weights[pilot.n_train :]
        self.scores_ = table @ (held_out / held_out.sum()) + pilot.spread
        self.best_iteration_ = _best(table, held_out)
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


@dataclass(frozen=True)
class Pilot:
    """The rows to learn from, each once.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        Distinct rows, in an order that does not depend on that of the data: first those that the
        regression sees, then those held out.
    targets : ndarray of shape (n, t)
        Weighted means of the targets of equal rows.
    weights : ndarray of shape (n,)
        The sums of their weights.
    n_train : int
        How many the regression sees.
    spread : float
        The variance of targets about those means on the held-out rows, which no metric explains.
    """

    rows: FloatArray
    targets: FloatArray
    weights: FloatArray
    n_train: int
    spread: float

    @classmethod
    def of(cls, rows: FloatArray, targets: FloatArray, weights: FloatArray) -> "Pilot":
        """Merge equal rows and split the others by a hash of their rank."""
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        inverse = inverse.ravel()
        totals = np.bincount(inverse, weights).astype(np.float64)
        sums = [np.bincount(inverse, weights * target) for target in targets.T]
        means = np.column_stack(sums) / totals[:, None]
        held_out = row_hash(np.arange(len(distinct))) % np.uint64(FOLDS) == 0
        order = np.argsort(held_out, kind="stable")
        within = np.square(targets - means[inverse]).sum(axis=1)
        lost = weights * held_out[inverse]
        spread = float(lost @ within) / (float(lost.sum()) or 1.0)
        n_train = int(np.count_nonzero(~held_out))
        return cls(distinct[order], means[order], totals[order], n_train, spread)

    def mapped(self, linear: FloatArray) -> "Pilot":
        """The same after a linear map."""
        return replace(self, rows=_apply(linear, self.rows))

    @property
    def usable(self) -> bool:
        """Whether there is a target that changes, and rows to learn and to compare on."""
        fewest = min(self.n_train, len(self.rows) - self.n_train)
        return fewest >= 2 and bool(self.targets.any())


@dataclass(frozen=True)
class Regression:
    """Kernel ridge regression on landmarks, with the alpha that is best on the held-out rows.

    Attributes
    ----------
    kernel : Kernel
    rows, weights : ndarrays of shapes (n_train, d) and (n_train,)
        What it was fitted to; the weights add up to one.
    landmarks : ndarray of shape (m, d)
    coef : ndarray of shape (m, t)
        f(x) = Σ_j coef_j k(x, landmark_j) + constant.
    losses : ndarray of shape (n_held_out,)
        Squared errors on the held-out rows, summed over targets.
    """

    kernel: Kernel
    rows: FloatArray
    weights: FloatArray
    landmarks: FloatArray
    coef: FloatArray
    losses: FloatArray

    @classmethod
    def fit(cls, kernel: Kernel, pilot: Pilot, landmarks: Array) -> "Regression":
        """Fit to the training rows of a pilot, with landmarks of these numbers."""
        # Here, since learners are built on features.
        from ..moments.ridge import Eigen

        centers = pilot.rows[landmarks]
        _, whiten = whitening(kernel, centers)

        def block(rows: FloatArray, out: FloatArray) -> None:
            np.matmul(kernel(rows, centers), whiten, out=out)

        shape = (len(pilot.rows), whiten.shape[1])
        Z = map_rows(block, pilot.rows, np.empty(shape), 4 * len(centers))
        n = pilot.n_train
        share = pilot.weights[:n] / pilot.weights[:n].sum()
        Z -= share @ Z[:n]
        Y = pilot.targets - share @ pilot.targets[:n]
        for values in (Z, Y):
            values[:n] *= np.sqrt(share)[:, None]
        gram = Z[:n].T @ Z[:n]
        eigen = Eigen.of(gram)
        rhs = eigen.vectors.T @ (Z[:n].T @ Y[:n])
        rotated = Z[n:] @ eigen.vectors
        best, coef, losses = np.inf, np.zeros_like(rhs), np.zeros(len(rotated))
        # From the strongest on, to which ties go.
        for alpha in np.trace(gram) / len(gram) * ALPHAS:
            beta = eigen.shrink(alpha)[:, None] * rhs
            squares = np.square(Y[n:] - rotated @ beta).sum(axis=1)
            if (total := float(pilot.weights[n:] @ squares)) < best:
                best, coef, losses = total, beta, squares
        coef = whiten @ (eigen.vectors @ coef)
        return cls(kernel, pilot.rows[:n], share, centers, coef, losses)

    def gradients(self) -> Iterator[FloatArray]:
        """Gradients at the training rows times the roots of their weights, in blocks [b, d]."""
        dim = self.rows.shape[1]
        n_targets = max(1, MAX_WIDTH // dim)
        for first in range(0, self.coef.shape[1], n_targets):
            coef = self.coef[:, first : first + n_targets]
            n_rows = max(1, MAX_BLOCK // (dim * coef.shape[1]))
            for start in range(0, len(self.rows), n_rows):
                part = slice(start, start + n_rows)
                found = self.kernel.contract_gradient(self.rows[part], self.landmarks, coef)
                yield (found * np.sqrt(self.weights[part])[:, None, None]).reshape(-1, dim)


def _root(
    model: Regression, linear: FloatArray, diagonal: bool, rng: np.random.Generator
) -> FloatArray | None:
    """The fourth root of M for a regression on mapped rows; None where M is zero.

    The regression's own gradients g are with respect to the mapped rows: those with respect to
    the rows before the map A are Aᵀ g, so that a factor F of its M is F A after all.
    """
    if diagonal:
        entries = sum(np.square(g * linear).sum(axis=0) for g in model.gradients())
        return np.asarray(entries) ** 0.25 if np.any(entries) else None
    factor = _factor(model, rng)
    if not len(factor):
        return None
    factor = factor * linear if linear.ndim == 1 else factor @ linear
    left, values, right = scipy.linalg.svd(factor, full_matrices=False)
    _, right = svd_flip(left, right, u_based_decision=False)
    known = values > max(factor.shape) * np.finfo(float).eps * values[0]
    return np.asarray(np.sqrt(values[known])[:, None] * right[known])


def _factor(model: Regression, rng: np.random.Generator) -> FloatArray:
    r"""F with FᵀF = M, the mean outer product of the gradients: [rank, d].

    With a matrix Ω of probes and Y = M Ω, which one pass over the gradients gives,

    .. math:: M \approx Y (\Omega^\top Y)^+ Y^\top ,

    exactly so for Ω = I. Random probes leave out about what is beyond their number of M's
    spectrum.
    """
    dim = model.rows.shape[1]
    probes = np.eye(dim) if dim <= MAX_RANK else rng.standard_normal((dim, MAX_RANK))
    product = np.zeros_like(probes)
    for gradients in model.gradients():
        product += gradients.T @ (gradients @ probes)
    values, vectors = scipy.linalg.eigh(probes.T @ product)
    known = values > max(len(values) * np.finfo(float).eps * values[-1], 0.0)
    return (product @ (vectors[:, known] / np.sqrt(values[known]))).T


def _best(losses: FloatArray, weights: FloatArray) -> int:
    """The iterate with the smallest mean loss if it beats the first beyond chance, else 0.

    Parameters
    ----------
    losses : ndarray of shape (n_iterates, n)
        Of each iterate on each row, the same rows for all.
    weights : ndarray of shape (n,)
    """
    share = weights / weights.sum()
    best = int(np.argmin(losses @ share))
    difference = losses[0] - losses[best]
    gain = share @ difference
    n = len(share)
    error = np.sqrt(share**2 @ (difference - gain) ** 2 * n / (n - 1))
    return best if gain > scipy.stats.t.ppf(CONFIDENCE, n - 1) * error else 0


def _apply(linear: FloatArray, rows: FloatArray) -> FloatArray:
    """Rows after a map that is a matrix [k, d], or factors of the columns [d]."""
    return rows * linear if linear.ndim == 1 else np.asarray(rows @ linear.T)


def _nonzero(values: FloatArray) -> FloatArray:
    """Values, with ones for zeros."""
    return np.where(values == 0, 1.0, values)


def _shares(values: FloatArray) -> FloatArray:
    """Values over their sum; equal shares if all are zero."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))
