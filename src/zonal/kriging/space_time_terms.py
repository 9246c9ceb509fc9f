"""The terms of a kernel of space and time, each with parameters that the evidence finds.

Length scales of space are those of a start, times a factor. Along one column alone (the sine of the
latitude) all others have a length scale that nothing reaches.
"""

import math

import numpy as np

from .._typing import FloatArray
from ..kernels import Cauchy, Kernel, Matern, Periodic, SpaceTime
from .kernel_evidence import Bounds, Term

__all__ = ["SMOOTHNESS", "along", "as_term", "change", "season", "stay"]

# Length scales in units of the first, within which the climbs stay.
FARTHEST = (math.log(1e-3), math.log(1e3))
# ν of what changes.
SMOOTHNESS = (0.5, 1.5, 2.5)
# Length scales of columns that a term does not depend on, in units of the others.
UNREACHED = 1e6


def as_term(kernel: Kernel) -> Term:
    """A kernel without parameters."""
    return Term(lambda _: kernel, np.zeros(0), ())


def along(space: FloatArray, column: int) -> FloatArray:
    """Return length scales of a term that depends on one column alone.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.space_time_terms import along
    >>> along(np.array([0.2, 0.2, 0.2]), 2).tolist()
    [200000.0, 200000.0, 0.2]
    """
    return np.where(np.arange(len(space)) == column, space, UNREACHED * space)


def change(kernel: Matern, nu: float, span: float, circle: float | None) -> Term:
    """Gneiting's class, from the length scales of a Matérn kernel of all columns."""
    scales = np.asarray(kernel.length_scale, np.float64)
    space, time = scales[:-1], min(float(scales[-1]), 10 * span)

    if circle is not None:

        def on_circle(values: FloatArray) -> Kernel:
            periodic = Periodic(circle, math.exp(values[1]), nu=1.5)
            return SpaceTime(Matern(nu, math.exp(values[0]) * space), periodic, float(values[2]))

        # In units of the circle's radius.
        around = math.log(min(max(2 * math.pi * time / circle, 0.05), 20.0))
        bounds: Bounds = (FARTHEST, (math.log(0.01), math.log(100.0)), (0.0, 1.0))
        return Term(on_circle, np.array([0.0, around, 0.0]), bounds)

    def on_line(values: FloatArray) -> Kernel:
        cauchy = Cauchy(math.exp(values[1]) * time, float(values[2]), math.exp(values[3]))
        return SpaceTime(Matern(nu, math.exp(values[0]) * space), cauchy, float(values[4]))

    decay = (math.log(0.05), math.log(20.0))
    bounds = (FARTHEST, FARTHEST, (0.1, 2.0), decay, (0.0, 1.0))
    return Term(on_line, np.array([0.0, 0.0, min(2.0, 2 * nu), 0.0, 0.1]), bounds)


def stay(space: FloatArray, factor: float) -> Term:
    """What is the same at all times."""
    return Term(
        lambda values: SpaceTime(Matern(1.5, math.exp(values[0]) * space), None),
        np.array([math.log(factor)]), (FARTHEST,), math.log(0.3),
    )  # fmt: skip


def season(space: FloatArray, period: float, factor: float = 4.0) -> Term:
    """What comes back after a period."""

    def kernel_of(values: FloatArray) -> Kernel:
        periodic = Periodic(period, math.exp(values[1]))
        return SpaceTime(Matern(1.5, math.exp(values[0]) * space), periodic)

    bounds = (FARTHEST, (math.log(0.1), math.log(100.0)))
    return Term(kernel_of, np.array([math.log(factor), 0.0]), bounds, 0.0)
