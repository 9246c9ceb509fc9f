"""Times in harmonics: on a circle of their own, or beside the places as one more radius."""

from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .._validation import is_sparse, row_norms
from ..kernels import Periodic
from ..kernels.radial_space_time import RadialSpaceTime, space_time_parts
from .reduction import ReducedFeatures
from .training_sample import TrainingSample

__all__ = ["TimedFeatures"]


class TimedFeatures(ReducedFeatures):
    """Base class of maps that take `Periodic` and `SpaceTime` too.

    For `Periodic` a column of times becomes points on a circle: there is nothing to centre or to
    reduce there. For `SpaceTime`, and sums of multiples of such kernels, the last column is a time,
    and what is a radius to others is a pair of a radius and a time. Subclasses expand
    `_expanded_kernel`, ask `_polar` for the points and the radii (or pairs) of prepared rows, and
    pass gradients by points through `_by_time`.
    """

    @property
    def _is_circle(self) -> bool:
        return isinstance(self.kernel_, Periodic)

    @property
    def _has_times(self) -> bool:
        return bool(space_time_parts(self.kernel_))

    @property
    def _expanded_kernel(self) -> Any:
        """The kernel of points, and of times where they are beside these."""
        if self._is_circle:
            return self.kernel_.on_circle()
        return RadialSpaceTime(self.kernel_, self._dim) if self._has_times else self.kernel_

    @property
    def _places(self) -> slice:
        return slice(None, -1 if self._has_times else None)

    @property
    def _dim(self) -> int:
        return 2 if self._is_circle else super()._dim - self._has_times

    def _prepare(self, sample: TrainingSample, seed: int) -> FloatArray:
        if self._is_circle:
            self.kernel_.check_width(self.n_features_in_)
            self.center_, self.reduction_ = np.zeros(1), None
            return np.asarray(self._prepared(sample.rows))
        if self._has_times:
            self.kernel_.valid_rows(sample.rows[:1])
            if any(np.any(part.velocity) for _, part in space_time_parts(self.kernel_)):
                raise ValueError(
                    f"{self.kernel_!r} travels: it depends on more than angle, radii and times. "
                    "Subtract velocity times time from the columns of the place, between which it "
                    "is the kernel without the velocity; or use NystroemFeatures."
                )
            if self.reduce is not None:
                raise ValueError(
                    f"reduce={self.reduce!r} of {type(self).__name__} is for columns that are "
                    "alike, but the last one is a time to SpaceTime: reduce the columns of the "
                    "place before, in a ColumnTransformer of scikit-learn."
                )
        return super()._prepare(sample, seed)

    def _prepared(self, rows: Any) -> Any:
        if self._is_circle:
            return self.kernel_.embed(self.kernel_.valid_rows(rows))
        return super()._prepared(rows)

    def _polar(self, rows: Any) -> tuple[Any, FloatArray]:
        """Return the points of prepared rows and their radii [n], or radii and times [n, 2]."""
        if not self._has_times:
            return rows, row_norms(rows)
        rows = rows.toarray() if is_sparse(rows) else rows
        points, times = rows[:, :-1], np.asarray(rows[:, -1], np.float64)
        return points, np.column_stack(
            [row_norms(points), self._expanded_kernel.distinct_times(times)]
        )

    def kernel_diag(self, X: Any) -> Array:
        """Return k(x, x) of the exact kernel at prepared rows: [n_samples]."""
        kernel = self._expanded_kernel if self._is_circle else self.kernel_
        return np.asarray(kernel.diag(self._prepared(self._valid(X))))

    def _by_time(self, points: FloatArray, gradients: FloatArray) -> FloatArray:
        """Return gradients [n, D, 2] by points on the circle as derivatives by time: [n, D, 1]."""
        if not self._is_circle:
            return gradients
        along = np.stack([-points[:, 1], points[:, 0]], axis=1)  # the circle's tangent
        by_angle = np.einsum("nkc,nc->nk", gradients, along)
        return np.asarray(2 * np.pi / float(self.kernel_.period) * by_angle[:, :, None])
