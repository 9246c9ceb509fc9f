"""Sums, products and multiples of kernels."""

from typing import Any, Self

import numpy as np

from .._typing import Array, FloatArray
from .._validation import check_positive
from .base import Kernel
from .slopes import Slopes
from .terms import NumericTerm, Term, multiply

__all__ = ["Product", "Scaled", "Sum"]


class _Pair(Kernel):
    """Two kernels and an operation."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        """Whether both kernels are."""
        return self.k1.shift_invariant and self.k2.shift_invariant

    def _rows(self, X: Any) -> Any:
        self.k1._rows(X)
        return self.k2._rows(X)

    def check(self) -> None:
        """Raise ValueError if a parameter of either kernel is out of range."""
        self.k1.check()
        self.k2.check()

    def check_norms(self, norms: FloatArray) -> None:
        """Raise ValueError if rows lie outside the domain of either kernel."""
        self.k1.check_norms(norms)
        self.k2.check_norms(norms)

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """A copy of which both kernels are resolved."""
        return type(self)(self.k1.resolve(X, sample_weight), self.k2.resolve(X, sample_weight))


class Sum(_Pair):
    """The sum of two kernels, written ``k1 + k2``.

    Parameters
    ----------
    k1, k2 : Kernel
        The summands.

    Examples
    --------
    >>> import zonal
    >>> (zonal.Gaussian() + zonal.Polynomial(degree=1)).diag([[2.0]])
    array([6.])
    """

    def terms(self) -> list[Term]:
        """The terms of both."""
        return self.k1.terms() + self.k2.terms()

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """The sum of both profiles."""
        return self.k1.profile(r, s, cos) + self.k2.profile(r, s, cos)

    def _matrix(self, rows: Any, others: Any) -> Array:
        return self.k1._matrix(rows, others) + self.k2._matrix(rows, others)

    def _slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        return self.k1._slopes(r, s, cos) + self.k2._slopes(r, s, cos)

    def _slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        return self.k1._slope_matrix(rows, others) + self.k2._slope_matrix(rows, others)

    def _diag(self, norms: FloatArray) -> FloatArray:
        return self.k1._diag(norms) + self.k2._diag(norms)


class Product(_Pair):
    """The product of two kernels, written ``k1 * k2``.

    It has a closed-form expansion where both factors are dot-product or Gaussian kernels, or both
    homogeneous (ArcCosine, NTK, Zonal); any other is expanded numerically, as a whole, with
    ``radial_basis="optimal"``.

    Parameters
    ----------
    k1, k2 : Kernel
        The factors.

    Examples
    --------
    >>> import zonal
    >>> (zonal.Gaussian() * zonal.Polynomial(degree=1)).diag([[2.0]])
    array([5.])
    """

    def terms(self) -> list[Term]:
        """The products of all pairs of terms, or the kernel itself where one has no closed form."""
        left_terms, right_terms = self.k1.terms(), self.k2.terms()
        products = [multiply(left, right) for left in left_terms for right in right_terms]
        closed = [product for product in products if product is not None]
        if len(closed) == len(products):
            return closed
        slow = any(term.slow for term in left_terms + right_terms)
        return [NumericTerm(self.profile, slow=slow, name=repr(self))]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """The product of both profiles."""
        return self.k1.profile(r, s, cos) * self.k2.profile(r, s, cos)

    def _matrix(self, rows: Any, others: Any) -> Array:
        return self.k1._matrix(rows, others) * self.k2._matrix(rows, others)

    def _slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        first = self.k1._slopes(r, s, cos) * self.k2.profile(r, s, cos)
        return first + self.k2._slopes(r, s, cos) * self.k1.profile(r, s, cos)

    def _slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        first = self.k1._slope_matrix(rows, others) * self.k2._matrix(rows, others)
        return first + self.k2._slope_matrix(rows, others) * self.k1._matrix(rows, others)

    def _diag(self, norms: FloatArray) -> FloatArray:
        return self.k1._diag(norms) * self.k2._diag(norms)


class Scaled(Kernel):
    """A kernel times a positive number, written ``2 * k``.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    factor : float
        The number.

    Examples
    --------
    >>> import zonal
    >>> (2 * zonal.Gaussian()).diag([[1.0, 1.0]])
    array([2.])
    """

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        """Whether the kernel is."""
        return self.kernel.shift_invariant

    def _rows(self, X: Any) -> Any:
        return self.kernel._rows(X)

    def check(self) -> None:
        """Raise ValueError if the factor or a parameter of the kernel is out of range."""
        check_positive("factor", self.factor, "Scaled", extra=", for positive definiteness")
        self.kernel.check()

    def check_norms(self, norms: FloatArray) -> None:
        """Raise ValueError if rows lie outside the kernel's domain."""
        self.kernel.check_norms(norms)

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """A copy of which the kernel is resolved."""
        return type(self)(self.kernel.resolve(X, sample_weight), self.factor)

    def terms(self) -> list[Term]:
        """The kernel's terms, scaled."""
        self.check()
        return [term.scaled(self.factor) for term in self.kernel.terms()]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """The kernel's profile, scaled."""
        self.check()
        return self.factor * self.kernel.profile(r, s, cos)

    def _matrix(self, rows: Any, others: Any) -> Array:
        values = self.kernel._matrix(rows, others)
        return values * values.dtype.type(self.factor)

    def _slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        return self.kernel._slopes(r, s, cos) * self.factor

    def _slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        return self.kernel._slope_matrix(rows, others) * self.factor

    def _diag(self, norms: FloatArray) -> FloatArray:
        return np.asarray(self.factor * self.kernel._diag(norms))
