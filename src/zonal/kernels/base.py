"""The base class of kernels: subclasses give the formula, this class does the rest."""

from abc import ABC, abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

from .._typing import Array, FloatArray
from .._validation import (
    canonical,
    check_choice,
    check_count,
    check_positive,
    norms_agree,
    row_norms,
)
from ..rows.threads import map_rows
from .cross import cross, cross_slope
from .slopes import Slopes, check_coef, dense, weighted_rows
from .terms import NumericTerm, Term, merge
from .truncation import Distribution, Spectrum, split_order, stack

if TYPE_CHECKING:
    from .gzk import GeneralizedZonalKernel

__all__ = ["Kernel", "TruncationWarning", "as_rows", "cosines", "dots"]


class TruncationWarning(UserWarning):
    """A series was cut where what is left out is larger than was asked for."""


def as_rows(X: Any) -> Any:
    """X as a two-dimensional float array or CSR matrix, finite and not empty."""
    return canonical(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]))


def dots(rows: Any, others: Any) -> Array:
    """Inner products of rows, dense: [n_rows, n_others] (`others` may be None: the same rows)."""
    right = rows if others is None else others
    return np.asarray(safe_sparse_dot(rows, right.T, dense_output=True))


def cosines(rows: Any, others: Any) -> Array:
    """Cosines of the angles between rows, in float64; zero where a row has norm zero.

    Functions of the angle lose half of the digits near 1, which float32 does not have to spare.
    """
    norm_x = row_norms(rows)
    norm_y = norm_x if others is None else row_norms(others)
    inverse_x, inverse_y = (
        np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0) for norm in (norm_x, norm_y)
    )
    cos = dots(
        rows.astype(np.float64, copy=False),
        None if others is None else others.astype(np.float64, copy=False),
    )
    cos = cos * inverse_x[:, None] * inverse_y
    np.clip(cos, -1, 1, out=cos)
    if others is None:  # arccos would turn a rounding error of 1e-16 into one of 1e-8
        np.fill_diagonal(cos, (norm_x > 0).astype(cos.dtype))
    return cos


def _check_columns(rows: Any, others: Any) -> None:
    if rows.shape[1] != others.shape[1]:
        raise ValueError(
            f"X has {rows.shape[1]} columns and Y has {others.shape[1]}; they must have the "
            "same number."
        )


