r"""Yes or no, and how many of some trials: the probability is the logistic function of f.

.. math:: \log p = \log\binom{N}{y} + y f - N \log(1 + e^f), \qquad
    g = y - N \sigma(f), \quad h = N \sigma(f) \sigma(-f) .
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit, gammaln, logit, xlogy
from scipy.stats import binom

from .._typing import FloatArray
from .averages import probit_scaled
from .base import Likelihood, Observed

__all__ = ["Bernoulli", "Binomial"]

# Shares closer to 0 or 1 are as far as a latent value starts.
CLOSEST = 1e-6


@dataclass(frozen=True)
class Binomial(Likelihood):
    """The number of successes in known numbers of trials; predictions are shares of one trial.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.likelihoods import Binomial, Observed
    >>> g, h = Binomial().derivatives(Observed.of([3.0], [4.0]), np.zeros(1))
    >>> g.tolist(), h.tolist()
    ([1.0], [1.0])
    """

    name: ClassVar[str] = "binomial"
    support: ClassVar[str] = "whole numbers from 0 to the number of trials"
    discrete: ClassVar[bool] = True

    def outside(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which responses are outside the support."""
        return np.asarray((y < 0) | (y != np.floor(y)))

    def log_density(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return log p(y | f): [n]."""
        y, n = observed
        choose = gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)
        return np.asarray(choose + y * f - n * np.logaddexp(0.0, f))

    def derivatives(self, observed: Observed, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and h: [n], [n]."""
        y, n = observed
        chance = expit(f)
        return y - n * chance, n * chance * expit(-f)

    def half_deviance(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return half the unit deviance: [n]."""
        y, n = observed
        best = xlogy(y, y / n) + xlogy(n - y, 1 - y / n)
        return np.asarray(best - y * f + n * np.logaddexp(0.0, f))

    def check_all(self, observed: Observed, weight: FloatArray) -> None:
        """Raise ValueError if all trials ended alike."""
        successes, trials = weight @ observed.y, weight @ observed.trials
        if not 0 < successes < trials:
            raise ValueError(
                f"All trials of {np.count_nonzero(weight)} rows ended "
                f"{'with' if successes else 'without'} success: what else may happen cannot be "
                f"told by likelihood={self.name!r}. Add rows that ended otherwise."
            )

    def mean(self, f: FloatArray) -> FloatArray:
        """Return the mean of y (of one trial) given f."""
        return np.asarray(expit(f))

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the f that has this mean."""
        return np.asarray(logit(np.clip(mean, CLOSEST, 1 - CLOSEST)))

    def average(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return MacKay's probit average."""
        return self.mean(probit_scaled(mean, variance))

    def variance(self, f: FloatArray) -> FloatArray:
        """Return the variance of one trial given f."""
        return np.asarray(expit(f) * expit(-f))

    def cumulative(self, y: FloatArray, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return P(Y ≤ y | f)."""
        return np.asarray(binom.cdf(y, trials, expit(f)))

    def percentile(self, q: float, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return the quantile of y given f."""
        return np.asarray(binom.ppf(q, trials, expit(f)))


@dataclass(frozen=True)
class Bernoulli(Binomial):
    """Yes (1) or no (0)."""

    name: ClassVar[str] = "bernoulli"
    support: ClassVar[str] = "0 and 1"

    def outside(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which responses are outside the support."""
        return np.asarray((y != 0) & (y != 1))
