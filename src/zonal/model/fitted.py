"""What a fitted model says of rows."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.intervals import Calibration
from .cells import Cells
from .drawing import normals

__all__ = ["Fitted", "Predicted", "Solved"]


class Solved(Protocol):
    """What `FromSums` and `FromRows` both answer, of rows of numbers."""

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the features: [D, n_targets]."""

    @property
    def noise(self) -> FloatArray:
        """The variance of the noise: [n_targets]."""

    def noise_at(self, rows: Any) -> FloatArray:
        """Return the variance of the noise at rows: [n, n_targets]."""

    def calibration(self) -> Calibration:
        """Return what makes intervals hold; found once, and kept."""

    def class_calibration(self) -> ClassCalibration:
        """Return what makes values of classes probabilities; found once, and kept."""

    def mean(self, rows: Any) -> Array:
        """Return predictions: [n, n_targets]."""

    def latent(self, rows: Any) -> tuple[Array, Array]:
        """Return predictions and standard deviations of the latent functions."""

    def observed(self, rows: Any, noise: FloatArray | None = None) -> tuple[Array, Array]:
        """Return predictions and standard deviations of observations, of given errors or not."""

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the predictions: [n, n_targets, d]."""

    def without(self, rows: Any) -> "Solved":
        """Return the model as if some rows were not known."""

    def draw(self, rows: Any, n_samples: int, seed: int) -> Array:
        """Draw the latent functions jointly at rows: [n, n_targets, n_samples]."""

    def totals(self, rows: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return means [r, t] and covariances [r, r, t] of sums over rows, of weights [n, r]."""


@dataclass(frozen=True)
class Predicted:
    """What is predicted for rows, on the scale of the targets.

    Attributes
    ----------
    center : ndarray of shape (n, n_targets)
        Predictions on the scale on which targets are learnt.
    spread : ndarray of shape (n, n_targets) or None
        Standard deviations there, of the latent functions or of observations.
    cells : Cells
    calibration : Calibration or None
        Of observations.
    """

    center: Array
    spread: Array | None
    cells: Cells
    calibration: Calibration | None = None

    @property
    def mean(self) -> Array:
        """The mean: [n, n_targets]."""
        scale = self.cells.scale
        return self.center if scale is None else scale.backward(self.center)

    @property
    def std(self) -> Array:
        """Standard deviations, to first order on another scale: [n, n_targets]."""
        assert self.spread is not None
        scale = self.cells.scale
        return self.spread if scale is None else self.spread * scale.slope(self.center)

    def quantiles(self, levels: npt.ArrayLike) -> Array:
        """Return calibrated quantiles of observations: [n_levels, n, n_targets]."""
        assert self.calibration is not None
        assert self.spread is not None
        found = self.calibration.at(self.center, self.spread, levels)
        scale = self.cells.scale
        return found if scale is None else scale.inverse(found)


@dataclass(frozen=True)
class Fitted:
    """A fitted model: how cells become numbers, and what was found of these.

    Attributes
    ----------
    cells : Cells
    solved : Solved
    """

    cells: Cells
    solved: Solved

    def at(self, X: Any, std: bool = False) -> Predicted:
        """Predict checked rows, and on request standard deviations of the latent functions."""
        rows = self.cells.rows(X)
        mean, spread = self.solved.latent(rows) if std else (self.solved.mean(rows), None)
        return self._predicted(rows, mean, spread)

    def observed_at(self, X: Any, noise: FloatArray | None = None) -> Predicted:
        """Predict observations at checked rows, with calibrated quantiles.

        With `noise` [n], observations whose own errors have these variances.
        """
        # First: that there is none matters more than bad rows.
        calibration = self.solved.calibration()
        rows = self.cells.rows(X)
        return self._predicted(rows, *self.solved.observed(rows, noise), calibration)

    def gradient(self, X: Any) -> Array:
        """Return gradients of the predictions at checked rows: [n, n_targets, d]."""
        rows = self.cells.rows(X)
        gradient = self.solved.gradient(rows)
        scale = self.cells.scale
        if scale is None:
            return gradient
        return gradient * scale.slope(self.solved.mean(rows))[:, :, None]

    def draw(self, X: Any, n_samples: int, seed: int, noise: bool = False) -> Array:
        """Draw jointly at checked rows, of the latent functions or of observations: [n, t, s].

        On another scale of the targets a latent function counts as the mean of y that it implies.
        """
        rows, scale = self.cells.rows(X), self.cells.scale
        drawn = self.solved.draw(rows, n_samples, seed)
        if noise:
            spread = np.sqrt(self.solved.noise_at(rows))
            for k in range(n_samples):
                drawn[:, :, k] += spread * normals(seed, k, 2, drawn.shape[:2])
        if scale is not None:
            drawn = scale.inverse(drawn) if noise else scale.backward(drawn)
        return drawn.astype(self.cells.dtype(rows), copy=False)

    def _predicted(
        self, rows: Any, mean: Array, spread: Array | None, calibration: Any = None
    ) -> Predicted:
        dtype = self.cells.dtype(rows)
        own = None if spread is None else spread.astype(dtype, copy=False)
        return Predicted(mean.astype(dtype, copy=False), own, self.cells, calibration)