class Kernel(BaseEstimator, ABC):
    """A positive definite kernel that depends on ‖x‖, ‖y‖ and the angle only.

    Subclasses define `_matrix` (the exact values) and `terms` (the closed-form summands);
    everything else follows: `expand` into a generalized zonal kernel, sums
    ``k1 + k2``, products ``k1 * k2`` and positive multiples ``2 * k``. Kernels have
    `get_params`, `set_params` and can be cloned, as in scikit-learn.
    """

    #: Whether k(x, y) depends on x - y only, so that centring the data does not change it.
    shift_invariant: bool = False

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Exact kernel matrix of shape (n_rows_x, n_rows_y); Y defaults to X."""
        self.check()
        rows, others = self._rows(X), None if Y is None or Y is X else self._rows(Y)
        if others is not None:
            _check_columns(rows, others)
        for block in (rows, others):
            if block is not None:
                self.check_norms(row_norms(block))
        return self._matrix(rows, others)

    def diag(self, X: Any) -> Array:
        """k(x, x) for every row, without the matrix: shape (n_rows,)."""
        self.check()
        rows = self._rows(X)
        norms = row_norms(rows)
        self.check_norms(norms)
        return self._diag(norms).astype(rows.dtype, copy=False)

    def gradient(self, X: Any, Y: Any = None) -> Array:
        r"""Gradients with respect to the first point, :math:`\nabla_x k(x_i, y_j)`.

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
        return self._slope_matrix(rows, others).gradients(rows, others).astype(X.dtype, copy=False)

    def contract_gradient(self, X: Any, Y: Any, coef: npt.ArrayLike) -> Array:
        r"""Gradients of kernel expansions, :math:`\sum_j c_j \nabla_x k(x_i, y_j)`.

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
            out[:] = self._slope_matrix(part, others).contract(part, weights, weighted)

        map_rows(block, rows, out, 2 * len(others))
        return out[:, 0] if np.ndim(coef) == 1 else out

    def _gradient_rows(self, X: Any, Y: Any) -> tuple[Any, FloatArray, FloatArray]:
        """X as it is, and both sets of rows dense and in float64, checked."""
        self.check()
        X = self._rows(X)
        others = X if Y is None else self._rows(Y)
        _check_columns(X, others)
        rows, others = dense(X), dense(others)
        for block in (rows, others):
            self.check_norms(row_norms(block))
        return X, rows, others

    def _slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """The gradients at all pairs of rows, in their plane: arrays [n, m]."""
        return self._slopes(row_norms(rows)[:, None], row_norms(others), cosines(rows, others))

    def _slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        """The gradient in the plane of x and y, as a function of what `profile` takes."""
        raise NotImplementedError(
            f"{type(self).__name__} has no gradient, for it is known by its values only: use a "
            "kernel with a formula (Gaussian, Matern, RationalQuadratic, DotProduct, ArcCosine, "
            "NTK, …), or sums and products of these."
        )

    def _radial_slope(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """The derivative of `profile` with respect to r: the gradient times x/‖x‖."""
        slopes = self._slopes(r, s, cos)
        return np.asarray(slopes.a * r + slopes.b * s * cos)

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""

    def check_norms(self, norms: FloatArray) -> None:
        """Raise ValueError if rows of these norms lie outside the kernel's domain."""

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """A copy whose parameters learnt from data, such as a median bandwidth, are numbers."""
        return clone(self)

    @abstractmethod
    def terms(self) -> list[Term]:
        """The closed-form summands of the kernel."""

    @abstractmethod
    def _matrix(self, rows: Any, others: Any) -> Array:
        """The exact matrix of valid rows; `others` may be None, for the same rows."""

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """The kernel as a function of both norms and the cosine.

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

    def _rows(self, X: Any) -> Any:
        return as_rows(X)

    def _diag(self, norms: FloatArray) -> FloatArray:
        return np.asarray(sum(term.total(norms) for term in self.terms()))

    def degree_kernels(
        self, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
    ) -> FloatArray:
        r"""The kernels of the radii, :math:`k(x,y) = \sum_\ell k_\ell(\|x\|,\|y\|) P_d^\ell(\cos)`.

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
        r"""The derivatives :math:`\partial k_\ell(r, s)/\partial r` of `degree_kernels`.

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
            whole = NumericTerm(self._radial_slope, name=repr(self))
            return cross(whole, dim, max_degree, radii, others)
        return np.sum([cross_slope(term, dim, max_degree, radii, others) for term in terms], axis=0)

    def expand(
        self,
        dim: int,
        max_degree: int | None = None,
        n_radial: int | None = None,
        radial_basis: str = "taylor",
        radii: npt.ArrayLike | None = None,
        tol: float = 1e-6,
    ) -> "GeneralizedZonalKernel":
        r"""The kernel's truncated expansion, the paper's :math:`k_{q,s}`.

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
        from .gzk import GeneralizedZonalKernel
        from .optimal import optimal_expansion, warn_if_truncated

        owner = type(self).__name__
        self.check()
        check_count("dim", dim, f"{owner}.expand")
        check_choice("radial_basis", radial_basis, ("taylor", "optimal"), f"{owner}.expand")
        check_positive("tol", tol, f"{owner}.expand")
        if max_degree is not None:
            check_count("max_degree", max_degree, f"{owner}.expand", minimum=0)
        if n_radial is not None:
            check_count("n_radial", n_radial, f"{owner}.expand")
        terms = merge(self.terms())
        norms = np.atleast_1d(np.asarray(1.0 if radii is None else radii, dtype=np.float64))
        if norms.ndim != 1 or not len(norms) or not (np.isfinite(norms) & (norms >= 0)).all():
            raise ValueError(
                f"radii={radii!r} of {owner}.expand must be norms: finite numbers of at least 0, "
                "at least one of them."
            )
        if any(term.fixed_order is None for term in terms) and (
            radial_basis == "optimal"
            or (n_radial is None and norms_agree(norms))
            or any(isinstance(term, NumericTerm) for term in terms)
        ):
            return optimal_expansion(self, dim, max_degree, n_radial, norms, tol)

        top = Distribution.point(float(norms.max()))
        trace = float(sum(term.total(top.nodes)[0] for term in terms))
        chosen = max_degree is None or n_radial is None
        spectra = [Spectrum(term, dim, top, trace or 1.0, tol) for term in terms] if chosen else []
        share = tol / (2 * len(terms))  # half for the degree, half for the order
        if max_degree is None:
            max_degree = max(spectrum.degree(share) for spectrum in spectra)
        if dim == 1:
            max_degree = min(max_degree, 1)
        orders = (
            [spectrum.order(max_degree, share) for spectrum in spectra]
            if n_radial is None
            else split_order(terms, n_radial, owner)
        )
        if chosen and not any(term.slow for term in terms):
            missing = sum(spectrum.share - spectrum.energy.sum() for spectrum in spectra)
            warn_if_truncated(self, max_degree, missing, tol)
        radial = stack(terms, dim, max_degree, orders)
        return GeneralizedZonalKernel(dim, radial, max_degree, sum(orders))

    def __add__(self, other: Any) -> "Kernel":
        from .algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        from .algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__

    def __radd__(self, other: Any) -> "Kernel":
        return self if other == 0 else NotImplemented  # so that sum([k1, k2]) works
