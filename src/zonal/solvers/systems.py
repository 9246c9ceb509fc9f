r"""The two systems of exact kernel ridge regression: all rows, or fewer centres."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from .._typing import FloatArray
from ..kernels import Kernel
from .conjugate_gradients import Columns
from .low_rank import ShiftedLowRank
from .products import KernelProduct

__all__ = ["AllRows", "Centers"]


class AllRows:
    r"""The systems :math:`(S K S + \alpha_c I)\, x_c = S y_c`, whose coefficients are S x.

    S = diag(√w) holds the weights; without them it is the identity.

    Parameters
    ----------
    product : callable
        ``product(precise)`` returns what multiplies by K in one of both precisions.
    alphas : ndarray of shape (p,)
        α of every system.
    root : ndarray of shape (n, 1) or None
        √w.
    low_rank : ShiftedLowRank or None
        S Z Zᵀ S, the preconditioner with α; None for none.
    """

    def __init__(
        self,
        product: Callable[[bool], Any],
        alphas: FloatArray,
        root: FloatArray | None = None,
        low_rank: ShiftedLowRank | None = None,
    ) -> None:
        self._product = product
        self.alphas = alphas
        self.root = root
        self.low_rank = low_rank

    def weighted(self, vectors: FloatArray) -> FloatArray:
        """Return S V."""
        return vectors if self.root is None else self.root * vectors

    def product(self, vectors: FloatArray, columns: Columns, precise: bool) -> FloatArray:
        """Return (S K S + α_c) v_c."""
        image = self.weighted(self._product(precise) @ self.weighted(vectors))
        return np.asarray(image + self.alphas[columns] * vectors)

    def precondition(self, vectors: FloatArray, columns: Columns) -> FloatArray:
        """Return (S Z Zᵀ S + α_c)⁻¹ v_c."""
        if self.low_rank is None:
            return vectors.copy()
        return self.low_rank.solve(vectors, self.alphas[columns])

    def sizes(self, residuals: FloatArray, preconditioned: FloatArray) -> FloatArray:
        """Return ‖r_c‖: predictions at the rows, K A⁻¹ r off, are no further off than r."""
        return np.asarray(np.linalg.norm(residuals, axis=0))


class Centers:
    r"""Falkon's systems, of M centres instead of n rows.

    .. math::

        (K_{nM}^\top W K_{nM} + \alpha_c K_{MM})\, a_c = K_{nM}^\top W y_c

    in the variables b = T a with :math:`K_{MM} = T^\top T`, where the identity takes the place of
    K_MM. The centres themselves, as a sample of the rows, give the preconditioner
    :math:`\frac{\sum w}{M} T T^\top + \alpha_c I`.

    Parameters
    ----------
    gram : callable
        ``gram(V, precise)`` returns :math:`K_{nM}^\top W K_{nM} V`.
    kernel : Kernel
    centers : ndarray or CSR matrix of shape (M, d)
    alphas : ndarray of shape (p,)
        α of every system.
    total_weight : float
        Σ w, the number of rows if they weigh one each.

    References
    ----------
    A. Rudi, L. Carratino and L. Rosasco, "FALKON: An Optimal Large Scale Kernel Method", NeurIPS
    2017.
    """

    def __init__(
        self,
        gram: Callable[[FloatArray, bool], FloatArray],
        kernel: Kernel,
        centers: Any,
        alphas: FloatArray,
        total_weight: float,
        preconditioned: bool = True,
    ) -> None:
        self._gram = gram
        self.alphas = alphas
        n_centers = centers.shape[0]
        K = np.asarray(kernel(centers), np.float64)
        # Centres may nearly agree: what is added is below what rounding makes of the eigenvalues.
        K.flat[:: n_centers + 1] += np.finfo(np.float64).eps * n_centers * K.diagonal().max()
        self._root = cholesky(K, overwrite_a=True, check_finite=False)
        self._factors: dict[float, Any] = {}
        if preconditioned:
            inner = self._root @ self._root.T
            inner *= total_weight / n_centers
            for alpha in set(alphas.tolist()):
                shifted = inner.copy()
                shifted.flat[:: n_centers + 1] += alpha
                self._factors[alpha] = cho_factor(shifted, overwrite_a=True, check_finite=False)

    def coefficients(self, vectors: FloatArray) -> FloatArray:
        """Return a = T⁻¹ b."""
        return np.asarray(solve_triangular(self._root, vectors, check_finite=False))

    def adjoint(self, vectors: FloatArray) -> FloatArray:
        """Return T⁻ᵀ v."""
        return np.asarray(solve_triangular(self._root, vectors, trans="T", check_finite=False))

    def product(self, vectors: FloatArray, columns: Columns, precise: bool) -> FloatArray:
        """Return (T⁻ᵀ K_nMᵀ W K_nM T⁻¹ + α_c) v_c."""
        image = self.adjoint(self._gram(self.coefficients(vectors), precise))
        return np.asarray(image + self.alphas[columns] * vectors)

    def precondition(self, vectors: FloatArray, columns: Columns) -> FloatArray:
        """Return (Σw/M T Tᵀ + α_c)⁻¹ v_c."""
        if not self._factors:
            return vectors.copy()
        out = np.empty_like(vectors)
        for alpha in set(self.alphas[columns].tolist()):
            same = self.alphas[columns] == alpha
            out[:, same] = cho_solve(self._factors[alpha], vectors[:, same], check_finite=False)
        return out

    def sizes(self, residuals: FloatArray, preconditioned: FloatArray) -> FloatArray:
        """Return (r_cᵀ A_c⁻¹ r_c)^½, nearly: how far predictions at the rows are off."""
        squares = np.einsum("np,np->p", residuals, preconditioned)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def precisions(kernel: Kernel, rows: Any, centers: Any = None) -> Callable[[bool], KernelProduct]:
    """Return what makes products in single and in double precision, each when first asked for."""
    made: dict[bool, KernelProduct] = {}

    def product(precise: bool) -> KernelProduct:
        if precise not in made:
            dtype = np.float64 if precise else np.float32
            made[precise] = KernelProduct(kernel, rows, centers, dtype)
        return made[precise]

    return product
