r"""Functions of :math:`Z Z^\top + \lambda I`, found through the small :math:`Z^\top Z`."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh

from .._typing import Array, FloatArray
from ..rows.threads import block_slices, ordered_map

__all__ = ["ShiftedLowRank"]


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
