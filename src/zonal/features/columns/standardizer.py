"""Columns on a common scale."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array, FloatArray
from ..._validation import is_sparse, valid_rows
from ...rows.dispatch import blockwise, sampled
from ..training_sample import TrainingSample

__all__ = ["Standardizer"]


class Standardizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Columns of mean zero and standard deviation one.

    Like scikit-learn's ``StandardScaler``, but learnt from at most 10,000 rows chosen by row
    number, so that a stream or a cluster learns the same; sparse input is scaled and not centred.

    Parameters
    ----------
    keep : sequence of int, default=()
        Columns that are left as they are, such as unit vectors.

    Attributes
    ----------
    mean_, scale_ : ndarrays of shape (n_features,)
        What is subtracted (zeros for sparse input) and what is divided by (one for constant
        columns).

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.features import Standardizer
    >>> Standardizer().fit_transform(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    thread_safe = True

    def __init__(self, keep: Any = ()) -> None:
        self.keep = keep

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn means and standard deviations from (weighted) rows."""
        X, sample_weight = sampled(X, sample_weight)
        X = valid_rows(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        sample = TrainingSample(X, sample_weight)
        self.mean_ = sample.mean()
        deviation = sample.deviation()
        # What is left of a constant column is rounding.
        constant = deviation <= 10 * np.finfo(X.dtype).eps * np.abs(self.mean_)
        self.scale_ = np.where(constant | (deviation == 0), 1.0, deviation)
        if is_sparse(X):
            self.mean_ = np.zeros_like(self.mean_)
        kept = np.asarray(self.keep, dtype=int)
        self.mean_[kept], self.scale_[kept] = 0.0, 1.0
        return self

    @blockwise
    def transform(self, X: Any) -> Array:
        """Scale rows."""
        check_is_fitted(self)
        X = valid_rows(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        inverse = (1 / self.scale_).astype(X.dtype)
        if is_sparse(X):
            if self.mean_.any():
                raise ValueError(
                    "Sparse X cannot be centred without filling it: fit on sparse rows too."
                )
            return X.multiply(inverse[None, :]).tocsr()
        return (X - self.mean_.astype(X.dtype)) * inverse

    def linear_map(self) -> FloatArray:
        """Return the factor of every column: [n_features]."""
        check_is_fitted(self)
        return np.asarray(1 / self.scale_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
