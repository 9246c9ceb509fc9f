r"""What a likelihood p(y | f) offers.

Newton's method needs, for each row, the logarithm of the density, its slope g in f and its
curvature h = -∂²/∂f². Predictions need the mean of y given f, averaged over what is not known of f,
and the quantiles of that mixture.

*Dispersion.* Log densities are :math:`-\tfrac{1}{2\varphi} d(y, f) + c(y, \varphi)` with the unit
deviance d. Slopes and curvatures are those of :math:`-d/2`: without φ, so that α does not depend
on it. φ is one but for amounts (`Gamma`).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .averages import nodes

__all__ = ["Likelihood", "Observed"]

# Latent values of links that are exponentials stay within this range: e^±300 is a number, and so
# is its square.
LARGEST = 300.0
# Halvings of the range in which a quantile of a mixture lies.
BISECTIONS = 60


class Observed(NamedTuple):
    """What is observed of rows.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Responses.
    trials : ndarray of shape (n,)
        Of how many trials each share is; one where that has no meaning.
    """

    y: FloatArray
    trials: FloatArray

    @classmethod
    def of(cls, y: npt.ArrayLike, trials: npt.ArrayLike | None = None) -> "Observed":
        """Observe responses, of one trial each unless it is told."""
        values = np.asarray(y, np.float64)
        return cls(values, np.ones_like(values) if trials is None else np.asarray(trials, float))


@dataclass(frozen=True)
class Likelihood:
    """The distribution of a response given one latent value; subclasses give the formulas."""

    #: The name that `KernelGLM` takes.
    name: ClassVar[str] = ""
    #: What the support is, in words.
    support: ClassVar[str] = ""
    #: Whether responses are counts.
    discrete: ClassVar[bool] = False
    #: Whether the mean is exp(f), so that an exposure makes sense.
    log_link: ClassVar[bool] = False
    #: Whether h is the second derivative, so that Newton's method converges quadratically.
    quadratic: ClassVar[bool] = True
    #: Whether all that may be unknown is φ, which the mean of the deviances tells.
    by_loss: ClassVar[bool] = False

    # What a subclass defines.

    def log_density(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return log p(y | f): [n]."""
        raise NotImplementedError

    def derivatives(self, observed: Observed, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and h of minus half the unit deviance; h is never negative: [n], [n]."""
        raise NotImplementedError

    def half_deviance(self, observed: Observed, f: FloatArray) -> FloatArray:
        """Return half the unit deviance, what a saturated model gains over f: [n]."""
        raise NotImplementedError

    def mean(self, f: FloatArray) -> FloatArray:
        """Return the mean of y (of one trial) given f."""
        raise NotImplementedError

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the f that has this mean."""
        raise NotImplementedError

    def variance(self, f: FloatArray) -> FloatArray:
        """Return the variance of y (of one trial) given f."""
        raise NotImplementedError

    def cumulative(self, y: FloatArray, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return P(Y ≤ y | f)."""
        raise NotImplementedError

    def percentile(self, q: float, f: FloatArray, trials: FloatArray) -> FloatArray:
        """Return the quantile of y given f."""
        raise NotImplementedError

    def outside(self, y: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which responses are outside the support."""
        raise NotImplementedError

    # What follows.

    @property
    def dispersion(self) -> float:
        """φ."""
        return 1.0

    @property
    def unknown(self) -> tuple[str, ...]:
        """The parameters that are to be found."""
        return tuple(own.name for own in fields(self) if getattr(self, own.name) is None)

    def started(self, observed: Observed, weight: FloatArray) -> Self:
        """Return the same with a first value of each parameter that is to be found."""
        return self

    def with_loss(self, mean_loss: float) -> Self:
        """Return the same with the dispersion that a mean of half deviances asks for, if any."""
        return self

    def moved(self, name: str, log_step: float) -> Self:
        """Return the same with a parameter times exp(step)."""
        return replace(self, **{name: getattr(self, name) * float(np.exp(log_step))})

    def check(self, y: FloatArray, first: int = 0) -> None:
        """Raise ValueError for the first response outside the support, with its row."""
        bad = np.flatnonzero(self.outside(y) | ~np.isfinite(y))
        if len(bad):
            raise ValueError(
                f"y[{first + bad[0]}] = {y[bad[0]]:g} is outside the support of "
                f"likelihood={self.name!r}, which takes {self.support}"
                + (f" ({len(bad)} such rows)" if len(bad) > 1 else "")
                + ". Correct the rows or use another likelihood."
            )

    def check_all(self, observed: Observed, weight: FloatArray) -> None:
        """Raise ValueError if all rows together are explained best by an infinite latent value."""

    def beginning(self, observed: Observed, offset: FloatArray, level: float) -> FloatArray:
        """Return latent values halfway between the responses and their mean, to start from.

        Parameters
        ----------
        observed : Observed
        offset : ndarray of shape (n,)
        level : float
            The mean response where the offset is zero.
        """
        common = self.mean(self.link(np.asarray(level)) + offset)
        return self.link((observed.y / observed.trials + common) / 2)

    def linearised(
        self, observed: Observed, offset: FloatArray, level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return targets and weights of a least squares problem much like this one.

        By them features are chosen: the quadratic expansion about `beginning`, as R's glm starts.
        """
        f = self.beginning(observed, offset, level)
        g, h = self.derivatives(observed, f)
        return f - offset + g / h, h

    def level(self, observed: Observed, offset: FloatArray, weight: FloatArray) -> float:
        """Return the mean response of one trial where the offset is zero."""
        return float(weight @ observed.y / (weight @ observed.trials))

    def average(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the mean of y, averaged over f ~ N(mean, variance), by quadrature."""
        return _averaged(self.mean, mean, variance)

    def deviation(self, mean: FloatArray, variance: FloatArray, trials: FloatArray) -> FloatArray:
        """Return the standard deviation of an observation, averaged over f: [n].

        The mean of the variance given f, and the variance of the mean given f.
        """
        own = _averaged(self.variance, mean, variance) * trials
        first = _averaged(self.mean, mean, variance)
        second = _averaged(lambda f: self.mean(f) ** 2, mean, variance)
        return np.sqrt(own + trials**2 * np.maximum(second - first**2, 0.0))

    def log_predictive(
        self, observed: Observed, mean: FloatArray, variance: FloatArray
    ) -> FloatArray:
        """Return log ∫ p(y | f) N(f; mean, variance) df: [n]."""
        t, weight = nodes()
        logs = np.stack([self.log_density(observed, mean + np.sqrt(variance) * node) for node in t])
        top = logs.max(axis=0)
        return np.asarray(top + np.log(weight @ np.exp(logs - top)))

    def quantiles(
        self, mean: FloatArray, variance: FloatArray, levels: FloatArray, trials: FloatArray
    ) -> Array:
        """Return quantiles of observations, averaged over f: [n, n_levels].

        The distribution function of the mixture is averaged, and inverted by bisection between the
        least and the largest quantile of its parts. Of counts, the least with enough probability.
        """
        t, weight = nodes()
        parts = [mean + np.sqrt(variance) * node for node in t]
        found = np.empty((len(mean), len(levels)))
        for column, q in enumerate(levels):
            ends = np.stack([self.percentile(float(q), f, trials) for f in parts])
            low, high = ends.min(axis=0), ends.max(axis=0)
            if self.discrete:
                low = low - 1
            for _ in range(BISECTIONS):
                middle = (low + high) / 2
                if self.discrete:
                    middle = np.floor(middle)
                chance = sum(
                    w * self.cumulative(middle, f, trials)
                    for w, f in zip(weight, parts, strict=True)
                )
                enough = np.asarray(chance) >= q * (1 - 1e-12)
                low, high = np.where(enough, low, middle), np.where(enough, middle, high)
                if self.discrete and (high - low <= 1).all():
                    break
            found[:, column] = high
        return found


def _averaged(
    function: Callable[[FloatArray], FloatArray], mean: FloatArray, variance: FloatArray
) -> FloatArray:
    """Return the average of a function of f ~ N(mean, variance)."""
    total = np.zeros(np.shape(mean))
    for node, weight in zip(*nodes(), strict=True):
        total += weight * function(mean + np.sqrt(variance) * node)
    return total
