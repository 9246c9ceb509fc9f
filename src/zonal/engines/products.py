"""Products of columns of two matrices."""

from numba import njit

__all__ = ["multiply_columns"]


@njit(nogil=True, fastmath=True, cache=True)
def multiply_columns(left, right, pairs, out):  # type: ignore[no-untyped-def]
    """Fill out[:, c] = left[:, pairs[0, c]] * right[:, pairs[1, c]], without two copies.

    left [n, a], right [n, b], pairs [2, m]: IN. out [n, m]: OUT.
    """
    for row in range(len(out)):
        x, y, target = left[row], right[row], out[row]
        for c in range(pairs.shape[1]):
            target[c] = x[pairs[0, c]] * y[pairs[1, c]]
