r"""Standard deviations of ridge predictions, from the moments that the model keeps.

Ridge regression with regularisation α is the posterior mean of a Gaussian process with noise σ² and
kernel (σ²/α) k, so that

.. math::

    \operatorname{var} f(x) = \sigma^2 \left(\tfrac1n + \bar z^\top (S + \alpha I)^{-1} \bar z
    + \tfrac1\alpha \max(0, k(x,x) - \|z\|^2)\right),
    \qquad \sigma^2 = \frac{\mathrm{RSS}}{n - 1 - \operatorname{tr} S (S + \alpha I)^{-1}},

with z̄ and S about the mean of the features (about zero, and without 1/n and 1, for a model without
intercept).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..moments import Moments
from ..moments.ridge import Eigen, Solution, center

__all__ = ["RidgePosterior"]


@dataclass(frozen=True)
class RidgePosterior:
    """The posterior of the coefficients of a ridge regression.

    Attributes
    ----------
    solution : Solution
        The regression.
    factor : ndarray of shape (D, D)
        F with F Fᵀ = (S + αI)⁻¹.
    middle : ndarray of shape (D,)
        What features are taken about.
    constant : float
        1/n with an intercept, else 0.
    noise : ndarray of shape (n_targets,)
        σ² of each target.
    """

    solution: Solution
    factor: FloatArray
    middle: FloatArray
    constant: float
    noise: FloatArray

    @classmethod
    def of(cls, groups: list[Moments], solution: Solution, fit_intercept: bool) -> "RidgePosterior":
        """Find it from the moments of all rows."""
        if not groups:
            raise ValueError(
                "The sums over the rows were dropped, and standard deviations need them: use the "
                "model that was fitted."
            )
        moments = Moments.merged(groups)
        width, middle = moments.n_features, center(moments, fit_intercept)
        products = moments.products(middle)
        gram, cross = products[:width, :width], products[:width, width:]
        eigen = Eigen.of(gram, moments.precision)
        shrink = eigen.shrink(solution.alpha)
        coef = solution.coef
        residual = np.diag(products)[width:] - np.sum(coef * (2 * cross - gram @ coef), axis=0)
        freedom = moments.weight - fit_intercept - np.sum(eigen.values * shrink)
        return cls(
            solution,
            eigen.vectors * np.sqrt(shrink),
            middle[:width],
            1 / moments.weight if fit_intercept else 0.0,
            np.maximum(residual, 0.0) / max(float(freedom), 1.0),
        )

    def std(self, space: FeatureSpace, X: Any) -> Array:
        """Return the standard deviations of the latent functions at rows: [n, n_targets]."""

        def variances(Z: Array) -> Array:
            spread = (Z - self.middle.astype(Z.dtype)) @ self.factor.astype(Z.dtype)
            return np.column_stack([np.square(spread).sum(axis=1), np.square(Z).sum(axis=1)])

        values = space.map(X, variances)
        variance = values[:, 0] + self.constant
        if self.solution.alpha > 0:
            variance = variance + space.residual_variance(X, values[:, 1]) / self.solution.alpha
        return np.sqrt(variance[:, None] * self.noise.astype(variance.dtype))
