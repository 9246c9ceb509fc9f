"""Dot-product kernels κ(⟨x, y⟩): any analytic function, the exponential, polynomials."""

import math
from abc import abstractmethod
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import polynomial
from scipy.special import gammaln

from .._typing import Array, FloatArray, ScalarFunction
from .._validation import check_count, check_positive
from ..polynomials import log_taylor_coefficients
from .base import Kernel
from .points import dots
from .slopes import Slopes, complex_step
from .terms import DotProductTerm, ExponentialTerm, Term

__all__ = ["DotProduct", "Exponential", "Polynomial"]


class DotProductKernel(Kernel):
    """Base class: k(x, y) = κ(⟨x, y⟩), whose gradient is κ'(⟨x, y⟩) y."""

    @abstractmethod
    def _kappa_slope(self, t: FloatArray) -> FloatArray:
        """Return κ', elementwise."""

    def slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        """Return κ'(⟨x, y⟩) as what y is multiplied with."""
        return self._along_other(np.asarray(r * s * cos))

    def slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """Return κ' of all inner products."""
        return self._along_other(dots(rows, others))

    def _along_other(self, inner: FloatArray) -> Slopes:
        slope = self._kappa_slope(inner)
        return Slopes(np.zeros_like(slope), slope)


class DotProduct(DotProductKernel):
    r"""Dot-product kernel of any analytic function, k(x, y) = κ(⟨x, y⟩).

    Positive definite on all of ℝᵈ, in every dimension, if and only if no Taylor coefficient of κ
    is negative. A function with negative ones may still be positive definite on the unit sphere:
    see `Zonal`.

    Parameters
    ----------
    kappa : callable
        κ, vectorised over arrays.
    taylor : array-like of shape (n,), optional
        The Taylor coefficients a_j of :math:`\kappa(t) = \sum_j a_j t^j`; those beyond the last
        are zero. By default they are found *numerically*, by Cauchy's integral on circles around
        zero (a fast Fourier transform), for which κ must accept complex arrays; coefficients
        smaller than the error of that are taken as zero.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> kernel = zonal.DotProduct(np.cosh)
    >>> kernel([[1.0, 2.0]], [[1.0, 0.0]]).round(6)
    array([[1.543081]])
    >>> zonal.DotProduct(np.cos).expand(dim=3)
    Traceback (most recent call last):
        ...
    ValueError: The Taylor coefficient of degree 2 of kappa is -0.5: ...
    """

    def __init__(self, kappa: ScalarFunction, taylor: npt.ArrayLike | None = None) -> None:
        self.kappa = kappa
        self.taylor = taylor

    def terms(self) -> list[Term]:
        """Return the kernel itself."""
        self._log_taylor(16)  # a negative coefficient is named before anything else fails
        return [DotProductTerm(self._log_taylor, self._log_kappa)]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return κ(r s cos)."""
        inner = np.asarray(r * s * cos)
        return np.broadcast_to(self.kappa(inner), inner.shape).astype(np.float64)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return κ of all inner products."""
        inner = dots(rows, others)
        return np.broadcast_to(self.kappa(inner), inner.shape).astype(inner.dtype)

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return κ of the squared norms."""
        return np.broadcast_to(self.kappa(norms**2), norms.shape).astype(np.float64)

    def _kappa_slope(self, t: FloatArray) -> FloatArray:
        if self.taylor is None:
            return complex_step(self.kappa, t, "DotProduct")
        given = np.asarray(self.taylor, dtype=np.float64)
        return np.asarray(polynomial.polyval(t, polynomial.polyder(given)))

    def _log_kappa(self, t: FloatArray) -> FloatArray:
        values = np.broadcast_to(np.asarray(self.kappa(t), dtype=np.float64), t.shape)
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            at = int(np.argmax(bad))
            raise ValueError(
                f"kappa({t[at]:.6g}) is {values[at]:.6g}, but k(x, x) = kappa(|x|^2) must be "
                "finite and not negative: rows of that norm lie outside the kernel's domain. Scale "
                "the rows down."
            )
        with np.errstate(divide="ignore"):
            return np.log(values)

    def _log_taylor(self, n_terms: int) -> FloatArray:
        if self.taylor is None:
            signs, logs = _found_taylor(self.kappa, n_terms)
        else:
            given = np.asarray(self.taylor, dtype=np.float64)
            if given.ndim != 1 or not np.isfinite(given).all():
                raise ValueError(
                    f"taylor={self.taylor!r} of DotProduct must be finite numbers, the "
                    "coefficients of 1, t, t², …"
                )
            given = np.pad(given[:n_terms], (0, max(n_terms - len(given), 0)))
            with np.errstate(divide="ignore"):
                signs, logs = np.sign(given), np.log(np.abs(given))
        if (signs < 0).any():
            degree = int(np.argmax(signs < 0))
            raise ValueError(
                f"The Taylor coefficient of degree {degree} of kappa is "
                f"{-np.exp(logs[degree]):.6g}: a dot-product kernel is positive definite on all "
                "of R^d only if none is negative. On the unit sphere the Gegenbauer coefficients "
                "decide (Schoenberg): scale the rows with sklearn.preprocessing.Normalizer and "
                "use zonal.Zonal(kappa)."
            )
        return logs


def _found_taylor(kappa: ScalarFunction, n_terms: int) -> tuple[FloatArray, FloatArray]:
    """Return signs and logs of Taylor coefficients that are found numerically."""
    find = _remembered_taylor if isinstance(kappa, Hashable) else log_taylor_coefficients
    return find(kappa, n_terms)


@lru_cache(maxsize=64)
def _remembered_taylor(kappa: ScalarFunction, n_terms: int) -> tuple[FloatArray, FloatArray]:
    """Return the same, remembered by the identity of the function: each takes 30 ms."""
    found = log_taylor_coefficients(kappa, n_terms)
    for values in found:
        values.flags.writeable = False  # the next call gets the same arrays
    return found


class Exponential(DotProductKernel):
    r"""Exponential dot-product kernel, :math:`k(x,y) = e^{\langle x,y\rangle/\text{scale}^2}`.

    Parameters
    ----------
    scale : float, default=1.0
        The unit of length. The paper's :math:`e^{\langle x,y\rangle}` has scale 1.

    Examples
    --------
    >>> import zonal
    >>> zonal.Exponential(scale=2.0)([[2.0, 0.0]]).round(6)
    array([[2.718282]])
    """

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        check_positive("scale", self.scale, "Exponential")

    def terms(self) -> list[Term]:
        """Return the kernel itself, with a_j = scale^{-2j} / j!."""
        self.check()
        return [ExponentialTerm(self.scale**-2, 0.0)]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return exp(r s cos / scale²)."""
        self.check()
        return np.asarray(np.exp(r * s * cos / self.scale**2))

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the exponentials of all inner products."""
        return np.exp(dots(rows, others) / rows.dtype.type(self.scale**2))

    def _kappa_slope(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.exp(t / self.scale**2) / self.scale**2)


class Polynomial(DotProductKernel):
    r"""Polynomial kernel, :math:`k(x,y) = (\gamma \langle x,y\rangle + c_0)^p`.

    Parameters
    ----------
    degree : int, default=3
        The power p ≥ 1.
    gamma : float, default=1.0
        The factor γ > 0 of the inner product.
    coef0 : float, default=1.0
        The constant c_0 ≥ 0.

    Examples
    --------
    The expansion of a polynomial is exact and short:

    >>> import zonal
    >>> expansion = zonal.Polynomial(degree=3).expand(dim=5)
    >>> expansion.max_degree, expansion.n_radial
    (3, 2)
    """

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        check_count("degree", self.degree, "Polynomial")
        check_positive("gamma", self.gamma, "Polynomial")
        if self.coef0 != 0:
            check_positive(
                "coef0", self.coef0, "Polynomial", extra=" or zero, for positive definiteness"
            )

    def terms(self) -> list[Term]:
        """Return the kernel itself, with the binomial coefficients."""
        self.check()
        return [DotProductTerm(self._log_taylor, self._log_kappa)]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return (γ r s cos + c_0)^p."""
        self.check()
        return np.asarray((self.gamma * (r * s * cos) + self.coef0) ** self.degree)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the powers of all inner products."""
        inner = dots(rows, others)
        scalar = inner.dtype.type
        return (scalar(self.gamma) * inner + scalar(self.coef0)) ** self.degree

    def _kappa_slope(self, t: FloatArray) -> FloatArray:
        base = self.gamma * t + self.coef0
        return np.asarray(self.degree * self.gamma * base ** (self.degree - 1))

    def _log_kappa(self, t: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return self.degree * np.log(self.gamma * t + self.coef0)

    def _log_taylor(self, n_terms: int) -> FloatArray:
        j = np.arange(min(n_terms, self.degree + 1))
        log_binomial = (
            gammaln(self.degree + 1) - gammaln(j + 1) - gammaln(self.degree - j + 1)
        ) + j * math.log(self.gamma)
        rest = self.degree - j
        if self.coef0 > 0:
            log_binomial = log_binomial + rest * math.log(self.coef0)
        else:
            log_binomial = np.where(rest == 0, log_binomial, -np.inf)
        return np.pad(log_binomial, (0, n_terms - len(j)), constant_values=-np.inf)
