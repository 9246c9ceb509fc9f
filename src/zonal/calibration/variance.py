"""Whether noise that varies from place to place makes better forecasts, and how much of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from .numerics import LEVELS, SHARES, SMALLEST
from .quantiles import ScoreQuantiles
from .scores import level_weights, pinball

__all__ = ["OutOfFold", "log_squares", "shares_of"]

# A variance that varies must make forecasts better by this share, or it stays constant.
LEAST_GAIN = 0.005


@dataclass(frozen=True)
class OutOfFold:
    """Errors of a model on rows that it has not seen.

    Attributes
    ----------
    residual : ndarray of shape (n, n_targets)
        y minus the prediction.
    std : ndarray of shape (n, n_targets)
        The standard deviation of an observation there, by the model.
    weight : ndarray of shape (n,)
    """

    residual: FloatArray
    std: FloatArray
    weight: FloatArray

    def scores(self, log_variance: FloatArray | float = 0.0) -> FloatArray:
        """Return residuals in units of their standard deviations, times a factor: [n, t]."""
        return self.residual / (self.std * np.exp(log_variance / 2))

    def more_likely(self, other: "OutOfFold") -> bool:
        """Tell whether these deviations are as likely as others, whatever their common factor."""
        return bool(self.log_likelihood() >= other.log_likelihood())

    def log_likelihood(self) -> float:
        """Return that of normal errors, but for a constant, with the best factor of each target."""
        squares = np.maximum((self.scores() ** 2).mean(axis=0), np.finfo(float).tiny)
        return float(-(len(self.std) / 2 * np.log(squares) + np.log(self.std).sum(axis=0)).sum())

    def rows(self, chosen: npt.NDArray[np.intp]) -> "OutOfFold":
        """Return some of the rows."""
        return OutOfFold(self.residual[chosen], self.std[chosen], self.weight[chosen])

    @classmethod
    def joined(cls, parts: Sequence["OutOfFold"]) -> "OutOfFold":
        """Return the rows of several."""
        return cls(
            np.concatenate([part.residual for part in parts]),
            np.concatenate([part.std for part in parts]),
            np.concatenate([part.weight for part in parts]),
        )

    def crps(self, log_variance: FloatArray | float = 0.0) -> FloatArray:
        """Return the mean CRPS of forecasts that are scaled by these scores: [n_targets]."""
        scores = self.scores(log_variance)
        quantiles = ScoreQuantiles.of(scores, self.weight).at(LEVELS)
        scale, shares = self.std * np.exp(log_variance / 2), level_weights(LEVELS)
        losses = [
            scale[:, t]
            * (pinball(column, np.tile(quantiles[:, t], (len(column), 1)), LEVELS) @ shares)
            for t, column in enumerate(scores.T)
        ]
        return np.array([2 * np.average(loss, weights=self.weight) for loss in losses])


def log_squares(scores: FloatArray, among: FloatArray | None = None) -> FloatArray:
    """Return the logarithms of squared scores about their mean, or that of others: [n, t]."""
    squares = (scores if among is None else among) ** 2
    least = SMALLEST * squares.mean(axis=0) + np.finfo(float).tiny
    return np.asarray(np.log(scores**2 + least) - np.log(squares + least).mean(axis=0))


def shares_of(out_of_fold: OutOfFold, log_variance: FloatArray) -> tuple[float, float]:
    """Return the best share of a log variance [n, t], and its CRPS over that of a constant.

    A share of zero: a constant variance is as good.
    """
    constant = np.maximum(out_of_fold.crps(), np.finfo(float).tiny)
    ratios = [float((out_of_fold.crps(s * log_variance) / constant).mean()) for s in SHARES]
    best = int(np.argmin(ratios))
    return (SHARES[best], ratios[best]) if ratios[best] < 1 - LEAST_GAIN else (0.0, 1.0)
