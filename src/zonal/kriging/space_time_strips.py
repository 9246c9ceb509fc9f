r"""A kernel of space and time at many pairs, in loops of one kind of operation each.

With ρ = |h|/ℓ, g the variogram of time at the lag, L = log(1 + g) and F = -log k,

.. math:: F = f(g) + \tfrac{d}{2} \beta L + M(r), \qquad r = \rho\, e^{-\beta L/2},

with f = δL for a Cauchy kernel, f = g for others, and M = -log of the Matérn function. Then, with
s = r M'(r), the slopes of F are -s by log ℓ, (d - s)L/2 by β, f by log δ, and
f'(g) + β(d - s)/(2(1 + g)) by g.

All that depends on the lag is found once for each lag that was met lately: months have 23 of them.
What is left for each pair is one root and one exponential, which run on several numbers at once.
"""

import math

import numpy as np
from numba import njit

from ..engines.correlation import ROOT_3, ROOT_5, exp_minus
from ..engines.tiles import STRIP
from .numerics import FAR, LAGS

__all__ = ["CAUCHY", "CIRCLE", "MATERN", "NO_TIME", "STRIP", "lag_room", "strip_of"]

NO_TIME, CAUCHY, MATERN, CIRCLE = range(4)
# What is known of a lag: itself, the lag or the chord in units of the length scale of time, g, f,
# L, e^(-βL/2) and f + dβL/2.
LAG, UNITS, GROWTH, IN_TIME, LOG_GROWTH, STRETCH, FALL, N_KNOWN = range(8)


@njit(nogil=True, cache=True)
def lag_room():  # type: ignore[no-untyped-def]
    """Return memory for lags that were met, for those of a strip, and to work in."""
    known = np.empty((LAGS, N_KNOWN))
    known[:, LAG] = np.nan
    return known, np.empty((N_KNOWN, STRIP)), np.empty((3, STRIP))


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
def _meet(u, dim, kind, numbers, beta, known, place):  # type: ignore[no-untyped-def]
    """Fill what is known of a lag."""
    lag, growth, fall = 0.0, 0.0, 0.0
    if kind == CAUCHY:
        lag = abs(u) / numbers[0]
        growth = lag ** numbers[1] if lag > 0.0 else 0.0
        fall = numbers[2] * math.log1p(growth)
    elif kind == MATERN:
        lag = abs(u) / numbers[0]
        growth = fall = _log_matern(numbers[1], lag)
    else:
        half = math.pi * (u / numbers[1] - math.floor(u / numbers[1]))
        lag = 2.0 * abs(math.sin(half)) / numbers[0]
        growth = fall = _log_matern(numbers[2], lag)
    log_growth = math.log1p(growth)
    known[place, LAG], known[place, UNITS], known[place, GROWTH] = u, lag, growth
    known[place, IN_TIME], known[place, LOG_GROWTH] = fall, log_growth
    known[place, STRETCH] = math.exp(-0.5 * beta * log_growth)
    known[place, FALL] = fall + 0.5 * dim * beta * log_growth


@njit(nogil=True, cache=True)
def _lookup(lags, bits, dim, kind, numbers, beta, known, mine):  # type: ignore[no-untyped-def]
    """Fill what is known of each lag of a strip: [N_KNOWN, n]."""
    for i in range(len(lags)):
        # The golden section times 2⁶⁴: the upper nine bits of the product differ where any do.
        place = ((bits[i] * -7046029254386353131) >> 55) & (len(known) - 1)
        if known[place, LAG] != lags[i]:
            _meet(lags[i], dim, kind, numbers, beta, known, place)
        for k in range(1, N_KNOWN):
            mine[k, i] = known[place, k]


@njit(nogil=True, cache=True, fastmath={"contract", "nsz"})
def strip_of(  # type: ignore[no-untyped-def]
    squares, lags, dim, nu, kind, numbers, beta, known, mine, work, out
):
    """IN: squares of distances in units of ℓ, and lags, of at most `STRIP` pairs, and parameters.

    OUT: the kernel and, if there is room, its slopes: [1 or more, n].
    """
    n, with_slopes = len(squares), len(out) > 1
    x, scratch, root = work[0, :n], work[1, :n], work[2, :n]
    factor = 1.0 if nu == 0.5 else (ROOT_3 if nu == 1.5 else ROOT_5)
    if kind == NO_TIME:
        for i in range(n):
            root[i] = min(factor * math.sqrt(squares[i]), 1e150)
            x[i] = root[i]
    else:
        _lookup(lags, lags.view(np.int64), dim, kind, numbers, beta, known, mine)
        for i in range(n):
            root[i] = min(factor * mine[STRETCH, i] * math.sqrt(squares[i]), 1e150)
            x[i] = root[i] + mine[FALL, i]
    value = out[0]
    exp_minus(x, scratch, scratch.view(np.int64), value)
    if nu == 1.5:
        for i in range(n):
            value[i] *= 1.0 + root[i]
    elif nu == 2.5:
        for i in range(n):
            value[i] *= 1.0 + root[i] + root[i] * root[i] / 3.0
    for i in range(n):
        value[i] = value[i] if x[i] < FAR else 0.0
    if not with_slopes:
        return
    last = len(out) - 1
    for i in range(n):
        if value[i] == 0.0:
            for k in range(1, last + 1):
                out[k, i] = 0.0
            continue
        t = root[i]
        slope = t
        if nu == 1.5:
            slope = t * t / (1.0 + t)
        elif nu == 2.5:
            slope = t * t * (1.0 + t) / (3.0 + 3.0 * t + t * t)
        out[1, i] = value[i] * slope
        if kind == NO_TIME:
            continue
        wider, growth = 0.5 * (dim - slope), mine[GROWTH, i]
        out[last, i] = -value[i] * wider * mine[LOG_GROWTH, i]
        if kind == CAUCHY:
            lag = mine[UNITS, i]
            steep = (numbers[2] + beta * wider) / (1.0 + growth)
            out[2, i] = value[i] * steep * numbers[1] * growth
            out[3, i] = -value[i] * steep * growth * math.log(lag) if lag > 0.0 else 0.0
            out[4, i] = -value[i] * mine[IN_TIME, i]
        else:
            steep = 1.0 + beta * wider / (1.0 + growth)
            shape = numbers[1] if kind == MATERN else numbers[2]
            out[2, i] = value[i] * steep * _matern_slope(shape, mine[UNITS, i])
