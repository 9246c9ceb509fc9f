r"""Products with large matrices that are never formed.

Three tools serve all sampled estimates: `KernelRows` multiplies by the exact kernel matrix in
blocks of rows; `ShiftedLowRank` holds :math:`Z Z^\top + \lambda I` and its functions through the
small :math:`Z^\top Z`; `krylov` finds extreme eigenvalues of whatever can be applied to a block of
vectors. One pass over the kernel costs the same for one vector as for a dozen, so all of them
work on blocks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr

from .._typing import Array, FloatArray
from ..kernels import Kernel
from ..rows.threads import block_slices, ordered_map

__all__ = ["Apply", "KernelRows", "Ritz", "ShiftedLowRank", "conjugate_gradients", "krylov"]

Apply = Callable[[Array], Array]


@dataclass(frozen=True)
class KernelRows:
    """The exact kernel matrix [n, n] of rows, a block of rows at a time.

    Attributes
    ----------
    kernel : Kernel
        With all parameters resolved.
    rows : ndarray or CSR matrix of shape (n, d)
    """

    kernel: Kernel
    rows: Any

    @property
    def n_rows(self) -> int:
        """The number n of rows."""
        return int(self.rows.shape[0])

    def trace(self) -> float:
        """Return Tr K, from the diagonal."""
        return float(self.kernel.diag(self.rows).sum(dtype=np.float64))

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        """Return K V of shape (n, p)."""
        # Float32 kernel values are fine, but sums of n of them are not: λ may be far below ‖K‖.
        return _by_rows(
            lambda part: np.asarray(self.kernel(self.rows[part], self.rows), np.float64) @ vectors,
            self.n_rows,
            self.n_rows,
        )


class ShiftedLowRank:
    r"""Functions of :math:`Z Z^\top + \lambda I` through the eigenvalues of :math:`Z^\top Z`.

    Parameters
    ----------
    Z : ndarray of shape (n, D)
        Features, in any precision; products are made in float64, block by block.
    lam : float
        λ > 0.
    """

    def __init__(self, Z: Array, lam: float) -> None:
        self.Z = Z
        self.lam = lam
        gram = np.zeros((Z.shape[1], Z.shape[1]))
        for part in self._parts():
            block = np.asarray(Z[part], np.float64)
            gram += block.T @ block
        squares, self._basis = eigh(gram)
        self.squares = np.maximum(squares, 0.0)  # squared singular values of Z

    def trace(self) -> float:
        """Return Tr Z Zᵀ."""
        return float(self.squares.sum())

    def statistical_dimension(self) -> float:
        """Return Tr Z Zᵀ (Z Zᵀ + λ)⁻¹."""
        return float((self.squares / (self.squares + self.lam)).sum())

    def low_rank(self, vectors: FloatArray) -> FloatArray:
        """Return Z Zᵀ V."""
        return self._sandwich(np.ones_like(self.squares), vectors)

    def solve(self, vectors: FloatArray, lam: Any = None) -> FloatArray:
        """Return (Z Zᵀ + λ)⁻¹ V, with a λ of its own for each column of V where they are given."""
        lam = self.lam if lam is None else lam
        return (vectors - self._sandwich(1 / (self.squares[:, None] + lam), vectors)) / lam

    def inverse_root(self, vectors: FloatArray, lam: float | None = None) -> FloatArray:
        """Return (Z Zᵀ + λ)^{-1/2} V."""
        lam = self.lam if lam is None else lam
        growth = np.sqrt(1 + self.squares / lam)
        # (1 - 1/g) / σ² without the cancellation: 1 / (λ g (g + 1)).
        weights = 1 / (lam * growth * (growth + 1))
        return (vectors - self._sandwich(weights, vectors)) / math.sqrt(lam)

    def _sandwich(self, weights: FloatArray, vectors: FloatArray) -> FloatArray:
        """Return Z U diag(weights) Uᵀ Zᵀ V, where Zᵀ Z = U diag(squares) Uᵀ.

        Weights [D, p] differ from column to column of V.
        """
        inner = np.zeros((self.Z.shape[1], vectors.shape[1]))
        for part in self._parts():
            inner += np.asarray(self.Z[part], np.float64).T @ vectors[part]
        inner = self._basis @ (weights.reshape(len(weights), -1) * (self._basis.T @ inner))
        return _by_rows(lambda part: np.asarray(self.Z[part], np.float64) @ inner, *self.Z.shape)

    def _parts(self) -> list[slice]:
        return list(block_slices(*self.Z.shape))


def _by_rows(block: Callable[[slice], FloatArray], n_rows: int, width: int) -> FloatArray:
    """Stack the results of blocks of rows, which run in threads."""
    return np.concatenate(list(ordered_map(block, list(block_slices(n_rows, width)))))


def conjugate_gradients(
    matrix: Apply, preconditioner: Apply, targets: FloatArray, tol: float, max_passes: int
) -> tuple[FloatArray, float]:
    """Solve A X = B for all columns of B at once, one product with A a step.

    SciPy's `cg` takes one right-hand side at a time, and each of its products would evaluate the
    whole kernel matrix again.

    Parameters
    ----------
    matrix, preconditioner : callable
        V [n, p] to A V and to an approximation of A⁻¹ V, both positive definite.
    targets : ndarray of shape (n, p)
        B.
    tol : float
        Where to stop: ‖B - A X‖ ≤ tol ‖B‖ in every column.
    max_passes : int
        The largest number of products with A.

    Returns
    -------
    solution : ndarray of shape (n, p)
    residual : float
        The largest ‖B - A X‖ / ‖B‖ of a column.
    """
    solution = np.zeros_like(targets)
    residual = targets.copy()
    scale = np.linalg.norm(targets, axis=0)
    direction = preconditioned = preconditioner(residual)
    product = np.einsum("np,np->p", residual, preconditioned)
    worst = 1.0
    for _ in range(max_passes):
        image = matrix(direction)
        step = product / np.einsum("np,np->p", direction, image)
        solution += step * direction
        residual -= step * image
        worst = float((np.linalg.norm(residual, axis=0) / scale).max())
        if worst <= tol:
            break
        preconditioned = preconditioner(residual)
        previous, product = product, np.einsum("np,np->p", residual, preconditioned)
        direction = preconditioned + product / previous * direction
    return solution, worst


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
