"""The way back of derivatives: from kriging weights and variances to parameters."""

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..engines.correlation import Correlation, correlate, slopes
from ..rows.threads import ordered_map
from .neighborhood import (
    Factors,
    back,
    count_neighbors,
    factor,
    forward,
    gather,
    pair_squares,
)
from .neighbors import Indices
from .numerics import BLOCK
from .pairs import NO_EXTRA, Extra, add_extra

__all__ = ["compiled_gradient", "kernel_slopes", "pair_gradient", "sides"]


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


def pair_gradient(
    factors: Factors,
    neighbors: Indices,
    weights: FloatArray,
    by_variance: FloatArray,
    by_weights: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Pull derivatives with respect to v and b back to the covariances themselves.

    The parameters are those of `compiled_gradient`; factors have to be kept.

    Returns
    -------
    by_pairs : ndarray of shape (s, m (m + 1) / 2)
        Derivatives with respect to the covariance of each pair, zero for none.
    by_diagonal : ndarray of shape (s, m + 1)
        With respect to the variance of each neighbour, and of the row in place m.
    """
    by_pairs, by_diagonal = np.zeros(factors.values.shape), np.zeros(factors.upper.shape[:2])

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        _pair_gradient(
            factors.upper[part], neighbors[part], weights[part], by_variance[part],
            by_weights[part], by_pairs[part], by_diagonal[part],
        )  # fmt: skip

    for _ in ordered_map(run, range(0, len(neighbors), BLOCK)):
        pass
    return by_pairs, by_diagonal


@njit(nogil=True, cache=True)
def _pair_gradient(  # type: ignore[no-untyped-def]
    all_upper, neighbors, weights, by_variance, by_weights, by_pairs, by_diagonal
):
    """IN: all but the last two, for a block of rows. OUT: derivatives by pairs and variances."""
    most = neighbors.shape[1]
    left, right = np.empty(most + 1), np.empty(most + 1)
    for i in range(len(neighbors)):
        m = count_neighbors(neighbors[i])
        sides(all_upper[i], m, weights[i], by_variance[i], by_weights[i], left, right)
        first = 0
        for a in range(m + 1):
            for b in range(a):
                by_pairs[i, first + b] = left[a] * right[b] + left[b] * right[a]
            by_diagonal[i, a if a < m else most] = left[a] * right[a]
            first += a


@njit(nogil=True, cache=True)
def sides(upper, m, weights, by_variance, by_weights, left, right):  # type: ignore[no-untyped-def]
    """OUT: a⁺ + (∂/∂v) b⁺ and b⁺, whose products are the derivatives by covariances."""
    for j in range(m):
        left[j], right[j] = by_weights[j], -weights[j]
    forward(upper, m, left)
    back(upper, m, left)
    left[m], right[m] = 0.0, 1.0
    for j in range(m + 1):
        left[j] += by_variance * right[j]


@njit(nogil=True, cache=True)
def kernel_slopes(family, shape, squares, values, is_more, share, own, slope):  # type: ignore[no-untyped-def]
    """OUT: slope, f'(ρ)/ρ of pairs; own, f of them where values hold `share` of it and more."""
    if not is_more:
        slopes(family, shape, squares, values, slope)
        return
    correlate(family, shape, squares, slope, own)
    slopes(family, shape, squares, own, slope)
    for k in range(len(squares)):
        slope[k] *= share


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
            gather(points, points[rows[i]], members, local)
        else:
            pair_squares(points, points[rows[i]], members, local, squares)
            correlate(family, shape, squares[:n_pairs], scratch, values)
            diagonal[:] = 1.0
            if len(extra_pairs):
                add_extra(
                    extra_pairs[i], extra_diagonal[i], share, extra_weight, m, values, diagonal
                )
            factor(values, diagonal, nugget, members, upper)
        sides(upper, m, weights[i], by_variance[i], by_weights[i], left, right)
        for j in range(m):
            out[d] += left[j] * right[j] * nugget[members[j]]
        out[d] += by_variance[i] * nugget[rows[i]]
        if len(extra_pairs):
            out[d + 1] += extra_weight * _extra_slope(
                extra_pairs[i], extra_diagonal[i], left, right, m
            )
        kernel_slopes(
            family, shape, squares[:n_pairs], values, len(extra_pairs) > 0, share, own, scratch
        )
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
