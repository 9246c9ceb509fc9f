"""The base class of kernels, with what is made of kernels: sums, products, multiples, expansions.

They stand in one file because they know each other: ``k1 + k2`` is a `Sum`, `Kernel.expand` returns
a `GeneralizedZonalKernel`, and all of these are kernels again.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .._validation import check_choice, check_count, check_positive, row_norms
from .expansion.cut import worst_case
from .expansion.zonal_sums import zonal_matrix, zonal_profile, zonal_slopes
from .points import as_rows, cosines
from .radial import radial_derivative
from .slopes import Slopes
from .terms import FixedTerm, NumericTerm, Term, multiply
from .values import ExactKernel

__all__ = ["GeneralizedZonalKernel", "Kernel", "Product", "Scaled", "Sum"]


class Kernel(ExactKernel):
    """A positive definite kernel that depends on ‖x‖, ‖y‖ and the angle only.

    Subclasses define `matrix` (the exact values) and `terms` (the closed-form summands);
    everything else follows: `expand` into a generalized zonal kernel, sums
    ``k1 + k2``, products ``k1 * k2`` and positive multiples ``2 * k``. Kernels have
    `get_params`, `set_params` and can be cloned, as in scikit-learn.
    """

    def expand(
        self,
        dim: int,
        max_degree: int | None = None,
        n_radial: int | None = None,
        radial_basis: str = "taylor",
        radii: npt.ArrayLike | None = None,
        tol: float = 1e-6,
    ) -> "GeneralizedZonalKernel":
        r"""Return the kernel's truncated expansion, the paper's :math:`k_{q,s}`.

        .. math::

            [h_\ell(t)]_i = \sqrt{\frac{\alpha_{\ell,d}}{2^\ell}
            \frac{\Gamma(\frac d2)\, \kappa^{(\ell+2i)}(0)}{\sqrt\pi (2i)!}
            \frac{\Gamma(i+\frac12)}{\Gamma(i+\ell+\frac d2)}}\; t^{\ell+2i},
            \qquad i = 0, \dots, s - 1

        for dot-product kernels, times :math:`e^{-t^2/2}` for the Gaussian (t = ‖x‖/bandwidth);
        :math:`h_\ell(t) = \sqrt{c_\ell}\, t^p` for homogeneous kernels.

        Parameters
        ----------
        dim : int
            The number of columns d.
        max_degree : int, optional
            The largest degree q. By default the smallest that the tolerance allows.
        n_radial : int, optional
            The order s. By default the smallest that the tolerance allows; one function with the
            full coefficient (all i summed) where at least two `radii` are given and all agree.
            ArcCosine, NTK and Zonal always have one.
        radial_basis : {"taylor", "optimal"}, default="taylor"
            The radial functions. ``"taylor"``: the paper's monomials. ``"optimal"``: for every
            degree the eigenfunctions of :math:`k_\ell(r, r')` under the distribution of the
            `radii`, which leave out the least of k(x, x) at any order. Kernels without a Taylor
            series (Matérn, rational quadratic, mixed products, …) have these only, and ArcCosine,
            NTK and Zonal one function that is exact in either case.
        radii : array-like of shape (n,), optional
            The norms of the points that the expansion is for; what is not given is chosen for
            the largest of them. By default the unit ball. The distribution for "optimal" is that
            of their quantiles, or uniform from zero to the radius if there is only one.
        tol : float, default=1e-6
            What may be cut off, relative to the largest k(x, x). ArcCosine and NTK decay too
            slowly for small tolerances and stop at degree 200.

        Returns
        -------
        GeneralizedZonalKernel

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> X = np.random.default_rng(0).standard_normal((50, 4))
        >>> kernel = zonal.Gaussian(bandwidth=2.0)
        >>> expansion = kernel.expand(dim=4, radii=np.linalg.norm(X, axis=1))
        >>> bool(abs(expansion(X) - kernel(X)).max() < 1e-6)
        True
        """
        owner = f"{type(self).__name__}.expand"
        self.check()
        check_count("dim", dim, owner)
        check_choice("radial_basis", radial_basis, ("taylor", "optimal"), owner)
        check_positive("tol", tol, owner)
        if max_degree is not None:
            check_count("max_degree", max_degree, owner, minimum=0)
        if n_radial is not None:
            check_count("n_radial", n_radial, owner)
        norms = np.atleast_1d(np.asarray(1.0 if radii is None else radii, dtype=np.float64))
        if norms.ndim != 1 or not len(norms) or not (np.isfinite(norms) & (norms >= 0)).all():
            raise ValueError(
                f"radii={radii!r} of {owner} must be norms: finite numbers of at least 0, at least "
                "one of them."
            )
        cut = worst_case(
            self, dim, norms, tol, max_degree=max_degree, n_radial=n_radial, basis=radial_basis
        )
        return GeneralizedZonalKernel(dim, cut.radial(), cut.max_degree, cut.n_radial)

    def __add__(self, other: Any) -> "Kernel":
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__

    def __radd__(self, other: Any) -> "Kernel":
        return self if other == 0 else NotImplemented  # so that sum([k1, k2]) works


class _Pair(Kernel):
    """Two kernels and an operation."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        """Whether both kernels are."""
        return self.k1.shift_invariant and self.k2.shift_invariant

    @property
    def by_differences(self) -> bool:  # type: ignore[override]
        """Whether either kernel is."""
        return self.k1.by_differences or self.k2.by_differences

    def valid_rows(self, X: Any) -> Any:
        """Return X as rows that both kernels take."""
        self.k1.valid_rows(X)
        return self.k2.valid_rows(X)

    def check(self) -> None:
        """Raise ValueError if a parameter of either kernel is out of range."""
        self.k1.check()
        self.k2.check()

    def check_norms(self, norms: FloatArray) -> None:
        """Raise ValueError if rows lie outside the domain of either kernel."""
        self.k1.check_norms(norms)
        self.k2.check_norms(norms)

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return a copy of which both kernels are resolved."""
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
        """Return the terms of both."""
        return self.k1.terms() + self.k2.terms()

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return the sum of both profiles."""
        return self.k1.profile(r, s, cos) + self.k2.profile(r, s, cos)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the sum of both matrices."""
        return self.k1.matrix(rows, others) + self.k2.matrix(rows, others)

    def slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        """Return the sum of both gradients."""
        return self.k1.slopes(r, s, cos) + self.k2.slopes(r, s, cos)

    def slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """Return the sum of both gradients at all pairs."""
        return self.k1.slope_matrix(rows, others) + self.k2.slope_matrix(rows, others)

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return the sum of both at differences."""
        return self.k1.of_differences(delta) + self.k2.of_differences(delta)

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return the sum of both gradients at differences."""
        return self.k1.difference_slopes(delta) + self.k2.difference_slopes(delta)

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return the sum of both diagonals."""
        return self.k1.diagonal(norms) + self.k2.diagonal(norms)


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
        """Return products of all pairs of terms, or the kernel itself if one has no closed form."""
        left_terms, right_terms = self.k1.terms(), self.k2.terms()
        products = [multiply(left, right) for left in left_terms for right in right_terms]
        closed = [product for product in products if product is not None]
        if len(closed) == len(products):
            return closed
        slow = any(term.slow for term in left_terms + right_terms)
        return [NumericTerm(self.profile, slow=slow, name=repr(self))]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return the product of both profiles."""
        return self.k1.profile(r, s, cos) * self.k2.profile(r, s, cos)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the product of both matrices."""
        return self.k1.matrix(rows, others) * self.k2.matrix(rows, others)

    def slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        """Return the gradient of a product."""
        first = self.k1.slopes(r, s, cos) * self.k2.profile(r, s, cos)
        return first + self.k2.slopes(r, s, cos) * self.k1.profile(r, s, cos)

    def slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """Return the gradients of a product at all pairs."""
        first = self.k1.slope_matrix(rows, others) * self.k2.matrix(rows, others)
        return first + self.k2.slope_matrix(rows, others) * self.k1.matrix(rows, others)

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return the product of both at differences."""
        return self.k1.of_differences(delta) * self.k2.of_differences(delta)

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return the gradient of a product at differences."""
        first = self.k1.difference_slopes(delta) * self.k2.of_differences(delta)[..., None]
        second = self.k2.difference_slopes(delta) * self.k1.of_differences(delta)[..., None]
        return first + second

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return the product of both diagonals."""
        return self.k1.diagonal(norms) * self.k2.diagonal(norms)


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

    @property
    def by_differences(self) -> bool:  # type: ignore[override]
        """Whether the kernel is."""
        return self.kernel.by_differences

    def valid_rows(self, X: Any) -> Any:
        """Return X as rows that the kernel takes."""
        return self.kernel.valid_rows(X)

    def check(self) -> None:
        """Raise ValueError if the factor or a parameter of the kernel is out of range."""
        check_positive("factor", self.factor, "Scaled", extra=", for positive definiteness")
        self.kernel.check()

    def check_norms(self, norms: FloatArray) -> None:
        """Raise ValueError if rows lie outside the kernel's domain."""
        self.kernel.check_norms(norms)

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return a copy of which the kernel is resolved."""
        return type(self)(self.kernel.resolve(X, sample_weight), self.factor)

    def terms(self) -> list[Term]:
        """Return the kernel's terms, scaled."""
        self.check()
        return [term.scaled(self.factor) for term in self.kernel.terms()]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return the kernel's profile, scaled."""
        self.check()
        return self.factor * self.kernel.profile(r, s, cos)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the kernel's matrix, scaled."""
        values = self.kernel.matrix(rows, others)
        return values * values.dtype.type(self.factor)

    def slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        """Return the kernel's gradient, scaled."""
        return self.kernel.slopes(r, s, cos) * self.factor

    def slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """Return the kernel's gradients at all pairs, scaled."""
        return self.kernel.slope_matrix(rows, others) * self.factor

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return the kernel at differences, scaled."""
        return self.factor * self.kernel.of_differences(delta)

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return the kernel's gradients at differences, scaled."""
        return self.factor * self.kernel.difference_slopes(delta)

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return the kernel's diagonal, scaled."""
        return np.asarray(self.factor * self.kernel.diagonal(norms))


