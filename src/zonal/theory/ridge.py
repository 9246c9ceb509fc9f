"""Solving with K + λ I where K is too large to be formed."""

import numpy as np

from .._typing import FloatArray
from ..features import NystroemFeatures
from ..solvers.conjugate_gradients import solve
from ..solvers.low_rank import ShiftedLowRank
from ..solvers.systems import AllRows, precisions
from .kernel_rows import KernelRows

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
        self.lam = lam
        self._n_rows = matrix.n_rows
        n_landmarks = min(RANK, max(1, matrix.n_rows // 2))
        nystroem = NystroemFeatures(
            matrix.kernel, n_landmarks, sampling="rpcholesky", random_state=seed
        )
        self.approximation = ShiftedLowRank(nystroem.fit_transform(matrix.rows), lam)
        self._product = precisions(matrix.kernel, matrix.rows)

    def solve(self, targets: FloatArray) -> FloatArray:
        """Return (K + λ)⁻¹ B of shape (n, p)."""
        alphas = np.full(targets.shape[1], self.lam)
        system = AllRows(self._product, alphas, low_rank=self.approximation)
        found = solve(system, targets, tol=TOL, max_iterations=MAX_PASSES)
        residual = float(found.residuals.max(initial=0.0))
        if residual > TOL:
            raise ValueError(
                f"Linear systems with K + lam did not converge in {MAX_PASSES} passes (relative "
                f"residual {residual:.2g}): lam={self.lam:g} is too small for "
                f"{self._n_rows} rows. Raise lam."
            )
        return found.state.solution
