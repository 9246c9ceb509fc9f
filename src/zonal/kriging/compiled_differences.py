"""Kernels of space and time at differences, in compiled loops: one pass instead of twenty.

What `SpaceTime.of_differences` computes, for Matérn kernels of space with ν = 1/2, 3/2 or 5/2 and
none, Cauchy or such a Matérn kernel of time, on the line or on a circle.
"""

import math

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..kernels import Cauchy, Kernel, Matern, Periodic, SpaceTime
from ..kernels.base import Scaled, Sum

__all__ = ["fast_differences"]

NO_TIME, CAUCHY, MATERN, CIRCLE = range(4)
_NU = (0.5, 1.5, 2.5)
ROOT_3, ROOT_5 = math.sqrt(3.0), math.sqrt(5.0)
# Beyond, e^-t is zero.
FAR = 745.0


def fast_differences(kernel: Kernel, delta: FloatArray) -> FloatArray:
    """Return a kernel at differences [..., d], as its `of_differences` does: [...]."""
    if isinstance(kernel, Sum):
        return fast_differences(kernel.k1, delta) + fast_differences(kernel.k2, delta)
    if isinstance(kernel, Scaled):
        return float(kernel.factor) * fast_differences(kernel.kernel, delta)
    terms = _parameters(kernel, delta.shape[-1])
    if terms is None:
        return kernel.of_differences(delta)
    flat = np.ascontiguousarray(delta, np.float64).reshape(-1, delta.shape[-1])
    out = np.empty(len(flat))
    _space_time(flat, *terms, out)
    return out.reshape(delta.shape[:-1])


def _parameters(
    kernel: Kernel, n_columns: int
) -> tuple[FloatArray, float, int, FloatArray, float] | None:
    """Return inverse length scales and ν of space, the kind and the numbers of time, and β."""
    if not isinstance(kernel, SpaceTime) or not isinstance(kernel.space, Matern):
        return None
    space, time = kernel.space, kernel.time
    if space.nu not in _NU:
        return None
    inverse = np.broadcast_to(1 / np.asarray(space.length_scale, np.float64), (n_columns - 1,))
    head = np.ascontiguousarray(inverse), float(space.nu)
    beta = float(kernel.interaction)
    if time is None:
        return *head, NO_TIME, np.zeros(3), beta
    if isinstance(time, Cauchy):
        numbers = np.array([float(np.ravel(time.length_scale)[0]), time.power, time.decay])
        return *head, CAUCHY, numbers, beta
    if isinstance(time, Periodic) and (time.nu in _NU or time.nu == math.inf):
        nu = 0.0 if time.nu == math.inf else time.nu
        return *head, CIRCLE, np.array([time.length_scale, time.period, nu]), beta
    if isinstance(time, Matern) and time.nu in _NU:
        scale = float(np.ravel(time.length_scale)[0])
        return *head, MATERN, np.array([scale, time.nu, 0.0]), beta
    return None


@njit(nogil=True, cache=True)
def _log_matern(nu, distance):  # type: ignore[no-untyped-def]
    """-log of the Matérn function; ν = 0 stands for the Gaussian."""
    if nu == 0.5:
        return distance
    if nu == 1.5:
        t = ROOT_3 * distance
        return t - math.log1p(t)
    if nu == 2.5:
        t = ROOT_5 * distance
        return t - math.log1p(t + t * t / 3.0)
    return 0.5 * distance * distance


@njit(nogil=True, cache=True)
def _space_time(delta, inverse, nu, kind, numbers, beta, out):  # type: ignore[no-untyped-def]
    """IN: differences [n, d + 1] and parameters. OUT: the kernel."""
    dim = delta.shape[1] - 1
    for i in range(len(delta)):
        square = 0.0
        for c in range(dim):
            x = delta[i, c] * inverse[c]
            square += x * x
        u, fall, growth = delta[i, dim], 0.0, 0.0
        if kind == CAUCHY:
            if u != 0.0:
                growth = (abs(u) / numbers[0]) ** numbers[1]
            fall = numbers[2] * math.log1p(growth)
        elif kind == MATERN:
            growth = fall = _log_matern(numbers[1], abs(u) / numbers[0])
        elif kind == CIRCLE:
            half = math.pi * (u / numbers[1] - math.floor(u / numbers[1]))
            growth = fall = _log_matern(numbers[2], 2.0 * abs(math.sin(half)) / numbers[0])
        distance = math.sqrt(square)
        if beta > 0.0 and growth > 0.0:
            log_wider = beta * math.log1p(growth)
            distance *= math.exp(-0.5 * log_wider)
            fall += 0.5 * dim * log_wider
        fall += _log_matern(nu, min(distance, 1e150))
        out[i] = math.exp(-fall) if fall < FAR else 0.0
