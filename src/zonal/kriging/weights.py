r"""Kriging weights and conditional variances of many rows, each from its own neighbours.

For a row q with neighbours N, correlations R and nugget η_j (the noise of row j over the scale),

.. math:: b = (R_{NN} + \mathrm{diag}(\eta_N))^{-1} r_{Nq}, \qquad v = k(q, q) - r_{Nq}^\top b.

Both come from one Cholesky factor of the matrix of the neighbours with the row itself in the last
place: its last column is what b is solved from, its last pivot is v. A neighbour that the ones
before it determine (a pivot that is rounding) gets the weight zero, so that no jitter is needed.

The compiled loop here serves the kernels of `correlation`; `reference` has the same in NumPy for
any kernel.
"""

import math

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..rows.threads import ordered_map
from .correlation import Correlation, correlate, slopes
from .neighbors import Indices

__all__ = ["FLOOR", "compiled_gradient", "compiled_slopes", "compiled_weights", "count_neighbors"]

#: Variances below this share of k(x, x) are rounding.
FLOOR = 1e-12
BLOCK = 512


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


def compiled_slopes(
    correlation: Correlation,
    points: FloatArray,
    nugget: FloatArray,
    queries: FloatArray,
    neighbors: Indices,
    residual: FloatArray,
) -> FloatArray:
    r"""Gradients of predictions with respect to the queries, the neighbours held.

    With e the residuals of the neighbours and :math:`a = (R_{NN} + \eta)^{-1} e`, the prediction
    is :math:`\sum_j a_j f(\rho_j)`, and its gradient

    .. math:: \sum_j a_j \frac{f'(\rho_j)}{\rho_j} (q - x_j).

    Parameters
    ----------
    correlation, points, nugget, queries, neighbors
        As in `compiled_weights`.
    residual : ndarray of shape (n, t)
        e of all rows.

    Returns
    -------
    ndarray of shape (n_queries, t, d)
        With respect to the queries in units of the length scales.
    """
    out = np.zeros((len(queries), residual.shape[1], points.shape[1]))

    def run(start: int) -> None:
        rows = slice(start, start + BLOCK)
        _slopes(
            correlation.family, correlation.shape, points, nugget, queries[rows], neighbors[rows],
            residual, out[rows],
        )  # fmt: skip

    for _ in ordered_map(run, range(0, len(queries), BLOCK)):
        pass
    return out


@njit(nogil=True, cache=True, fastmath=True)
def _squares(points, query, members, local, out):  # type: ignore[no-untyped-def]
    """ρ² between the members and the query in the last place: row a has b = 0, …, a - 1."""
    m, d = len(members), points.shape[1]
    for c in range(d):
        for j in range(m):
            local[c, j] = points[members[j], c]
        local[c, m] = query[c]
    first = 0
    for a in range(1, m + 1):
        part = out[first : first + a]
        part[:] = 0.0
        for c in range(d):
            column, x = local[c], local[c, a]
            for b in range(a):
                difference = column[b] - x
                part[b] += difference * difference
        first += a


@njit(nogil=True, cache=True, fastmath=True)
def _factor(values, nugget, members, lower):  # type: ignore[no-untyped-def]
    """The factor L of the matrix of members and query, 1/L_aa on its diagonal; returns v.

    The last row is what the weights are solved from, and its pivot is v. A pivot that is rounding
    counts as infinite: the inverse is zero.
    """
    m, first = len(members), 0
    for a in range(m + 1):
        row = lower[a]
        for b in range(a):
            other, total = lower[b], values[first + b]
            for k in range(b):
                total -= row[k] * other[k]
            row[b] = total * other[b]
        first += a
        pivot = 1.0
        if a < m:
            pivot += nugget[members[a]]
        for k in range(a):
            pivot -= row[k] * row[k]
        if a == m:
            return max(pivot, FLOOR)
        row[a] = 1.0 / math.sqrt(pivot) if pivot > FLOOR else 0.0
    return 1.0


@njit(nogil=True, cache=True, fastmath=True)
def _back(lower, m, x):  # type: ignore[no-untyped-def]
    """Solve Lᵀ x = x in place."""
    for k in range(m - 1, -1, -1):
        row = lower[k]
        x[k] *= row[k]
        for i in range(k):
            x[i] -= row[i] * x[k]


@njit(nogil=True, cache=True, fastmath=True)
def _forward(lower, m, x):  # type: ignore[no-untyped-def]
    """Solve L x = x in place."""
    for k in range(m):
        row, total = lower[k], x[k]
        for i in range(k):
            total -= row[i] * x[i]
        x[k] = total * row[k]


