"""Distances between a few and many points of few columns, from their differences.

‖x‖² + ‖y‖² - 2⟨x, y⟩ is one product of matrices, but cancels where points are close. In few
columns the differences themselves cost no more, and have all digits, in float32 too.
"""

import numba
import numpy as np

from .._typing import Array

__all__ = ["DIRECT_COLUMNS", "direct_distances"]

#: With more columns than this, a product of matrices is faster.
DIRECT_COLUMNS = 32
# Points at a time: their distances stay in the first-level cache while columns are added up.
TILE = 1024


def direct_distances(rows: Array, others: Array) -> Array:
    """Return Euclidean distances of shape (n, m) between rows [n, d] and others [m, d].

    Both of one type, float32 or float64, as is the result. Squares of differences must be within
    the range of the type.
    """
    if rows.shape[1] != others.shape[1]:  # or compiled code would read beyond the end
        raise ValueError(f"Rows of shapes {rows.shape} and {others.shape} have no distances.")
    out: Array = np.empty((len(rows), len(others)), rows.dtype)
    _fill(np.ascontiguousarray(rows), np.ascontiguousarray(others.T), out)
    return out


@numba.njit(nogil=True, cache=True)
def _fill(rows: Array, columns: Array, out: Array) -> None:
    """Fill √Σ_k (x_k - y_k)², column by column: the loops over many y have no dependence."""
    n_columns, n_others = columns.shape
    for first in range(0, n_others, TILE):
        last = min(first + TILE, n_others)
        for i in range(len(rows)):
            sums = out[i, first:last]
            sums[:] = 0
            for k in range(n_columns):
                x, y = rows[i, k], columns[k, first:last]
                for j in range(last - first):
                    sums[j] += (x - y[j]) * (x - y[j])
            for j in range(last - first):
                sums[j] = np.sqrt(sums[j])
