r"""Probabilities of classes that hold, and sets of classes that cover.

Least squares on indicators gives values f_c that are about the probabilities, but may be negative
and too bold or too timid. Calibrated probabilities are

.. math:: p_c \propto \left(\log(1 + e^{f_c / \delta})\right)^T,

with T and δ of least log loss on rows that the fit has not seen. For small δ that is f_c to a power
where it is positive, for large δ a softmax with a temperature; the order of the classes stays.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from .._typing import Array, FloatArray
from .quantiles import ScoreQuantiles
from .scores import check_coverage

__all__ = ["ClassCalibration"]

# The range of log T and log δ.
BOUNDS = ((-3.0, 4.0), (-6.0, 2.0))
START = (0.5, -2.0)


@dataclass(frozen=True)
class ClassCalibration:
    """How values of classes become probabilities and sets.

    Attributes
    ----------
    power, softness : float
        T and δ.
    mixed : float
        The share of the uniform distribution, so that no class is impossible.
    chances : tuple of ScoreQuantiles or None
        Of each class, the probabilities of that class at its rows; None where there are none.
    """

    power: float
    softness: float
    mixed: float
    chances: tuple[ScoreQuantiles | None, ...]

    @classmethod
    def of(
        cls, values: FloatArray, labels: npt.NDArray[np.intp], weight: FloatArray
    ) -> "ClassCalibration":
        """Calibrate by values [n, c] of rows that were not seen, of classes 0, …, c - 1."""
        rows = np.arange(len(values))

        def loss(logs: FloatArray) -> float:
            powers = log_softmax(np.exp(logs[0]) * _log_softplus(values, np.exp(logs[1])), axis=1)
            return float(-np.average(powers[rows, labels], weights=weight))

        found = minimize(loss, START, method="Nelder-Mead", bounds=BOUNDS, options={"xatol": 1e-3})
        power, softness = np.exp(found.x)
        # Weights are counts; where they add up to less than the rows, only their ratios count.
        n_rows = max(float(weight.sum()), float(np.count_nonzero(weight)))
        plain = cls(float(power), float(softness), 1 / (1 + n_rows), ())
        chances = plain.probabilities(values)
        own = tuple(
            ScoreQuantiles.of(chances[labels == c, c, None], weight[labels == c])
            if (labels == c).any()
            else None
            for c in range(values.shape[1])
        )
        return cls(plain.power, plain.softness, plain.mixed, own)

    def probabilities(self, values: Array) -> FloatArray:
        """Return probabilities from values [n, c]."""
        found = softmax(self.power * _log_softplus(values, self.softness), axis=1)
        return np.asarray((1 - self.mixed) * found + self.mixed / values.shape[1])

    def sets(self, values: Array, coverage: float) -> npt.NDArray[np.bool_]:
        """Return which classes each set holds: [n, c].

        A class is in the set where its probability is at least the one that a share `coverage` of
        its own rows reach; classes of too few rows to tell are in every set.
        """
        missed = 1 - check_coverage(coverage)
        least = [
            0.0 if own is None or missed * (own.totals[-1, 0] + 1) < 1 else own.at(missed)[0, 0]
            for own in self.chances
        ]
        return self.probabilities(values) >= np.array(least)


def _log_softplus(values: Array, softness: float) -> FloatArray:
    """Return log log(1 + exp(f/δ)) of values that are moved to a sum of one."""
    f = np.asarray(values, np.float64)
    scaled = (f - (f.sum(axis=1, keepdims=True) - 1) / f.shape[1]) / softness
    # For very negative f/δ the inner logarithm is exp(f/δ) itself.
    inner = np.logaddexp(0.0, np.maximum(scaled, -30.0))
    return np.where(scaled < -30.0, scaled, np.log(inner))
