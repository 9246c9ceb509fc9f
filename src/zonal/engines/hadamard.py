"""The fast Walsh–Hadamard transform, and the product of FastFood that is made of two."""

import numpy as np
from numba import njit

from .._typing import Array

__all__ = ["fastfood_products", "walsh_hadamard"]


def walsh_hadamard(x: Array) -> Array:
    """Multiply the last axis by Hadamard's matrix, in place: x ← x H.

    H is the matrix of `scipy.linalg.hadamard`, with entries ±1 and H H = n I; its product with a
    vector of length n takes n log₂ n additions. Releases the GIL.

    Parameters
    ----------
    x : ndarray of shape (..., n)
        float32 or float64, in C order; n a power of two.

    Returns
    -------
    ndarray of shape (..., n)
        `x`.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.engines.hadamard import walsh_hadamard
    >>> walsh_hadamard(np.array([1.0, 2.0, 3.0, 4.0]))
    array([10., -2., -4.,  0.])
    """
    n = x.shape[-1] if x.ndim else 0
    if n == 0 or n & (n - 1):
        raise ValueError(
            f"The last axis of shape {x.shape} must be a power of two: pad with zeros."
        )
    if not x.flags.c_contiguous or x.dtype not in (np.float32, np.float64):
        raise ValueError(
            f"An array of type {x.dtype} and strides {x.strides} cannot be transformed in place: "
            "pass float32 or float64 in C order (np.ascontiguousarray)."
        )
    _transform_rows(x.reshape(-1, n))
    return x


def fastfood_products(
    rows: Array, signs: Array, permutations: Array, normals: Array, scales: Array, out: Array
) -> None:
    """Fill the products V x of FastFood, V = S H G Π H B, for one block of rows.

    Releases the GIL. Two buffers of one row stay in the first-level cache all the way.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        x.
    signs, normals, scales : ndarray of shape (n_blocks, p)
        The diagonals B, G and S, in the precision of the rows; p ≥ d is a power of two.
    permutations : ndarray of shape (n_blocks, p)
        Π: entry j is taken from place ``permutations[block, j]``.
    out : ndarray of shape (n, m)
        Filled with the first m ≤ n_blocks · p products.
    """
    n_blocks, padded = signs.shape
    shapes = {table.shape for table in (signs, permutations, normals, scales)}
    if (
        rows.shape[1] > padded
        or out.shape[1] > n_blocks * padded
        or len(out) != len(rows)
        or len(shapes) > 1
    ):
        raise ValueError(  # compiled code would write beyond the end
            f"Rows of shape {rows.shape} and products of shape {out.shape} do not belong to "
            f"{n_blocks} blocks of {padded}, or tables of shapes {sorted(shapes)} do not agree."
        )
    _fastfood(np.ascontiguousarray(rows), signs, permutations, normals, scales, out)


@njit(nogil=True, fastmath=True, cache=True)
def _step(x, out):  # type: ignore[no-untyped-def]
    """Add and subtract along the highest bit of the index, which becomes the lowest one.

    All steps of the transform are this one: after as many as there are bits, each bit is back
    in its place. Unlike butterflies in place, whose first steps have strides of 1, 2 and 4, every
    step reads and writes in order, so that the loop is vectorised.
    """
    half = x.size // 2
    for j in range(half):
        out[2 * j] = x[j] + x[j + half]
        out[2 * j + 1] = x[j] - x[j + half]


@njit(nogil=True, fastmath=True, cache=True)
def _transform(x, spare):  # type: ignore[no-untyped-def]
    """Transform one vector x in place; `spare` has the same length."""
    done = 1
    while done < x.size:
        _step(x, spare)
        done *= 2
        if done < x.size:
            _step(spare, x)
            done *= 2
        else:
            x[:] = spare


@njit(nogil=True, fastmath=True, cache=True)
def _transform_rows(x):  # type: ignore[no-untyped-def]
    spare = np.empty(x.shape[1], x.dtype)
    for row in range(x.shape[0]):
        _transform(x[row], spare)


@njit(nogil=True, fastmath=True, cache=True)
def _fastfood(rows, signs, permutations, normals, scales, out):  # type: ignore[no-untyped-def]
    n_rows, dim = rows.shape
    n_blocks, padded = signs.shape
    x = np.empty(padded, rows.dtype)
    y = np.empty(padded, rows.dtype)
    for row in range(n_rows):
        for block in range(n_blocks):
            for j in range(dim):
                x[j] = signs[block, j] * rows[row, j]
            for j in range(dim, padded):
                x[j] = 0
            _transform(x, y)
            for j in range(padded):
                y[j] = normals[block, j] * x[permutations[block, j]]
            _transform(y, x)
            first = block * padded
            for j in range(min(padded, out.shape[1] - first)):
                out[row, first + j] = scales[block, j] * y[j]
