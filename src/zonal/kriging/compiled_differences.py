"""Kernels of space and time at differences, in compiled loops: one pass instead of twenty.

What `SpaceTime.of_differences` computes, for Matérn kernels of space with ν = 1/2, 3/2 or 5/2 and
none, Cauchy or such a Matérn kernel of time, on the line or on a circle; and its slopes by its own
parameters (`space_time_strips`).
"""

import math

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..engines.correlation import scaled
from ..engines.tiles import apply_double, square_distances
from ..kernels import Cauchy, Kernel, Matern, Periodic, SpaceTime
from ..kernels.compiled import of_kernel
from .covariance import terms_of
from .numerics import SMOOTHNESS
from .space_time_strips import CAUCHY, CIRCLE, MATERN, NO_TIME, STRIP, lag_room, strip_of

__all__ = ["SLOPES", "cross_values", "differences_and_slopes", "fast_differences"]

#: The parameters that have slopes, by the kind of the kernel of time. The velocity's come after
#: them, one for each column of the place.
SLOPES = {
    NO_TIME: ("log ℓ of space",),
    CAUCHY: ("log ℓ of space", "log ℓ of time", "power", "log δ", "β"),
    MATERN: ("log ℓ of space", "log ℓ of time", "β"),
    CIRCLE: ("log ℓ of space", "log ℓ of time", "β"),
}


def fast_differences(kernel: Kernel, delta: FloatArray) -> FloatArray:
    """Return a kernel at differences [..., d], as its `of_differences` does: [...]."""
    flat = np.ascontiguousarray(delta, np.float64).reshape(-1, delta.shape[-1])
    total, out = np.zeros(len(flat)), np.empty((1, len(flat)))
    for weight, term in terms_of(kernel):
        terms = _parameters(term, flat.shape[1])
        if terms is None:
            total += weight * term.of_differences(flat)
        else:
            _space_time(flat, *terms, 1, out)
            total += weight * out[0]
    return total.reshape(delta.shape[:-1])