@njit(nogil=True, cache=True)
def count_neighbors(neighbors):  # type: ignore[no-untyped-def]
    """The number of neighbours before the first -1."""
    for j in range(len(neighbors)):
        if neighbors[j] < 0:
            return j
    return len(neighbors)


@njit(nogil=True, cache=True)
def _weights(family, shape, points, nugget, queries, neighbors, weights, variance):  # type: ignore[no-untyped-def]
    """IN: all but the last two, for a block of queries. OUT: weights, variance."""
    most, d = neighbors.shape[1], points.shape[1]
    local, lower = np.empty((d, most + 1)), np.empty((most + 1, most + 1))
    n_pairs = most * (most + 1) // 2
    squares, values, scratch = np.empty(n_pairs), np.empty(n_pairs), np.empty(n_pairs)
    for q in range(len(queries)):
        m = count_neighbors(neighbors[q])
        members, n_pairs = neighbors[q, :m], m * (m + 1) // 2
        _squares(points, queries[q], members, local, squares)
        correlate(family, shape, squares[:n_pairs], scratch, values)
        variance[q] = _factor(values, nugget, members, lower)
        for j in range(m):
            weights[q, j] = lower[m, j]
        _back(lower, m, weights[q])


@njit(nogil=True, cache=True)
def _slopes(family, shape, points, nugget, queries, neighbors, residual, out):  # type: ignore[no-untyped-def]
    """IN: all but the last, for a block of queries. OUT: gradients are added to `out`."""
    most, d = neighbors.shape[1], points.shape[1]
    local, lower = np.empty((d, most + 1)), np.empty((most + 1, most + 1))
    n_pairs = most * (most + 1) // 2
    squares, values, slope = np.empty(n_pairs), np.empty(n_pairs), np.empty(n_pairs)
    a = np.empty(most)
    for q in range(len(queries)):
        m = count_neighbors(neighbors[q])
        members, n_pairs = neighbors[q, :m], m * (m + 1) // 2
        _squares(points, queries[q], members, local, squares)
        correlate(family, shape, squares[:n_pairs], slope, values)
        _factor(values, nugget, members, lower)
        slopes(family, shape, squares[:n_pairs], values, slope)
        last = slope[n_pairs - m : n_pairs]  # the pairs with the query
        for t in range(residual.shape[1]):
            for j in range(m):
                a[j] = residual[members[j], t]
            _forward(lower, m, a)
            _back(lower, m, a)
            for c in range(d):
                for j in range(m):
                    out[q, t, c] += a[j] * last[j] * (queries[q, c] - local[c, j])


@njit(nogil=True, cache=True)
def _gradient(  # type: ignore[no-untyped-def]
    family, shape, points, nugget, rows, neighbors, weights, by_variance, by_weights, out
):
    """IN: all but the last, for a block of rows. OUT: sums are added to `out`."""
    most, d = neighbors.shape[1], points.shape[1]
    local, lower = np.empty((d, most + 1)), np.empty((most + 1, most + 1))
    n_pairs = most * (most + 1) // 2
    squares, values, scratch = np.empty(n_pairs), np.empty(n_pairs), np.empty(n_pairs)
    left, right = np.empty(most + 1), np.empty(most + 1)
    for i in range(len(neighbors)):
        m = count_neighbors(neighbors[i])
        members, n_pairs = neighbors[i, :m], m * (m + 1) // 2
        _squares(points, points[rows[i]], members, local, squares)
        correlate(family, shape, squares[:n_pairs], scratch, values)
        _factor(values, nugget, members, lower)
        for j in range(m):
            left[j], right[j] = by_weights[i, j], -weights[i, j]
        _forward(lower, m, left)
        _back(lower, m, left)
        left[m], right[m] = 0.0, 1.0
        for j in range(m + 1):
            left[j] += by_variance[i] * right[j]
        for j in range(m):
            out[d] += left[j] * right[j] * nugget[members[j]]
        out[d] += by_variance[i] * nugget[rows[i]]
        slopes(family, shape, squares[:n_pairs], values, scratch)
        _add_pairs(local, scratch, left, right, m, out)


@njit(nogil=True, cache=True, fastmath=True)
def _add_pairs(local, slope, left, right, m, out):  # type: ignore[no-untyped-def]
    """Add Σ_{b<a} (l_a r_b + l_b r_a) times -f'(ρ)/ρ δ_c², for each column c."""
    first = 0
    for a in range(1, m + 1):
        part = slope[first : first + a]
        left_a, right_a = left[a], right[a]
        for b in range(a):
            part[b] *= left_a * right[b] + left[b] * right_a
        for c in range(len(local)):
            column, x, total = local[c], local[c, a], 0.0
            for b in range(a):
                difference = column[b] - x
                total += part[b] * difference * difference
            out[c] -= total
        first += a
