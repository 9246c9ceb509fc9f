"""Columns of any distribution made normal."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array, FloatArray
from ..._validation import valid_rows
from .choices import RANK_KNOTS
from .table.monotone import NormalScores

__all__ = ["Ranker"]


class Ranker(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Each column mapped to normal scores, Φ⁻¹(F(x)), by a smooth monotone function.

    Where classes are told apart by a column over orders of magnitude, one length scale for all of
    it is too long for most of the rows, or too short for the others. Ranks do not see such units,
    as trees do not.

    Attributes
    ----------
    maps_ : list of NormalScores
        One for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.features.columns.ranker import Ranker
    >>> X = np.exp(3 * np.random.default_rng(0).standard_normal((2000, 1)))
    >>> Z = Ranker().fit_transform(X)
    >>> bool(abs(Z.mean()) < 0.02 and abs(Z.std() - 1) < 0.05)
    True
    """

    thread_safe = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the distribution of each column from (weighted) rows."""
        rows = np.asarray(valid_rows(self, X, dtype=np.float64))
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, float)
        self.maps_ = [NormalScores.of(column, weights, RANK_KNOTS) for column in rows.T]
        return self

    def transform(self, X: Any) -> Array:
        """Return normal scores; float32 stays float32."""
        check_is_fitted(self)
        rows = valid_rows(self, X, dtype=[np.float64, np.float32], reset=False)
        found = np.empty_like(rows)
        for j, own in enumerate(self.maps_):
            found[:, j] = own(rows[:, j])
        return np.asarray(found)

    def slopes(self, X: Any) -> FloatArray:
        """Return the derivatives of the columns of `transform`: [n, d], for the chain rule."""
        rows = np.asarray(X, dtype=np.float64)
        return np.column_stack(
            [own.slope(column) for own, column in zip(self.maps_, rows.T, strict=True)]
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
