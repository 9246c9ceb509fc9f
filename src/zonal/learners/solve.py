"""Ridge systems (S + αI) w = b from moments: one alpha, or a whole path of them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv

from .._typing import FloatArray

__all__ = ["Eigen", "solve_ridge"]


@dataclass(frozen=True)
class Eigen:
    """S = V diag(λ) Vᵀ, and what of it is rounding.

    S is a sum of squares, so what is negative among its eigenvalues is rounding noise, and so is
    everything of that size. A direction with λ at most as large counts only where alpha is larger
    than the noise; else it is left out, as if it were never seen.

    Attributes
    ----------
    values : ndarray of shape (n,)
        λ, none below zero.
    vectors : ndarray of shape (n, n)
        V.
    floor : float
        The size of the noise.
    """

    values: FloatArray
    vectors: FloatArray
    floor: float

    @classmethod
    def of(cls, matrix: FloatArray, precision: float = 0.0) -> "Eigen":
        """Decompose a symmetric matrix, known to a relative precision."""
        values, vectors = eigh(matrix, driver="evd", check_finite=False)
        relative = max(precision, len(values) * float(np.finfo(float).eps))
        floor = max(-2 * values[0], relative * values[-1], 0.0)
        return cls(np.maximum(values, 0.0), vectors, float(floor))

    def shrink(self, alpha: float) -> FloatArray:
        """1 / (λ + α), or zero for what is rounding."""
        known = (self.values > self.floor) | (alpha > self.floor)
        return np.divide(1.0, self.values + alpha, out=np.zeros_like(self.values), where=known)

    def solve(self, rhs: FloatArray, alpha: float) -> FloatArray:
        """(S + αI)⁻¹ rhs on the directions that count."""
        return np.asarray(self.vectors @ (self.shrink(alpha)[:, None] * (self.vectors.T @ rhs)))


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
