"""Times on a circle: what a periodic kernel makes of one column before its harmonics."""

from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..kernels import Kernel, Periodic
from .reduction import ReducedFeatures
from .training_sample import TrainingSample

__all__ = ["CircleFeatures"]


class CircleFeatures(ReducedFeatures):
    """Base class of maps that take `Periodic`: a column of times becomes points on a circle.

    There is nothing to centre or to reduce there. Subclasses expand `_expanded_kernel`, and pass
    gradients by points through `_by_time`.
    """

    @property
    def _is_circle(self) -> bool:
        return isinstance(self.kernel_, Periodic)

    @property
    def _expanded_kernel(self) -> Kernel:
        """The kernel of prepared rows."""
        kernel: Kernel = self.kernel_
        return kernel.on_circle() if isinstance(kernel, Periodic) else kernel

    @property
    def _dim(self) -> int:
        return 2 if self._is_circle else super()._dim

    def _prepare(self, sample: TrainingSample, seed: int) -> FloatArray:
        if not self._is_circle:
            return super()._prepare(sample, seed)
        self.kernel_.check_width(self.n_features_in_)
        self.center_, self.reduction_ = np.zeros(1), None
        return np.asarray(self._prepared(sample.rows))

    def _prepared(self, rows: Any) -> Any:
        if not self._is_circle:
            return super()._prepared(rows)
        return self.kernel_.embed(self.kernel_.valid_rows(rows))

    def kernel_diag(self, X: Any) -> Array:
        """Return k(x, x) of the exact kernel at prepared rows: [n_samples]."""
        return self._expanded_kernel.diag(self._prepared(self._valid(X)))

    def _by_time(self, points: FloatArray, gradients: FloatArray) -> FloatArray:
        """Return gradients [n, D, 2] by points on the circle as derivatives by time: [n, D, 1]."""
        if not self._is_circle:
            return gradients
        along = np.stack([-points[:, 1], points[:, 0]], axis=1)  # the circle's tangent
        by_angle = np.einsum("nkc,nc->nk", gradients, along)
        return np.asarray(2 * np.pi / float(self.kernel_.period) * by_angle[:, :, None])
