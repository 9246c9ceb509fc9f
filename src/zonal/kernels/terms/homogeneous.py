"""Terms that are a power of the norms times a function of the angle."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np
from scipy.special import gammaln

from ..._typing import Array, FloatArray, ScalarFunction
from ...polynomials import (
    gegenbauer_series,
    log_harmonic_dimensions,
    log_monomial_series,
    log_taylor_coefficients,
)
from ...polynomials.series import disc_radius
from ..radial import PowerRadial

__all__ = ["HomogeneousTerm"]

# Quadrature error grows like √α_{ℓ,d}; above this dimension the Taylor series is the better way.
QUADRATURE_DIM = 12
N_TAYLOR = 4000


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
