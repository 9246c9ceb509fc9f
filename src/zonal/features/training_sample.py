"""The rows that a map learns from."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from .._typing import FloatArray
from .._validation import is_sparse
from ..rows import sample_rows

__all__ = ["TrainingSample"]


class TrainingSample:
    """The rows that a map learns from, in float64, with their weights.

    At most 10,000 rows, chosen by their numbers; rows of weight zero do not exist.

    Attributes
    ----------
    rows : ndarray or CSR matrix of shape (n, d)
    weights : ndarray of shape (n,)
    dtype : numpy.dtype
        The precision that the rows came in, and that features will have.
    """

    def __init__(self, X: Any, sample_weight: Any) -> None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        chosen = np.flatnonzero(weights > 0)
        if len(chosen) == 0:
            raise ValueError("All sample weights are zero: at least one row must count.")
        chosen = chosen[sample_rows(len(chosen))]
        self.rows = X[chosen].astype(np.float64)
        self.weights: FloatArray = weights[chosen]
        self.dtype = np.dtype(X.dtype)

    def mean(self) -> FloatArray:
        """Return the weighted mean of the rows."""
        return np.asarray(self.weights @ self.rows) / self.weights.sum()

    def deviation(self) -> FloatArray:
        """Return the weighted standard deviations of the columns."""
        share = self.weights / self.weights.sum()
        if is_sparse(self.rows):
            square = np.asarray(share @ self.rows.multiply(self.rows).tocsr())
            return np.sqrt(np.maximum(square - self.mean() ** 2, 0.0))
        return np.sqrt(share @ (self.rows - self.mean()) ** 2)
