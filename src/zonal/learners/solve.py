"""Ridge systems (S + αI) w = b from moments: one alpha, or a whole path of them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv

from .._typing import FloatArray

__all__ = ["Eigen", "solve_ridge"]


@dataclass(frozen=True)
class Eigen:
    """S = V diag(λ) Vᵀ without the directions that rounding has swamped.

    S is a sum of squares, so what is negative among its eigenvalues is rounding noise, and so is
    everything of that size: a direction with λ at most as large as the most negative eigenvalue
    (or as the precision of the sums) is left out, as if it were never seen.

    Attributes
    ----------
    values : ndarray of shape (rank,)
    vectors : ndarray of shape (n, rank)
    """

    values: FloatArray
    vectors: FloatArray

    @classmethod
    def of(cls, matrix: FloatArray) -> "Eigen":
        """Decompose a symmetric matrix."""
        values, vectors = eigh(matrix, driver="evd", check_finite=False)
        top = max(values[-1], 0.0)
        floor = max(-2 * values[0], len(values) * np.finfo(float).eps * top)
        keep = values > floor
        return cls(values[keep], vectors[:, keep])

    def solve(self, rhs: FloatArray, alpha: float) -> FloatArray:
        """(S + αI)⁻¹ rhs on the kept directions."""
        projected = self.vectors.T @ rhs
        return np.asarray(self.vectors @ (projected / (self.values + alpha)[:, None]))


def solve_ridge(matrix: FloatArray, rhs: FloatArray, alpha: float, precision: float) -> FloatArray:
    """Solve (S + αI) w = b for one alpha.

    Cholesky where alpha is well above the rounding of S, else through the eigendecomposition,
    which also serves singular systems and alpha = 0.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        S, positive semidefinite up to rounding.
    rhs : ndarray of shape (n, n_targets)
        b.
    alpha : float
        α ≥ 0.
    precision : float
        The machine precision that S was summed in.

    Returns
    -------
    ndarray of shape (n, n_targets)
    """
    if alpha > precision * np.trace(matrix):
        system = matrix.copy()
        system.flat[:: len(system) + 1] += alpha
        _, solution, failed = dposv(system, rhs, overwrite_a=True)
        if not failed:
            return np.asarray(solution)
        # Rounding has made the matrix indefinite; the other way can take it.
    return Eigen.of(matrix).solve(rhs, alpha)
