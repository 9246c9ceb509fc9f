"""The compiled engine: all degrees in one fused pass over a block of rows."""

import math
from functools import lru_cache

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..polynomials import log_harmonic_dimensions, recurrence

__all__ = ["gegenbauer_sums"]

# Directions handled together. Three buffers of this width stay in the first-level cache.
WIDTH = 512
# Degrees per sweep over the buffers, which divides their traffic.
STRIDE = 4
# Weights may leave the magnitude of the result by this much, with room to spare for the result.
LOG_RANGE = {"float32": 40.0, "float64": 600.0}


def gegenbauer_sums(
    projections: Array, coefficients: Array, counts: Array, dim: int, out: Array
) -> None:
    """Sums over degrees for one block of rows; see `numpy_engine.gegenbauer_sums`.

    Releases the GIL, and works in the precision of `projections`.
    """
    n_rows, n_degrees, n_radial = coefficients.shape
    if out.shape != (n_rows, counts.sum()) or projections.shape != (n_rows, counts.max()):
        raise ValueError(  # compiled code would write beyond the end
            f"Arrays of shapes {projections.shape}, {coefficients.shape} and {out.shape} do not "
            f"belong to {counts.tolist()} directions."
        )
    # Zeros above the largest degree fill the last sweep; [row, radial, degree] is read in order.
    n_padded = 1 + STRIDE * (-(-(n_degrees - 1) // STRIDE))
    gamma, beta, weights, span = _scaled_recurrence(n_degrees, n_padded, dim)
    dtype = projections.dtype
    if span > LOG_RANGE[dtype.name]:
        if span > LOG_RANGE["float64"]:
            raise ValueError(
                f"Degree {n_degrees - 1} in dimension {dim} is beyond the range of float64: lower "
                "max_degree."
            )
        dtype = np.dtype(np.float64)
    padded = np.zeros((n_rows, n_radial, n_padded), dtype)
    np.multiply(coefficients.transpose(0, 2, 1), weights, out=padded[:, :, :n_degrees])
    _clenshaw(
        projections.astype(dtype, copy=False),
        padded,
        counts,
        dtype.type(gamma),
        beta.astype(dtype),
        out,
    )


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
def _clenshaw(projections, coefficients, counts, gamma, beta, out):  # type: ignore[no-untyped-def]
    """Clenshaw's recurrence, downwards in the degree, four degrees a sweep.

    With Q_{ℓ+1} = γ t Q_ℓ - β_ℓ Q_{ℓ-1} and Q_0 = 1,

        u_ℓ = c_ℓ + γ t u_{ℓ+1} - β_{ℓ+1} u_{ℓ+2},    Σ_ℓ c_ℓ Q_ℓ(t) = u_0.

    projections [n_rows, n_directions], coefficients [n_rows, n_radial, 1 + 4 n_sweeps],
    counts [n_radial], beta [at least 2 + 4 n_sweeps]: IN. out [n_rows, counts.sum()]: OUT.
    """
    n_rows, n_radial, n_degrees = coefficients.shape
    t = np.empty(WIDTH, projections.dtype)  # γ t
    upper = np.empty(WIDTH, projections.dtype)  # u_{ℓ+1}
    above = np.empty(WIDTH, projections.dtype)  # u_{ℓ+2}
    for row in range(n_rows):
        first = 0
        for i in range(n_radial):
            c = coefficients[row, i]
            for start in range(0, counts[i], WIDTH):
                width = min(WIDTH, counts[i] - start)
                for j in range(width):
                    t[j] = min(max(gamma * projections[row, start + j], -gamma), gamma)
                    upper[j] = 0
                    above[j] = 0
                for ell in range(n_degrees - 1, 0, -STRIDE):
                    c0, c1, c2, c3 = c[ell], c[ell - 1], c[ell - 2], c[ell - 3]
                    b0, b1, b2, b3 = beta[ell + 1], beta[ell], beta[ell - 1], beta[ell - 2]
                    for j in range(width):
                        u0 = c0 + t[j] * upper[j] - b0 * above[j]
                        u1 = c1 + t[j] * u0 - b1 * upper[j]
                        u2 = c2 + t[j] * u1 - b2 * u0
                        u3 = c3 + t[j] * u2 - b3 * u1
                        upper[j] = u3
                        above[j] = u2
                for j in range(width):
                    out[row, first + start + j] = c[0] + t[j] * upper[j] - beta[1] * above[j]
            first += counts[i]
