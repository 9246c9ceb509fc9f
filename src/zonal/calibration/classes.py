r"""Probabilities of classes that hold, and sets of classes that cover.

Least squares on indicators gives values f_c that are about the probabilities, but may be negative
and too bold or too timid. Calibrated probabilities are

.. math:: p_c \propto e^{b_c} \left(\log(1 + e^{f_c / \delta})\right)^T,

with T and δ of least log loss on rows that the fit has not seen. For small δ that is f_c to a power
where it is positive, for large δ a softmax with a temperature. With b = 0 the order of the classes
stays. Where more than two classes are kriged, b has the least log loss plus |b|²/2 (a normal
prior): indicators of classes with few rows are shrunk as if there were as many as of others. (Rows
of shuttle that were left out: .0166 without b, .0126 with it.)
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from .._typing import Array, FloatArray
from .numerics import BOUNDS, START
from .quantiles import ScoreQuantiles
from .scores import check_coverage
from .softmax import exceptions, softmax_gradient

__all__ = ["ClassCalibration"]


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
    levels : tuple of float
        b; empty where it is zero.
    """

    power: float
    softness: float
    mixed: float
    chances: tuple[ScoreQuantiles | None, ...]
    levels: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        values: FloatArray,
        labels: npt.NDArray[np.intp],
        weight: FloatArray,
        with_levels: bool = False,
    ) -> "ClassCalibration":
        """Calibrate by values [n, c] of rows that were not seen, of classes 0, …, c - 1.

        With levels, b is found too where there are more than two classes.
        """
        rows = np.arange(len(values))

        def loss(logs: FloatArray) -> float:
            powers = log_softmax(np.exp(logs[0]) * _log_softplus(values, np.exp(logs[1])), axis=1)
            return float(-np.average(powers[rows, labels], weights=weight))

        found = minimize(loss, START, method="Nelder-Mead", bounds=BOUNDS, options={"xatol": 1e-3})
        power, softness = np.exp(found.x)
        levels: tuple[float, ...] = ()
        if with_levels and values.shape[1] > 2:
            power, levels = _with_levels(_log_softplus(values, softness), power, labels, weight)
        plain = cls(float(power), float(softness), 0.0, (), levels)
        plain = replace(plain, mixed=exceptions(plain.probabilities(values), labels, weight))
        chances = plain.probabilities(values)
        own = tuple(
            ScoreQuantiles.of(chances[labels == c, c, None], weight[labels == c])
            if (labels == c).any()
            else None
            for c in range(values.shape[1])
        )
        return cls(plain.power, plain.softness, plain.mixed, own, levels)

    def probabilities(self, values: Array) -> FloatArray:
        """Return probabilities from values [n, c]."""
        scores = self.power * _log_softplus(values, self.softness)
        found = softmax(scores + np.array(self.levels) if self.levels else scores, axis=1)
        return np.asarray((1 - self.mixed) * found + self.mixed / values.shape[1])

    def gradient(self, values: Array, slopes: Array) -> FloatArray:
        """Return gradients of the probabilities from those of the values [n, c, d]."""
        scores = self.power * _log_softplus(values, self.softness)
        raw = softmax(scores + np.array(self.levels) if self.levels else scores, axis=1)
        scaled = _scaled(values, self.softness)
        # d log log(1 + e^s) / ds, which goes to one for very negative s.
        inner = np.logaddexp(0.0, np.maximum(scaled, -30.0))
        steep = np.where(scaled < -30.0, 1.0, expit(scaled) / inner)
        moved = (slopes - slopes.mean(axis=1, keepdims=True)) / self.softness
        turned = softmax_gradient(raw, self.power * steep[:, :, None] * moved)
        return (1 - self.mixed) * turned

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


def _with_levels(
    scores: FloatArray, power: float, labels: npt.NDArray[np.intp], weight: FloatArray
) -> tuple[float, tuple[float, ...]]:
    """Return T and b of least log loss of scores [n, c], given a first T."""
    rows = np.arange(len(scores))
    target = np.zeros(scores.shape)
    target[rows, labels] = weight

    def objective(parameters: FloatArray) -> tuple[float, FloatArray]:
        factor, levels = np.exp(parameters[0]), parameters[1:]
        logs = log_softmax(factor * scores + levels, axis=1)
        missed = weight[:, None] * np.exp(logs) - target
        loss = -float(weight @ logs[rows, labels]) + 0.5 * float(levels @ levels)
        slope = missed.sum(axis=0) + levels
        return loss, np.concatenate([[factor * float((missed * scores).sum())], slope])

    start = np.concatenate([[np.log(power)], np.zeros(scores.shape[1])])
    bounds = [BOUNDS[0], *[(None, None)] * scores.shape[1]]
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(np.exp(found[0])), tuple((found[1:] - found[1:].mean()).tolist())


def _log_softplus(values: Array, softness: float) -> FloatArray:
    """Return log log(1 + exp(f/δ)) of values that are moved to a sum of one."""
    scaled = _scaled(values, softness)
    # For very negative f/δ the inner logarithm is exp(f/δ) itself.
    inner = np.logaddexp(0.0, np.maximum(scaled, -30.0))
    return np.where(scaled < -30.0, scaled, np.log(inner))


def _scaled(values: Array, softness: float) -> FloatArray:
    """Return f/δ of values that are moved to a sum of one."""
    f = np.asarray(values, np.float64)
    return np.asarray((f - (f.sum(axis=1, keepdims=True) - 1) / f.shape[1]) / softness)
