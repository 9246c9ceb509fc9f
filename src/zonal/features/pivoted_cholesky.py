"""Landmarks as the pivots of a randomly pivoted Cholesky factorisation."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from .._typing import FloatArray
from .kernel_blocks import KernelFunction, kernel_diag, kernel_values, over_blocks

__all__ = ["pivots"]

# Pivots proposed at a time: enough for matrix products, few enough that most are accepted.
PROPOSALS = 96


def pivots(
    kernel: KernelFunction, X: Any, weights: FloatArray, size: int, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Return the pivots of a randomly pivoted Cholesky factorisation (Chen et al. 2023).

    Each pivot is drawn with probability proportional to the diagonal of the residual matrix. A
    block of proposals at a time is drawn from an old diagonal and thinned by rejection, which is
    the same distribution (Epperly, Tropp and Webber 2024). Ends early if the residual is zero.

    Returns
    -------
    ndarray of int, in the order in which they were drawn
    """
    scales = np.sqrt(weights)
    diagonal = weights * kernel_diag(kernel, X)
    noise = 10 * np.finfo(float).eps * diagonal
    diagonal = np.maximum(diagonal, 0.0)
    factor = np.empty((X.shape[0], size))
    chosen = np.empty(0, dtype=np.intp)
    while len(chosen) < size and diagonal.any():
        proposals = rng.choice(len(diagonal), PROPOSALS, p=diagonal / diagonal.sum())
        rows = X[proposals].astype(np.float64)
        done = len(chosen)
        head = factor[proposals, :done]
        residual = scales[proposals] * kernel_values(kernel, rows, rows) * scales[proposals, None]
        residual -= head @ head.T
        # The first is always accepted: rounding errors of the products must not reject it.
        np.fill_diagonal(residual, diagonal[proposals])
        accepted, lower = _reject(residual, noise[proposals], size - done, rng)
        new = proposals[accepted]
        _append(kernel, X, scales, new, lower, factor, done, diagonal)
        diagonal[diagonal <= noise] = 0.0
        diagonal[new] = 0.0
        chosen = np.concatenate([chosen, new])
    return chosen


def _append(
    kernel: KernelFunction,
    X: Any,
    scales: FloatArray,
    new: npt.NDArray[np.intp],
    lower: FloatArray,
    factor: FloatArray,
    done: int,
    diagonal: FloatArray,
) -> None:
    """Write the columns of new pivots behind the first `done`, and update the diagonal."""
    rows, head, last = X[new].astype(np.float64), factor[new, :done], done + len(new)

    def block(part: slice) -> None:
        columns = kernel_values(kernel, X[part].astype(np.float64), rows)
        columns *= scales[part, None] * scales[new]
        columns -= factor[part, :done] @ head.T
        columns = scipy.linalg.solve_triangular(lower, columns.T, lower=True).T
        factor[part, done:last] = columns
        diagonal[part] -= np.einsum("ij,ij->i", columns, columns)

    over_blocks(block, X.shape[0], last)


def _reject(
    residual: FloatArray, noise: FloatArray, limit: int, rng: np.random.Generator
) -> tuple[list[int], FloatArray]:
    """Decide which proposals to accept; return them and the residual's Cholesky factor.

    A proposal is accepted with probability (its diagonal now) / (its diagonal when proposed).
    """
    proposed = residual.diagonal().copy()
    accepted: list[int] = []
    columns: list[FloatArray] = []
    for j, chance in enumerate(rng.random(len(residual))):
        if len(accepted) == limit:
            break
        now = residual[j, j]
        if now > noise[j] and chance * proposed[j] < now:
            column = residual[:, j] / math.sqrt(now)
            residual -= column[:, None] * column
            accepted.append(j)
            columns.append(column)
    return accepted, np.tril(np.column_stack(columns)[accepted])
