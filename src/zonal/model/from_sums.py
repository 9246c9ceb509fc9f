"""A model on features, known by sums over its rows and a sample of them."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples

from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.intervals import Calibration
from ..features.space import FeatureSpace
from ..moments.ridge import Solution, linear
from ..rows.block import take
from ..rows.reservoir import Reservoir
from .drawing import Places, normals
from .feature_calibration import Folded, calibrate_features, left_out_predictions
from .found_once import found_once
from .known_errors import KnownErrors
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
    errors : KnownErrors or None
        What the noise has beside variances that were given.
    kept : dict
        What intervals and probabilities need: found when it is first asked for (`found_once`).
    """

    space: FeatureSpace
    sums: SampledSums | None
    solution: Solution
    fit_intercept: bool = True
    found: RidgePosterior | None = None
    folded: Folded | None = None
    errors: KnownErrors | None = None
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

    def noise_at(self, rows: Any) -> FloatArray:
        """Return the same for each row: [n, n_targets]."""
        return np.tile(self.noise, (_num_samples(rows), 1))

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
        precise, moments = self.errors is not None, [] if self.sums is None else self.sums.moments
        total = sum(part.weight for part in moments) / posterior.unit
        return calibrate_features(posterior, self.space, X, Y, weight, folded, precise, total)

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

    def observed(self, rows: Any, noise: FloatArray | None = None) -> tuple[Array, Array]:
        """Return predictions and standard deviations of observations: [n, n_targets].

        With `noise` [n], of observations whose own errors have these variances.
        """
        posterior, calibration = self.posterior(), self.calibration()
        mean, latent, log = posterior.predict(self.space, rows, calibration.variance)
        own = posterior.noise
        if noise is not None:
            own = (own if self.errors is None else self.errors.extra) + noise[:, None]
        return mean, np.sqrt(calibration.share * latent + own) * np.exp(log / 2)

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the predictions: [n, n_targets, d]."""
        return self.space.gradient(rows, self.solution.coef)

    def without(self, rows: Any) -> "FromSums":
        """Return the model as if some rows were not known: a single row matters little."""
        return self

    def draw(self, rows: Any, n_samples: int, seed: int) -> Array:
        """Draw the latent functions at rows, the part that features leave out row by row.

        Returns
        -------
        ndarray of shape (n, n_targets, n_samples)
        """
        posterior, places = self.posterior(), Places.of(rows)
        width, n_targets = self.coef.shape
        scale = np.sqrt(posterior.noise)
        # The constant is known from the mean of all rows.
        white = [normals(seed, k, 0, (1 + width, n_targets)) * scale for k in range(n_samples)]
        common = np.stack(white, axis=2)
        level = np.sqrt(posterior.constant) * common[0]
        weights = (posterior.factor @ common[1:].reshape(width, -1)).reshape(common[1:].shape)

        def values(Z: Array) -> Array:
            centred = Z - posterior.middle.astype(Z.dtype)
            drawn = linear(centred, weights.reshape(width, -1), 0.0)
            return np.column_stack([posterior.mean(Z), drawn, np.square(Z).sum(axis=1)])

        found = self.space.map(places.rows, values)
        drawn = found[:, n_targets:-1].reshape(-1, n_targets, n_samples)
        rest = np.sqrt(self._left_out(places.rows, found[:, -1]))
        for k in range(n_samples):
            drawn[:, :, k] += rest * normals(seed, k, 1, rest.shape)
        return np.asarray(found[:, :n_targets, None] + drawn + level)[places.index]

    def totals(self, rows: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return means [r, t] and covariances [r, r, t] of sums over rows, of weights [n, r]."""
        posterior, places = self.posterior(), Places.of(rows)
        shape = len(places), len(places.index)
        gather = sp.csr_array((np.ones(shape[1]), (places.index, np.arange(shape[1]))), shape)
        merged = sp.csr_array(gather @ weights)
        n_targets, width = len(posterior.noise), len(posterior.middle)
        total, squares = np.zeros((merged.shape[1], n_targets + width)), np.empty(len(places))
        for part in self.space.slices(places.rows):
            Z = self.space.transform(take(places.rows, part))
            total += merged[part].T @ np.column_stack([posterior.mean(Z), posterior.whitened(Z)])
            squares[part] = np.square(Z).sum(axis=1)
        mean, common = total[:, :n_targets], total[:, n_targets:]
        whole = np.asarray(merged.sum(axis=0))
        shared = common @ common.T + posterior.constant * np.outer(whole, whole)
        own = [
            (merged.T @ (merged * column[:, None])).toarray()
            for column in self._left_out(places.rows, squares).T
        ]
        return mean, shared[:, :, None] * posterior.noise + np.stack(own, axis=2)

    def _left_out(self, rows: Any, squares: Array) -> Array:
        """Return the variance that features leave out beyond what the noise has: [n, t]."""
        missing = self.space.residual_variance(rows, squares) - self.posterior().left_out
        return np.asarray(np.maximum(missing, 0)[:, None] * self.posterior().amplitude)

    def shares(self) -> dict[str, float]:
        """There are none."""
        raise AttributeError("There is no local part: local_ is None.")

    def light(self) -> "FromSums":
        """Return a copy without sums, that keeps what was found by them."""
        return replace(self, sums=None, kept=dict(self.kept))
