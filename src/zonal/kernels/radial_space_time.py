r"""Kernels of space and time in polar coordinates of the place.

At two fixed times a kernel of space and time is rotation-invariant in the place,

.. math:: k((x, t), (y, s)) = \sum_\ell k_\ell\big((\|x\|, t), (\|y\|, s)\big)\,
    P_d^\ell(\cos\angle(x, y)),

and each :math:`k_\ell` is a positive definite kernel of pairs of a radius and a time. So pairs take
the place of radii, and nothing else is new.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander

from .._typing import FloatArray
from .base import Kernel, Scaled, Sum
from .cross import cross
from .periodic import Periodic
from .space_time import SpaceTime
from .terms import NumericTerm, Term

__all__ = ["RadialSpaceTime", "space_time_parts"]

# Widenings at which k_ℓ of a few radii is known, at first and at most, and what the last quarter of
# its Chebyshev coefficients may be.
FIRST_WIDTHS, MOST_WIDTHS = 32, 256
ROUNDING = 1e-14


def space_time_parts(kernel: Any) -> list[tuple[float, SpaceTime]]:
    """Return a kernel as a sum of `SpaceTime` kernels times numbers; none if it is not one."""
    if isinstance(kernel, SpaceTime):
        return [(1.0, kernel)]
    if isinstance(kernel, Scaled):
        return [(kernel.factor * factor, one) for factor, one in space_time_parts(kernel.kernel)]
    if isinstance(kernel, Sum):
        left, right = space_time_parts(kernel.k1), space_time_parts(kernel.k2)
        return left + right if left and right else []
    return []


@dataclass(frozen=True)
class RadialSpaceTime:
    """What a `SpaceTime` kernel is of two pairs (‖x‖, t) and the angle between the places.

    It answers what expansions ask of a `Kernel`, with pairs [n, 2] for radii [n].

    Attributes
    ----------
    kernel : SpaceTime, or a sum of multiples of such kernels
        A kernel whose parameters are numbers.
    dim : int
        d, the number of columns of the place.
    """

    kernel: Kernel
    dim: int

    def __repr__(self) -> str:
        return repr(self.kernel)

    def distinct_times(self, times: FloatArray) -> FloatArray:
        """Return times that differ only where the kernel tells them apart: within one period."""
        kinds = [part.time for _, part in space_time_parts(self.kernel) if part.time is not None]
        if not kinds:
            return np.zeros_like(times)
        periods = {float(one.period) if isinstance(one, Periodic) else None for one in kinds}
        period = periods.pop()
        return times if periods or period is None else np.mod(times, period)

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return the kernel at broadcast arrays of pairs [..., 2] and of cosines [...]."""
        parts = space_time_parts(self.kernel)
        return np.asarray(sum(f * _profile(part, self.dim, r, s, cos) for f, part in parts))

    def terms(self) -> list[Term]:
        """Return the kernel itself, known by its values."""
        slow = any(term.slow for _, p in space_time_parts(self.kernel) for term in p.space.terms())
        return [NumericTerm(self.profile, slow=slow, name=repr(self))]

    def degree_kernels(
        self, dim: int, max_degree: int, pairs: FloatArray, others: FloatArray
    ) -> FloatArray:
        """Return k_ℓ for all degrees and all pairs of pairs: [max_degree + 1, n, m]."""
        parts = space_time_parts(self.kernel)
        return np.asarray(
            sum(f * _degree_kernels(part, dim, max_degree, pairs, others) for f, part in parts)
        )

    def degree_slopes(
        self, dim: int, max_degree: int, pairs: FloatArray, others: FloatArray, axis: int = 0
    ) -> FloatArray:
        """Return derivatives of k_ℓ by the radius (axis 0) or the time (1) of the first pair."""
        column = -1 if axis else 0

        def slope(r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
            return self.kernel.difference_slopes(_differences(dim, r, s, cos))[..., column]

        term = NumericTerm(slope, name=repr(self), symmetric=False)
        return cross(term, dim, max_degree, pairs, others)


def _profile(
    kernel: SpaceTime, dim: int, r: FloatArray, s: FloatArray, cos: FloatArray
) -> FloatArray:
    in_time, root = kernel.over_time(r[..., 1:] - s[..., 1:], dim)
    return np.asarray(in_time * kernel.space.profile(r[..., 0] / root, s[..., 0] / root, cos))


def _differences(dim: int, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
    """Return x - y and t - u for x on the first axis and y in the plane of the first two."""
    delta = np.zeros((*np.broadcast_shapes(r.shape[:-1], s.shape[:-1], np.shape(cos)), dim + 1))
    delta[..., 0] = r[..., 0] - s[..., 0] * cos
    if dim > 1:
        delta[..., 1] = -s[..., 0] * np.sqrt(np.maximum(1 - np.square(cos), 0.0))
    delta[..., -1] = r[..., 1] - s[..., 1]
    return delta


def _degree_kernels(
    kernel: SpaceTime, dim: int, max_degree: int, pairs: FloatArray, others: FloatArray
) -> FloatArray:
    """Return k_ℓ of one kernel, each way in its place.

    Where the kernel is separable, only radii have degrees. Of few radii k_ℓ is a smooth function of
    the widening, and Chebyshev's polynomials have it for all times. Else there is quadrature.
    """
    (r, at_r), (s, at_s) = (np.unique(p[:, 0], return_inverse=True) for p in (pairs, others))
    in_time, root = kernel.over_time(pairs[:, None, 1:] - others[:, 1:], dim)
    if not kernel.interaction:
        values = kernel.space.degree_kernels(dim, max_degree, r, s)
        return np.asarray(values[:, at_r[:, None], at_s] * in_time)
    if len(r) * len(s) * FIRST_WIDTHS > len(pairs) * len(others):
        term = NumericTerm(partial(_profile, kernel, dim))
        return cross(term, dim, max_degree, pairs, others)

    def at_width(width: float) -> FloatArray:
        shrunk = math.exp(-width)
        return kernel.space.degree_kernels(dim, max_degree, r * shrunk, s * shrunk)

    widths = np.log(root)
    top = float(widths.max())
    series = _chebyshev(at_width, top)
    out = np.empty((max_degree + 1, len(pairs), len(others)))
    for one in range(len(r)):
        rows = np.flatnonzero(at_r == one)[:, None]
        for other in range(len(s)):
            columns = np.flatnonzero(at_s == other)
            powers = chebvander(2 * widths[rows, columns] / (top or 1.0) - 1, len(series) - 1)
            out[:, rows, columns] = np.moveaxis(powers @ series[:, :, one, other], -1, 0)
    return np.asarray(out * in_time)


def _chebyshev(function: Callable[[float], FloatArray], top: float) -> FloatArray:
    """Return coefficients of Chebyshev polynomials on [0, top], as many as they need: [p, ...]."""
    n_points = FIRST_WIDTHS
    while True:
        points = chebpts1(n_points)
        values = np.stack([function(top * (1 + point) / 2) for point in points])
        transform = chebvander(points, n_points - 1) * (2 / n_points)
        transform[:, 0] /= 2
        series = np.tensordot(transform.T, values, axes=1)
        last = np.abs(series[3 * n_points // 4 :]).max()
        if last <= ROUNDING * np.abs(values).max() or n_points >= MOST_WIDTHS:
            return series
        n_points *= 2
