"""Solving with K + λ I where K is too large to be formed."""

from .._typing import Array
from ..features import NystroemFeatures
from .operators import KernelRows, ShiftedLowRank, conjugate_gradients

__all__ = ["RidgeSolver"]

# Landmarks of the preconditioner: n times this many numbers are kept.
RANK = 512
# Relative residual. A quadratic form λ bᵀ (K + λ)⁻¹ b is then too small by at most TOL² ‖b‖².
TOL = 1e-4
MAX_PASSES = 200


class RidgeSolver:
    """Conjugate gradients on the exact kernel, preconditioned by a Nyström approximation.

    Parameters
    ----------
    matrix : KernelRows
        K.
    lam : float
        λ > 0.
    seed : int
        The seed of the landmarks.

    Attributes
    ----------
    approximation : ShiftedLowRank
        K̂ + λ, with K̂ ⪯ K from the landmarks.
    """

    def __init__(self, matrix: KernelRows, lam: float, seed: int) -> None:
        self.matrix = matrix
        self.lam = lam
        n_landmarks = min(RANK, max(1, matrix.n_rows // 2))
        nystroem = NystroemFeatures(
            matrix.kernel, n_landmarks, sampling="rpcholesky", random_state=seed
        )
        self.approximation = ShiftedLowRank(nystroem.fit_transform(matrix.rows), lam)

    def solve(self, targets: Array) -> Array:
        """Return (K + λ)⁻¹ B of shape (n, p)."""
        solution, residual = conjugate_gradients(
            lambda V: self.matrix @ V + self.lam * V,
            self.approximation.solve,
            targets,
            TOL,
            MAX_PASSES,
        )
        if residual > TOL:
            raise ValueError(
                f"Linear systems with K + lam did not converge in {MAX_PASSES} passes (relative "
                f"residual {residual:.2g}): lam={self.lam:g} is too small for "
                f"{self.matrix.n_rows} rows. Raise lam."
            )
        return solution
