"""The Gaussian kernel."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics.pairwise import rbf_kernel

from .._typing import Array, FloatArray
from .shift_invariant import ShiftInvariantKernel
from .slopes import Slopes
from .terms import ExponentialTerm, Term

__all__ = ["Gaussian"]


class Gaussian(ShiftInvariantKernel):
    r"""Gaussian kernel, :math:`k(x,y) = e^{-\|x-y\|^2 / (2 \sigma^2)}`.

    The paper's g(x, y) has σ = 1; scikit-learn's ``gamma`` is 1 / (2σ²).

    Parameters
    ----------
    bandwidth : float, array-like of shape (d,) or "median", default=1.0
        σ, or one for each column. ``"median"`` is the median distance between different rows,
        found in `fit` of whatever uses the kernel (or by ``kernel.resolve(X)``).

    Examples
    --------
    >>> import zonal
    >>> zonal.Gaussian(bandwidth=2.0)([[0.0, 0.0]], [[0.0, 2.0]]).round(6)
    array([[0.606531]])
    """

    _scale_name = "bandwidth"

    def __init__(self, bandwidth: npt.ArrayLike = 1.0) -> None:
        self.bandwidth = bandwidth

    def terms(self) -> list[Term]:
        """exp(⟨x, y⟩/σ²) with the radial factor exp(-‖x‖²/(2σ²)) for each point."""
        self.check()
        sigma = self.one_scale()
        return [ExponentialTerm(1 / sigma**2, 1 / (2 * sigma**2))]

    def _of_distance(self, distance: FloatArray) -> FloatArray:
        return np.exp(-(distance**2) / 2)

    def _slope(self, distance: FloatArray) -> FloatArray:
        return -self._of_distance(distance)

    def slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """Return the gradients, multiples of the kernel itself."""
        return self._along_difference(-self.matrix(rows, others))

    def _indirect_matrix(self, rows: Any, others: Any) -> Array:
        scale = self.one_scale()
        gamma = 0.5 / scale / scale
        if not 1e-30 < gamma < 1e30:  # in float64, and by distances in units of the bandwidth
            return super()._indirect_matrix(rows, others)
        # Smooth at zero, so squares of distances will do, without a root and in one pass.
        return np.asarray(rbf_kernel(rows, others, gamma=gamma))
