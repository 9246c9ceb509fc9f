"""Products of columns of two matrices."""

from numba import njit

from .._typing import Array

__all__ = ["multiply_columns"]


def multiply_columns(left: Array, right: Array, pairs: Array, out: Array) -> None:
    """Fill out[:, c] = left[:, pairs[0, c]] * right[:, pairs[1, c]], without two copies.

    left [n, a], right [n, b], pairs [2, m]: IN. out [n, m]: OUT.
    """
    one, other = pairs
    if (  # or compiled code would read and write beyond the end
        not len(left) == len(right) == len(out)
        or pairs.shape != (2, out.shape[1])
        or (one.size and not 0 <= one.min() <= one.max() < left.shape[1])
        or (one.size and not 0 <= other.min() <= other.max() < right.shape[1])
    ):
        raise ValueError(
            f"Pairs of shape {pairs.shape} do not belong to arrays of shapes {left.shape}, "
            f"{right.shape} and {out.shape}."
        )
    _multiply_columns(left, right, pairs, out)


@njit(nogil=True, fastmath=True, cache=True)
def _multiply_columns(left, right, pairs, out):  # type: ignore[no-untyped-def]
    for row in range(len(out)):
        x, y, target = left[row], right[row], out[row]
        for c in range(pairs.shape[1]):
            target[c] = x[pairs[0, c]] * y[pairs[1, c]]
