r"""Kriging weights and conditional variances of many rows, each from its own neighbours.

For a row q with neighbours N, correlations R and nugget η_j (the noise of row j over the scale),

.. math:: b = (R_{NN} + \mathrm{diag}(\eta_N))^{-1} r_{Nq}, \qquad v = k(q, q) - r_{Nq}^\top b.

Both come from one Cholesky factor of the matrix of the neighbours with the row itself in the last
place: its last column is what b is solved from, its last pivot is v. A neighbour that the ones
before it determine (a pivot that is rounding) gets the weight zero, so that no jitter is needed.

The compiled loop serves the kernels of `correlation`; `reference_weights` is the same in NumPy for
any kernel, and what the loop is tested against.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..kernels import Kernel
from ..rows.threads import ordered_map
from .correlation import Correlation, correlate, slopes
from .neighbors import Indices

__all__ = ["compiled_gradient", "compiled_weights", "reference_weights"]

#: Variances below this share of k(x, x) are rounding.
FLOOR = 1e-12
BLOCK = 2048


def compiled_weights(
    correlation: Correlation,
    points: FloatArray,
    nugget: FloatArray,
    queries: FloatArray,
    neighbors: Indices,
) -> tuple[FloatArray, FloatArray]:
    """Weights and conditional variances, on all cores.

    Parameters
    ----------
    correlation : Correlation
    points : ndarray of shape (n, d)
        Rows in units of their length scales.
    nugget : ndarray of shape (n,)
        η_j.
    queries : ndarray of shape (n_queries, d)
        Where the weights are for, in the same units.
    neighbors : ndarray of shape (n_queries, m)
        Row numbers; -1, at the end, for none.

    Returns
    -------
    weights : ndarray of shape (n_queries, m)
        b, zero where there is no neighbour.
    variance : ndarray of shape (n_queries,)
        v without the noise of the query itself, at least `FLOOR`.
    """
    weights = np.zeros(neighbors.shape)
    variance = np.empty(len(queries))

    def run(start: int) -> None:
        rows = slice(start, start + BLOCK)
        _weights(
            correlation.family, correlation.shape, points, nugget, queries[rows], neighbors[rows],
            weights[rows], variance[rows],
        )  # fmt: skip

    for _ in ordered_map(run, range(0, len(queries), BLOCK)):
        pass
    return weights, variance


def compiled_gradient(
    correlation: Correlation,
    points: FloatArray,
    nugget: FloatArray,
    rows: Array,
    neighbors: Indices,
    weights: FloatArray,
    by_variance: FloatArray,
    by_weights: FloatArray,
) -> tuple[FloatArray, float]:
    r"""Pull derivatives with respect to v and b back to the length scales and the noise.

    With K the matrix of the neighbours and the row itself, :math:`b^+ = (-b, 1)` and
    :math:`a^+ = (R_{NN}+\eta)^{-1}` times the derivative with respect to b, followed by 0,

    .. math:: dv = b^{+\top} dK\, b^+, \qquad db = (R_{NN}+\eta)^{-1} (dK\, b^+)_N .

    Parameters
    ----------
    correlation, points, nugget
        As in `compiled_weights`.
    rows : ndarray of shape (s,)
        Row numbers i.
    neighbors, weights : ndarrays of shape (s, m)
        Those of row i.
    by_variance : ndarray of shape (s,)
        Derivatives of a function with respect to v_i, which includes the noise of row i.
    by_weights : ndarray of shape (s, m)
        Its derivatives with respect to b_ij.

    Returns
    -------
    by_log_scales : ndarray of shape (d,)
        Derivatives with respect to the logarithm of the length scale of each column.
    by_log_noise : float
        With respect to the logarithm of the noise ratio.
    """

    def run(start: int) -> FloatArray:
        part = slice(start, start + BLOCK)
        out = np.zeros(points.shape[1] + 1)
        _gradient(
            correlation.family, correlation.shape, points, nugget, rows[part], neighbors[part],
            weights[part], by_variance[part], by_weights[part], out,
        )  # fmt: skip
        return out

    # In the order of the blocks, so that the number of threads does not change the sum.
    total = np.zeros(points.shape[1] + 1)
    for part in ordered_map(run, range(0, len(neighbors), BLOCK)):
        total += part
    return total[:-1], float(total[-1])


@njit(nogil=True, cache=True, fastmath=True)
def _squares(points: FloatArray, query: FloatArray, members: Indices, local: Array, out: Array):  # type: ignore[no-untyped-def]
    """ρ² between the members and the query in the last place: row a has b = a + 1, …, m."""
    m, d = len(members), points.shape[1]
    for c in range(d):
        for j in range(m):
            local[c, j] = points[members[j], c]
        local[c, m] = query[c]
    first = 0
    for a in range(m):
        width = m - a
        part = out[first : first + width]
        part[:] = 0.0
        for c in range(d):
            x = local[c, a]
            for j in range(width):
                difference = local[c, a + 1 + j] - x
                part[j] += difference * difference
        first += width


@njit(nogil=True, cache=True, fastmath=True)
def _factor(values: FloatArray, nugget: FloatArray, members: Indices, upper: FloatArray) -> float:
    """The factor UᵀU of the matrix of members and query; returns the last pivot, v.

    Right-looking, so that the inner loop runs over neighbours in memory without a sum. A pivot
    that is rounding makes its row zero.
    """
    m, first = len(members), 0
    for a in range(m):
        upper[a, a] = 1.0 + nugget[members[a]]
        for j in range(m - a):
            upper[a, a + 1 + j] = values[first + j]
        first += m - a
    upper[m, m] = 1.0
    for k in range(m):
        pivot = upper[k, k]
        if pivot <= FLOOR:
            for j in range(k, m + 1):
                upper[k, j] = 0.0
            continue
        root = 1.0 / math.sqrt(pivot)
        for j in range(k, m + 1):
            upper[k, j] *= root
        for i in range(k + 1, m + 1):
            factor = upper[k, i]
            for j in range(i, m + 1):
                upper[i, j] -= factor * upper[k, j]
    return max(upper[m, m], FLOOR)


@njit(nogil=True, cache=True, fastmath=True)
def _back(upper: FloatArray, m: int, x: FloatArray) -> None:
    """Solve U x = x in place."""
    for k in range(m - 1, -1, -1):
        x[k] = x[k] / upper[k, k] if upper[k, k] > 0.0 else 0.0
        for i in range(k):
            x[i] -= upper[i, k] * x[k]


@njit(nogil=True, cache=True, fastmath=True)
def _forward(upper: FloatArray, m: int, x: FloatArray) -> None:
    """Solve Uᵀ x = x in place."""
    for k in range(m):
        x[k] = x[k] / upper[k, k] if upper[k, k] > 0.0 else 0.0
        for i in range(k + 1, m):
            x[i] -= upper[k, i] * x[k]


@njit(nogil=True, cache=True)
def _count(neighbors: Indices) -> int:
    for j in range(len(neighbors)):
        if neighbors[j] < 0:
            return j
    return len(neighbors)


@njit(nogil=True, cache=True)
def _weights(family, shape, points, nugget, queries, neighbors, weights, variance):  # type: ignore[no-untyped-def]
    """IN: all but the last two, for a block of queries. OUT: weights, variance."""
    most, d = neighbors.shape[1], points.shape[1]
    local, upper = np.empty((d, most + 1)), np.empty((most + 1, most + 1))
    squares = np.empty(most * (most + 1) // 2)
    for q in range(len(queries)):
        m = _count(neighbors[q])
        members, values = neighbors[q, :m], squares[: m * (m + 1) // 2]
        _squares(points, queries[q], members, local, values)
        correlate(family, shape, values, values)
        variance[q] = _factor(values, nugget, members, upper)
        for j in range(m):
            weights[q, j] = upper[j, m]
        _back(upper, m, weights[q])


@njit(nogil=True, cache=True)
def _gradient(  # type: ignore[no-untyped-def]
    family, shape, points, nugget, rows, neighbors, weights, by_variance, by_weights, out
):
    """IN: all but the last, for a block of rows. OUT: sums are added to `out`."""
    most, d = neighbors.shape[1], points.shape[1]
    local, upper = np.empty((d, most + 1)), np.empty((most + 1, most + 1))
    squares, values = np.empty(most * (most + 1) // 2), np.empty(most * (most + 1) // 2)
    left, right = np.empty(most + 1), np.empty(most + 1)
    for i in range(len(neighbors)):
        m = _count(neighbors[i])
        members, n_pairs = neighbors[i, :m], m * (m + 1) // 2
        _squares(points, points[rows[i]], members, local, squares)
        correlate(family, shape, squares[:n_pairs], values[:n_pairs])
        _factor(values, nugget, members, upper)
        for j in range(m):
            left[j], right[j] = by_weights[i, j], -weights[i, j]
        _forward(upper, m, left)
        _back(upper, m, left)
        left[m], right[m] = 0.0, 1.0
        for j in range(m + 1):
            left[j] += by_variance[i] * right[j]
        for j in range(m):
            out[d] += left[j] * right[j] * nugget[members[j]]
        out[d] += by_variance[i] * nugget[rows[i]]
        slopes(family, shape, squares[:n_pairs], values[:n_pairs], values[:n_pairs])
        _add_pairs(local, values, left, right, m, out)


@njit(nogil=True, cache=True, fastmath=True)
def _add_pairs(local, slope, left, right, m, out):  # type: ignore[no-untyped-def]
    """Add Σ_{a<b} (l_a r_b + l_b r_a) times -f'(ρ)/ρ δ_c², for each column c."""
    first = 0
    for a in range(m):
        width = m - a
        part = slope[first : first + width]
        for j in range(width):
            b = a + 1 + j
            part[j] *= -(left[a] * right[b] + left[b] * right[a])
        for c in range(len(local)):
            x, total = local[c, a], 0.0
            for j in range(width):
                difference = local[c, a + 1 + j] - x
                total += part[j] * difference * difference
            out[c] += total
        first += width


