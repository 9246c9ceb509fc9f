r"""Counts, whose mean is exp(f).

Poisson: :math:`\log p = y f - e^f - \log y!`. Negative binomial with shape r, a Poisson variable
whose rate is Gamma distributed: variance μ + μ²/r,

.. math::

    \log p = \log\frac{\Gamma(y + r)}{\Gamma(r)\, y!} + y \log\frac{\mu}{\mu + r}
    + r \log\frac{r}{\mu + r}, \qquad
    g = \frac{r (y - \mu)}{\mu + r}, \quad h = \frac{r \mu (y + r)}{(\mu + r)^2} .

Both are log-concave in f.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlogy
from scipy.stats import nbinom, poisson

from .._typing import FloatArray
from .base import LARGEST, Likelihood, Observed

__all__ = ["LogLink", "NegativeBinomial", "Poisson"]


@dataclass(frozen=True)
class LogLink(Likelihood):
    """A positive response whose mean is exp(f)."""

    log_link: ClassVar[bool] = True

    def mean(self, f: FloatArray) -> FloatArray:
        """Return the mean of y (of one trial) given f."""
        return np.exp(np.clip(f, -LARGEST, LARGEST))

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the f that has this mean."""
        return np.asarray(np.log(np.maximum(mean, np.exp(-LARGEST))))

    def check_all(self, observed: Observed, weight: FloatArray) -> None:
        """Raise ValueError if nothing was counted anywhere."""
        if not weight @ observed.y > 0:
            raise ValueError(
                f"All {np.count_nonzero(weight)} responses are 0: how rare they are cannot be told "
                f"by likelihood={self.name!r}. Add rows in which something was counted."
            )

    def level(self, observed: Observed, offset: FloatArray, weight: FloatArray) -> float:
        """Return Σ w y / Σ w e^offset, the rate of all rows."""
        rate = float(weight @ observed.y / (weight @ self.mean(offset)))
        return rate or 0.5 / float(weight @ self.mean(offset))  # nothing was counted anywhere

    def average(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return exp(m + v/2), the mean of a lognormal variable."""
        return self.mean(mean + variance / 2)


@dataclass(frozen=True)
class Poisson(LogLink):
    """Counts with a variance that is their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.likelihoods import Observed, Poisson
    >>> g, h = Poisson().derivatives(Observed.of([3.0]), np.array([np.log(2.0)]))
    >>> g.round(6).tolist(), h.round(6).tolist()
    ([1.0], [2.0])
    """

    name: ClassVar[str] = "poisson"
    support: ClassVar[str] = "numbers of at least 0"
    discrete: ClassVar[bool] = True

    def outside(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which responses are outside the support."""
        return np.asarray(y < 0)

    def log_density(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return log p(y | f): [n]."""
        return np.asarray(observed.y * f - self.mean(f) - gammaln(observed.y + 1))

    def derivatives(self, observed: Observed, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and h: [n], [n]."""
        mean = self.mean(f)
        return observed.y - mean, mean

    def half_deviance(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return half the unit deviance: [n]."""
        y, mean = observed.y, self.mean(f)
        return np.asarray(xlogy(y, y) - y * f - y + mean)

    def variance(self, f: FloatArray) -> FloatArray:
        """Return the variance of y given f."""
        return self.mean(f)

    def cumulative(self, y: FloatArray, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return P(Y ≤ y | f)."""
        return np.asarray(poisson.cdf(y, self.mean(f)))

    def percentile(self, q: float, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return the quantile of y given f."""
        return np.asarray(poisson.ppf(q, self.mean(f)))


@dataclass(frozen=True)
class NegativeBinomial(LogLink):
    """Counts with a variance of μ + μ²/shape.

    Attributes
    ----------
    shape : float or None
        r; None: by evidence.
    """

    shape: float | None = None

    name: ClassVar[str] = "negative_binomial"
    support: ClassVar[str] = "counts: whole numbers of at least 0"
    discrete: ClassVar[bool] = True

    @property
    def _shape(self) -> float:
        assert self.shape is not None
        return self.shape

    def started(self, observed: Observed, weight: FloatArray) -> Self:
        """Take the shape that the variance about the mean of all rows asks for."""
        if self.shape is not None:
            return self
        mean = float(np.average(observed.y, weights=weight))
        variance = float(np.average((observed.y - mean) ** 2, weights=weight))
        shape = mean**2 / max(variance - mean, mean / 10, 1e-300)
        return replace(self, shape=float(np.clip(shape, 0.1, 100.0)))

    def outside(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which responses are outside the support."""
        return np.asarray((y < 0) | (y != np.floor(y)))

    def log_density(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return log p(y | f): [n]."""
        y, r = observed.y, self._shape
        share = np.logaddexp(np.log(r), f)  # log(μ + r)
        choose = gammaln(y + r) - gammaln(r) - gammaln(y + 1)
        return np.asarray(choose + y * (f - share) + r * (np.log(r) - share))

    def derivatives(self, observed: Observed, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and h: [n], [n]."""
        y, r, mean = observed.y, self._shape, self.mean(f)
        share = r / (mean + r)
        return share * (y - mean), share * (1 - share) * (y + r)

    def half_deviance(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return half the unit deviance: [n]."""
        y, r = observed.y, self._shape
        share = np.logaddexp(np.log(r), f)
        return np.asarray(xlogy(y, y) - y * f - (y + r) * (np.log(y + r) - share))

    def variance(self, f: FloatArray) -> FloatArray:
        """Return the variance of y given f."""
        mean = self.mean(f)
        return np.asarray(mean + mean**2 / self._shape)

    def cumulative(self, y: FloatArray, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return P(Y ≤ y | f)."""
        return np.asarray(nbinom.cdf(y, self._shape, self._shape / (self.mean(f) + self._shape)))

    def percentile(self, q: float, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return the quantile of y given f."""
        return np.asarray(nbinom.ppf(q, self._shape, self._shape / (self.mean(f) + self._shape)))
