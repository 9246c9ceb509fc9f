"""Kernel canonical correlation analysis from joint moments of two views."""

from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular, svd
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import (
    _num_samples,
    check_array,
    check_consistent_length,
)

from .._typing import Array, FloatArray
from .._validation import check_count, check_positive
from ..moments.moments import Moments
from ..rows.dispatch import blockwise
from ..rows.kinds import is_many
from ..rows.progress import progress
from .base import Learner, _rows

__all__ = ["KernelCCA"]


class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Learner):
    r"""Kernel canonical correlation analysis on explicit features, in one pass.

    Directions a, b in the feature spaces of two views X and Y that maximise

    .. math::

        \frac{a^\top C_{xy} b}{\sqrt{a^\top (C_{xx} + \rho_x I) a}\,
        \sqrt{b^\top (C_{yy} + \rho_y I) b}}, \qquad
        \rho = \alpha\, \mathrm{tr}(C) / D,

    one after the other, each uncorrelated with those before it.

    Parameters
    ----------
    features : transformer, pair of transformers or "auto", default="auto"
        The features of both views (each gets its own fitted copy), or one for each.
    n_components : int, default=2
        The number of pairs of directions.
    alpha : float, default=1e-3
        The regularisation, in units of the mean variance of the features: without it, many
        features correlate perfectly with anything.
    budget, random_state, verbose
        As in `KernelRidge`.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components,)
        The (regularised) canonical correlations, in descending order.
    x_weights_, y_weights_ : ndarrays of shape (D, n_components)
        a and b.
    features_ : pair of transformers

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(-2, 2, 500)
    >>> X = np.column_stack([t, rng.standard_normal(500)])
    >>> Y = np.column_stack([t**2, rng.standard_normal(500)])  # not a linear relation
    >>> model = zonal.KernelCCA(n_components=1, budget=64, random_state=0).fit(X, Y)
    >>> bool(model.correlations_[0] > 0.9)
    True
    """

    moments_: list[Moments]

    def __init__(
        self,
        features: Any = "auto",
        n_components: int = 2,
        alpha: float = 1e-3,
        *,
        budget: int = 1024,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.alpha = alpha
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            The first view.
        y : array-like of shape (n_samples, n_other_features) or (n_samples,)
            The second view, Y, unless X yields it.
        checkpoint : path-like or Checkpoint, optional
            As in `KernelRidge`, and so are Dask collections and streams of blocks as X.

        Returns
        -------
        self
        """
        if checkpoint is not None or is_many(X):
            return self._fit_blocks(X, y, None, checkpoint)
        self._reset()
        self.partial_fit(X, y)
        self._solve()
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add a chunk of rows of both views; the first chunk decides the features."""
        name = type(self).__name__
        check_count("n_components", self.n_components, name)
        check_positive("alpha", self.alpha, name)
        first = not self.__sklearn_is_fitted__()
        X = self._check_rows(X, reset=first)
        Y = self._second_view(y)
        check_consistent_length(X, Y)
        if first:
            self._y_columns = Y.shape[1]
            self.features_ = tuple(
                _with_features(self, features)._fit_features(view, None, None)
                for features, view in zip(self._pair(), (X, Y), strict=True)
            )
            self._begin(X, Y)
        elif Y.shape[1] != self._y_columns:
            raise ValueError(
                f"This chunk of Y has {Y.shape[1]} columns, but the first had {self._y_columns}."
            )
        added = Moments(self.moments_[0].shift, 0)
        for rows in progress(list(self._slices(X)), self.verbose, "KernelCCA: rows"):
            added.update(self._joined(_rows(X, rows), _rows(Y, rows)))
        self.moments_ = [self.moments_[0] + added]
        self._solution: tuple[FloatArray, ...] | None = None
        self._done = True
        return self

    @blockwise
    def transform(self, X: Any, y: Any = None) -> Any:
        """Canonical variates of X, or of X and Y.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            The first view.
        y : array-like of shape (n_samples, n_other_features), optional
            The second view, Y.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or a pair of them if Y is given
        """
        self._check_fitted()
        X = self._check_rows(X, reset=False)
        width = self._widths[0]
        mean = self.moments_[0].mean()
        first = self._variates(X, 0, self.x_weights_, mean[:width])
        if y is None:
            return first
        Y = self._second_view(y)
        check_consistent_length(X, Y)
        if Y.shape[1] != self._y_columns:
            raise ValueError(
                f"Y has {Y.shape[1]} columns, but the model was fitted to {self._y_columns}."
            )
        return first, self._variates(Y, 1, self.y_weights_, mean[width:])

    def _variates(self, X: Any, view: int, weights: FloatArray, mean: FloatArray) -> Array:
        parts = []
        for rows in self._slices(X):
            Z = self._transform(_rows(X, rows), self.features_[view])
            parts.append((Z - mean.astype(Z.dtype)) @ weights.astype(Z.dtype))
        return np.concatenate(parts)

    def _begin(self, X: Any, Y: Any) -> None:
        head = slice(0, min(1024, _num_samples(X)))
        parts = [
            self._transform(_rows(view, head), features)
            for features, view in zip(self.features_, (X, Y), strict=True)
        ]
        self._widths = tuple(part.shape[1] for part in parts)
        self.n_columns_ = sum(self._widths)
        if self.n_components > min(self._widths):
            raise ValueError(
                f"n_components={self.n_components} exceeds the {min(self._widths)} features of a "
                "view."
            )
        shift = np.concatenate([part.mean(axis=0, dtype=np.float64) for part in parts])
        self.moments_ = [Moments(shift, 0)]

    def _joined(self, X: Any, Y: Any) -> Array:
        parts = [
            self._transform(view, features)
            for features, view in zip(self.features_, (X, Y), strict=True)
        ]
        dtype = np.result_type(*parts)
        block = np.ones((len(parts[0]), self.n_columns_ + 1), dtype)
        block[:, :-1] = np.hstack(parts) - self.moments_[0].shift.astype(dtype)
        return block

    def _pair(self) -> tuple[Any, Any]:
        if isinstance(self.features, tuple | list):
            if len(self.features) != 2:
                raise ValueError(
                    f"features has {len(self.features)} entries; a pair has one for each view."
                )
            return self.features[0], self.features[1]
        return self.features, self.features

    def _second_view(self, y: Any) -> Array:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        Y = check_array(
            y, accept_sparse="csr", ensure_2d=False, dtype=[np.float64, np.float32], input_name="Y"
        )
        return Y if Y.ndim == 2 else Y[:, None]

    def _solve(self) -> tuple[FloatArray, ...]:
        """Correlations and directions, found when they are needed."""
        self._check_fitted()
        if self._solution is None:
            width = self._widths[0]
            moments = self.moments_[0]
            C = moments.products() / moments.weight
            raw = np.diag(moments.products(np.zeros_like(moments.shift))) / moments.weight
            factors = []
            for view in (slice(0, width), slice(width, None)):
                block = C[view, view]
                # At least the rounding of the sums, or a constant view would correlate by noise.
                rounding = len(block) * moments.precision * raw[view].sum()
                ridge = max(self.alpha * np.trace(block) / len(block), rounding) or 1.0
                factors.append(cholesky(block + ridge * np.eye(len(block)), lower=True))
            middle = solve_triangular(factors[0], C[:width, width:], lower=True)
            middle = solve_triangular(factors[1], middle.T, lower=True).T
            left, correlations, right = svd(middle, full_matrices=False)
            k = self.n_components
            a = solve_triangular(factors[0].T, left[:, :k])
            b = solve_triangular(factors[1].T, right[:k].T)
            largest = np.take_along_axis(a, np.abs(a).argmax(axis=0)[None], axis=0)
            signs = np.where(largest < 0, -1, 1)
            self._solution = np.minimum(correlations[:k], 1.0), a * signs, b * signs
        return self._solution

    @property
    def correlations_(self) -> FloatArray:
        """The canonical correlations."""
        return self._solve()[0]

    @property
    def x_weights_(self) -> FloatArray:
        """Directions of the first view."""
        return self._solve()[1]

    @property
    def y_weights_(self) -> FloatArray:
        """Directions of the second view."""
        return self._solve()[2]

    @property
    def _n_features_out(self) -> int:
        return int(self.x_weights_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _with_features(learner: KernelCCA, features: Any) -> KernelCCA:
    """The same learner with the features of one view."""
    return KernelCCA(
        features, budget=learner.budget, random_state=learner.random_state, verbose=False
    )