def reference_weights(
    kernel: Kernel,
    rows: Array,
    nugget: FloatArray,
    queries: Array,
    neighbors: Indices,
) -> tuple[FloatArray, FloatArray]:
    """The same for any kernel, row by row in NumPy.

    Parameters
    ----------
    kernel : Kernel
    rows, queries : ndarrays of shapes (n, d) and (n_queries, d)
        In the units of the kernel.
    nugget, neighbors
        As in `compiled_weights`.

    Returns
    -------
    weights, variance
        As there; `variance` starts from k(q, q).
    """
    weights, variance = np.zeros(neighbors.shape), np.empty(len(queries))
    prior = np.asarray(kernel.diag(queries), np.float64) if len(queries) else variance
    for q in range(len(queries)):
        members = neighbors[q][neighbors[q] >= 0]
        near = np.vstack([rows[members], queries[q : q + 1]]).astype(np.float64)
        matrix = np.asarray(kernel(near))
        matrix[np.arange(len(members)), np.arange(len(members))] += nugget[members]
        weights[q, : len(members)], variance[q] = _krige(matrix, float(prior[q]))
    return weights, variance


def _krige(matrix: FloatArray, prior: float) -> tuple[FloatArray, float]:
    """Weights and variance of the last of some points, by Cholesky without what is rounding."""
    m = len(matrix) - 1
    floor = FLOOR * max(float(np.diag(matrix).max(initial=0.0)), prior, np.finfo(float).tiny)
    lower, kept = _independent(matrix[:m, :m], floor)
    weights: Any = np.zeros(m)
    whitened = np.linalg.solve(lower, matrix[kept, m])
    weights[kept] = np.linalg.solve(lower.T, whitened)
    return weights, max(prior - float(whitened @ whitened), floor)


def _independent(matrix: FloatArray, floor: float) -> tuple[FloatArray, Any]:
    """The Cholesky factor of the points that are not determined by those before them."""
    kept: Any = np.arange(len(matrix))
    try:
        lower = np.linalg.cholesky(matrix)
        if (np.diag(lower) ** 2 > floor).all():
            return np.asarray(lower, np.float64), kept
    except np.linalg.LinAlgError:
        pass
    chosen: list[int] = []
    factor: FloatArray = np.zeros((0, 0))
    for k in range(len(matrix)):
        column = np.linalg.solve(factor, matrix[chosen, k])
        pivot = matrix[k, k] - column @ column
        if pivot > floor:
            grown = np.zeros((len(chosen) + 1, len(chosen) + 1))
            grown[:-1, :-1], grown[-1, :-1], grown[-1, -1] = factor, column, math.sqrt(pivot)
            factor = grown
            chosen.append(k)
    return factor, np.array(chosen, dtype=np.intp)
