"""Gradients of predictions from neighbours with respect to where they are made."""

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..rows.threads import ordered_map
from .covariance import Covariance, covariances, difference_slopes
from .neighborhood import (
    back,
    check_neighbors,
    count_neighbors,
    factor,
    forward,
    pair_squares,
)
from .neighbors import Indices
from .numerics import BLOCK
from .pairs import NO_LOW, LowPair, subtract_products

__all__ = ["compiled_slopes"]


def compiled_slopes(
    covariance: Covariance,
    points: FloatArray,
    nugget: FloatArray,
    queries: FloatArray,
    neighbors: Indices,
    residual: FloatArray,
    low: LowPair = NO_LOW,
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
    check_neighbors(points, nugget, queries, neighbors)
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
        pair_squares(points, queries[q], members, local, squares)
        covariances(terms, series, theta, squares[:n_pairs], local, scratch, work, values)
        diagonal[:] = prior
        if z.shape[1]:
            subtract_products(z, z_queries[q], members, low, values, diagonal)
        diagonal[m + 1] = prior
        factor(values, diagonal, nugget, members, upper)
        near = squares[n_pairs - m : n_pairs]  # the pairs with the query
        difference_slopes(
            terms, series, theta, near, local[:, : m + 1], scratch, work, slope[:, :m]
        )
        for t in range(residual.shape[1]):
            a = pulls[q, t]
            for j in range(m):
                a[j] = residual[members[j], t]
            forward(upper, m, a)
            back(upper, m, a)
            for c in range(d):
                for j in range(m):
                    out[q, t, c] += a[j] * slope[c, j] * (queries[q, c] - local[c, j])
