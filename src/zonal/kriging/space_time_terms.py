"""The terms of a kernel of space and time, each with parameters that the evidence finds.

Length scales of space are those of a start, times a factor. Along one column alone (the sine of the
latitude) all others have a length scale that nothing reaches.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._typing import Array, FloatArray
from ..kernels import Cauchy, Kernel, Matern, Periodic, SpaceTime
from .kernel_evidence import Bounds, Term
from .numerics import POWERS, SHORTEST, UNREACHED

__all__ = ["Space", "as_term", "change", "season", "stay", "travelling"]

# The longest length scales, in extents of the rows: of longer ones Vecchia's neighbours know
# nothing, and extrapolate like polynomials.
EXTENTS = 2.0


def as_term(kernel: Kernel) -> Term:
    """A kernel without parameters."""
    return Term(lambda _: kernel, np.zeros(0), ())


class Space(NamedTuple):
    """Length scales of space that terms start from.

    Attributes
    ----------
    scales : ndarray of shape (d,)
    extent : float
        How far the rows reach, in units of these.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.space_time_terms import Space
    >>> space = Space.of(np.array([[0.0, 0.0], [4.0, 8.0]]), np.array([1.0, 4.0]))
    >>> space.extent, space.along(1).scales.tolist(), space.along(1).extent
    (4.0, [1000000.0, 4.0], 2.0)
    """

    scales: FloatArray
    extent: float
    ranges: tuple[float, ...]

    @classmethod
    def of(cls, places: Array, scales: FloatArray) -> "Space":
        """Measure places."""
        ranges = np.ptp(np.asarray(places, np.float64), axis=0) / scales
        return cls(scales, float(ranges.max()), tuple(ranges.tolist()))

    def along(self, column: int) -> "Space":
        """Return the same for a term that depends on one column alone."""
        others = np.arange(len(self.scales)) != column
        scales = np.where(others, UNREACHED * self.scales, self.scales)
        return Space(scales, self.ranges[column], self.ranges)

    @property
    def bounds(self) -> tuple[float, float]:
        """Logarithms of factors within which the climbs stay."""
        return math.log(SHORTEST), math.log(max(EXTENTS * self.extent, 2 * SHORTEST))

    def times(self, log_factor: float) -> FloatArray:
        """Return longer or shorter scales."""
        return np.asarray(math.exp(log_factor) * self.scales)


def change(space: Space, time: float, nu: float, span: float, circle: float | None) -> Term:
    """Gneiting's class, from length scales of space and time."""
    time = min(time, 10 * span)

    if circle is not None:

        def on_circle(values: FloatArray) -> Kernel:
            periodic = Periodic(circle, math.exp(values[1]), nu=1.5)
            return SpaceTime(Matern(nu, space.times(values[0])), periodic, float(values[2]))

        # In units of the circle's radius.
        around = math.log(min(max(2 * math.pi * time / circle, 0.05), 20.0))
        bounds: Bounds = (space.bounds, (math.log(0.01), math.log(100.0)), (0.0, 1.0))
        return Term(on_circle, np.array([0.0, around, 0.0]), bounds)

    def on_line(values: FloatArray) -> Kernel:
        cauchy = Cauchy(math.exp(values[1]) * time, float(values[2]), math.exp(values[3]))
        return SpaceTime(Matern(nu, space.times(values[0])), cauchy, float(values[4]))

    decay = (math.log(0.05), math.log(20.0))
    in_time = (math.log(SHORTEST), math.log(max(EXTENTS * span / time, 2 * SHORTEST)))
    bounds = (space.bounds, in_time, POWERS, decay, (0.0, 1.0))
    return Term(on_line, np.array([0.0, 0.0, 0.9, 0.0, 0.1]), bounds)


def travelling(term: Term, space: Space) -> Term:
    """Return what changes on a line of time with a velocity too, which begins at none.

    It is in units of the term's own length scales, and at most so large that all places are crossed
    twice within that of time.
    """
    start, n_own = term.kernel, len(term.values)
    assert isinstance(start, SpaceTime)
    assert isinstance(start.space, Matern)
    assert isinstance(start.time, Cauchy)
    scales = np.asarray(start.space.length_scale, np.float64)
    unit = scales / np.asarray(start.time.length_scale, np.float64)
    most = EXTENTS * float(np.max(np.asarray(space.ranges) * space.scales / scales))

    def kernel_of(values: FloatArray) -> Kernel:
        own = term.kernel_of(values[:n_own])
        assert isinstance(own, SpaceTime)
        velocity = tuple((values[n_own:] * unit).tolist())
        return SpaceTime(own.space, own.time, own.interaction, velocity=velocity)

    return replace(
        term,
        kernel_of=kernel_of,
        values=np.append(term.values, np.zeros(len(unit))),
        bounds=(*term.bounds, *[(-most, most)] * len(unit)),
        units=np.append(np.ones(n_own), unit),
    )


def stay(space: Space, factor: float) -> Term:
    """What is the same at all times."""
    return Term(
        lambda values: SpaceTime(Matern(1.5, space.times(values[0])), None),
        np.array([math.log(factor)]), (space.bounds,), math.log(0.3),
    )  # fmt: skip


def season(space: Space, period: float, factor: float = 4.0) -> Term:
    """What comes back after a period."""

    def kernel_of(values: FloatArray) -> Kernel:
        periodic = Periodic(period, math.exp(values[1]))
        return SpaceTime(Matern(1.5, space.times(values[0])), periodic)

    bounds = (space.bounds, (math.log(0.1), math.log(100.0)))
    return Term(kernel_of, np.array([math.log(factor), 0.0]), bounds, 0.0)
