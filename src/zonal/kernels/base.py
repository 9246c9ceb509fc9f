"""The base class of kernels: subclasses give the formula, this class does the rest."""

import warnings
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
from .radial import Radial
from .terms import Term, merge
from .truncation import Distribution, Spectrum, sphere_radial, split_order, stack

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
        if others is not None and rows.shape[1] != others.shape[1]:
            raise ValueError(
                f"X has {rows.shape[1]} columns and Y has {others.shape[1]}; they must have the "
                "same number."
            )
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

    def _rows(self, X: Any) -> Any:
        return as_rows(X)

    def _diag(self, norms: FloatArray) -> FloatArray:
        return np.asarray(sum(term.total(norms) for term in self.terms()))

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
        radial_basis : {"taylor"}, default="taylor"
            The radial functions: the paper's monomials.
        radii : array-like of shape (n,), optional
            The norms of the points that the expansion is for; what is not given is chosen for
            the largest of them. By default the unit ball.
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

        owner = type(self).__name__
        self.check()
        check_count("dim", dim, f"{owner}.expand")
        check_choice("radial_basis", radial_basis, ("taylor",), f"{owner}.expand")
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
        on_sphere = n_radial is None and norms_agree(norms)

        top = Distribution.point(float(norms.max()))
        trace = float(sum(term.total(top.nodes)[0] for term in terms))
        chosen = max_degree is None or n_radial is None
        spectra = [Spectrum(term, dim, top, trace or 1.0, tol) for term in terms] if chosen else []
        share = tol / (2 * len(terms))  # half for the degree, half for the order
        if max_degree is None:
            max_degree = max(spectrum.degree(share) for spectrum in spectra)
        if dim == 1:
            max_degree = min(max_degree, 1)
        if on_sphere:
            radial: Radial = sphere_radial(terms, dim, max_degree, spectra, float(norms.mean()))
            orders = [1]
        else:
            orders = (
                [spectrum.order(max_degree, share) for spectrum in spectra]
                if n_radial is None
                else split_order(terms, n_radial, owner)
            )
            radial = stack(terms, dim, max_degree, orders)
        expansion = GeneralizedZonalKernel(dim, radial, max_degree, sum(orders))
        if chosen and not any(term.slow for term in terms):
            self._warn_if_truncated(spectra, max_degree, tol)
        return expansion

    def _warn_if_truncated(self, spectra: list[Spectrum], max_degree: int, tol: float) -> None:
        missing = sum(spectrum.share - spectrum.energy.sum() for spectrum in spectra)
        if missing > tol:
            warnings.warn(
                f"The series of {self!r} does not converge at these radii: degree {max_degree} "
                f"leaves out {missing:.2g} of k(x, x), more than tol={tol:g}. The radii are too "
                "large for the kernel's length scale: rescale the data or widen the bandwidth.",
                TruncationWarning,
                stacklevel=3,
            )

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
