"""What turns means and standard deviations into quantiles that hold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .distance import DistanceScale
from .quantiles import MeanQuantiles, ScoreQuantiles
from .scores import crps
from .variance import OutOfFold

__all__ = ["Calibration"]


@dataclass(frozen=True)
class Calibration:
    """Quantiles of the scores of rows that a model has not seen, and how the noise varies.

    Attributes
    ----------
    quantiles : ScoreQuantiles or MeanQuantiles
        Of errors over standard deviations, those of noise that varies.
    variance : LocalVariance, RidgeVariance or None
        The log variance over the model's own; None where a constant is as good.
    crps, crps_before : ndarrays of shape (n_targets,)
        The mean CRPS at these rows, and that of normal distributions with the model's own standard
        deviations.
    distance : DistanceScale or None
        How deviations change with the distance to the nearest rows; None: as the model says.
    held : ndarray of shape (k, 5) or None
        How much intervals hold at several distances, as of `distance.held_at_distances`; None:
        rows were left out one by one, or as a splitter says.
    share : float
        How much of the latent function's own variance errors in the test rows of a splitter show.
    """

    quantiles: ScoreQuantiles | MeanQuantiles
    variance: Any
    crps: Array
    crps_before: Array
    distance: DistanceScale | None = None
    held: FloatArray | None = None
    share: float = 1.0

    @classmethod
    def of(
        cls,
        out_of_fold: OutOfFold,
        variance: Any = None,
        log_variance: Any = 0.0,
        distance: DistanceScale | None = None,
    ) -> "Calibration":
        """Calibrate by rows that were not seen.

        Parameters
        ----------
        out_of_fold : OutOfFold
            Of these rows.
        variance, distance
            What the model's own deviations are multiplied by.
        log_variance : ndarray of shape (n, n_targets) or float
            The logarithm of the square of all of it, at these rows.
        """
        scores, weight = out_of_fold.scores(log_variance), out_of_fold.weight
        if not len(weight):  # a single row
            nothing = np.full(scores.shape[1], np.nan)
            return cls(ScoreQuantiles.of(scores), variance, nothing, nothing, distance)
        before = [
            crps(residual, np.zeros_like(std), std, weight)
            for residual, std in zip(out_of_fold.residual.T, out_of_fold.std.T, strict=True)
        ]
        return cls(
            ScoreQuantiles.of(scores, weight),
            variance,
            out_of_fold.crps(log_variance),
            np.array(before),
            distance,
        )

    @property
    def n_scores(self) -> int:
        """The number of rows."""
        return len(self.quantiles.scores)

    @property
    def spread(self) -> Array:
        """The root mean square of the scores, one if the model's own deviations hold: [t]."""
        return self.quantiles.spread()

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
