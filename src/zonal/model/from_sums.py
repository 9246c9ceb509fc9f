"""A model on features, known by sums over its rows and a sample of them."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples

from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.intervals import Calibration
from ..features.space import FeatureSpace
from ..moments.ridge import Solution, linear
from ..rows.block import take
from ..rows.reservoir import Reservoir
from .feature_calibration import Folded, calibrate_features, left_out_predictions
from .found_once import found_once
from .ridge_posterior import RidgePosterior, left_out
from .sampled_sums import SampledSums

__all__ = ["FromSums"]


@dataclass(frozen=True)
class FromSums:
    """Ridge regression on features.

    Attributes
    ----------
    space : FeatureSpace
        The fitted features.
    sums : SampledSums or None
        None in a copy that cannot be continued.
    solution : Solution
        Coefficients, and the errors of a cross-validation.
    fit_intercept : bool
    found : RidgePosterior or None
        The posterior of the coefficients, where the fit itself found it.
    folded : Folded or None
        Predictions for the sampled rows by the training rows of a splitter; None: each of them is
        left out alone.
    kept : dict
        What intervals and probabilities need: found when it is first asked for (`found_once`).
    """

    space: FeatureSpace
    sums: SampledSums | None
    solution: Solution
    fit_intercept: bool = True
    found: RidgePosterior | None = None
    folded: Folded | None = None
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    #: There is no local part.
    part = None

    @property
    def coef(self) -> FloatArray:
        """The coefficients: [D, n_targets]."""
        return self.solution.coef

    @property
    def intercept(self) -> FloatArray:
        """The constant: [n_targets]."""
        return self.solution.intercept

    @property
    def alpha(self) -> float:
        """The regularisation."""
        return float(self.solution.alpha)

    @property
    def cv_results(self) -> dict[str, Array]:
        """The errors of a cross-validation, or nothing."""
        return self.solution.cv_results

    @property
    def noise(self) -> FloatArray:
        """The variance of the noise: [n_targets]."""
        return self.posterior().noise

    @property
    def amplitude(self) -> FloatArray:
        """The variance of the coefficients: [n_targets]."""
        return self.posterior().amplitude

    @property
    def log_evidence(self) -> float:
        """Of a Gaussian process."""
        return self.posterior().log_evidence

    @found_once
    def posterior(self) -> RidgePosterior:
        """Return the posterior of the coefficients, from the moments."""
        if self.found is not None:
            return self.found
        moments = [] if self.sums is None else self.sums.moments
        missing = 0.0 if self.sums is None else left_out(self.space, self.sums.rows.rows())
        return RidgePosterior.of(moments, self.solution, self.fit_intercept, missing)

    @found_once
    def unseen(self) -> Folded:
        """Return predictions for the sampled rows by other rows."""
        if self.folded is not None:
            return self.folded
        rows, weight = self._sample, self._weight
        Y = np.asarray(rows.y, np.float64)
        posterior = self.posterior()
        relative = weight / posterior.unit
        return left_out_predictions(posterior, self.space, rows.rows(), Y, relative)

    @found_once
    def calibration(self) -> Calibration:
        """Return what makes intervals hold, from rows that are left out."""
        rows, folded, posterior = self._sample, self.unseen(), self.posterior()
        X, Y = take(rows.rows(), folded.rows), np.asarray(rows.y, np.float64)[folded.rows]
        weight = self._weight[folded.rows] / posterior.unit
        return calibrate_features(posterior, self.space, X, Y, weight, folded)

    @found_once
    def class_calibration(self) -> ClassCalibration:
        """Return what makes values of classes probabilities, from rows that are left out."""
        folded = self.unseen()
        labels = self._sample.y.argmax(axis=1)[folded.rows]
        return ClassCalibration.of(folded.mean, labels, self._weight[folded.rows])

    @property
    def _sample(self) -> Reservoir:
        if self.sums is None:
            raise NotFittedError(  # a ValueError and an AttributeError: hasattr must work
                "Calibration needs a sample of the rows, which this copy of the model did not "
                "keep: use the model that was fitted, or fit it again."
            )
        return self.sums.rows

    @property
    def _weight(self) -> FloatArray:
        rows = self._sample
        return np.ones(len(rows)) if rows.weight is None else np.asarray(rows.weight, np.float64)

    def mean(self, rows: Any) -> Array:
        """Return predictions at rows: [n, n_targets]."""
        form = self.space.narrow(_num_samples(rows))
        coef = form.coefficients(self.solution.coef)
        return form.map(rows, lambda Z: linear(Z, coef, self.solution.intercept))

    def latent(self, rows: Any) -> tuple[Array, Array]:
        """Return predictions and standard deviations of the latent functions: [n, n_targets]."""
        mean, variance, _ = self.posterior().predict(self.space, rows)
        return mean, np.sqrt(variance)

    def observed(self, rows: Any) -> tuple[Array, Array]:
        """Return predictions and standard deviations of observations: [n, n_targets]."""
        posterior = self.posterior()
        mean, latent, log = posterior.predict(self.space, rows, self.calibration().variance)
        return mean, np.sqrt(latent + posterior.noise) * np.exp(log / 2)

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the predictions: [n, n_targets, d]."""
        return self.space.gradient(rows, self.solution.coef)

    def without(self, rows: Any) -> "FromSums":
        """Return the model as if some rows were not known: a single row matters little."""
        return self

    def draw(self, rows: Any, n_samples: int, rng: np.random.Generator) -> Array:
        """Draw the latent functions at rows, the part that features leave out row by row.

        Returns
        -------
        ndarray of shape (n, n_targets, n_samples)
        """
        posterior = self.posterior()
        width, n_targets = self.coef.shape
        shape = (n_targets, n_samples)
        scale = np.sqrt(posterior.noise)[:, None]
        own = posterior.factor @ rng.standard_normal((width, n_targets * n_samples))
        weights = own.reshape(width, *shape) * scale
        # The constant is known from the mean of all rows.
        level = np.sqrt(posterior.constant) * scale * rng.standard_normal(shape)

        def values(Z: Array) -> Array:
            centred = Z - posterior.middle.astype(Z.dtype)
            drawn = linear(centred, weights.reshape(width, -1), 0.0)
            return np.column_stack([posterior.mean(Z), drawn, np.square(Z).sum(axis=1)])

        found = self.space.map(rows, values)
        mean, drawn = found[:, :n_targets, None], found[:, n_targets:-1].reshape(-1, *shape)
        missing = self.space.residual_variance(rows, found[:, -1]) - posterior.left_out
        rest = np.sqrt(np.maximum(missing, 0)[:, None] * posterior.amplitude)[:, :, None]
        return np.asarray(mean + drawn + level + rest * rng.standard_normal(drawn.shape))

    def shares(self) -> dict[str, float]:
        """There are none."""
        raise AttributeError("There is no local part: local_ is None.")

    def light(self) -> "FromSums":
        """Return a copy without sums, that keeps what was found by them."""
        return replace(self, sums=None, kept=dict(self.kept))
