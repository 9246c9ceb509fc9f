"""Exact values of kernels, their gradients, and the kernels of the radii for each degree."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from .._suggestions import Hinting
from .._typing import Array, FloatArray
from .._validation import row_norms
from ..rows.threads import map_rows
from .cross import cross, cross_slope
from .points import as_rows, check_columns, cosines
from .slopes import Slopes, check_coef, dense, weighted_rows
from .terms import NumericTerm, Term, merge

__all__ = ["ExactKernel"]


class ExactKernel(Hinting, BaseEstimator, ABC):
    """The values of a kernel that depends on ‖x‖, ‖y‖ and the angle only, and their gradients.

    Subclasses define `matrix` (the exact values) and `terms` (the closed-form summands), and
    where they can `profile`, `slopes` and `diagonal`.
    """

    #: Whether k(x, y) depends on x - y only, so that centring the data does not change it.
    shift_invariant: bool = False
    #: Whether k(x, y) depends on more than norms and angle, and is known by x - y.
    by_differences: bool = False

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the exact kernel matrix of shape (n_rows_x, n_rows_y); Y defaults to X."""
        self.check()
        rows, others = self.valid_rows(X), None if Y is None or Y is X else self.valid_rows(Y)
        if others is not None:
            check_columns(rows, others)
        for block in (rows, others):
            if block is not None:
                self.check_norms(row_norms(block))
        return self.matrix(rows, others)

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for every row, without the matrix: shape (n_rows,)."""
        self.check()
        rows = self.valid_rows(X)
        norms = row_norms(rows)
        self.check_norms(norms)
        return self.diagonal(norms).astype(rows.dtype, copy=False)

    def gradient(self, X: Any, Y: Any = None) -> Array:
        r"""Return gradients with respect to the first point, :math:`\nabla_x k(x_i, y_j)`.

        In closed form. Zero is returned where there is no gradient: at x = y for the Laplacian
        and Matérn kernels of ν ≤ 1/2, and at x = 0 for ArcCosine of order 0 or 1, NTK and Zonal
        (which is constant along rays: its gradient is tangential). Where points of one direction
        meet, the tangential part of ArcCosine(0) and NTK is taken as zero too.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n, d)
            Rows x; float32 stays float32.
        Y : {array-like, CSR matrix} of shape (m, d), optional
            Rows y, by default those of X.

        Returns
        -------
        ndarray of shape (n, m, d)

        Examples
        --------
        >>> import zonal
        >>> zonal.Gaussian().gradient([[1.0, 2.0]], [[0.0, 1.0]]).round(6)
        array([[[-0.367879, -0.367879]]])
        """
        X, rows, others = self._gradient_rows(X, Y)
        if self.by_differences:
            return self.slopes_at(rows, others).astype(X.dtype, copy=False)
        return self.slope_matrix(rows, others).gradients(rows, others).astype(X.dtype, copy=False)

    def contract_gradient(self, X: Any, Y: Any, coef: npt.ArrayLike) -> Array:
        r"""Return gradients of kernel expansions, :math:`\sum_j c_j \nabla_x k(x_i, y_j)`.

        Without the n × m × d numbers of `gradient`: blocks of rows, and two matrix products each.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n, d)
            Rows x; float32 stays float32.
        Y : {array-like, CSR matrix} of shape (m, d)
            Rows y, the centres of the expansion.
        coef : array-like of shape (m,) or (m, t)
            The coefficients c of one function, or of t.

        Returns
        -------
        ndarray of shape (n, d) or (n, t, d)

        Examples
        --------
        >>> import zonal
        >>> Y = [[0.0, 0.0], [1.0, 0.0]]
        >>> zonal.Polynomial(degree=1).contract_gradient([[5.0, 5.0]], Y, [2.0, 3.0])
        array([[3., 0.]])
        """
        X, rows, others = self._gradient_rows(X, Y)
        weights = check_coef(coef, len(others), "row of Y")
        if self.shift_invariant:  # a (x - y) is the same anywhere, and rounds least near zero
            middle = others.mean(axis=0)
            rows, others = rows - middle, others - middle
        weighted = weighted_rows(weights, others)
        out = np.empty((len(rows), weights.shape[1], rows.shape[1]), X.dtype)

        def block(part: FloatArray, out: Array) -> None:
            if self.by_differences:
                slopes = self.slopes_at(part, others)
                out[:] = np.einsum("nmd,mt->ntd", slopes, weights, optimize=True)
            else:
                out[:] = self.slope_matrix(part, others).contract(part, weights, weighted)

        map_rows(block, rows, out, 2 * len(others) * (rows.shape[1] if self.by_differences else 1))
        return out[:, 0] if np.ndim(coef) == 1 else out

    def _gradient_rows(self, X: Any, Y: Any) -> tuple[Any, FloatArray, FloatArray]:
        """Return X as it is, and both sets of rows dense and in float64, checked."""
        self.check()
        X = self.valid_rows(X)
        others = X if Y is None else self.valid_rows(Y)
        check_columns(X, others)
        rows, others = dense(X), dense(others)
        for block in (rows, others):
            self.check_norms(row_norms(block))
        return X, rows, others

    def slopes_at(self, rows: FloatArray, others: FloatArray) -> FloatArray:
        """Return the gradients by x of a kernel of differences, at all pairs: [n, m, d]."""
        return self.difference_slopes(rows[:, None, :] - others)

    def slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """Return the gradients at all pairs of rows, in their plane: arrays [n, m]."""
        return self.slopes(row_norms(rows)[:, None], row_norms(others), cosines(rows, others))

    def slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        """Return the gradient in the plane of x and y, as a function of what `profile` takes."""
        raise NotImplementedError(
            f"{type(self).__name__} has no gradient, for it is known by its values only: use a "
            "kernel with a formula (Gaussian, Matern, RationalQuadratic, DotProduct, ArcCosine, "
            "NTK, …), or sums and products of these."
        )

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return a shift-invariant kernel at differences x - y of any shape [..., d]: [...]."""
        raise NotImplementedError(f"{type(self).__name__} is not a function of differences.")

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return the gradient by x of a shift-invariant kernel, at differences: [..., d]."""
        raise NotImplementedError(f"{type(self).__name__} is not a function of differences.")

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""

    def check_norms(self, norms: FloatArray) -> None:
        """Raise ValueError if rows of these norms lie outside the kernel's domain."""

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return a copy whose parameters are numbers, also a median bandwidth, found in rows."""
        return clone(self)

    @abstractmethod
    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the exact matrix of valid rows; `others` may be None, for the same rows."""

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return the kernel as a function of both norms and the cosine.

        Elementwise over broadcast float64 arrays, whatever the dimension.

        Parameters
        ----------
        r, s : ndarrays
            ‖x‖ and ‖y‖.
        cos : ndarray
            The cosine of the angle between x and y.

        Returns
        -------
        ndarray of the common shape

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> zonal.Polynomial(degree=2).profile(np.array(1.0), np.array([1.0, 2.0]), np.array(0.5))
        array([2.25, 4.  ])
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not define profile, its values as a function of both "
            "norms and the cosine."
        )

    def valid_rows(self, X: Any) -> Any:
        """Return X as rows that the kernel takes."""
        return as_rows(X)

    @abstractmethod
    def terms(self) -> list[Term]:
        """Return the closed-form summands of the kernel."""

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return k(x, x) at points of these norms."""
        return np.asarray(sum(term.total(norms) for term in self.terms()))

    def degree_kernels(
        self, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
    ) -> FloatArray:
        r"""Return the kernels of the radii.

        .. math:: k(x,y) = \sum_\ell k_\ell(\|x\|,\|y\|) P_d^\ell(\cos)

        Parameters
        ----------
        dim, max_degree : int
            d and q.
        radii, others : ndarrays of shapes (n,) and (m,)
            ‖x‖ and ‖y‖.

        Returns
        -------
        ndarray of shape (max_degree + 1, n, m)

        Examples
        --------
        The Gaussian kernel on the line has an even part and an odd one, cosh and sinh:

        >>> import numpy as np
        >>> import zonal
        >>> one = np.ones(1)
        >>> zonal.Gaussian().degree_kernels(1, 1, one, one).ravel().round(6)
        array([0.567668, 0.432332])
        """
        return np.sum(
            [cross(term, dim, max_degree, radii, others) for term in merge(self.terms())], axis=0
        )

    def degree_slopes(
        self, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
    ) -> FloatArray:
        r"""Return the derivatives :math:`\partial k_\ell(r, s)/\partial r` of `degree_kernels`.

        Parameters
        ----------
        dim, max_degree : int
            d and q.
        radii, others : ndarrays of shapes (n,) and (m,)
            r = ‖x‖ and s = ‖y‖.

        Returns
        -------
        ndarray of shape (max_degree + 1, n, m)
        """
        terms = merge(self.terms())
        if any(isinstance(term, NumericTerm) for term in terms):
            whole = NumericTerm(self._radial_slope, name=repr(self), symmetric=False)
            return cross(whole, dim, max_degree, radii, others)
        return np.sum([cross_slope(term, dim, max_degree, radii, others) for term in terms], axis=0)

    def _radial_slope(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return the derivative of `profile` with respect to r: the gradient times x/‖x‖."""
        slopes = self.slopes(r, s, cos)
        return np.asarray(slopes.a * r + slopes.b * s * cos)
