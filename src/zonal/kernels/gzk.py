"""Generalized zonal kernels: the paper's Definition of the family, as an object."""

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .._validation import check_count, row_norms
from ..polynomials import recurrence
from .base import Kernel, as_rows, cosines
from .radial import radial_derivative
from .slopes import Slopes, inverse
from .terms import FixedTerm, Term

__all__ = ["GeneralizedZonalKernel", "angular_radial"]


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
        """Values of the radial functions, with the degrees that vanish at the origin removed.

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
        """Derivatives of the radial functions, which must have a method `derivative`.

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
        """Σ_ℓ ⟨h_ℓ(r), h_ℓ(s)⟩ P_ℓ(cos)."""
        self.check()
        h_r, h_s = (
            self.coefficients(np.ravel(radii)).reshape(
                *np.shape(radii), self.max_degree + 1, self.n_radial
            )
            for radii in (r, s)
        )
        return np.asarray(
            sum(
                np.einsum("...i,...i->...", h_r[..., ell, :], h_s[..., ell, :]) * polynomial
                for ell, polynomial in enumerate(self._polynomials(np.asarray(cos)))
            )
        )

    def _matrix(self, rows: Any, others: Any) -> Array:
        h_x = self.coefficients(row_norms(rows))
        h_y = h_x if others is None else self.coefficients(row_norms(others))
        cos = cosines(rows, others).astype(np.float64, copy=False)
        total = np.zeros_like(cos)
        for ell, polynomial in enumerate(self._polynomials(cos)):
            total += (h_x[:, ell] @ h_y[:, ell].T) * polynomial
        return total.astype(rows.dtype, copy=False)

    def _slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        r, s = row_norms(rows), row_norms(others)
        h_y = self.coefficients(s)
        ratio, slope = angular_radial(self.coefficients(r), self.derivative(r), r)
        cos = cosines(rows, others)
        a, b = np.zeros_like(cos), np.zeros_like(cos)
        previous, current = np.zeros_like(cos), np.zeros_like(cos)  # P'_{ℓ-1}, P'_ℓ
        factors = recurrence(self.max_degree, self.dim)
        for ell, (polynomial, up, down) in enumerate(
            zip(self._polynomials(cos), *factors, strict=True)
        ):
            a += (slope[:, ell] @ h_y[:, ell].T) * polynomial
            b += (ratio[:, ell] @ h_y[:, ell].T) * current
            previous, current = current, up * (polynomial + cos * current) - down * previous
        # ∇cos = (y/s - cos x/r) / r, and 1/r is in the ratio.
        return Slopes(a - cos * b * inverse(r)[:, None], b * inverse(s))

    def _polynomials(self, cos: FloatArray) -> Iterator[FloatArray]:
        """P_0, …, P_q at the cosines, one at a time."""
        a, b = recurrence(self.max_degree, self.dim)
        previous, current = np.zeros_like(cos), np.ones_like(cos)  # P_{ℓ-1}, P_ℓ
        for ell in range(self.max_degree + 1):
            yield current
            previous, current = current, a[ell] * cos * current - b[ell] * previous

    def _diag(self, norms: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("nli->n", np.square(self.coefficients(norms))))

    def terms(self) -> list[Term]:
        """The expansion itself, used as it is."""
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

    def _rows(self, X: Any) -> Any:
        rows = as_rows(X)
        if rows.shape[1] != self.dim:
            raise ValueError(
                f"X has {rows.shape[1]} columns, but this GeneralizedZonalKernel was made for "
                f"dim={self.dim}."
            )
        return rows


def angular_radial(
    values: FloatArray, derivatives: FloatArray, radii: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """h_ℓ(r)/r and h_ℓ'(r)/r, what gradients across and along x are made of.

    At zero all that is left of a differentiable function is its linear part: h_1'(0), across.

    Parameters
    ----------
    values, derivatives : ndarrays of shape (n, max_degree + 1, n_radial)
        h and h'.
    radii : ndarray of shape (n,)

    Returns
    -------
    ratio, slope : ndarrays of shape (n, max_degree + 1, n_radial)
    """
    per_radius = inverse(radii)[:, None, None]
    ratio, slope = values * per_radius, derivatives * per_radius
    at_origin = radii == 0
    ratio[at_origin, 1:2] = derivatives[at_origin, 1:2]
    return ratio, slope
