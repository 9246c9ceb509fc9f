"""Feature maps around a centre: what they subtract from the rows."""

from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .._validation import is_sparse, spans_sphere
from .base import KernelFeatures
from .training_sample import TrainingSample

__all__ = ["CenteredFeatures"]

_NO_SPARSE_CENTER = (
    "Sparse X cannot be centred without filling it: use center=False (or 'auto'), or pass a "
    "dense array."
)


class CenteredFeatures(KernelFeatures):
    """Base class of maps whose quality depends on the norms of the rows: the parameter `center`.

    Subclasses call ``self.center_ = self._find_center(sample)`` in `_fit` and take
    ``self._centered(rows)`` wherever they use rows.
    """

    center: Any
    center_: FloatArray

    def _find_center(self, sample: TrainingSample) -> FloatArray:
        dim, sparse = self.n_features_in_, is_sparse(sample.rows)
        center = self.center
        if isinstance(center, str) and center == "auto":
            center = (
                self.kernel_.shift_invariant
                and not sparse
                and not spans_sphere(sample.rows[:, self._places])
            )
        if isinstance(center, bool | np.bool_):
            if center and sparse:
                raise ValueError(_NO_SPARSE_CENTER)
            found = np.zeros(dim)
            if center:
                found[self._places] = sample.mean()[self._places]
            return found
        try:
            point = np.asarray(center, dtype=np.float64)
        except (TypeError, ValueError):
            point = np.empty(0)
        if point.shape != (dim,) or not np.isfinite(point).all():
            raise ValueError(
                f"center={self.center!r} must be True, False, 'auto' or {dim} finite numbers, one "
                "for each column of X."
            )
        if sparse and point.any():
            raise ValueError(_NO_SPARSE_CENTER)
        return point

    @property
    def _places(self) -> slice:
        """The columns that can be centred: all but times."""
        return slice(None)

    def kernel_diag(self, X: Any) -> Array:
        """Return k(x, x) of the exact kernel at centred rows: [n_samples]."""
        return self.kernel_.diag(self._centered(self._valid(X)))

    def _prepared(self, rows: Any) -> Any:
        return self._centered(rows)

    def _centered(self, rows: Any) -> Any:
        if not self.center_.any():
            return rows
        # Rows that are sparse can meet a map that was centred on dense ones.
        return (rows.toarray() if is_sparse(rows) else rows) - self.center_.astype(rows.dtype)
