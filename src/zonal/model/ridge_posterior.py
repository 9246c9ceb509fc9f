r"""Standard deviations of ridge predictions, from the moments that the model keeps.

Ridge regression with regularisation α is the posterior mean of a Gaussian process with noise σ² and
features whose coefficients have the variance a = σ²/α. With a constant of flat prior,

.. math::

    \operatorname{var} f(x)
    = \sigma^2 \left(\tfrac1n + \bar z^\top (S + \alpha I)^{-1} \bar z\right)
    + a \max(0, m(x) - m_0), \qquad m(x) = \max(0, k(x,x) - \|z\|^2),

with z̄ and S about the mean of the features (about zero, and without 1/n, for a model without a
constant). m is the variance that the features leave out of the kernel. At the rows it is part of
σ² already, which is found from what is left of the targets; only what is more than the most there,
m₀, is added, so that the variance grows away from the data and is not counted twice near them.
All sums are those of weights with the mean one, and α is in their units.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..moments import Moments
from ..moments.ridge import Eigen, Solution, center, linear

__all__ = ["RidgePosterior", "left_out"]


@dataclass(frozen=True)
class RidgePosterior:
    """The posterior of the coefficients of a ridge regression.

    Attributes
    ----------
    solution : Solution
        The regression.
    factor : ndarray of shape (D, D)
        F with F Fᵀ = (S + αI)⁻¹, its columns orthogonal and those of the largest S last.
    unit : float
        The mean weight of the rows, which is one here.
    middle : ndarray of shape (D,)
        What features are taken about.
    constant : float
        1/n with an intercept, else 0.
    noise, amplitude : ndarrays of shape (n_targets,)
        σ² and a of each target.
    left_out : float
        m₀.
    log_evidence : float
        Of a Gaussian process; of no meaning for other regressions.
    """

    solution: Solution
    factor: FloatArray
    middle: FloatArray
    constant: float
    noise: FloatArray
    amplitude: FloatArray
    left_out: float = 0.0
    log_evidence: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(
        cls,
        groups: list[Moments],
        solution: Solution,
        fit_intercept: bool,
        missing: float = 0.0,
    ) -> "RidgePosterior":
        r"""Find it from the moments of all rows.

        The regularisation of a cross-validation says little about the size of coefficients, so
        that the amplitude is MacKay's: ‖β‖² over the number γ = tr S(S + αI)⁻¹ of those that the
        rows determine. The noise is RSS / (n - 1 - γ), and where that is of less than one row at
        least α times the amplitude.
        """
        if not groups:
            raise ValueError(
                "The sums over the rows were dropped, and standard deviations need them: use the "
                "model that was fitted."
            )
        raw = Moments.merged(groups)
        moments, unit = raw.of_mean_weight_one(), raw.unit
        width, middle = moments.n_features, center(moments, fit_intercept)
        products = moments.products(middle)
        gram, cross = products[:width, :width], products[:width, width:]
        eigen = Eigen.of(gram, moments.precision)
        shrink = eigen.shrink(solution.alpha / unit)
        coef = solution.coef
        squares = np.diag(products)[width:]
        residual = squares - np.sum(coef * (2 * cross - gram @ coef), axis=0)
        # What is left of a difference of sums is known to their precision only. Less, or nothing,
        # would make deviations so small that scores relative to them are beyond all numbers.
        residual = np.maximum(residual, moments.precision * squares)
        known = float(np.sum(eigen.values * shrink))
        freedom = moments.weight - fit_intercept - known
        amplitude = np.square(coef).sum(axis=0) / max(known, 1.0)
        noise = residual / max(freedom, 1.0)
        if freedom < 1:  # rows that are all but interpolated tell no noise, but what α takes for it
            noise = np.maximum(noise, solution.alpha / unit * amplitude)
        return cls(
            solution,
            eigen.vectors * np.sqrt(shrink),
            middle[:width],
            1 / moments.weight if fit_intercept else 0.0,
            noise,
            amplitude,
            missing,
            unit=unit,
        )

    def mean(self, Z: Array) -> Array:
        """Return predictions from features, always in float64: [n, n_targets]."""
        return linear(Z, self.solution.coef, self.solution.intercept)

    def whitened(self, Z: Array) -> Array:
        """Return features whose squares add up to their leverage less 1/n: [n, D]."""
        return (Z - self.middle.astype(Z.dtype)) @ self.factor.astype(Z.dtype)

    def variance(self, leverage: Array, missing: Array) -> Array:
        """Return the variance of the latent functions: [n, n_targets].

        Parameters
        ----------
        leverage : ndarray of shape (n,)
            1/n + z̄ᵀ(S + αI)⁻¹z̄.
        missing : ndarray of shape (n,)
            m.
        """
        excess = np.maximum(missing - self.left_out, 0)[:, None]
        return leverage[:, None] * self.noise + excess * self.amplitude

    def predict(self, space: FeatureSpace, X: Any, varying: Any = None) -> tuple[Array, ...]:
        """Return means, latent variances and the logarithm of how the noise varies, at rows.

        Parameters
        ----------
        space : FeatureSpace
        X : rows
        varying : RidgeVariance, optional

        Returns
        -------
        mean, variance, log_variance : ndarrays of shape (n, n_targets)
        """
        n_targets = len(self.noise)

        def columns(Z: Array) -> Array:
            lever = np.square(self.whitened(Z)).sum(axis=1)
            parts = [self.mean(Z), lever, np.square(Z).sum(axis=1)]
            return np.column_stack([*parts, *([] if varying is None else [varying.of(Z)])])

        values = space.map(X, columns)
        mean, leverage, squares = (
            values[:, :n_targets],
            values[:, n_targets],
            values[:, n_targets + 1],
        )
        variance = self.variance(leverage + self.constant, space.residual_variance(X, squares))
        factor = np.zeros_like(mean) if varying is None else values[:, n_targets + 2 :]
        return mean, variance.astype(mean.dtype), factor


def left_out(space: FeatureSpace, X: Any) -> float:
    """Return the largest variance that the features leave out of the kernel, at rows."""
    squares = space.map(X, lambda Z: np.square(Z).sum(axis=1))
    return float(space.residual_variance(X, squares).max())
