"""The compiled engine: all degrees in one fused pass over a block of rows."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..polynomials import log_harmonic_dimensions, recurrence
from .layout import flat_rows

__all__ = ["gegenbauer_features", "gegenbauer_sums"]

# Cosines computed at a time, 256 KB in float32: they do not leave a core's second-level cache.
TILE_SIZE = 1 << 16
# Directions swept together. What a sweep reads and writes stays in the first-level cache: with
# 512 it takes 1.4 times as long.
WIDTH = 128
# Degrees per sweep, which divides that traffic.
STRIDE = 4
# Weights may leave the magnitude of the result by this much, with room to spare for the result.
LOG_RANGE = {"float32": 40.0, "float64": 600.0}


def gegenbauer_sums(
    projections: Array, coefficients: Array, counts: Array, dim: int, out: Array
) -> None:
    """Fill sums over degrees for one block of rows; see `numpy_engine.gegenbauer_sums`.

    Releases the GIL, and works in the precision of `projections`.
    """
    _run(_sums, (projections,), projections.shape, coefficients, counts, dim, out)


def gegenbauer_features(
    units: Array, directions: Array, coefficients: Array, counts: Array, out: Array
) -> None:
    """Fill `gegenbauer_sums` of ``units @ directions``, which are never held all at once.

    Parameters
    ----------
    units : ndarray of shape (n_rows, d)
        IN. Unit vectors x/‖x‖ (zeros where a row has none), in the precision of the features.
    directions : ndarray of shape (d, n_directions)
        IN. Unit vectors w_j.
    coefficients, counts, out
        As in `gegenbauer_sums`.
    """
    if units.shape[1] != len(directions):
        raise ValueError(  # compiled code would read beyond the end
            f"units of shape {units.shape} must have as many columns as directions of shape "
            f"{directions.shape} have rows: pass directions as [d, n_directions]."
        )
    shape = len(units), directions.shape[1]
    _run(_features, (units, directions), shape, coefficients, counts, units.shape[1], out)


def _run(
    compiled: Callable[..., None],
    inputs: tuple[Array, ...],
    shape: tuple[int, ...],
    coefficients: Array,
    counts: Array,
    dim: int,
    out: Array,
) -> None:
    """Check the shapes, scale the coefficients, and call compiled code in one precision."""
    n_rows, n_degrees, n_radial = coefficients.shape
    if (
        out.shape != (n_rows, counts.sum())
        or shape != (n_rows, counts.max())
        or counts.shape != (n_radial,)
        or counts.min() < 0
    ):
        raise ValueError(  # compiled code would write beyond the end
            f"Arrays of shapes {shape}, {coefficients.shape} and {out.shape} do not "
            f"belong to {counts.tolist()} directions."
        )
    # Zeros above the largest degree fill the first sweep; [row, radial, degree] is read in order.
    n_padded = 1 + STRIDE * (-(-(n_degrees - 1) // STRIDE))
    gamma, beta, weights, span = _scaled_recurrence(n_degrees, n_padded, dim)
    dtype = inputs[0].dtype
    if span > LOG_RANGE[dtype.name]:
        if span > LOG_RANGE["float64"]:
            raise ValueError(
                f"Degree {n_degrees - 1} in dimension {dim} is beyond the range of float64: lower "
                "max_degree."
            )
        dtype = np.dtype(np.float64)
    padded = np.zeros((n_rows, n_radial, n_padded), dtype)
    np.multiply(coefficients.transpose(0, 2, 1), weights, out=padded[:, :, :n_degrees])
    contiguous = (np.ascontiguousarray(array, dtype) for array in inputs)
    with flat_rows(out, dtype) as (flat, pitch):
        compiled(*contiguous, padded, counts, dtype.type(gamma), beta.astype(dtype), flat, pitch)


@lru_cache(maxsize=64)
def _scaled_recurrence(
    n_degrees: int, n_padded: int, dim: int
) -> tuple[float, FloatArray, FloatArray, float]:
    """Scale Q_ℓ = s_ℓ P_ℓ such that Q_{ℓ+1} = γ t Q_ℓ - β_ℓ Q_{ℓ-1}: one multiplication less.

    The constant γ brings s_ℓ to √α_ℓ at the largest degree, so that Q_ℓ is close to the
    orthonormal √α_ℓ P_ℓ and neither it nor the weights √α_ℓ / s_ℓ overflow where α_ℓ would.

    Returns
    -------
    gamma : float
    beta : ndarray of shape (n_padded + 1,)
    weights : ndarray of shape (n_degrees,)
        √α_ℓ / s_ℓ.
    span : float
        The largest |log| of the weights.
    """
    a, b = recurrence(n_padded + 1, dim)
    log_root = log_harmonic_dimensions(n_degrees - 1, dim) / 2
    steps = max(n_degrees - 1, 1)
    log_gamma = (np.log(a[:steps]).sum() + log_root[-1]) / steps
    log_scale = np.cumsum(np.concatenate([[0.0], log_gamma - np.log(a)]))  # log s_ℓ
    beta: FloatArray = np.r_[0.0, b[1:] * np.exp(log_scale[2:] - log_scale[:-2])]
    log_weights = log_root - log_scale[:n_degrees]
    return math.exp(log_gamma), beta, np.exp(log_weights), float(np.abs(log_weights).max())


@njit(nogil=True, fastmath=True, cache=True)
def _clenshaw(t, coefficients, counts, gamma, beta, above, out):  # type: ignore[no-untyped-def]
    """Run Clenshaw's recurrence for one row, downwards in the degree, four degrees a sweep.

    With Q_{ℓ+1} = γ t Q_ℓ - β_ℓ Q_{ℓ-1} and Q_0 = 1,

        u_ℓ = c_ℓ + γ t u_{ℓ+1} - β_{ℓ+1} u_{ℓ+2},    Σ_ℓ c_ℓ Q_ℓ(t) = u_0.

    The place of the result holds u_{ℓ+1} on the way.

    coefficients [n_radial, 1 + 4 n_sweeps], counts [n_radial], beta [at least 2 + 4 n_sweeps]: IN.
    t [n_directions]: IN, overwritten with γ t. above [WIDTH]: for u_{ℓ+2}. out [from
    counts.sum()]: OUT.
    """
    n_radial, n_degrees = coefficients.shape
    for j in range(len(t)):
        t[j] = min(max(gamma * t[j], -gamma), gamma)
    first = 0
    for i in range(n_radial):
        c = coefficients[i]
        for start in range(0, counts[i], WIDTH):
            width = min(WIDTH, counts[i] - start)
            x = t[start : start + width]
            upper = out[first + start : first + start + width]
            for j in range(width):
                upper[j] = c[n_degrees - 1]
                above[j] = 0
            for ell in range(n_degrees - 2, 0, -STRIDE):
                c0, c1, c2, c3 = c[ell], c[ell - 1], c[ell - 2], c[ell - 3]
                b0, b1, b2, b3 = beta[ell + 1], beta[ell], beta[ell - 1], beta[ell - 2]
                for j in range(width):
                    u0 = c0 + x[j] * upper[j] - b0 * above[j]
                    u1 = c1 + x[j] * u0 - b1 * upper[j]
                    u2 = c2 + x[j] * u1 - b2 * u0
                    u3 = c3 + x[j] * u2 - b3 * u1
                    upper[j] = u3
                    above[j] = u2
        first += counts[i]


@njit(nogil=True, fastmath=True, cache=True)
def _sums(projections, coefficients, counts, gamma, beta, out, pitch):  # type: ignore[no-untyped-def]
    """Fill row by row, with a copy of the cosines of one."""
    t = np.empty(projections.shape[1], projections.dtype)
    above = np.empty(WIDTH, t.dtype)
    for row in range(len(projections)):
        t[:] = projections[row]
        _clenshaw(t, coefficients[row], counts, gamma, beta, above, out[row * pitch :])


@njit(nogil=True, fastmath=True, cache=True)
def _features(units, directions, coefficients, counts, gamma, beta, out, pitch):  # type: ignore[no-untyped-def]
    """Fill as many rows at a time as make a tile of cosines.

    And at least d of them: BLAS copies the directions for every product, in an order of its own.
    """
    n_rows, dim = units.shape
    n_directions = directions.shape[1]
    n_tile = max(TILE_SIZE // n_directions, dim, 8)
    tile = np.empty((min(n_tile, n_rows), n_directions), units.dtype)
    above = np.empty(WIDTH, tile.dtype)
    for first in range(0, n_rows, n_tile):
        last = min(first + n_tile, n_rows)
        np.dot(units[first:last], directions, tile[: last - first])
        for row in range(first, last):
            t = tile[row - first]
            _clenshaw(t, coefficients[row], counts, gamma, beta, above, out[row * pitch :])
