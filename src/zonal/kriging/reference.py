"""Kriging weights for any kernel, in NumPy: what the compiled loop is tested against."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .neighbors import Indices
from .numerics import FLOOR

__all__ = ["local_matrices", "reference_weights", "solve_matrices"]


def reference_weights(
    kernel: Callable[[Array], Array],
    rows: Array,
    nugget: FloatArray,
    queries: Array,
    neighbors: Indices,
) -> tuple[FloatArray, FloatArray]:
    """The same for any kernel, row by row in NumPy.

    Parameters
    ----------
    kernel : callable
        Rows to their covariances: a kernel, or one less what features carry.
    rows, queries : ndarrays of shapes (n, d) and (n_queries, d)
        In the units of the kernel.
    nugget, neighbors
        As in `compiled_weights`.

    Returns
    -------
    weights, variance
        As there; `variance` starts from k(q, q).
    """
    return solve_matrices(local_matrices(kernel, rows, queries, neighbors), nugget, neighbors)


def local_matrices(
    kernel: Callable[[Array], Array], rows: Array, queries: Array, neighbors: Indices
) -> Iterator[FloatArray]:
    """The kernel matrices of the neighbours of each query, with the query in the last place."""
    for query, near in zip(queries, neighbors, strict=True):
        yield np.asarray(kernel(np.vstack([rows[near[near >= 0]], query]).astype(np.float64)))


def solve_matrices(
    matrices: Iterable[FloatArray], nugget: FloatArray, neighbors: Indices
) -> tuple[FloatArray, FloatArray]:
    """Weights and variances from `local_matrices`."""
    weights, variance = np.zeros(neighbors.shape), np.empty(len(neighbors))
    for q, matrix in enumerate(matrices):
        m = len(matrix) - 1
        weights[q, :m], variance[q] = _krige(matrix, nugget[neighbors[q, :m]])
    return weights, variance


def _krige(matrix: FloatArray, nugget: FloatArray) -> tuple[FloatArray, float]:
    """Weights and variance of the last of some points, by Cholesky without what is rounding."""
    m, prior = len(nugget), float(matrix[-1, -1])
    system = matrix[:m, :m] + np.diag(nugget)
    floor = FLOOR * max(float(np.diag(matrix).max()), float(np.finfo(float).tiny))
    lower, kept = _independent(system, floor)
    weights = np.zeros(m)
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
