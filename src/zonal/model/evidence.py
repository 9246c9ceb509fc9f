r"""The evidence of a Gaussian process on features, from moments alone.

With coefficients of variance a = σ²/α and a constant μ of flat prior, the largest value over μ and
σ² of log N(y; μ, a ZZᵀ + σ²I) is, with S and Q about the means (Q = min ‖y - Zβ‖² + α‖β‖²),

.. math::

    -\tfrac12 \left(n \log(2\pi\sigma^2) + n + \log|I + Z^\top Z/\alpha|\right),
    \qquad \sigma^2 = Q / n, \qquad
    |I + Z^\top Z/\alpha| = |I + S/\alpha|\,
    \left(1 + n\, \bar z^\top (S + \alpha I)^{-1} \bar z\right),

so that α alone is searched for; each target has its own μ and σ². With a given noise there is no
constant and a = 1: log N(y; 0, ZZᵀ + σ²I). Weights have the mean one over the n rows that count: a
row of weight w has noise of the variance σ²/w.
"""

import math

import numpy as np
from scipy.optimize import minimize_scalar

from .._typing import FloatArray
from ..moments import Moments
from ..moments.ridge import Eigen, Solution, center
from .ridge_posterior import RidgePosterior

__all__ = ["Evidence"]

# The range of α that is searched, in units of the mean eigenvalue of S.
LOWEST, HIGHEST, N_TRIED = 1e-12, 1e6, 64

# Sums are rounded more than once.
MARGIN = 4


class Evidence:
    """Log evidence and posterior as functions of α, from one eigendecomposition.

    Parameters
    ----------
    moments : Moments
        Of all rows.
    constant : bool
        Whether there is a constant, or the prior mean is zero.
    """

    def __init__(self, moments: Moments, constant: bool) -> None:
        self.unit = moments.unit
        moments = moments.of_mean_weight_one()
        width = moments.n_features
        middle = center(moments, constant)
        products = moments.products(middle)
        eigen = Eigen.of(products[:width, :width], moments.precision)
        # A direction that is rounding was not seen: it keeps its prior.
        seen = eigen.values > eigen.floor
        self.vectors = eigen.vectors
        self.values = np.where(seen, eigen.values, 0.0)
        projected = self.vectors.T @ products[:width, width:]  # Vᵀ Zᵀ y
        self.projected = np.where(seen[:, None], projected, 0.0)
        self.squares = np.diag(products)[width:]
        self.middle, self.n_rows = middle, moments.weight
        self.constant = constant
        self.along_mean = np.square(self.vectors.T @ middle[:width]) if constant else 0.0
        # What α = 0 explains of each direction. The rest is a difference of sums: less than their
        # rounding cannot be told, and were it left to chance, so would be α, for the evidence of
        # columns that interpolate hardly depends on it.
        self.explained = self.projected**2 / np.where(seen, eigen.values, 1.0)[:, None]
        rounding = MARGIN * max(moments.precision, width * float(np.finfo(float).eps))
        least = np.maximum(self.squares * rounding, 1e-300)
        self.residual = np.maximum(self.squares - self.explained.sum(axis=0), least)

    def unexplained(self, alpha: float) -> FloatArray:
        """Return Q of each target: what α = 0 leaves, plus what α takes away."""
        kept = alpha / (self.values + alpha)
        return np.asarray(self.residual + kept @ self.explained)

    def noise(self, alpha: float) -> FloatArray:
        """Return the variance σ² of each target's noise that has the largest evidence."""
        return self.unexplained(alpha) / self.n_rows

    def log_evidence(self, alpha: float, noise: FloatArray | None = None) -> float:
        """Return the log evidence, summed over targets; at the best noise if none is given."""
        rest = self.unexplained(alpha)
        noise = rest / self.n_rows if noise is None else noise
        log_det = np.log1p(self.values / alpha).sum()
        log_det += math.log1p(self.n_rows * np.sum(self.along_mean / (self.values + alpha)))
        fit = rest / noise + self.n_rows * np.log(2 * np.pi * noise)
        return float(-0.5 * (fit + log_det).sum())

    def scan(self, alphas: FloatArray) -> FloatArray:
        """Return `log_evidence` at many α [m] in one go."""
        sums = np.maximum(self.values + alphas[:, None], 1e-300)  # [m, width]
        noise = (self.residual + (alphas[:, None] / sums) @ self.explained) / self.n_rows
        log_det = np.log1p(self.values / alphas[:, None]).sum(axis=1)
        log_det += np.log1p(self.n_rows * (self.along_mean / sums).sum(axis=1))
        fit = self.n_rows * (1 + np.log(2 * np.pi * noise))  # [m, n_targets]
        return np.asarray(-0.5 * (fit + log_det[:, None]).sum(axis=1))

    def best_alpha(self, noise: FloatArray | None = None) -> float:
        """Return the α of the largest evidence, at a given noise or the best: scan, then search."""
        scale = math.log(self.values.mean() or 1.0)
        logs = scale + np.linspace(math.log(LOWEST), math.log(HIGHEST), N_TRIED)
        if (self.squares <= 0).all():  # nothing to explain
            return float(np.exp(logs[-1]))
        tried = np.exp(logs)
        values = self.scan(tried) if noise is None else [self.log_evidence(a, noise) for a in tried]
        best = int(np.argmax(values))
        bounds = logs[max(best - 1, 0)], logs[min(best + 1, len(logs) - 1)]
        found = minimize_scalar(
            lambda log: -self.log_evidence(np.exp(log), noise),
            bounds=bounds,
            method="bounded",
            options={"xatol": 1e-9},
        )
        return float(np.exp(found.x))

    def posterior(self, alpha: float, noise: FloatArray, left_out: float) -> RidgePosterior:
        """Return the posterior of the coefficients."""
        width = len(self.values)
        shrink = 1 / (self.values + alpha)
        coef = self.vectors @ (self.projected * shrink[:, None])
        middle = self.middle[:width]
        intercept = self.middle[width:] - middle @ coef
        return RidgePosterior(
            Solution(coef, intercept, alpha),
            self.vectors * np.sqrt(shrink),
            middle,
            1 / self.n_rows if self.constant else 0.0,
            noise,
            noise / alpha,
            left_out,
            self.log_evidence(alpha, noise),
            self.unit,
        )
