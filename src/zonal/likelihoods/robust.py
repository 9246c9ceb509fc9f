r"""Numbers with outliers: Student's t with ν degrees of freedom and scale s about f.

.. math:: \log p = \log\frac{\Gamma(\frac{\nu + 1}2)}{\Gamma(\frac\nu2) \sqrt{\pi\nu}\, s}
    - \frac{\nu + 1}2 \log\left(1 + \frac{e^2}{\nu s^2}\right), \qquad e = y - f .

It is not log-concave: the second derivative of an outlier has the wrong sign. The curvature is
taken to be :math:`h = (\nu + 1) / (\nu s^2 + e^2)` instead, that of the normal distribution which
the EM algorithm has in its place: a step never makes the likelihood smaller, but the last ones are
slow.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln
from scipy.stats import t as student

from .._typing import FloatArray
from .base import Likelihood, Observed

__all__ = ["Student"]

# Where the search for the degrees of freedom starts.
START = 4.0


@dataclass(frozen=True)
class Student(Likelihood):
    """Numbers, some of them far off.

    Attributes
    ----------
    df : float or None
        ν; None: by evidence.
    scale : float or None
        s; None: by evidence.
    """

    df: float | None = None
    scale: float | None = None

    name: ClassVar[str] = "student"
    support: ClassVar[str] = "finite numbers"
    quadratic: ClassVar[bool] = False

    @property
    def _values(self) -> tuple[float, float]:
        assert self.df is not None
        assert self.scale is not None
        return self.df, self.scale

    def started(self, observed: Observed, weight: FloatArray) -> Self:
        """Take a scale from the distances between quartiles."""
        df = START if self.df is None else self.df
        if self.scale is not None:
            return replace(self, df=df)
        low, high = np.quantile(observed.y[weight > 0], [0.25, 0.75])
        spread = (high - low) / 1.35 or float(np.std(observed.y)) or 1.0
        return replace(self, df=df, scale=float(spread) / 2)

    def outside(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which responses are outside the support."""
        return ~np.isfinite(y)

    def log_density(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return log p(y | f): [n]."""
        nu, s = self._values
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(np.pi * nu) / 2 - np.log(s)
        return np.asarray(constant - self.half_deviance(observed, f))

    def derivatives(self, observed: Observed, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and h: [n], [n]."""
        nu, s = self._values
        error = observed.y - f
        h = (nu + 1) / (nu * s**2 + error**2)
        return h * error, h

    def half_deviance(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return half the unit deviance: [n]."""
        nu, s = self._values
        return np.asarray((nu + 1) / 2 * np.log1p((observed.y - f) ** 2 / (nu * s**2)))

    def mean(self, f: FloatArray) -> FloatArray:
        """Return the mean of y (of one trial) given f."""
        return f

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the f that has this mean."""
        return mean

    def average(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the mean, averaged over f."""
        return mean

    def beginning(self, observed: Observed, offset: FloatArray, level: float) -> FloatArray:
        """Return the responses, no farther from their median than two scales."""
        _, s = self._values
        middle = level + offset
        return middle + np.clip(observed.y - middle, -2 * s, 2 * s)

    def level(self, observed: Observed, offset: FloatArray, weight: FloatArray) -> float:
        """Return the median."""
        return float(np.median((observed.y - offset)[weight > 0]))

    def linearised(
        self, observed: Observed, offset: FloatArray, level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the responses without their far tails."""
        low, high = np.quantile(observed.y - offset, [0.01, 0.99])
        return np.clip(observed.y - offset, low, high), np.ones(len(offset))

    def variance(self, f: FloatArray) -> FloatArray:
        """Return s² ν / (ν - 2), infinite for two degrees of freedom and less."""
        nu, s = self._values
        return np.full(np.shape(f), s**2 * nu / (nu - 2) if nu > 2 else np.inf)

    def cumulative(self, y: FloatArray, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return P(Y ≤ y | f)."""
        nu, s = self._values
        return np.asarray(student.cdf((y - f) / s, nu))

    def percentile(self, q: float, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return the quantile of y given f."""
        nu, s = self._values
        return np.asarray(f + s * student.ppf(q, nu))
