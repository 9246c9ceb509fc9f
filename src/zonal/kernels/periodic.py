"""Periodic kernels: a season, a week, a day; December lies beside January."""

import math
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .._validation import check_positive
from .differences import DifferenceKernel
from .gaussian import Gaussian
from .matern import Matern, matern, matern_slope
from .shift_invariant import ShiftInvariantKernel

__all__ = ["Periodic"]


class Periodic(DifferenceKernel):
    r"""Kernel on a circle that time goes round once in a period.

    .. math::

        k(t, t') = f_\nu\!\left(\frac{c}{\ell}\right), \qquad
        c = 2 \left|\sin \frac{\pi (t - t')}{p}\right|,

    with f_ν the Matérn function and c the chord between two points of the unit circle. For ν = ∞
    it is :math:`e^{-2 \sin^2(\pi (t - t')/p) / \ell^2}`, scikit-learn's ``ExpSineSquared``.

    On the circle it is zonal in d = 2, so that its harmonics are cosines and sines with exact
    variances: `HarmonicFeatures` of this kernel take the column of times, and go round the circle
    by themselves. For ν = ∞ the variances are Bessel functions,
    :math:`e^{-1/\ell^2} I_h(1/\ell^2)` for each cosine and sine of frequency h.

    Parameters
    ----------
    period : float, default=1.0
        p, in the units of the time.
    length_scale : float, default=1.0
        ℓ, in units of the circle's radius, so that two are across it.
    nu : float, default=inf
        ν, the smoothness.

    Examples
    --------
    Months from 1 to 12, of which the last is as near to the first as the second is:

    >>> import zonal
    >>> zonal.Periodic(period=12)([[1.0]], [[2.0], [12.0], [7.0]]).round(4)
    array([[0.8746, 0.8746, 0.1353]])
    """

    _advice = (
        "one column of times has, in HarmonicFeatures; for columns of a place beside it use "
        "SpaceTime or ProductFeatures."
    )

    def __init__(
        self, period: float = 1.0, length_scale: float = 1.0, nu: float = math.inf
    ) -> None:
        self.period = period
        self.length_scale = length_scale
        self.nu = nu

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        owner = type(self).__name__
        check_positive("period", self.period, owner)
        check_positive("length_scale", self.length_scale, owner)
        if self.nu != math.inf:
            check_positive("nu", self.nu, owner, extra=", or numpy.inf for the Gaussian kernel")

    def check_width(self, n_columns: int) -> None:
        """Raise ValueError unless there is one column."""
        if n_columns != 1:
            raise ValueError(
                f"Periodic is a kernel of one column, a time, but the rows have {n_columns}: use "
                "SpaceTime(space, Periodic(...)) for columns of a place before it, or "
                "ProductFeatures."
            )

    def on_circle(self) -> ShiftInvariantKernel:
        """Return the kernel of points on the unit circle that this one is."""
        self.check()
        scale = float(self.length_scale)
        return Gaussian(scale) if self.nu == math.inf else Matern(self.nu, scale)

    def embed(self, rows: Any) -> Array:
        """Return times as points on the unit circle: [n, 2]."""
        angle = self._angle(np.asarray(rows, np.float64))
        return np.hstack([np.cos(angle), np.sin(angle)]).astype(rows.dtype)

    def embed_slope(self, rows: Any) -> FloatArray:
        """Return derivatives of `embed` by time: [n, 2]."""
        angle = self._angle(np.asarray(rows, np.float64))
        return 2 * np.pi / float(self.period) * np.hstack([-np.sin(angle), np.cos(angle)])

    def _angle(self, times: FloatArray) -> FloatArray:
        # Whole periods first: the sine of a large number has few digits left.
        return np.asarray(2 * np.pi / float(self.period) * np.fmod(times, float(self.period)))

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return the kernel at differences [..., 1]: [...]."""
        half = self._angle(np.asarray(delta[..., 0], np.float64)) / 2
        return matern(self.nu, 2 * np.abs(np.sin(half)) / float(self.length_scale))

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return its derivative by the difference: [..., 1]."""
        angle, scale = self._angle(np.asarray(delta, np.float64)), float(self.length_scale)
        slope = matern_slope(self.nu, 2 * np.abs(np.sin(angle / 2)) / scale)
        # c² = 2 - 2 cos(angle), of which the derivative by the angle is 2 sin(angle).
        return np.asarray(slope * np.sin(angle) * (2 * np.pi / float(self.period)) / scale**2)
