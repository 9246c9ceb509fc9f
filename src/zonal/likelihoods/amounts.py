r"""Positive amounts, whose mean is exp(f) and whose deviation is in proportion to it.

Gamma with shape k = 1/φ: :math:`\tfrac12 d = y/\mu - 1 - \log(y/\mu)`, and

.. math:: \log p = -k\, d/2 + k \log k - k - \log\Gamma(k) - \log y .
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import digamma, gammaln
from scipy.stats import gamma

from .._typing import FloatArray
from .base import Observed
from .counts import LogLink

__all__ = ["Gamma"]

# The range of the shape that is searched.
SHAPES = 1e-3, 1e8


@dataclass(frozen=True)
class Gamma(LogLink):
    """Amounts with a variance of μ²/shape.

    Attributes
    ----------
    shape : float or None
        k; None: by evidence.
    """

    shape: float | None = None

    name: ClassVar[str] = "gamma"
    support: ClassVar[str] = "positive numbers"
    by_loss: ClassVar[bool] = True

    @property
    def dispersion(self) -> float:
        """φ = 1/k."""
        return 1.0 if self.shape is None else 1 / self.shape

    def started(self, observed: Observed, weight: FloatArray) -> Self:
        """Take the shape that the coefficient of variation of all rows asks for."""
        if self.shape is not None:
            return self
        mean = float(np.average(observed.y, weights=weight))
        variance = float(np.average((observed.y - mean) ** 2, weights=weight))
        return replace(self, shape=float(np.clip(mean**2 / max(variance, 1e-300), 0.1, 1e4)))

    def with_loss(self, mean_loss: float) -> Self:
        r"""Return the shape of largest likelihood for a mean of half deviances.

        The root of :math:`\log k - \psi(k) = \overline{d/2}`.
        """
        if not mean_loss > 0:
            return replace(self, shape=SHAPES[1])

        def slope(log: float) -> float:
            return float(log - digamma(np.exp(log)) - mean_loss)

        low, high = np.log(SHAPES)
        if slope(high) >= 0:
            return replace(self, shape=SHAPES[1])
        return replace(self, shape=float(np.exp(brentq(slope, low, high))))

    def linearised(
        self, observed: Observed, offset: FloatArray, level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return logarithms: the curvature of small amounts is nearly zero."""
        return np.log(observed.y) - offset, np.ones(len(offset))

    def outside(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which responses are outside the support."""
        return np.asarray(~(y > 0))

    def log_density(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return log p(y | f): [n]."""
        k = 1.0 if self.shape is None else self.shape
        constant = k * np.log(k) - k - gammaln(k)
        return np.asarray(constant - k * self.half_deviance(observed, f) - np.log(observed.y))

    def derivatives(self, observed: Observed, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and h: [n], [n]."""
        ratio = observed.y / self.mean(f)
        return ratio - 1, ratio

    def half_deviance(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return half the unit deviance: [n]."""
        return np.asarray(observed.y / self.mean(f) - 1 - np.log(observed.y) + f)

    def variance(self, f: FloatArray) -> FloatArray:
        """Return the variance of y given f."""
        return np.asarray(self.mean(f) ** 2 * self.dispersion)

    def cumulative(self, y: FloatArray, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return P(Y ≤ y | f)."""
        return np.asarray(gamma.cdf(y, 1 / self.dispersion, scale=self.mean(f) * self.dispersion))

    def percentile(self, q: float, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return the quantile of y given f."""
        return np.asarray(gamma.ppf(q, 1 / self.dispersion, scale=self.mean(f) * self.dispersion))
