"""Columns stretched where the targets are steep."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array, FloatArray
from ..._validation import valid_rows
from ...kernels import Matern
from ...rows import sample_rows
from .metric.distinct_sample import DistinctSample
from .metric.regression import Regression
from .metric.targets import standard_targets
from .table.monotone import Stretch

__all__ = ["Stretcher"]


class Stretcher(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Each column mapped by a monotone function that is steep where the targets are.

    One length scale for a column is too long where the targets change fast and too short where they
    do not: bicycles are rented by the minute at eight in the morning, and not at all at three. A
    kernel ridge regression f on landmarks tells where its mean squared slope along a column is
    large, and `Stretch` makes a function of that. Trees need nothing like it: they do not see
    monotone maps.

    Parameters
    ----------
    length_scale : array-like of shape (n_features,)
        The length scales of the regression's Matérn kernel (ν = 3/2).
    columns : sequence of int
        The columns that may be stretched; those of two values are not.
    n_components : int, default=800
        The number of landmarks of the regression.

    Attributes
    ----------
    stretches_ : dict of int to Stretch
        The maps of the columns that are stretched.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.features.columns.stretcher import Stretcher
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> stretcher = Stretcher([0.2, 1.0], [0], n_components=100).fit(X, np.tanh(20 * X[:, 0]))
    >>> Z = stretcher.transform([[-0.1, 0.0], [0.1, 0.0], [0.7, 0.0], [0.9, 0.0]])
    >>> bool(Z[1, 0] - Z[0, 0] > 2 * (Z[3, 0] - Z[2, 0]))
    True
    """

    thread_safe = True

    def __init__(self, length_scale: Any, columns: Any, n_components: int = 800) -> None:
        self.length_scale = length_scale
        self.columns = columns
        self.n_components = n_components

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the maps from rows [n, d], targets and weights."""
        rows = np.asarray(valid_rows(self, X, dtype=np.float64))
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, float)
        scales = np.asarray(self.length_scale, dtype=np.float64)
        targets = standard_targets(y, weights, "regression")
        sample = DistinctSample.of(rows / scales, targets, weights)
        self.stretches_: dict[int, Stretch] = {}
        if not sample.usable:
            return self
        n_landmarks = min(int(self.n_components), sample.n_train)
        landmarks = sample_rows(sample.n_train, n_landmarks)
        model = Regression.fit(Matern(1.5, 1.0), sample, landmarks)
        slopes = model.kernel.contract_gradient(model.rows, model.landmarks, model.coef)
        squares: FloatArray = np.square(slopes).sum(axis=1)
        for j in self.columns:
            values = model.rows[:, j] * scales[j]
            if len(np.unique(values)) > 2:  # two values have nothing between them to stretch
                stretch = Stretch.of(values, squares[:, j], model.weights)
                self.stretches_[int(j)] = stretch
        return self

    def transform(self, X: Any) -> Array:
        """Return rows with columns stretched; float32 stays float32."""
        check_is_fitted(self)
        dtypes = [np.float64, np.float32]
        rows = valid_rows(self, X, dtype=dtypes, reset=False).copy()
        for j, stretch in self.stretches_.items():
            rows[:, j] = stretch(rows[:, j])
        return np.asarray(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def slopes(self, X: Any) -> FloatArray:
        """Return the derivatives of the columns of `transform`: [n, d], for the chain rule."""
        rows = np.asarray(X, dtype=np.float64)
        found = np.ones(rows.shape)
        for j, stretch in self.stretches_.items():
            found[:, j] = stretch.slope(rows[:, j])
        return found
