r"""Kriging weights and conditional variances of many rows, each from its own neighbours.

For a row q with neighbours N, correlations R and nugget η_j (the noise of row j over the scale),

.. math:: b = (R_{NN} + \mathrm{diag}(\eta_N))^{-1} r_{Nq}, \qquad v = k(q, q) - r_{Nq}^\top b.

Both come from one Cholesky factor of the matrix of the neighbours with the row itself in the last
place (`neighborhood`). A neighbour that the ones before it determine (a pivot that is rounding)
gets the weight zero, so that no jitter is needed.

The compiled loop here serves the kernels of `covariance`; `reference` has the same in NumPy for
any kernel.
"""

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..rows.threads import ordered_map
from .covariance import Covariance, covariances
from .neighborhood import (
    Factors,
    back,
    check_neighbors,
    count_neighbors,
    factor,
    pair_squares,
)
from .neighbors import Indices
from .numerics import BLOCK
from .pairs import NO_EXTRA, NO_LOW, Extra, LowPair, add_extra, subtract_products

__all__ = ["compiled_weights"]


def compiled_weights(
    covariance: Covariance,
    points: FloatArray,
    nugget: FloatArray,
    queries: FloatArray,
    neighbors: Indices,
    factors: Factors | None = None,
    low: LowPair = NO_LOW,
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
    check_neighbors(points, nugget, queries, neighbors)
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
        pair_squares(points, queries[q], members, local, squares)
        covariances(terms, series, theta, squares[:n_pairs], local, scratch, work, values)
        diagonal[:] = prior
        if n_low:
            subtract_products(z, z_queries[q], members, low, values, diagonal)
        diagonal[m + 1] = prior
        if len(extra_pairs):
            add_extra(extra_pairs[q], extra_diagonal[q], share, extra_weight, m, values, diagonal)
        variance[q] = factor(values, diagonal, nugget, members, upper)
        for j in range(m):
            weights[q, j] = upper[j, m]
        back(upper, m, weights[q])
