"""A model on features with a likelihood of its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..likelihoods import Likelihood
from ..moments.ridge import Solution, linear
from .newton import Mode
from .ridge_posterior import RidgePosterior

__all__ = ["FromLikelihood"]


@dataclass(frozen=True)
class FromLikelihood:
    """The mode of the coefficients, and Laplace's normal posterior about it.

    Attributes
    ----------
    space : FeatureSpace
        The fitted features.
    posterior : RidgePosterior
        Of the coefficients; its noise is φ.
    likelihood : Likelihood
        With all its parameters.
    log_evidence : float
        Laplace's.
    n_passes : int
        Passes over the rows that the mode took.
    """

    space: FeatureSpace
    posterior: RidgePosterior
    likelihood: Likelihood
    log_evidence: float
    n_passes: int

    #: There is no local part, and nothing was cross-validated.
    part = None

    @classmethod
    def of(cls, space: FeatureSpace, mode: Mode, missing: float) -> "FromLikelihood":
        """Make a model of a mode; `missing` is the variance that the features leave at the rows."""
        phi = mode.likelihood.dispersion
        posterior = RidgePosterior(
            Solution(mode.coef[:, None], np.array([mode.intercept]), mode.alpha),
            mode.spread.root,
            mode.spread.middle,
            mode.spread.constant,
            np.array([phi]),
            # Without regularisation the prior says nothing of what features leave out.
            np.array([phi / mode.alpha if mode.alpha > 0 else 0.0]),
            missing,
        )
        return cls(space, posterior, mode.likelihood, mode.log_evidence, mode.n_passes)

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return {}

    @property
    def coef(self) -> FloatArray:
        """The coefficients: [D, 1]."""
        return self.posterior.solution.coef

    @property
    def intercept(self) -> FloatArray:
        """The constant: [1]."""
        return self.posterior.solution.intercept

    @property
    def alpha(self) -> float:
        """The regularisation."""
        return float(self.posterior.solution.alpha)

    def mean(self, rows: Any) -> Array:
        """Return latent values at rows: [n, 1]."""
        form = self.space.narrow(_num_samples(rows))
        coef = form.coefficients(self.coef)
        return form.map(rows, lambda Z: linear(Z, coef, self.intercept))

    def latent(self, rows: Any) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of the latent values at rows: [n], [n]."""
        mean, variance, _ = self.posterior.predict(self.space, rows)
        return mean[:, 0].astype(np.float64), variance[:, 0].astype(np.float64)

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the latent values: [n, 1, d]."""
        return self.space.gradient(rows, self.coef)

    def without(self, rows: Any) -> "FromLikelihood":
        """Return the model as if some rows were not known: a single row matters little."""
        return self

    def shares(self) -> dict[str, float]:
        """There are none."""
        raise AttributeError("There is no local part: local_ is None.")

    def light(self) -> "FromLikelihood":
        """Return the model: it keeps no sums."""
        return self
