r"""Kernels of space and time at differences, in compiled loops: one pass instead of twenty.

What `SpaceTime.of_differences` computes, for Matérn kernels of space with ν = 1/2, 3/2 or 5/2 and
none, Cauchy or such a Matérn kernel of time, on the line or on a circle; and its slopes by its own
parameters. With ρ = |h|/ℓ, g the variogram of time at the lag, L = log(1 + g) and F = -log k,

.. math:: F = f(g) + \tfrac{d}{2} \beta L + M(r), \qquad r = \rho\, e^{-\beta L/2},

with f = δL for a Cauchy kernel, f = g for others, and M = -log of the Matérn function. Then, with
s = r M'(r), the slopes of F are -s by log ℓ, (d - s)L/2 by β, f by log δ, and
f'(g) + β(d - s)/(2(1 + g)) by g.
"""

import math

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..engines.correlation import ROOT_3, ROOT_5
from ..kernels import Cauchy, Kernel, Matern, Periodic, SpaceTime
from ..kernels.base import Scaled, Sum
from .numerics import FAR, SMOOTHNESS

__all__ = ["SLOPES", "differences_and_slopes", "fast_differences"]

NO_TIME, CAUCHY, MATERN, CIRCLE = range(4)
#: The parameters that have slopes, by the kind of the kernel of time.
SLOPES = {
    NO_TIME: ("log ℓ of space",),
    CAUCHY: ("log ℓ of space", "log ℓ of time", "power", "log δ", "β"),
    MATERN: ("log ℓ of space", "log ℓ of time", "β"),
    CIRCLE: ("log ℓ of space", "log ℓ of time", "β"),
}


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
    out = np.empty((1, len(flat)))
    _space_time(flat, *terms, out)
    return out.reshape(delta.shape[:-1])


def differences_and_slopes(kernel: Kernel, delta: FloatArray, n_slopes: int) -> FloatArray:
    """Return a kernel at differences [..., d], and its slopes by its first parameters.

    Parameters
    ----------
    kernel : Kernel
        With a compiled form, unless no slopes are asked for.
    delta : ndarray of shape (..., d)
    n_slopes : int
        How many of the parameters in the order of `SLOPES`.

    Returns
    -------
    ndarray of shape (1 + n_slopes, ...)

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> from zonal.kriging.compiled_differences import differences_and_slopes
    >>> kernel = zonal.SpaceTime(zonal.Matern(0.5, 2.0), zonal.Cauchy(1.0, 1.0))
    >>> differences_and_slopes(kernel, np.array([[2.0, 1.0]]), 2).ravel().round(4)
    array([0.1839, 0.1839, 0.092 ])
    """
    if not n_slopes:
        return fast_differences(kernel, delta)[None]
    terms = _parameters(kernel, delta.shape[-1])
    if terms is None or n_slopes > len(SLOPES[terms[2]]):
        raise ValueError(f"{kernel!r} has no compiled slopes by {n_slopes} parameters.")
    flat = np.ascontiguousarray(delta, np.float64).reshape(-1, delta.shape[-1])
    out = np.empty((1 + len(SLOPES[terms[2]]), len(flat)))
    _space_time(flat, *terms, out)
    return out[: 1 + n_slopes].reshape(1 + n_slopes, *delta.shape[:-1])


def _parameters(
    kernel: Kernel, n_columns: int
) -> tuple[FloatArray, float, int, FloatArray, float] | None:
    """Return inverse length scales and ν of space, the kind and the numbers of time, and β."""
    if not isinstance(kernel, SpaceTime) or not isinstance(kernel.space, Matern):
        return None
    space, time = kernel.space, kernel.time
    if space.nu not in SMOOTHNESS:
        return None
    inverse = np.broadcast_to(1 / np.asarray(space.length_scale, np.float64), (n_columns - 1,))
    head = np.ascontiguousarray(inverse), float(space.nu)
    beta = float(kernel.interaction)
    if time is None:
        return *head, NO_TIME, np.zeros(3), beta
    if isinstance(time, Cauchy):
        numbers = np.array([float(np.ravel(time.length_scale)[0]), time.power, time.decay])
        return *head, CAUCHY, numbers, beta
    if isinstance(time, Periodic) and (time.nu in SMOOTHNESS or time.nu == math.inf):
        nu = 0.0 if time.nu == math.inf else time.nu
        return *head, CIRCLE, np.array([time.length_scale, time.period, nu]), beta
    if isinstance(time, Matern) and time.nu in SMOOTHNESS:
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
def _matern_slope(nu, distance):  # type: ignore[no-untyped-def]
    """Return r M'(r), the slope of `_log_matern` by the logarithm of the distance."""
    if nu == 0.5:
        return distance
    if nu == 1.5:
        t = ROOT_3 * distance
        return t * t / (1.0 + t)
    if nu == 2.5:
        t = ROOT_5 * distance
        return t * t * (1.0 + t) / (3.0 + 3.0 * t + t * t)
    return distance * distance


@njit(nogil=True, cache=True)
def _space_time(delta, inverse, nu, kind, numbers, beta, out):  # type: ignore[no-untyped-def]
    """IN: differences [n, d + 1] and parameters. OUT: the kernel, and slopes if there is room."""
    dim, with_slopes = delta.shape[1] - 1, len(out) > 1
    for i in range(len(delta)):
        square = 0.0
        for c in range(dim):
            x = delta[i, c] * inverse[c]
            square += x * x
        u, fall, growth, steep = delta[i, dim], 0.0, 0.0, 0.0
        lag = 0.0  # the lag, or the chord, in units of the length scale of time
        if kind == CAUCHY:
            lag = abs(u) / numbers[0]
            growth = lag ** numbers[1] if lag > 0.0 else 0.0
            fall = numbers[2] * math.log1p(growth)
        elif kind == MATERN:
            lag = abs(u) / numbers[0]
            growth = fall = _log_matern(numbers[1], lag)
        elif kind == CIRCLE:
            half = math.pi * (u / numbers[1] - math.floor(u / numbers[1]))
            lag = 2.0 * abs(math.sin(half)) / numbers[0]
            growth = fall = _log_matern(numbers[2], lag)
        in_time = fall
        distance, log_growth = math.sqrt(square), 0.0
        if growth > 0.0 and (beta > 0.0 or with_slopes):
            log_growth = math.log1p(growth)
            distance *= math.exp(-0.5 * beta * log_growth)
            fall += 0.5 * dim * beta * log_growth
        distance = min(distance, 1e150)
        fall += _log_matern(nu, distance)
        value = math.exp(-fall) if fall < FAR else 0.0
        out[0, i] = value
        if not with_slopes:
            continue
        if value == 0.0:
            for k in range(1, len(out)):
                out[k, i] = 0.0
            continue
        slope = _matern_slope(nu, distance)
        out[1, i] = value * slope
        if kind == NO_TIME:
            continue
        wider = 0.5 * (dim - slope)
        out[len(out) - 1, i] = -value * wider * log_growth
        if kind == CAUCHY:
            steep = (numbers[2] + beta * wider) / (1.0 + growth)
            out[2, i] = value * steep * numbers[1] * growth
            out[3, i] = -value * steep * growth * math.log(lag) if lag > 0.0 else 0.0
            out[4, i] = -value * in_time
        else:
            steep = 1.0 + beta * wider / (1.0 + growth)
            shape = numbers[1] if kind == MATERN else numbers[2]
            out[2, i] = value * steep * _matern_slope(shape, lag)
