"""Regressors on features, with a local part or without, that know how sure they are."""

from typing import Any

import numpy as np

from .._typing import Array
from ..calibration.intervals import Calibration
from ..rows.block import take
from .feature_calibration import calibrate_features
from .interval_learner import IntervalLearner
from .local_calibration import calibrate_local
from .local_learner import LocalLearner
from .local_solution import LocalSolution

__all__ = ["CalibratedRegressor"]


class CalibratedRegressor(IntervalLearner, LocalLearner):
    """Base class of `KernelRidge` and `GaussianProcess`."""

    @property
    def calibration_(self) -> Calibration:
        """What intervals are calibrated by: scores of rows that are left out of the fit."""
        solution = self._solution
        known: tuple[Any, Calibration] | None = getattr(self, "_calibration_", None)
        if known is None or known[0] is not solution:
            self._calibration_ = known = solution, self._calibrated(solution)
        return known[1]

    def _calibrated(self, solution: Any) -> Calibration:
        if isinstance(solution, LocalSolution):
            return calibrate_local(solution, self._local_features())
        posterior, sample = self._posterior(), self._sampled_rows
        folded = self._folded(posterior)
        X, y, weight = (
            take(part, folded.rows) for part in (sample.rows(), sample.y, sample.weight)
        )
        weight = np.ones(len(folded.rows)) if weight is None else np.asarray(weight, np.float64)
        Y = self._targets(y, len(folded.rows)).astype(np.float64)
        return calibrate_features(posterior, self._space, X, Y, weight / posterior.unit, folded)

    def _observations(self, X: Any) -> tuple[Array, Array]:
        solution, variance = self._solution, self.calibration_.variance
        X = self._check_rows(X, reset=False)
        dtype = self._prediction_dtype(X)
        if isinstance(solution, LocalSolution):
            rows, features = self._local_rows(X), self._local_features()
            mean, std = solution.predict_observations(rows, features, variance)
        else:
            posterior = self._posterior()
            mean, latent, log_variance = posterior.predict(self._space, X, variance)
            std = np.sqrt(latent + posterior.noise) * np.exp(log_variance / 2)
        return mean.astype(dtype, copy=False), std.astype(dtype, copy=False)