def differences_and_slopes(kernel: Kernel, delta: FloatArray, n_slopes: int) -> FloatArray:
    """Return a kernel at differences [..., d], and its slopes by its first parameters.

    Parameters
    ----------
    kernel : Kernel
        With a compiled form, unless no slopes are asked for.
    delta : ndarray of shape (..., d)
    n_slopes : int
        How many of the parameters in the order of `SLOPES`, and then of the velocity.

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
    n_columns = delta.shape[-1]
    terms = _parameters(kernel, n_columns)
    own = 0 if terms is None else len(SLOPES[terms[3]])
    if terms is None or n_slopes > own + n_columns - 1:
        raise ValueError(f"{kernel!r} has no compiled slopes by {n_slopes} parameters.")
    flat = np.ascontiguousarray(delta, np.float64).reshape(-1, n_columns)
    out = np.empty((1 + own + (n_columns - 1 if n_slopes > own else 0), len(flat)))
    _space_time(flat, *terms, 1 + own, out)
    return out[: 1 + n_slopes].reshape(1 + n_slopes, *delta.shape[:-1])


def cross_values(kernel: Kernel, rows: FloatArray, others: FloatArray) -> FloatArray:
    """Return a kernel of differences at all pairs of rows [n, d] and others [m, d]: [n, m].

    The sum of its terms, without an array of all differences where they have a compiled form.
    """
    out = np.zeros((len(rows), len(others)))
    for weight, term in terms_of(kernel):
        terms, correlation = _parameters(term, rows.shape[1]), of_kernel(term)
        if terms is not None:
            points, columns = (_moved_and_scaled(one, *terms[:2]) for one in (rows, others))
            _space_time_cross(points, np.ascontiguousarray(columns.T), *terms[2:], weight, out)
        elif correlation is not None:
            points, landmarks = (scaled(one, correlation.length_scale) for one in (rows, others))
            values = np.empty_like(out)
            square_distances(points, np.ascontiguousarray(landmarks.T), 0, values)
            apply_double(correlation.family, correlation.shape, values)
            out += weight * values
        else:
            out += weight * term.of_differences(rows[:, None, :] - others)
    return out


def _moved_and_scaled(rows: FloatArray, inverse: FloatArray, velocity: FloatArray) -> FloatArray:
    """Return rows [n, d + 1] with places moved back, in units of the length scales."""
    places = rows[:, :-1] - velocity * rows[:, -1:]
    return np.column_stack([places * inverse, rows[:, -1]])


def _parameters(
    kernel: Kernel, n_columns: int
) -> tuple[FloatArray, FloatArray, float, int, FloatArray, float] | None:
    """Return inverse length scales, velocity and ν of space, kind and numbers of time, and β."""
    if not isinstance(kernel, SpaceTime) or not isinstance(kernel.space, Matern):
        return None
    space, time = kernel.space, kernel.time
    if space.nu not in SMOOTHNESS:
        return None
    inverse = np.broadcast_to(1 / np.asarray(space.length_scale, np.float64), (n_columns - 1,))
    velocity = np.zeros(n_columns - 1) if kernel.velocity is None else np.array(kernel.velocity)
    head = np.ascontiguousarray(inverse), velocity.astype(np.float64), float(space.nu)
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
def _space_time(delta, inverse, velocity, nu, kind, numbers, beta, n_own, out):  # type: ignore[no-untyped-def]
    """IN: differences [n, d + 1], parameters and how many lines of OUT are not by velocity.

    OUT: the kernel, and slopes if there is room.
    """
    dim, squares, lags = delta.shape[1] - 1, np.empty(STRIP), np.empty(STRIP)
    known, mine, work = lag_room()
    for first in range(0, len(delta), STRIP):
        n = min(STRIP, len(delta) - first)
        for i in range(n):
            square, lag = 0.0, delta[first + i, dim]
            for c in range(dim):
                x = (delta[first + i, c] - velocity[c] * lag) * inverse[c]
                square += x * x
            squares[i], lags[i] = square, lag
        strip = out[:n_own, first : first + n]
        strip_of(
            squares[:n], lags[:n], dim, nu, kind, numbers, beta, known, mine, work, strip
        )  # fmt: skip
        if len(out) == n_own:
            continue
        for i in range(n):
            # The kernel depends on place by S = Σ ((h - v u)/ℓ)², and its slope by log ℓ is -2 S
            # times that by S.
            along = lags[i] * strip[1, i] / squares[i] if squares[i] > 0.0 else 0.0
            for c in range(dim):
                x = delta[first + i, c] - velocity[c] * lags[i]
                out[n_own + c, first + i] = along * x * inverse[c] * inverse[c]


@njit(nogil=True, cache=True)
def _space_time_cross(rows, others, nu, kind, numbers, beta, weight, out):  # type: ignore[no-untyped-def]
    """IN: rows [n, d + 1], others [d + 1, m], both with places in units of length scales.

    OUT: the kernel of all pairs, times a weight, is added: [n, m].
    """
    dim, n_others = len(others) - 1, others.shape[1]
    squares, lags, values = np.empty(STRIP), np.empty(STRIP), np.empty((1, STRIP))
    known, mine, work = lag_room()
    for first in range(0, n_others, STRIP):
        n = min(STRIP, n_others - first)
        for i in range(len(rows)):
            squares[:n] = 0.0
            for c in range(dim):
                x, column = rows[i, c], others[c, first : first + n]
                for j in range(n):
                    squares[j] += (x - column[j]) * (x - column[j])
            for j in range(n):
                lags[j] = rows[i, dim] - others[dim, first + j]
            strip_of(
                squares[:n], lags[:n], dim, nu, kind, numbers, beta, known, mine, work,
                values[:, :n],
            )  # fmt: skip
            for j in range(n):
                out[i, first + j] += weight * values[0, j]
