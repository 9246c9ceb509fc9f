r"""What kernels are made of: the summands that are expanded one by one.

Every kernel is a sum of terms, and sums, multiples and products of kernels are sums, multiples
and products of their terms. Two kinds have a closed form (`FixedTerm` is a user's own expansion):

- `DotProductTerm`: :math:`e^{-\beta(\|x\|^2+\|y\|^2)} \sum_j a_j \langle x,y\rangle^j`. The
  paper's dot-product kernels (β = 0) and the Gaussian; radial functions are monomials.
- `HomogeneousTerm`: :math:`(\|x\|\|y\|)^p \kappa(\cos\angle(x,y))`. Arc-cosine and Neural
  Tangent kernels; one radial function is exact.

Everything else, such as the Matérn kernel or the product of a Gaussian and a Neural Tangent
kernel, is a `NumericTerm`: known by its values only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import gammaln, logsumexp

from .._typing import Array, FloatArray, ScalarFunction
from ..polynomials import (
    gegenbauer_series,
    log_harmonic_dimensions,
    log_monomial_series,
    log_taylor_coefficients,
)
from ..polynomials.series import disc_radius
from .radial import PowerRadial, StackedRadial, TaylorRadial

__all__ = [
    "DotProductTerm",
    "FixedTerm",
    "HomogeneousTerm",
    "NumericTerm",
    "Term",
    "merge",
    "multiply",
]

# Quadrature error grows like √α_{ℓ,d}; above this dimension the Taylor series is the better way.
QUADRATURE_DIM = 12
N_TAYLOR = 4000


class Term(Protocol):
    """One summand of a kernel."""

    @property
    def slow(self) -> bool:
        """Whether the series decays too slowly to be cut at a small tail."""
        ...

    @property
    def fixed_order(self) -> int | None:
        """The number of radial functions, where it is not a matter of choice."""
        ...

    @property
    def degree_limit(self) -> int | None:
        """The largest degree that can be had, where there is one."""
        ...

    def total(self, radii: FloatArray) -> FloatArray:
        """Return k(x, x) at the radii [n]."""
        ...

    def radial(self, dim: int, max_degree: int, n_radial: int) -> Any:
        """Return the radial functions h_ℓ up to a degree and an order."""
        ...

    def scaled(self, factor: float) -> Self:
        """Return the term times a positive number."""
        ...


@dataclass(frozen=True)
class DotProductTerm:
    """exp(-decay (‖x‖² + ‖y‖²)) Σ_j a_j ⟨x,y⟩^j with a_j ≥ 0.

    Attributes
    ----------
    log_taylor : callable
        A number of terms n to log a_0, …, log a_{n-1}.
    log_kappa : callable
        t ≥ 0 to log Σ_j a_j t^j.
    decay : float
        β above.
    """

    log_taylor: Callable[[int], FloatArray]
    log_kappa: Callable[[FloatArray], FloatArray]
    decay: float = 0.0

    slow = False
    fixed_order = None
    degree_limit = None

    def total(self, radii: FloatArray) -> FloatArray:
        if self.decay > 0:  # beyond, the two exponents only cancel with ever larger rounding
            radii = np.minimum(radii, math.sqrt(1e8 / self.decay))
        with np.errstate(over="ignore"):
            return np.exp(self.log_kappa(radii**2) - 2 * self.decay * radii**2)

    def radial(self, dim: int, max_degree: int, n_radial: int) -> TaylorRadial:
        power = np.arange(max_degree + 1)[:, None] + 2 * np.arange(n_radial)
        log_derivatives = self.log_taylor(int(power.max()) + 1)[power] + gammaln(power + 1)
        log_squares = log_monomial_series(max_degree, n_radial, dim) + log_derivatives
        return TaylorRadial(log_squares / 2, self.decay)

    def scaled(self, factor: float) -> "DotProductTerm":
        shift = math.log(factor)
        return DotProductTerm(
            lambda n: self.log_taylor(n) + shift, lambda t: self.log_kappa(t) + shift, self.decay
        )

    def plus(self, other: "DotProductTerm") -> "DotProductTerm":
        return DotProductTerm(
            lambda n: np.logaddexp(self.log_taylor(n), other.log_taylor(n)),
            lambda t: np.logaddexp(self.log_kappa(t), other.log_kappa(t)),
            self.decay,
        )

    def times(self, other: "DotProductTerm") -> "DotProductTerm":
        def log_taylor(n: int) -> FloatArray:
            a, b = self.log_taylor(n), other.log_taylor(n)
            with np.errstate(divide="ignore"):  # a coefficient that is zero
                return np.array([logsumexp(a[: j + 1] + b[j::-1]) for j in range(n)])

        return DotProductTerm(
            log_taylor,
            lambda t: self.log_kappa(t) + other.log_kappa(t),
            self.decay + other.decay,
        )


class ExponentialTerm(DotProductTerm):
    """factor exp(rate ⟨x,y⟩ - decay (‖x‖² + ‖y‖²)): the exponential kernel and the Gaussian.

    The one dot-product term whose sum over all orders is known, a Bessel function.

    Parameters
    ----------
    rate, decay : float
        As above, both positive (decay may be zero).
    log_factor : float
        The logarithm of the factor.
    """

    rate: float
    log_factor: float

    def __init__(self, rate: float, decay: float, log_factor: float = 0.0) -> None:
        super().__init__(self._log_taylor, self._log_kappa, decay)
        # The class is frozen, as all terms are.
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "log_factor", log_factor)

    def _log_taylor(self, n_terms: int) -> FloatArray:
        j = np.arange(n_terms)
        return np.asarray(self.log_factor + j * math.log(self.rate) - gammaln(j + 1))

    def _log_kappa(self, t: FloatArray) -> FloatArray:
        return self.log_factor + self.rate * t

    def scaled(self, factor: float) -> "ExponentialTerm":
        return ExponentialTerm(self.rate, self.decay, self.log_factor + math.log(factor))

    def times(self, other: DotProductTerm) -> DotProductTerm:
        if not isinstance(other, ExponentialTerm):
            return super().times(other)
        return ExponentialTerm(
            self.rate + other.rate, self.decay + other.decay, self.log_factor + other.log_factor
        )


@dataclass(frozen=True)
class HomogeneousTerm:
    """factor (‖x‖ ‖y‖)^power κ(cos), with κ positive definite on the sphere.

    Attributes
    ----------
    kappa : callable
        κ on [-1, 1]. If it can also be evaluated in the complex unit disc and has a Taylor series
        there, that is used in high dimension.
    power : int
        p above.
    slow : bool
        Whether the Gegenbauer series decays slowly.
    name : str
        For messages.
    factor : float
        A positive number.
    """

    kappa: ScalarFunction
    power: int
    slow: bool = False
    name: str = "kappa"
    factor: float = 1.0

    fixed_order = 1
    degree_limit = None

    def values(self, cos: Array) -> Array:
        """Return factor · κ(cos)."""
        return self.factor * np.broadcast_to(np.asarray(self.kappa(cos)), cos.shape)

    def total(self, radii: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.power(radii, 2 * self.power) * float(self.values(np.ones(1))[0])

    def radial(self, dim: int, max_degree: int, n_radial: int) -> PowerRadial:
        return PowerRadial(np.sqrt(self.series(dim, max_degree)), self.power)

    def series(self, dim: int, max_degree: int) -> FloatArray:
        """Return the Gegenbauer coefficients c_0, …, c_q ≥ 0 of κ that are known."""
        taylor = _disc_taylor(self.kappa) if dim > QUADRATURE_DIM else None
        if taylor is None:
            coefficients = gegenbauer_series(self.kappa, dim, max_degree)
            log_noise = log_harmonic_dimensions(max_degree, dim) / 2
        else:
            coefficients = _series_from_taylor(*taylor, dim, max_degree)
            log_noise = np.zeros(max_degree + 1)
        size = max(abs(float(self.values(np.ones(1))[0])) / self.factor, 1e-300)
        # What cannot be told from zero: rounding, magnified by √α in quadrature. Where even that
        # is a visible share of the kernel, nothing is known, not even a sign.
        noise = np.exp(np.minimum(log_noise + math.log(64 * np.finfo(float).eps * size), 700))
        known = noise <= 1e-6 * size
        noise = np.maximum(noise, 1e-12 * size)
        if (known & (coefficients < -noise)).any():
            worst = int(np.argmin(np.where(known, coefficients / noise, 0)))
            raise ValueError(
                f"{self.name} is not positive definite on the sphere in dimension {dim}: its "
                f"Gegenbauer coefficient of degree {worst} is {coefficients[worst]:.6g}, and all "
                "must be at least zero (Schoenberg). Use another function, or fewer columns."
            )
        return self.factor * np.where(known & (coefficients > noise), coefficients, 0.0)

    def scaled(self, factor: float) -> Self:
        return replace(self, factor=self.factor * factor)

    def plus(self, other: Self) -> Self:
        return self._with(lambda t: self.values(t) + other.values(t), self.power, other)

    def times(self, other: Self) -> Self:
        power = self.power + other.power
        return self._with(lambda t: self.values(t) * other.values(t), power, other)

    def _with(self, kappa: ScalarFunction, power: int, other: Self) -> Self:
        return type(self)(kappa, power, slow=self.slow or other.slow, name=self.name)


@dataclass(frozen=True)
class FixedTerm:
    """A generalized zonal kernel that is used as it is.

    Attributes
    ----------
    dim, degree_limit, fixed_order : int
        d, q and s.
    function : callable
        Radii [n] to h [n, q + 1, s].
    factor : float
        Multiplies h.
    """

    dim: int
    function: Callable[[FloatArray], FloatArray]
    degree_limit: int
    fixed_order: int
    factor: float = 1.0

    slow = False

    def total(self, radii: FloatArray) -> FloatArray:
        return self.factor**2 * np.einsum("nli->n", np.square(self.function(radii)))

    def radial(self, dim: int, max_degree: int, n_radial: int) -> StackedRadial:
        if dim != self.dim:
            raise ValueError(
                f"A GeneralizedZonalKernel made for dim={self.dim} cannot be used for dim={dim}."
            )
        return StackedRadial((self.function,), max_degree + 1, self.factor)

    def scaled(self, factor: float) -> Self:
        return type(self)(
            self.dim,
            self.function,
            self.degree_limit,
            self.fixed_order,
            self.factor * math.sqrt(factor),
        )


@dataclass(frozen=True)
class NumericTerm:
    """Any rotation-invariant kernel, known by its values.

    Attributes
    ----------
    profile : callable
        ‖x‖, ‖y‖ and the cosine, as broadcast arrays, to k.
    slow : bool
        Whether the Gegenbauer series decays slowly.
    name : str
        For messages.
    """

    profile: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    slow: bool = True
    name: str = "the kernel"

    fixed_order = None
    degree_limit = None

    def total(self, radii: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.profile(radii, radii, np.ones_like(radii))

    def radial(self, dim: int, max_degree: int, n_radial: int) -> Any:
        raise ValueError(
            f"{self.name} has no Taylor series in the inner product, so it has no radial functions "
            'of radial_basis="taylor": use radial_basis="optimal". Its exact matrix kernel(X, Y) '
            "can always be computed."
        )

    def scaled(self, factor: float) -> Self:
        return replace(self, profile=ScaledProfile(self.profile, factor))


@dataclass(frozen=True)
class ScaledProfile:
    """A profile times a number, as an object that can be saved."""

    profile: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    factor: float

    def __call__(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        return self.factor * self.profile(r, s, cos)


@lru_cache(maxsize=32)
def _disc_taylor(kappa: ScalarFunction) -> tuple[FloatArray, FloatArray] | None:
    """Return signs and logs of a function's Taylor coefficients on the unit disc, or None.

    Remembered by the identity of the function, for it takes a tenth of a second.
    """
    try:
        return log_taylor_coefficients(kappa, N_TAYLOR, [disc_radius(N_TAYLOR)])
    except (TypeError, ValueError):  # not for complex numbers, or not analytic in the disc
        return None


def _series_from_taylor(
    signs: FloatArray, logs: FloatArray, dim: int, max_degree: int
) -> FloatArray:
    """Return Gegenbauer coefficients from Taylor coefficients."""
    n_radial = (len(logs) - max_degree) // 2
    power = np.arange(max_degree + 1)[:, None] + 2 * np.arange(n_radial)
    log_monomials = log_monomial_series(max_degree, n_radial, dim) + gammaln(power + 1)
    return np.asarray((signs[power] * np.exp(log_monomials + logs[power])).sum(axis=1))


def multiply(left: Term, right: Term) -> Term | None:
    """Multiply two terms of one kind; None where the product has no closed form."""
    if isinstance(left, DotProductTerm) and isinstance(right, DotProductTerm):
        return left.times(right)
    if isinstance(left, HomogeneousTerm) and isinstance(right, HomogeneousTerm):
        return left.times(right)
    return None


def merge(terms: list[Term]) -> list[Term]:
    """Join the terms that share their radial functions, which saves radial order."""
    merged: list[Term] = []
    for term in terms:
        for position, other in enumerate(merged):
            if (
                isinstance(term, DotProductTerm)
                and isinstance(other, DotProductTerm)
                and term.decay == other.decay
            ) or (
                isinstance(term, HomogeneousTerm)
                and isinstance(other, HomogeneousTerm)
                and term.power == other.power
            ):
                merged[position] = other.plus(term)  # type: ignore[arg-type]
                break
        else:
            merged.append(term)
    return merged
