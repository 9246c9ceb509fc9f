"""A model with a local part, which keeps its rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.intervals import Calibration
from ..features.chain_rule import features_gradient
from ..features.space import FeatureSpace
from .drawing import draw_local, totals_local
from .found_once import found_once
from .known_errors import KnownErrors
from .local_calibration import Part, calibrate_local, unseen_local
from .local_solution import LocalGradient, LocalSolution

__all__ = ["FromRows", "local_map", "local_rows"]


@dataclass(frozen=True)
class FromRows:
    """Features, if there are any, and a Gaussian process that is known by the nearest rows.

    Attributes
    ----------
    columns : transformer or None
        What comes before the feature map; the local part sees its rows.
    features : transformer or None
        The whole of the features, `columns` included; None: a constant.
    n_columns : int
        The number of features.
    part : LocalSolution
        The fit to rows as the local part sees them.
    kept : dict
        What intervals and probabilities need: found when it is first asked for (`found_once`).
    """

    columns: Any
    features: Any
    n_columns: int
    part: LocalSolution
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the features: [D, n_targets]."""
        return self.part.coef

    @property
    def intercept(self) -> FloatArray:
        """The constant: [n_targets]."""
        return self.part.intercept

    @property
    def alpha(self) -> float:
        """The ridge on whitened features."""
        return float(self.part.alpha)

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return self.part.cv_results

    @property
    def noise(self) -> FloatArray:
        """The variance of the noise: [n_targets]."""
        return np.asarray(self.part.found.noise * self.part.joint.found.scale)

    def noise_at(self, rows: Any) -> FloatArray:
        """Return the variance of the noise at rows: [n, n_targets]."""
        return self.part.noise_at(self.local_rows(rows))

    @property
    def errors(self) -> KnownErrors | None:
        """What the noise has beside variances that were given."""
        return self.part.errors

    @property
    def amplitude(self) -> FloatArray:
        """The variance of the process: [n_targets]."""
        return self.part.joint.found.scale

    @property
    def log_evidence(self) -> float:
        """Vecchia's."""
        return float(self.part.joint.found.log_evidence)

    @property
    def map(self) -> Callable[[Array], Array] | None:
        """The feature map of rows as the local part sees them, or None."""
        return local_map(self.features, self.n_columns)

    def local_rows(self, rows: Any) -> Array:
        """Return rows as the local part sees them."""
        found, warp = local_rows(self.columns, rows), self.part.found.warp
        return found if warp is None else np.asarray(warp.transform(found))

    @found_once
    def calibration(self) -> Calibration:
        """Return what makes intervals hold, from rows that are left out."""
        return calibrate_local(self.part, self.map)

    @found_once
    def class_calibration(self) -> ClassCalibration:
        """Return what makes values of classes probabilities, from rows that are left out."""
        return _of_classes(*unseen_local(self.part, self.map))

    def calibrated_by(self, parts: list[Part], labels: bool) -> "FromRows":
        """Return the same, calibrated by test rows of splits that are at hand now only.

        Parameters
        ----------
        parts : list of Part
        labels : bool
            Whether the targets are indicators of classes.
        """
        if labels:
            classes = _of_classes(*unseen_local(self.part, self.map, parts))
            return replace(self, kept={"class_calibration": classes})
        return replace(self, kept={"calibration": calibrate_local(self.part, self.map, parts)})

    def mean(self, rows: Any) -> Array:
        """Return predictions at rows: [n, n_targets]."""
        return self.part.predict(self.local_rows(rows), self.map)[0]

    def latent(self, rows: Any) -> tuple[Array, Array]:
        """Return predictions and standard deviations of the latent functions: [n, n_targets]."""
        mean, std = self.part.predict(self.local_rows(rows), self.map, return_std=True)
        assert std is not None
        return mean, std

    def observed(self, rows: Any, noise: FloatArray | None = None) -> tuple[Array, Array]:
        """Return predictions and standard deviations of observations: [n, n_targets].

        With `noise` [n], of observations whose own errors have these variances.
        """
        local, calibration = self.local_rows(rows), self.calibration()
        return self.part.predict_observations(local, self.map, calibration, noise)

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the predictions, at known rows as if they were not: [n, t, d]."""
        before = [] if self.columns is None else FeatureSpace(self.columns, 0).steps
        before = before if self.part.found.warp is None else [*before, self.part.found.warp]
        last = None
        if self.features is not None:
            last = FeatureSpace(self.features, self.n_columns).steps[-1]
        steps = [*before, LocalGradient(self.part, last, held_out)]
        return features_gradient(steps, rows, self.coef)

    def without(self, rows: Any) -> "FromRows":
        """Return the model to which the places nearest to some rows are not known."""
        return replace(self, part=self.part.without(self.local_rows(rows)), kept={})

    def alone(self) -> "FromRows":
        """Return the local part alone, of what the mean and the features leave."""
        return FromRows(None, None, 0, self.part.without_features())

    def draw(self, rows: Any, n_samples: int, seed: int) -> Array:
        """Draw the latent functions jointly at rows: [n, n_targets, n_samples]."""
        return draw_local(self.part, self.map, self.local_rows(rows), n_samples, seed)

    def totals(self, rows: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return means [r, t] and covariances [r, r, t] of sums over rows, of weights [n, r]."""
        return totals_local(self.part, self.map, self.local_rows(rows), weights)

    def shares(self) -> dict[str, float]:
        """Return the shares of the targets' variance: features, local part, noise; sum one."""
        return self.part.shares()

    def light(self) -> "FromRows":
        """Return the model: it needs its rows."""
        return self


def local_rows(columns: Any, rows: Any) -> Array:
    """Return rows as a local part sees them: after what comes before the feature map."""
    if columns is not None:
        rows = FeatureSpace(columns, 0).transform(rows)
    return np.ascontiguousarray(rows)


def local_map(features: Any, n_columns: int) -> Callable[[Array], Array] | None:
    """Return the feature map of such rows: the last step of features; None for none."""
    if features is None:
        return None
    last = FeatureSpace(features, n_columns).steps[-1]
    return FeatureSpace(last, n_columns).transform


def _of_classes(truth: FloatArray, values: FloatArray, weight: FloatArray) -> ClassCalibration:
    return ClassCalibration.of(values, truth.argmax(axis=1), weight, with_levels=True)
