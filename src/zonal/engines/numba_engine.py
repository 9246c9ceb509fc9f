"""The compiled engine: all degrees in one fused pass over a block of rows."""

from functools import lru_cache

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..polynomials import recurrence

__all__ = ["gegenbauer_sums"]

# Directions handled together. Three buffers of this width stay in the first-level cache.
WIDTH = 512
# Degrees per sweep over the buffers, which divides their traffic.
STRIDE = 4


def gegenbauer_sums(
    projections: Array, coefficients: Array, counts: Array, dim: int, out: Array
) -> None:
    """Sums over degrees for one block of rows; see `numpy_engine.gegenbauer_sums`.

    Releases the GIL, and works in the precision of `projections`.
    """
    dtype = projections.dtype
    n_rows, n_degrees, n_radial = coefficients.shape
    # Zeros above the largest degree fill the last sweep; [row, radial, degree] is read in order.
    n_padded = 1 + STRIDE * (-(-(n_degrees - 1) // STRIDE))
    gamma, beta, scale = _scaled_recurrence(n_padded, dim)
    padded = np.zeros((n_rows, n_radial, n_padded), dtype)
    np.divide(coefficients.transpose(0, 2, 1), scale[:n_degrees], out=padded[:, :, :n_degrees])
    _clenshaw(projections, padded, counts, dtype.type(gamma), beta.astype(dtype), out)


@lru_cache(maxsize=64)
def _scaled_recurrence(n_degrees: int, dim: int) -> tuple[float, FloatArray, FloatArray]:
    """Scale Q_ℓ = s_ℓ P_ℓ such that Q_{ℓ+1} = γ t Q_ℓ - β_ℓ Q_{ℓ-1}: one multiplication less.

    The constant γ is the geometric mean of the a_ℓ, which brings s_ℓ back to one at the largest
    degree; on the way it stays below e⁵⁵ for all dimensions and degrees up to 1,024, so that even
    float32 does not overflow.
    """
    a, b = recurrence(n_degrees + 1, dim)
    gamma = float(np.exp(np.log(a[: max(n_degrees - 1, 1)]).mean()))
    scale: FloatArray = np.cumprod(np.concatenate([[1.0], gamma / a]))  # s_ℓ
    beta: FloatArray = np.r_[0.0, b[1:] * scale[2:] / scale[:-2]]
    return gamma, beta, scale


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
