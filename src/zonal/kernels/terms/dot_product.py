"""Terms with a Taylor series in the inner product."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from ..._typing import FloatArray
from ...polynomials import log_monomial_series
from ..radial import TaylorRadial

__all__ = ["DotProductTerm", "ExponentialTerm"]


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
