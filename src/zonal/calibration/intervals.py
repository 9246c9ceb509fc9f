"""What turns means and standard deviations into quantiles that hold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array
from .quantiles import ScoreQuantiles
from .variance import OutOfFold

__all__ = ["Calibration"]


@dataclass(frozen=True)
class Calibration:
    """Quantiles of the scores of rows that a model has not seen, and how the noise varies.

    Attributes
    ----------
    quantiles : ScoreQuantiles
        Of errors over standard deviations, those of noise that varies.
    variance : LocalVariance, RidgeVariance or None
        The log variance over the model's own; None where a constant is as good.
    crps : ndarray of shape (n_targets,)
        The mean CRPS at these rows.
    """

    quantiles: ScoreQuantiles
    variance: Any
    crps: Array

    @classmethod
    def of(
        cls, out_of_fold: OutOfFold, variance: Any = None, log_variance: Any = 0.0
    ) -> "Calibration":
        """Calibrate by rows that were not seen, with log variances there: [n, n_targets]."""
        scores = out_of_fold.scores(log_variance)
        return cls(
            ScoreQuantiles.of(scores, out_of_fold.weight), variance, out_of_fold.crps(log_variance)
        )

    @property
    def n_scores(self) -> int:
        """The number of rows."""
        return len(self.quantiles.scores)

    def at(self, mean: Array, std: Array, levels: npt.ArrayLike) -> Array:
        """Return the quantiles of observations: [n_levels, n, n_targets].

        Parameters
        ----------
        mean, std : ndarrays of shape (n, n_targets)
            Predictions, and the standard deviations of observations, with noise that varies.
        levels : array-like of shape (n_levels,)
        """
        scores = self.quantiles.at(levels).astype(mean.dtype)
        return np.asarray(mean + std * scores[:, None, :])
