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
from typing import NamedTuple

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..engines.correlation import Correlation, correlate, slopes
from ..rows.threads import ordered_map
from .covariance import Covariance, covariances, difference_slopes
from .neighbors import Indices

__all__ = [
    "FLOOR",
    "NO_EXTRA",
    "NO_LOW",
    "Extra",
    "Factors",
    "Low",
    "compiled_gradient",
    "compiled_pairs",
    "compiled_slopes",
    "compiled_weights",
    "count_neighbors",
]

#: Variances below this share of k(x, x) are rounding.
FLOOR = 1e-12
BLOCK = 512
# Numbers of factors that are kept at most, 64 MB.
KEPT_NUMBERS = 1 << 23
#: Features z of rows and of queries, whose products are subtracted from covariances.
Low = tuple[FloatArray, FloatArray]
NO_LOW: Low = (np.empty((0, 0)), np.empty((0, 0)))


class Factors(NamedTuple):
    """Matrices of rows and their neighbours, and their factors, for one row or for many.

    Attributes
    ----------
    squares, values : ndarrays of shape (s, m (m + 1) / 2)
        ρ² and f(ρ) of all pairs.
    upper : ndarray of shape (s, m + 1, m + 1)
        U, with 1/U_aa on its diagonal.
    """

    squares: FloatArray
    values: FloatArray
    upper: FloatArray

    @classmethod
    def room(cls, n_rows: int, n_neighbors: int) -> "Factors":
        """Return memory for so many rows, not filled."""
        m = n_neighbors
        shapes = (m * (m + 1) // 2,), (m * (m + 1) // 2,), (m + 1, m + 1)
        return cls(*(np.empty((n_rows, *shape)) for shape in shapes))

    @classmethod
    def kept(cls, n_rows: int, n_neighbors: int) -> "Factors | None":
        """Return memory for all rows, or None where that would be too much."""
        many = 2 * n_rows * (n_neighbors + 1) ** 2 > KEPT_NUMBERS
        return None if many else cls.room(n_rows, n_neighbors)

    def part(self, rows: slice) -> "Factors":
        """Return those of some rows."""
        return Factors(*(array[rows] for array in self))


class Extra(NamedTuple):
    """Covariances that are added to those of the kernel, times a weight, for each row.

    Attributes
    ----------
    pairs : ndarray of shape (s, m (m + 1) / 2)
        Of all pairs of a row and its neighbours, in the order of `Factors.values`.
    diagonal : ndarray of shape (s, m + 1)
        Of the neighbours with themselves, and of the row last.
    share : float
        What the kernel itself is multiplied with: one, or zero for a process of these alone.
    """

    pairs: FloatArray
    diagonal: FloatArray
    share: float = 1.0

    def part(self, rows: slice) -> "Extra":
        """Return those of some rows."""
        return Extra(self.pairs[rows], self.diagonal[rows], self.share)


NO_EXTRA = Extra(np.empty((0, 0)), np.empty((0, 0)))


def compiled_pairs(
    covariance: Covariance,
    points: FloatArray,
    rows: Indices,
    neighbors: Indices,
    z: FloatArray = NO_LOW[0],
) -> Extra:
    """Covariances of rows and their neighbours.

    Parameters
    ----------
    covariance, points
        As in `compiled_weights`.
    rows : ndarray of shape (s,)
        Row numbers.
    neighbors : ndarray of shape (s, m)
        Theirs.
    z : ndarray of shape (n, D), optional
        Features whose products are subtracted.
    """
    m = neighbors.shape[1]
    extra = Extra(np.zeros((len(rows), m * (m + 1) // 2)), np.zeros((len(rows), m + 1)))

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        _pair_covariances(
            covariance.terms, covariance.series, covariance.theta, covariance.prior, points, z,
            rows[part], neighbors[part], extra.pairs[part], extra.diagonal[part],
        )  # fmt: skip

    for _ in ordered_map(run, range(0, len(rows), BLOCK)):
        pass
    return extra


def compiled_weights(
    covariance: Covariance,
    points: FloatArray,
    nugget: FloatArray,
    queries: FloatArray,
    neighbors: Indices,
    factors: Factors | None = None,
    low: Low = NO_LOW,
    extra: Extra = NO_EXTRA,
    extra_weight: float = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Weights and conditional variances, on all cores.

    Parameters
    ----------
    covariance : Covariance
    points : ndarray of shape (n, d)
        Rows in units of the covariance's length scales.
    nugget : ndarray of shape (n,)
        η_j.
    queries : ndarray of shape (n_queries, d)
        Where the weights are for, in the same units.
    neighbors : ndarray of shape (n_queries, m)
        Row numbers; -1, at the end, for none.
    factors : Factors, optional
        Filled with what `compiled_gradient` needs.
    low : (ndarray of shape (n, D), ndarray of shape (n_queries, D)), optional
        Features z of the points and of the queries, where covariances are less by z(x)·z(y).
    extra : Extra, optional
        What is added to the covariances of each query and its neighbours, times `extra_weight`.

    Returns
    -------
    weights : ndarray of shape (n_queries, m)
        b, zero where there is no neighbour.
    variance : ndarray of shape (n_queries,)
        v without the noise of the query itself, at least `FLOOR` of k(x, x).
    """
    _check(points, nugget, queries, neighbors)
    weights = np.zeros(neighbors.shape)
    variance = np.empty(len(queries))
    known, asked = low

    def run(start: int) -> None:
        rows = slice(start, start + BLOCK)
        room = Factors.room(1, neighbors.shape[1]) if factors is None else factors.part(rows)
        _weights(
            covariance.terms, covariance.series, covariance.theta, covariance.prior, points, nugget,
            known, queries[rows], asked[rows], neighbors[rows], *extra.part(rows), extra_weight,
            *room, weights[rows], variance[rows],
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
    factors: Factors | None = None,
    extra: Extra = NO_EXTRA,
    extra_weight: float = 1.0,
) -> tuple[FloatArray, float, float]:
    r"""Pull derivatives with respect to v and b back to length scales, noise and extra weight.

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
    factors : Factors, optional
        As `compiled_weights` has filled it for the same rows; by default found again.
    extra, extra_weight
        As in `compiled_weights`.

    Returns
    -------
    by_log_scales : ndarray of shape (d,)
        Derivatives with respect to the logarithm of the length scale of each column.
    by_log_noise : float
        With respect to the logarithm of the noise ratio.
    by_log_extra : float
        With respect to the logarithm of the weight of what is added.
    """

    def run(start: int) -> FloatArray:
        part = slice(start, start + BLOCK)
        out = np.zeros(points.shape[1] + 2)
        room = Factors.room(1, neighbors.shape[1]) if factors is None else factors.part(part)
        _gradient(
            correlation.family, correlation.shape, points, nugget, rows[part], neighbors[part],
            *extra.part(part), extra_weight, *room, factors is not None, weights[part],
            by_variance[part], by_weights[part], out,
        )  # fmt: skip
        return out

    # In the order of the blocks, so that the number of threads does not change the sum.
    total = np.zeros(points.shape[1] + 2)
    for part in ordered_map(run, range(0, len(neighbors), BLOCK)):
        total += part
    return total[:-2], float(total[-2]), float(total[-1])


def compiled_slopes(
    covariance: Covariance,
    points: FloatArray,
    nugget: FloatArray,
    queries: FloatArray,
    neighbors: Indices,
    residual: FloatArray,
    low: Low = NO_LOW,
) -> tuple[FloatArray, FloatArray]:
    r"""Gradients of predictions with respect to the queries, the neighbours held.

    With e the residuals of the neighbours and :math:`a = (R_{NN} + \eta)^{-1} e`, the prediction
    is :math:`\sum_j a_j f(\rho_j)`, and its gradient

    .. math:: \sum_j a_j \frac{f'(\rho_j)}{\rho_j} (q - x_j).

    Parameters
    ----------
    covariance, points, nugget, queries, neighbors
        As in `compiled_weights`.
    residual : ndarray of shape (n, t)
        e of all rows.
    low
        As in `compiled_weights`. What z adds to the gradient is for the caller.

    Returns
    -------
    slopes : ndarray of shape (n_queries, t, d)
        With respect to the queries in units of the length scales.
    pulls : ndarray of shape (n_queries, t, m)
        a.
    """
    _check(points, nugget, queries, neighbors)
    if len(residual) != len(points):
        raise ValueError(f"Residuals of shape {residual.shape} are not of {len(points)} rows.")
    out = np.zeros((len(queries), residual.shape[1], points.shape[1]))
    pulls = np.zeros((len(queries), residual.shape[1], neighbors.shape[1]))
    known, asked = low

    def run(start: int) -> None:
        rows = slice(start, start + BLOCK)
        _slopes(
            covariance.terms, covariance.series, covariance.theta, covariance.prior, points, nugget,
            known, queries[rows], asked[rows], neighbors[rows], residual, out[rows], pulls[rows],
        )  # fmt: skip

    for _ in ordered_map(run, range(0, len(queries), BLOCK)):
        pass
    return out, pulls


def _check(points: FloatArray, nugget: FloatArray, queries: FloatArray, neighbors: Indices) -> None:
    """Raise ValueError where compiled code would read beyond the end."""
    if (
        nugget.shape != (len(points),)
        or queries.shape != (len(neighbors), points.shape[1])
        or neighbors.max(initial=-1) >= len(points)
    ):
        raise ValueError(
            f"Neighbours of shape {neighbors.shape} up to row {neighbors.max(initial=-1)} do not "
            f"belong to rows of shape {points.shape}, their {len(nugget)} weights and queries of "
            f"shape {queries.shape}."
        )


@njit(nogil=True, cache=True)
def _gather(points, query, members, local):  # type: ignore[no-untyped-def]
    """Copy the members, and the query to the last place: [d, m + 1]."""
    m = len(members)
    for c in range(points.shape[1]):
        for j in range(m):
            local[c, j] = points[members[j], c]
        local[c, m] = query[c]


@njit(nogil=True, cache=True, fastmath=True)
def _squares(points, query, members, local, out):  # type: ignore[no-untyped-def]
    """ρ² between the members and the query in the last place: row a has b = 0, …, a - 1."""
    m, d = len(members), points.shape[1]
    _gather(points, query, members, local)
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
def _subtract_products(z, query, members, local, values, diagonal):  # type: ignore[no-untyped-def]
    """Subtract products of features from the covariances of members and query, and of each itself.

    IN: features of all rows and of the query. OUT: values of pairs, as in `_squares`, and the
    covariance of each with itself.
    """
    m = len(members)
    for j in range(m):
        local[j] = z[members[j]]
    local[m] = query
    part = local[: m + 1]
    products = np.dot(part, part.T)
    first = 0
    for a in range(m + 1):
        for b in range(a):
            values[first + b] -= products[a, b]
        diagonal[a] -= products[a, a]
        first += a


@njit(nogil=True, cache=True)
def _pair_covariances(  # type: ignore[no-untyped-def]
    terms, series, theta, prior, points, z, rows, neighbors, pairs, diagonals
):
    """IN: all but the last two, for a block of rows. OUT: covariances of pairs, of each itself."""
    most, d = neighbors.shape[1], points.shape[1]
    n_pairs = most * (most + 1) // 2
    local, squares = np.empty((d, most + 1)), np.empty(n_pairs)
    scratch, work = np.empty(n_pairs), np.empty((2, n_pairs))
    low = np.empty((most + 1, z.shape[1]), z.dtype)
    for i in range(len(rows)):
        m = count_neighbors(neighbors[i])
        members, n_pairs = neighbors[i, :m], m * (m + 1) // 2
        _squares(points, points[rows[i]], members, local, squares)
        covariances(terms, series, theta, squares[:n_pairs], local, scratch, work, pairs[i])
        diagonals[i, : m + 1] = prior
        if z.shape[1]:
            _subtract_products(z, z[rows[i]], members, low, pairs[i], diagonals[i])


@njit(nogil=True, cache=True, fastmath=True)
def _add_extra(pairs, diagonals, share, weight, m, values, diagonal):  # type: ignore[no-untyped-def]
    """Add covariances times a weight to those of the kernel times its share."""
    for k in range(m * (m + 1) // 2):
        values[k] = share * values[k] + weight * pairs[k]
    for j in range(m + 1):
        diagonal[j] = share * diagonal[j] + weight * diagonals[j]
    diagonal[m + 1] = share * diagonal[m + 1] + weight


@njit(nogil=True, cache=True, fastmath=True)
def _factor(values, diagonal, nugget, members, upper):  # type: ignore[no-untyped-def]
    """The factor U with UᵀU the matrix of members and query, 1/U_aa on its diagonal; returns v.

    The last column is what the weights are solved from, and its pivot is v. A pivot that is
    rounding counts as infinite: the inverse is zero. Rows are found one after the other, from four
    earlier ones at a time, in loops over numbers that lie side by side.
    """
    m, first = len(members), 0
    for a in range(1, m + 1):
        for b in range(a):
            upper[b, a] = values[first + b]
        first += a
    v, floor = diagonal[m], FLOOR * diagonal[m + 1]
    for a in range(m):
        row, pivot = upper[a, a + 1 : m + 1], diagonal[a] + nugget[members[a]]
        even = a - a % 4
        for k in range(0, even, 4):
            p, q, r, s = upper[k, a], upper[k + 1, a], upper[k + 2, a], upper[k + 3, a]
            w, x = upper[k, a + 1 : m + 1], upper[k + 1, a + 1 : m + 1]
            y, z = upper[k + 2, a + 1 : m + 1], upper[k + 3, a + 1 : m + 1]
            pivot -= p * p + q * q + r * r + s * s
            for i in range(m - a):
                row[i] -= p * w[i] + q * x[i] + r * y[i] + s * z[i]
        for k in range(even, a):
            p, w = upper[k, a], upper[k, a + 1 : m + 1]
            pivot -= p * p
            for i in range(m - a):
                row[i] -= p * w[i]
        inverse = 1.0 / math.sqrt(pivot) if pivot > floor else 0.0
        upper[a, a] = inverse
        for i in range(m - a):
            row[i] *= inverse
        v -= upper[a, m] * upper[a, m]
    return max(v, floor)


@njit(nogil=True, cache=True, fastmath=True)
def _back(upper, m, x):  # type: ignore[no-untyped-def]
    """Solve U x = x in place."""
    for k in range(m - 1, -1, -1):
        row, total = upper[k], x[k]
        for i in range(k + 1, m):
            total -= row[i] * x[i]
        x[k] = total * row[k]


@njit(nogil=True, cache=True, fastmath=True)
def _forward(upper, m, x):  # type: ignore[no-untyped-def]
    """Solve Uᵀ x = x in place."""
    for k in range(m):
        row = upper[k]
        x[k] *= row[k]
        for i in range(k + 1, m):
            x[i] -= row[i] * x[k]


@njit(nogil=True, cache=True)
def count_neighbors(neighbors):  # type: ignore[no-untyped-def]
    """The number of neighbours before the first -1."""
    for j in range(len(neighbors)):
        if neighbors[j] < 0:
            return j
    return len(neighbors)


@njit(nogil=True, cache=True)
def _weights(  # type: ignore[no-untyped-def]
    terms,
    series,
    theta,
    prior,
    points,
    nugget,
    z,
    queries,
    z_queries,
    neighbors,
    extra_pairs,
    extra_diagonal,
    share,
    extra_weight,
    all_squares,
    all_values,
    all_upper,
    weights,
    variance,
):
    """IN: all before the `Factors`, for a block of queries. OUT: factors, weights, variance."""
    most, d = neighbors.shape[1], points.shape[1]
    n_pairs, n_low = most * (most + 1) // 2, z.shape[1]
    local, scratch, work = np.empty((d, most + 1)), np.empty(n_pairs), np.empty((2, n_pairs))
    low = np.empty((most + 1, n_low), z.dtype)
    diagonal = np.empty(most + 2)
    for q in range(len(queries)):
        m = count_neighbors(neighbors[q])
        members, n_pairs = neighbors[q, :m], m * (m + 1) // 2
        place = min(q, len(all_upper) - 1)  # one for all, or one for each
        squares, values, upper = all_squares[place], all_values[place], all_upper[place]
        _squares(points, queries[q], members, local, squares)
        covariances(terms, series, theta, squares[:n_pairs], local, scratch, work, values)
        diagonal[:] = prior
        if n_low:
            _subtract_products(z, z_queries[q], members, low, values, diagonal)
        diagonal[m + 1] = prior
        if len(extra_pairs):
            _add_extra(extra_pairs[q], extra_diagonal[q], share, extra_weight, m, values, diagonal)
        variance[q] = _factor(values, diagonal, nugget, members, upper)
        for j in range(m):
            weights[q, j] = upper[j, m]
        _back(upper, m, weights[q])


@njit(nogil=True, cache=True)
def _slopes(  # type: ignore[no-untyped-def]
    terms,
    series,
    theta,
    prior,
    points,
    nugget,
    z,
    queries,
    z_queries,
    neighbors,
    residual,
    out,
    pulls,
):
    """IN: all but the last two, for a block of queries. OUT: gradients are added, and a."""
    most, d = neighbors.shape[1], points.shape[1]
    local, upper = np.empty((d, most + 1)), np.empty((most + 1, most + 1))
    n_pairs = most * (most + 1) // 2
    squares, values, slope = np.empty(n_pairs), np.empty(n_pairs), np.empty((d, most))
    scratch, work = np.empty(n_pairs), np.empty((2, n_pairs))
    diagonal, low = np.empty(most + 2), np.empty((most + 1, z.shape[1]), z.dtype)
    for q in range(len(queries)):
        m = count_neighbors(neighbors[q])
        members, n_pairs = neighbors[q, :m], m * (m + 1) // 2
        _squares(points, queries[q], members, local, squares)
        covariances(terms, series, theta, squares[:n_pairs], local, scratch, work, values)
        diagonal[:] = prior
        if z.shape[1]:
            _subtract_products(z, z_queries[q], members, low, values, diagonal)
        diagonal[m + 1] = prior
        _factor(values, diagonal, nugget, members, upper)
        near = squares[n_pairs - m : n_pairs]  # the pairs with the query
        difference_slopes(
            terms, series, theta, near, local[:, : m + 1], scratch, work, slope[:, :m]
        )
        for t in range(residual.shape[1]):
            a = pulls[q, t]
            for j in range(m):
                a[j] = residual[members[j], t]
            _forward(upper, m, a)
            _back(upper, m, a)
            for c in range(d):
                for j in range(m):
                    out[q, t, c] += a[j] * slope[c, j] * (queries[q, c] - local[c, j])


@njit(nogil=True, cache=True)
def _gradient(  # type: ignore[no-untyped-def]
    family,
    shape,
    points,
    nugget,
    rows,
    neighbors,
    extra_pairs,
    extra_diagonal,
    share,
    extra_weight,
    all_squares,
    all_values,
    all_upper,
    known,
    weights,
    by_variance,
    by_weights,
    out,
):
    """IN: all but the last, for a block of rows. OUT: sums are added to `out`."""
    most, d = neighbors.shape[1], points.shape[1]
    local, scratch = np.empty((d, most + 1)), np.empty(most * (most + 1) // 2)
    own = np.empty(most * (most + 1) // 2)
    left, right, diagonal = np.empty(most + 1), np.empty(most + 1), np.empty(most + 2)
    for i in range(len(neighbors)):
        m = count_neighbors(neighbors[i])
        members, n_pairs = neighbors[i, :m], m * (m + 1) // 2
        place = min(i, len(all_upper) - 1)
        squares, values, upper = all_squares[place], all_values[place], all_upper[place]
        if known:
            _gather(points, points[rows[i]], members, local)
        else:
            _squares(points, points[rows[i]], members, local, squares)
            correlate(family, shape, squares[:n_pairs], scratch, values)
            diagonal[:] = 1.0
            if len(extra_pairs):
                _add_extra(
                    extra_pairs[i], extra_diagonal[i], share, extra_weight, m, values, diagonal
                )
            _factor(values, diagonal, nugget, members, upper)
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
        if len(extra_pairs):
            out[d + 1] += extra_weight * _extra_slope(
                extra_pairs[i], extra_diagonal[i], left, right, m
            )
            correlate(family, shape, squares[:n_pairs], scratch, own)
            slopes(family, shape, squares[:n_pairs], own, scratch)
            for k in range(n_pairs):
                scratch[k] *= share
        else:
            slopes(family, shape, squares[:n_pairs], values, scratch)
        _add_pairs(local, scratch, left, right, m, out)


@njit(nogil=True, cache=True, fastmath=True)
def _extra_slope(pairs, diagonal, left, right, m):  # type: ignore[no-untyped-def]
    """Σ_{ab} l_a E_ab r_b over a row and its neighbours."""
    total, first = 0.0, 0
    for a in range(m + 1):
        for b in range(a):
            total += pairs[first + b] * (left[a] * right[b] + left[b] * right[a])
        total += diagonal[a] * left[a] * right[a]
        first += a
    return total


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
