"""Extreme eigenvalues of an operator that is applied to blocks of vectors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from .._typing import Array, FloatArray

__all__ = ["Apply", "Ritz", "krylov"]

#: V [n, p] to A V.
Apply = Callable[[Array], Array]


@dataclass(frozen=True)
class Ritz:
    """Approximate eigenpairs.

    Attributes
    ----------
    values : ndarray of shape (k,)
        The outermost first.
    vectors : ndarray of shape (n, k)
    residual : float
        The largest ‖A v - θ v‖: each value lies that close to an eigenvalue.
    """

    values: Array
    vectors: Array
    residual: float


def krylov(
    matrix: Apply,
    start: FloatArray,
    rank: Callable[[Array], Array],
    *,
    count: int,
    tol: float,
    max_passes: int,
) -> Ritz:
    """Find extreme eigenpairs of a symmetric matrix by block Krylov iteration.

    SciPy's `eigsh` multiplies by one vector at a time; here one pass over the kernel matrix
    advances a whole block, so that a handful of passes is usually enough.

    Parameters
    ----------
    matrix : callable
        V [n, p] to A V.
    start : ndarray of shape (n, p)
        A random block.
    rank : callable
        Eigenvalues to a score; the highest scores are wanted. ``np.abs`` for the largest in size.
    count : int
        How many are wanted.
    tol : float
        Where to stop: the residual is below tol times the largest value wanted.
    max_passes : int
        The largest number of products with A.

    Returns
    -------
    Ritz
    """
    n = len(start)
    block = qr(start, mode="economic")[0]
    basis, image = np.empty((n, 0)), np.empty((n, 0))
    for _ in range(max_passes):
        basis = np.hstack([basis, block])
        image = np.hstack([image, matrix(block)])
        projected = basis.T @ image
        values, coefficients = np.linalg.eigh((projected + projected.T) / 2)
        wanted = np.argsort(-rank(values), kind="stable")[:count]
        values, coefficients = values[wanted], coefficients[:, wanted]
        gaps = image @ coefficients - (basis @ coefficients) * values
        residual = float(np.linalg.norm(gaps, axis=0).max())
        room = n - basis.shape[1]
        if (residual <= tol * np.abs(values).max() and len(values) == count) or room <= 0:
            break
        # Twice is enough: the second pass removes what rounding left of the basis.
        block = image[:, -block.shape[1] :]
        for _ in range(2):
            block = block - basis @ (basis.T @ block)
        block = qr(block, mode="economic")[0][:, :room]
        block -= basis @ (basis.T @ block)  # a column that was all rounding points anywhere
        block = qr(block, mode="economic")[0]
    return Ritz(values, basis @ coefficients, residual)
