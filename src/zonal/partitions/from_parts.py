"""A model of parts: each query is predicted from the places around it, as if all were in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._loaded import check_kind
from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.intervals import Calibration
from ..kriging.joint import Joint
from ..model.found_once import found_once
from ..model.from_rows import FromRows
from ..model.known_errors import KnownErrors
from ..model.local_calibration import calibrate_local
from ..model.local_solution import LocalSolution
from ..rows.block import take
from .around import Parts
from .nearest import neighborhoods
from .part import Part
from .sampled import sampled_neighborhoods

__all__ = ["FromParts"]


@dataclass(frozen=True)
class FromParts:
    """Features, if there are any, and a Gaussian process that is known by places in parts.

    Attributes
    ----------
    rows : FromRows
        The same model, to which only the first places are known; it has all parameters.
    parts : Parts
        All places.
    leaves : ndarray of shape (n_targets,)
        The variance that the features leave.
    in_space : bool
        Whether rows are places, among which there are holes.
    asked : ndarray of shape (q, d) or None
        Rows that will be asked, as the local part sees them, where they are known.
    kept : dict
        What intervals need: found when it is first asked for (`found_once`).
    """

    rows: FromRows
    parts: Parts
    leaves: FloatArray
    in_space: bool = False
    asked: Array | None = None
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def _check_loaded(self) -> None:
        """Raise ValueError unless the parts belong to the model."""
        check_kind(self, "rows", FromRows)
        check_kind(self, "parts", Parts)

    @property
    def part(self) -> LocalSolution:
        """The parameters, with the first places."""
        return self.rows.part

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the features: [D, n_targets]."""
        return self.rows.coef

    @property
    def intercept(self) -> FloatArray:
        """The constant: [n_targets]."""
        return self.rows.intercept

    @property
    def alpha(self) -> float:
        """The ridge on whitened features."""
        return self.rows.alpha

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return self.rows.cv_results

    @property
    def noise(self) -> FloatArray:
        """The variance of the noise: [n_targets]."""
        return self.rows.noise

    def noise_at(self, rows: Any) -> FloatArray:
        """Return the variance of the noise at rows: [n, n_targets]."""
        return self.rows.noise_at(rows)

    @property
    def errors(self) -> KnownErrors | None:
        """What the noise has beside variances that were given."""
        return self.rows.errors

    @property
    def amplitude(self) -> FloatArray:
        """The variance of the process: [n_targets]."""
        return self.rows.amplitude

    @property
    def log_evidence(self) -> float:
        """Vecchia's."""
        return self.rows.log_evidence

    def local_rows(self, rows: Any) -> Array:
        """Return rows as the local part sees them."""
        return self.rows.local_rows(rows)

    def near(self, places: Part) -> FromRows:
        """Return the model to which some places are known."""
        part = self.part
        process = part.joint.process.observed_at(np.asarray(places.rows), places.weight)
        joint = Joint(process, part.joint.found, np.asarray(places.values))
        return replace(self.rows, part=replace(part, joint=joint), kept=self.kept)

    @property
    def _n_near(self) -> int:
        """How many of the nearest places a row needs: it may be left out of its neighbours."""
        return self.part.joint.process.n_neighbors + 1

    def _each(self, rows: Any, ask: Callable[[FromRows, Any, Any], Any]) -> Any:
        """Ask the model of each group of rows; return the answers in the order of the rows."""
        numbers, found = [], []
        points = self.parts.located(self.local_rows(rows))
        for chosen, places in neighborhoods(self.parts, points, self._n_near):
            numbers.append(chosen)
            found.append(ask(self.near(places), take(rows, chosen), chosen))
        order = np.argsort(np.concatenate(numbers))
        if not isinstance(found[0], tuple):
            return np.concatenate(found)[order]
        return tuple(np.concatenate(column)[order] for column in zip(*found, strict=True))

    def mean(self, rows: Any) -> Array:
        """Return predictions at rows: [n, n_targets]."""
        return np.asarray(self._each(rows, lambda model, X, _: model.mean(X)))

    def latent(self, rows: Any) -> tuple[Array, Array]:
        """Return predictions and standard deviations of the latent functions: [n, n_targets]."""
        mean, std = self._each(rows, lambda model, X, _: model.latent(X))
        return mean, std

    def observed(self, rows: Any, noise: FloatArray | None = None) -> tuple[Array, Array]:
        """Return predictions and standard deviations of observations: [n, n_targets].

        With `noise` [n], of observations whose own errors have these variances.
        """
        self.calibration()

        def ask(model: FromRows, X: Any, chosen: Any) -> tuple[Array, Array]:
            return model.observed(X, None if noise is None else noise[chosen])

        mean, std = self._each(rows, ask)
        return mean, std

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the predictions, at known rows as if they were not: [n, t, d]."""
        return np.asarray(self._each(rows, lambda model, X, _: model.gradient(X, held_out)))

    def without(self, rows: Any) -> FromRows:
        """Return the model of places around some rows, to which the nearest are not known."""
        return self.around(rows).without(rows)

    def around(self, rows: Any) -> FromRows:
        """Return one model that knows all places that some rows need."""
        points = self.parts.located(self.local_rows(rows))
        found = [
            places
            for cell, group in self.parts.groups(points)
            for _, places in self.parts.around(points[group], cell, self._n_near)
        ]
        return self.near(Part.joined(found).distinct())

    def alone(self) -> "FromParts":
        """Return the local part alone, of what the mean and the features leave."""
        return replace(self, rows=self.rows.alone(), kept={})

    def draw(self, rows: Any, n_samples: int, seed: int) -> Array:
        """Draw the latent functions jointly at rows: [n, n_targets, n_samples]."""
        return self.around(rows).draw(rows, n_samples, seed)

    def totals(self, rows: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return means [r, t] and covariances [r, r, t] of sums over rows, of weights [n, r]."""
        return self.around(rows).totals(rows, weights)

    @found_once
    def calibration(self) -> Calibration:
        """Return what makes intervals hold, from rows that are left out of whole neighbourhoods."""
        places, observed = sampled_neighborhoods(self.parts, self.part, self.in_space)
        model = self.near(places)
        if self.asked is not None and self.in_space:
            wanted = [
                self.near(near).part.joint.process.distance(self.asked[chosen])
                for chosen, near in neighborhoods(self.parts, self.parts.located(self.asked), 1)
            ]
            observed = replace(observed, wanted=np.concatenate(wanted))
        return calibrate_local(replace(model.part, observations=observed), model.map)

    def class_calibration(self) -> ClassCalibration:
        """There is none: classes are not learnt in parts."""
        raise AttributeError("A model of parts has no classes.")

    def shares(self) -> dict[str, float]:
        """Return the shares of the targets' variance: features, local part, noise; sum one."""
        total = float(self.part.spread.sum()) or 1.0
        left = min(float(self.leaves.sum()) / total, 1.0)
        noise = min(float(self.noise.sum()) / total, left)
        return {"features": 1 - left, "local": left - noise, "noise": noise}

    def light(self) -> "FromParts":
        """Return the model: its places are in files."""
        return self
