"""Fewer columns before the expansion: for data of high dimension."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.extmath import randomized_svd, safe_sparse_dot

from .._typing import Array, FloatArray
from .._validation import check_choice, check_count, is_sparse
from .centering import CenteredFeatures
from .training_sample import TrainingSample

__all__ = ["ReducedFeatures"]

# Dimensions that "auto" tries, and the rows on which it measures each.
CANDIDATES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
PILOT_ROWS = 500
# Above this many columns a few singular vectors are cheaper than all.
FULL_SVD = 2000
# Errors that differ by less, relative to the smallest, are ties.
TIE = 1e-6


class ReducedFeatures(CenteredFeatures):
    """Base class of maps whose cost explodes with d: the parameters `reduce` and `reduced_dim`.

    Subclasses call ``self._prepare(sample, seed)`` in `_fit` and take ``self._prepared(rows)``
    wherever they use rows.
    """

    reduce: Any
    reduced_dim: Any
    reduction_: FloatArray | None

    def _prepare(self, sample: TrainingSample, seed: int) -> FloatArray:
        """Find the centre and the reduction; return the prepared rows that the map learns from."""
        self.center_ = self._find_center(sample)
        self.reduction_ = self._find_reduction(sample, seed)
        return (
            np.asarray(self._prepared(sample.rows))
            if self.reduction_ is not None
            else (self._centered(sample.rows))
        )

    @property
    def _dim(self) -> int:
        """The number of columns that the expansion is for."""
        return self.n_features_in_ if self.reduction_ is None else self.reduction_.shape[1]

    def _find_reduction(self, sample: TrainingSample, seed: int) -> FloatArray | None:
        name, dim = type(self).__name__, self.n_features_in_
        if self.reduce is not None:
            check_choice("reduce", self.reduce, ("pca", "jl"), name)
        if self.reduced_dim != "auto":
            check_count("reduced_dim", self.reduced_dim, name, extra=', or "auto"')
        if self.reduce is None:
            return None
        target = self._best_dim(sample) if self.reduced_dim == "auto" else int(self.reduced_dim)
        if self.reduce == "jl":
            if target >= dim:
                return None
            # Johnson and Lindenstrauss: squared distances are right in the mean.
            return np.random.default_rng(seed).standard_normal((dim, target)) / np.sqrt(target)
        # All axes are of use too: a degree that is used in part begins with the leading ones.
        rows = self._centered(sample.rows)
        return _principal_axes(rows, sample.weights, min(target, dim))

    def _best_dim(self, sample: TrainingSample) -> int:
        """Return the dimension with the smallest error of the kernel matrix, at this width."""
        n_rows, dim = sample.rows.shape
        rows = sample.rows[np.linspace(0, n_rows - 1, min(n_rows, PILOT_ROWS)).astype(int)]
        exact = self.kernel_(self._centered(rows))
        errors = {}
        for candidate in (*(p for p in CANDIDATES if p < dim), dim):
            trial = clone(self).set_params(
                kernel=self.kernel_, reduced_dim=candidate, center=self.center_, random_state=0
            )
            Z = trial.fit(sample.rows, sample_weight=sample.weights).transform(rows)
            errors[candidate] = float(np.linalg.norm(Z @ Z.T - exact))
        # The smallest of those that differ by rounding, which depends on threads.
        limit = (1 + TIE) * min(errors.values())
        return min(dim for dim, error in errors.items() if error <= limit)

    def kernel_diag(self, X: Any) -> Array:
        """Return k(x, x) of the exact kernel at prepared rows: [n_samples]."""
        return self.kernel_.diag(self._prepared(self._valid(X)))

    def _prepared(self, rows: Any) -> Any:
        rows = self._centered(rows)
        if self.reduction_ is None:
            return rows
        return safe_sparse_dot(rows, self.reduction_.astype(rows.dtype), dense_output=True)

    def _from_prepared(self, gradients: FloatArray) -> FloatArray:
        return gradients if self.reduction_ is None else gradients @ self.reduction_.T


def _principal_axes(rows: Any, weights: FloatArray, n_axes: int) -> FloatArray:
    """Return the leading right singular vectors of weighted rows, signs fixed: [d, n_axes]."""
    scaled = (
        rows.multiply(np.sqrt(weights)[:, None]).tocsr()
        if is_sparse(rows)
        else (rows * np.sqrt(weights)[:, None])
    )
    if rows.shape[1] <= FULL_SVD:
        moment = safe_sparse_dot(scaled.T, scaled, dense_output=True)
        axes = np.linalg.eigh(moment)[1][:, : -n_axes - 1 : -1]
    else:
        axes = randomized_svd(scaled, n_axes, random_state=0)[2].T
    peaks = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    return np.ascontiguousarray(axes * np.sign(peaks))
