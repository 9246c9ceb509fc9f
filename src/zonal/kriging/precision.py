r"""The inverse covariance of a process at its rows, never as a matrix.

Each row is known by earlier ones near it (Vecchia), with weights b and conditional variances v, so
that

.. math:: Q = (I - B)^\top \operatorname{diag}(v)^{-1} (I - B)

is sparse, and a constant mean of flat prior takes :math:`Q 1 1^\top Q / 1^\top Q 1` from it. Where
a likelihood adds a diagonal H, systems with Q + H are solved by conjugate gradients with
:math:`(I - B)^\top (\operatorname{diag}(v)^{-1} + H) (I - B)` as the preconditioner (Kündig and
Sigrist 2025), whose solution is one substitution forwards and one backwards.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from .neighborhood import count_neighbors
from .neighbors import Indices
from .numerics import MOST_ITERATIONS, NUGGET, SMALL_RESIDUAL
from .process import LocalProcess

__all__ = ["Precision"]


@dataclass(frozen=True)
class Precision:
    """Q of a process of variance one with a constant mean that is not known.

    Attributes
    ----------
    neighbors : ndarray of shape (n, m)
        Earlier rows, -1 at the end for none.
    weights : ndarray of shape (n, m)
        b.
    variance : ndarray of shape (n,)
        v.
    """

    neighbors: Indices
    weights: FloatArray
    variance: FloatArray

    @classmethod
    def of(cls, process: LocalProcess, neighbors: Indices | None = None) -> "Precision":
        """Take that of the rows of a process, as if they were observed with next to no noise.

        Parameters
        ----------
        process : LocalProcess
        neighbors : ndarray of shape (n, m), optional
            The earlier neighbours of all rows, where they are known.
        """
        exact = LocalProcess(
            process.rows, np.ones(len(process.rows)), process.kernel, NUGGET, process.n_neighbors
        )
        found = exact.whitening(neighbors=neighbors)
        return cls(found.neighbors, found.weights, found.variance)

    @cached_property
    def _of_ones(self) -> FloatArray:
        return self._with_mean(np.ones(len(self.variance)))

    def _with_mean(self, x: FloatArray) -> FloatArray:
        """Return Qx where the mean is known to be zero."""
        whitened, found = np.empty(len(x)), np.empty(len(x))
        _apply(self.neighbors, self.weights, x, whitened)
        _apply_transposed(self.neighbors, self.weights, whitened / self.variance, found)
        return found

    def apply(self, x: FloatArray) -> FloatArray:
        """Return Qx: [n]."""
        ones = self._of_ones
        return np.asarray(self._with_mean(x) - ones * (float(ones @ x) / float(ones.sum())))

    def solve(
        self, scale: float, more: FloatArray, right: FloatArray, small: float = SMALL_RESIDUAL
    ) -> FloatArray:
        """Return (Q/σ² + H)⁻¹ r: [n].

        Parameters
        ----------
        scale : float
            σ².
        more : ndarray of shape (n,)
            The diagonal of H, positive.
        right : ndarray of shape (n,)
            r.
        small : float
            The preconditioned square of the residual, over the first one, that ends the steps.

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> from zonal.kriging.precision import Precision
        >>> from zonal.kriging.process import LocalProcess
        >>> X = np.random.default_rng(0).uniform(size=(500, 2))
        >>> process = LocalProcess(X, np.ones(500), zonal.Matern(1.5, 0.3), 0.0, 16)
        >>> Q, h, r = Precision.of(process), np.full(500, 0.2), np.sin(5 * X[:, 0])
        >>> x = Q.solve(2.0, h, r, small=1e-20)
        >>> bool(np.abs(Q.apply(x) / 2 + h * x - r).max() < 1e-6)
        True
        """
        diagonal = 1 / (scale * self.variance) + more
        found, residual = np.zeros(len(right)), right.copy()
        turned = self._precondition(diagonal, residual)
        direction, size = turned, float(residual @ turned)
        least = small * size
        for _ in range(MOST_ITERATIONS):
            if size <= least:
                break
            moved = self.apply(direction) / scale + more * direction
            step = size / float(direction @ moved)
            found = found + step * direction
            residual = residual - step * moved
            turned = self._precondition(diagonal, residual)
            last, size = size, float(residual @ turned)
            direction = turned + (size / last) * direction
        return found

    def _precondition(self, diagonal: FloatArray, x: FloatArray) -> FloatArray:
        found = x.copy()
        _solve_transposed(self.neighbors, self.weights, found)
        found /= diagonal
        _solve(self.neighbors, self.weights, found)
        return found


@njit(nogil=True, cache=True)
def _apply(neighbors: Indices, weights: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """OUT: (I - B) x."""
    for i in range(len(neighbors)):
        total = x[i]
        for j in range(count_neighbors(neighbors[i])):
            total -= weights[i, j] * x[neighbors[i, j]]
        out[i] = total


@njit(nogil=True, cache=True)
def _apply_transposed(
    neighbors: Indices, weights: FloatArray, x: FloatArray, out: FloatArray
) -> None:
    """OUT: (I - B)ᵀ x."""
    out[:] = x
    for i in range(len(neighbors)):
        for j in range(count_neighbors(neighbors[i])):
            out[neighbors[i, j]] -= weights[i, j] * x[i]


@njit(nogil=True, cache=True)
def _solve(neighbors: Indices, weights: FloatArray, x: Array) -> None:
    """IN and OUT: x becomes (I - B)⁻¹ x; earlier rows are ready when they are asked for."""
    for i in range(len(neighbors)):
        for j in range(count_neighbors(neighbors[i])):
            x[i] += weights[i, j] * x[neighbors[i, j]]


@njit(nogil=True, cache=True)
def _solve_transposed(neighbors: Indices, weights: FloatArray, x: Array) -> None:
    """IN and OUT: x becomes (I - B)⁻ᵀ x, from the last row to the first."""
    for i in range(len(neighbors) - 1, -1, -1):
        for j in range(count_neighbors(neighbors[i])):
            x[neighbors[i, j]] += weights[i, j] * x[i]
