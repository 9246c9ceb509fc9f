r"""Probabilities of classes from averaged logits, and sets of classes that cover.

.. math:: p_c \propto e^{f_c / T},

with the temperature T of least log loss on rows that are left out of the fit; where the model is
right, T is one.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from .._typing import Array, FloatArray
from .numerics import TEMPERATURES
from .quantiles import ScoreQuantiles
from .scores import check_coverage

__all__ = ["SoftmaxCalibration", "softmax_gradient"]


def softmax_gradient(chances: FloatArray, slopes: Array) -> FloatArray:
    """Return gradients of p = softmax(f) from those of f [n, c, d]: p_c (∇f_c - Σ p ∇f)."""
    mean = np.einsum("nc,ncd->nd", chances, slopes)
    return np.asarray(chances[:, :, None] * (slopes - mean[:, None, :]))


@dataclass(frozen=True)
class SoftmaxCalibration:
    """How logits of classes become probabilities and sets.

    Attributes
    ----------
    temperature : float
        T.
    mixed : float
        The share of the uniform distribution, so that no class is impossible.
    loss : float
        The mean log loss of the rows that were left out.
    chances : tuple of ScoreQuantiles or None
        Of each class, the probabilities of that class at its rows; None where there are none.
    """

    temperature: float
    mixed: float
    loss: float
    chances: tuple[ScoreQuantiles | None, ...] = ()

    @classmethod
    def of(
        cls, logits: FloatArray, labels: npt.NDArray[np.intp], weight: FloatArray
    ) -> "SoftmaxCalibration":
        """Calibrate by logits [n, c] of rows that were not seen, of classes 0, …, c - 1."""
        rows = np.arange(len(logits))

        def loss(log: float) -> float:
            chances = log_softmax(logits * np.exp(-log), axis=1)
            return float(-np.average(chances[rows, labels], weights=weight))

        found = minimize_scalar(
            loss, bounds=TEMPERATURES, method="bounded", options={"xatol": 1e-4}
        )
        n_rows = max(float(weight.sum()), float(np.count_nonzero(weight)))
        plain = cls(float(np.exp(found.x)), 1 / (1 + n_rows), float(found.fun))
        chances = plain.probabilities(logits)
        own = tuple(
            ScoreQuantiles.of(chances[labels == c, c, None], weight[labels == c])
            if (labels == c).any()
            else None
            for c in range(logits.shape[1])
        )
        return cls(plain.temperature, plain.mixed, plain.loss, own)

    def probabilities(self, logits: Array) -> FloatArray:
        """Return probabilities from logits [n, c]."""
        found = softmax(np.asarray(logits, np.float64) / self.temperature, axis=1)
        return np.asarray((1 - self.mixed) * found + self.mixed / logits.shape[1])

    def gradient(self, logits: Array, slopes: Array) -> FloatArray:
        """Return gradients of the probabilities from those of the logits [n, c, d]."""
        raw = softmax(np.asarray(logits, np.float64) / self.temperature, axis=1)
        return (1 - self.mixed) * softmax_gradient(raw, slopes / self.temperature)

    def sets(self, logits: Array, coverage: float) -> npt.NDArray[np.bool_]:
        """Return which classes each set holds: [n, c]; as `ClassCalibration.sets`."""
        missed = 1 - check_coverage(coverage)
        least = [
            0.0 if own is None or missed * (own.totals[-1, 0] + 1) < 1 else own.at(missed)[0, 0]
            for own in self.chances
        ]
        return self.probabilities(logits) >= np.array(least)
