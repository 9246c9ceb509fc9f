"""The compiled engine: all degrees in one fused pass over a block of rows."""

import numpy as np
from numba import njit

from .._typing import Array
from ..polynomials import recurrence

__all__ = ["gegenbauer_sums"]

# Directions handled together. Three buffers of this width stay in the first-level cache.
WIDTH = 256
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
    padded = np.zeros((n_rows, n_radial, 1 + STRIDE * (-(-(n_degrees - 1) // STRIDE))), dtype)
    padded[:, :, :n_degrees] = coefficients.transpose(0, 2, 1)
    a, b = recurrence(padded.shape[2], dim)
    _clenshaw(projections, padded, counts, a.astype(dtype), b.astype(dtype), out)


@njit(nogil=True, fastmath=True, cache=True)
def _clenshaw(projections, coefficients, counts, a, b, out):  # type: ignore[no-untyped-def]
    """Clenshaw's recurrence, downwards in the degree, four degrees a sweep.

    With P_{ℓ+1} = a_ℓ t P_ℓ - b_ℓ P_{ℓ-1},

        u_ℓ = c_ℓ + a_ℓ t u_{ℓ+1} - b_{ℓ+1} u_{ℓ+2},    Σ_ℓ c_ℓ P_ℓ(t) = u_0.

    projections [n_rows, n_directions], coefficients [n_rows, n_radial, 1 + 4 n_sweeps],
    counts [n_radial], a and b [at least 2 + 4 n_sweeps]: IN. out [n_rows, counts.sum()]: OUT.
    """
    n_rows, n_radial, n_degrees = coefficients.shape
    t = np.empty(WIDTH, projections.dtype)
    upper = np.empty(WIDTH, projections.dtype)  # u_{ℓ+1}
    above = np.empty(WIDTH, projections.dtype)  # u_{ℓ+2}
    one = projections.dtype.type(1)
    for row in range(n_rows):
        first = 0
        for i in range(n_radial):
            c = coefficients[row, i]
            for start in range(0, counts[i], WIDTH):
                width = min(WIDTH, counts[i] - start)
                for j in range(width):
                    t[j] = min(max(projections[row, start + j], -one), one)
                    upper[j] = 0
                    above[j] = 0
                for ell in range(n_degrees - 1, 0, -STRIDE):
                    c0, c1, c2, c3 = c[ell], c[ell - 1], c[ell - 2], c[ell - 3]
                    a0, a1, a2, a3 = a[ell], a[ell - 1], a[ell - 2], a[ell - 3]
                    b0, b1, b2, b3 = b[ell + 1], b[ell], b[ell - 1], b[ell - 2]
                    for j in range(width):
                        x = t[j]
                        u0 = c0 + a0 * x * upper[j] - b0 * above[j]
                        u1 = c1 + a1 * x * u0 - b1 * upper[j]
                        u2 = c2 + a2 * x * u1 - b2 * u0
                        u3 = c3 + a3 * x * u2 - b3 * u1
                        upper[j] = u3
                        above[j] = u2
                for j in range(width):
                    out[row, first + start + j] = c[0] + a[0] * t[j] * upper[j] - b[1] * above[j]
            first += counts[i]
