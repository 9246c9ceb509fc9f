"""Kriging weights from covariances of pairs, for every kernel that is a function of differences.

`weights` evaluates functions of one distance in compiled loops. All others are evaluated here, for
the pairs of many rows and their neighbours at a time, and only solved there.
"""

import numpy as np
from scipy.linalg import solve

from .._typing import Array, FloatArray
from ..kernels import Kernel
from ..rows.threads import ordered_map
from .compiled_differences import fast_differences
from .covariance import Covariance
from .neighborhood import Factors
from .neighbors import Indices
from .numerics import BLOCK
from .pairs import NO_LOW, Extra, LowPair
from .weights import compiled_weights

__all__ = [
    "NOTHING",
    "no_points",
    "of_pairs",
    "pair_differences",
    "pair_extra",
    "pair_slopes",
    "pair_weights",
]

#: To this the covariances of the pairs are added.
NOTHING = Covariance.zero()


def no_points(n_rows: int) -> FloatArray:
    """Return rows of no columns, for compiled code that needs no distances."""
    return np.zeros((n_rows, 0))


def of_pairs(kernel: Kernel, rows: Array, queries: Array, neighbors: Indices) -> FloatArray:
    """Return k of all pairs of the neighbours of a query, and of the query itself.

    Parameters
    ----------
    kernel : Kernel
        With `of_differences`.
    rows, queries : ndarrays of shapes (n, d) and (q, d)
    neighbors : ndarray of shape (q, m)
        Row numbers; -1, at the end, for none.

    Returns
    -------
    ndarray of shape (q, m (m + 1) / 2)
        In the order of `Factors.values`: the first with none, the second with the first, …, and the
        query after its last neighbour.
    """
    m = neighbors.shape[1]
    out = np.empty((len(queries), m * (m + 1) // 2))

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        delta = pair_differences(rows, queries[part], neighbors[part])
        out[part] = fast_differences(kernel, delta)

    for _ in ordered_map(run, range(0, len(queries), BLOCK)):
        pass
    return out


def pair_differences(rows: Array, queries: Array, neighbors: Indices) -> FloatArray:
    """Return the differences of the same pairs: [q, m (m + 1) / 2, d]."""
    first, second = np.tril_indices(neighbors.shape[1] + 1, -1)
    asked = np.asarray(queries, np.float64)[:, None, :]
    near = np.asarray(rows, np.float64)[np.maximum(neighbors, 0)]
    # The query stands in for what is missing, and so comes right after the last neighbour.
    local = np.concatenate([np.where((neighbors < 0)[:, :, None], asked, near), asked], axis=1)
    return np.asarray(local[:, first] - local[:, second])


def pair_extra(kernel: Kernel, rows: Array, queries: Array, neighbors: Indices) -> Extra:
    """Return the same with the variances of each, as compiled code takes it."""
    prior = prior_of(kernel, rows.shape[1])
    diagonal = np.full((len(queries), neighbors.shape[1] + 1), prior)
    return Extra(of_pairs(kernel, rows, queries, neighbors), diagonal)


def prior_of(kernel: Kernel, n_columns: int) -> float:
    """Return k(x, x)."""
    return float(kernel.of_differences(np.zeros((1, n_columns)))[0])


def pair_weights(
    kernel: Kernel,
    rows: Array,
    nugget: FloatArray,
    queries: Array,
    neighbors: Indices,
    factors: Factors | None = None,
    low: LowPair = NO_LOW,
) -> tuple[FloatArray, FloatArray]:
    """Weights and conditional variances, as `compiled_weights` with rows in their own units."""
    extra = pair_extra(kernel, rows, queries, neighbors)
    return compiled_weights(
        NOTHING, no_points(len(rows)), nugget, no_points(len(queries)), neighbors, factors, low,
        extra,
    )  # fmt: skip


def pair_slopes(
    kernel: Kernel,
    rows: Array,
    nugget: FloatArray,
    queries: Array,
    neighbors: Indices,
    residual: FloatArray,
    low: LowPair = NO_LOW,
) -> tuple[FloatArray, FloatArray]:
    """Gradients of predictions, and a, as `compiled_slopes` with rows in their own units."""
    n_targets, m = residual.shape[1], neighbors.shape[1]
    out = np.zeros((len(queries), n_targets, queries.shape[1]))
    pulls = np.zeros((len(queries), n_targets, m))
    for q, (query, near) in enumerate(zip(np.asarray(queries, float), neighbors, strict=True)):
        kept = near[near >= 0]
        points = np.asarray(rows[kept], np.float64)
        matrix = kernel.of_differences(points[:, None, :] - points) + np.diag(nugget[kept])
        if low[0].shape[1]:
            matrix = matrix - low[0][kept] @ low[0][kept].T
        pull = solve(matrix, residual[kept], assume_a="pos").T
        pulls[q, :, : len(kept)] = pull
        out[q] = pull @ kernel.difference_slopes(query - points)
    return out, pulls