class GeneralizedZonalKernel(Kernel):
    r"""Kernel given by its radial functions, the paper's GZK of order s.

    .. math::

        k(x, y) = \sum_{\ell=0}^{q} \langle h_\ell(\|x\|), h_\ell(\|y\|) \rangle\,
        P_d^\ell\left(\frac{\langle x, y \rangle}{\|x\| \|y\|}\right), \qquad
        h_\ell : \mathbb{R} \to \mathbb{R}^s .

    It is what `Kernel.expand` returns, and what a user makes from radial functions of their
    own; any choice of them gives a positive definite kernel. At x = 0, which has no direction,
    only degree 0 counts.

    Parameters
    ----------
    dim : int
        The number of columns d ≥ 1.
    radial : callable
        Radii of shape (n,) to h of shape (n, max_degree + 1, n_radial).
    max_degree : int
        The largest degree q (at most 1 when d = 1).
    n_radial : int
        The order s.

    Examples
    --------
    A kernel with degrees 0 and 2, which sees an axis but not its sign:

    >>> import numpy as np
    >>> import zonal
    >>> def radial(radii):
    ...     h = np.zeros((len(radii), 3, 1))
    ...     h[:, 0, 0] = np.sqrt(1 / 3)
    ...     h[:, 2, 0] = np.sqrt(2 / 3) * np.tanh(radii)
    ...     return h
    >>> kernel = zonal.GeneralizedZonalKernel(dim=3, radial=radial, max_degree=2, n_radial=1)
    >>> kernel([[9.0, 0, 0]], [[9.0, 0, 0], [-9.0, 0, 0]]).round(3)
    array([[1., 1.]])
    """

    def __init__(
        self,
        dim: int,
        radial: Callable[[FloatArray], FloatArray],
        max_degree: int,
        n_radial: int,
    ) -> None:
        self.dim = dim
        self.radial = radial
        self.max_degree = max_degree
        self.n_radial = n_radial

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        owner = type(self).__name__
        check_count("dim", self.dim, owner)
        check_count("n_radial", self.n_radial, owner)
        check_count("max_degree", self.max_degree, owner, minimum=0)
        if self.dim == 1 and self.max_degree > 1:
            raise ValueError(
                f"max_degree={self.max_degree} of {owner} must be 0 or 1 when dim=1: the sphere "
                "{-1, +1} has only even and odd functions."
            )

    def coefficients(self, radii: FloatArray) -> FloatArray:
        """Return the radial functions, without the degrees that vanish at the origin.

        Parameters
        ----------
        radii : array-like of shape (n,)
            Norms of rows.

        Returns
        -------
        ndarray of shape (n, max_degree + 1, n_radial)
        """
        radii = np.asarray(radii, dtype=np.float64)
        values = np.asarray(self.radial(radii), dtype=np.float64)
        expected = (len(radii), self.max_degree + 1, self.n_radial)
        if values.shape != expected:
            raise ValueError(
                f"radial returned an array of shape {values.shape} for {len(radii)} radii; "
                f"GeneralizedZonalKernel with max_degree={self.max_degree} and "
                f"n_radial={self.n_radial} needs {expected}."
            )
        at_origin = radii == 0
        if at_origin.any():
            values = values.copy()
            values[at_origin, 1:] = 0
        return values

    def derivative(self, radii: FloatArray) -> FloatArray:
        """Return derivatives of the radial functions, which must have a method `derivative`.

        Parameters
        ----------
        radii : array-like of shape (n,)
            Norms of rows.

        Returns
        -------
        ndarray of shape (n, max_degree + 1, n_radial)
        """
        return radial_derivative(self.radial, np.asarray(radii, dtype=np.float64))

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return Σ_ℓ ⟨h_ℓ(r), h_ℓ(s)⟩ P_ℓ(cos)."""
        self.check()
        h_r, h_s = (
            self.coefficients(np.ravel(radii)).reshape(
                *np.shape(radii), self.max_degree + 1, self.n_radial
            )
            for radii in (r, s)
        )
        return zonal_profile(h_r, h_s, np.asarray(cos), self.dim)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the sums over degrees at all pairs of rows."""
        h_x = self.coefficients(row_norms(rows))
        h_y = h_x if others is None else self.coefficients(row_norms(others))
        cos = cosines(rows, others).astype(np.float64, copy=False)
        return zonal_matrix(h_x, h_y, cos, self.dim).astype(rows.dtype, copy=False)

    def slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """Return the gradients at all pairs of rows."""
        r, s = row_norms(rows), row_norms(others)
        h_x, h_y = self.coefficients(r), self.coefficients(s)
        return zonal_slopes(h_x, self.derivative(r), r, h_y, s, cosines(rows, others), self.dim)

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return the sum of all squares."""
        return np.asarray(np.einsum("nli->n", np.square(self.coefficients(norms))))

    def terms(self) -> list[Term]:
        """Return the expansion itself, used as it is."""
        self.check()
        return [FixedTerm(self.dim, self.coefficients, self.max_degree, self.n_radial)]

    def expand(
        self,
        dim: int,
        max_degree: int | None = None,
        n_radial: int | None = None,
        radial_basis: str = "taylor",
        radii: npt.ArrayLike | None = None,
        tol: float = 1e-6,
    ) -> Self:
        """Return the kernel itself: it is its own expansion, whatever the radii."""
        self.check()
        given = {"dim": dim, "max_degree": max_degree, "n_radial": n_radial}
        for name, value in given.items():
            if value is not None and value != getattr(self, name):
                raise ValueError(
                    f"This GeneralizedZonalKernel was made for {name}={getattr(self, name)}, not "
                    f"for {name}={value}."
                )
        return self

    def valid_rows(self, X: Any) -> Any:
        """Return rows of d columns."""
        rows = as_rows(X)
        if rows.shape[1] != self.dim:
            raise ValueError(
                f"X has {rows.shape[1]} columns, but this GeneralizedZonalKernel was made for "
                f"dim={self.dim}."
            )
        return rows
