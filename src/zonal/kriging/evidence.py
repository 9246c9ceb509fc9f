"""Vecchia's log evidence as a function of the length scales, the noise and the features' share.

The neighbours are given: `climbing` moves the parameters while they are held.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..engines.correlation import Correlation
from ..rows.threads import ordered_map
from .covariance import Covariance
from .marginal import Marginal, Observed, marginal
from .neighborhood import Factors
from .neighbors import Indices
from .numerics import BLOCK
from .pairs import NO_EXTRA, Extra
from .sample import Parameters, Sample
from .weight_gradient import compiled_gradient
from .weights import compiled_weights
from .whitening import Whitening

__all__ = ["Evaluation", "by_weights_and_variance", "evaluate", "gradient"]


@dataclass(frozen=True)
class Evaluation:
    """The evidence at some parameters, and what its gradient needs.

    Attributes
    ----------
    found : Marginal
    whitening : Whitening
    whitened : ndarray of shape (s, 1 + t + D)
        The constant, the targets and the features, whitened.
    factors : Factors or None
        Of all rows, unless that would take too much memory.
    """

    found: Marginal
    whitening: Whitening
    whitened: FloatArray
    factors: Factors | None


def evaluate(
    sample: Sample,
    correlation: Correlation,
    parameters: Parameters,
    neighbors: Indices,
    extra: Extra = NO_EXTRA,
) -> Evaluation:
    """The evidence and everything profiled out of it.

    `extra` is what a second kernel adds to the covariances of neighbours beside the features: its
    weight is that of the features, so that both are one kernel times τ.
    """
    points, noise = sample.scaled(parameters), float(np.exp(parameters.log_noise))
    nugget, judged = noise / sample.weight, sample.judged
    factors = Factors.kept(*neighbors.shape)
    ratio, n_targets = float(np.exp(parameters.log_ratio)), sample.targets.shape[1]
    weights, variance = compiled_weights(
        Covariance.of(correlation), points, nugget, points[judged], neighbors, factors,
        extra=extra, extra_weight=ratio,
    )  # fmt: skip
    whitening = Whitening(judged, neighbors, weights, variance + nugget[judged])
    whitened = whitening.apply(sample.columns)
    observed = Observed.of(whitening.variance, sample.repeated.part(judged), noise)
    found = marginal(whitened.T @ whitened, n_targets, observed, ratio, sample.center)
    return Evaluation(found, whitening, whitened, factors)


def gradient(
    sample: Sample,
    correlation: Correlation,
    parameters: Parameters,
    at: Evaluation,
    extra: Extra = NO_EXTRA,
) -> FloatArray:
    r"""The gradient of the log evidence, in the order of `Parameters.vector`.

    Mean, coefficients and scale are at their best, so they count as constants. With r the whitened
    residual and h = A⁻¹z̃, row i has the derivatives

    .. math::

        \frac{\partial}{\partial v} = \frac{r^2/\sigma^2 - 1 + \tilde z^\top h}{2 v}, \qquad
        \frac{\partial}{\partial b_j} = \frac{r\,(y_j - \mu - z_j^\top\beta)/\sigma^2
        + h^\top z_j}{\sqrt v}.
    """
    found, whitening = at.found, at.whitening
    by_variance, by_weights = by_weights_and_variance(sample, at)
    by_columns, by_noise, by_extra = compiled_gradient(
        correlation,
        sample.scaled(parameters),
        float(np.exp(parameters.log_noise)) / sample.weight,
        sample.judged,
        whitening.neighbors,
        whitening.weights,
        by_variance,
        by_weights,
        at.factors,
        extra,
        float(np.exp(parameters.log_ratio)),
    )
    by_groups = np.bincount(sample.groups, by_columns, minlength=len(parameters.log_scales))
    by_ratio = by_extra + found.by_log_ratio
    return np.concatenate([by_groups, [by_noise + found.by_log_noise, by_ratio]])


def by_weights_and_variance(sample: Sample, at: Evaluation) -> tuple[FloatArray, FloatArray]:
    """Return derivatives of the log evidence with respect to v [s] and b [s, m] of each row."""
    found, whitening, n_targets = at.found, at.whitening, sample.targets.shape[1]
    coef = np.vstack([-found.mean, np.eye(n_targets), -found.coef])
    residual, raw = at.whitened @ coef, sample.columns @ coef
    share = residual / found.scale
    by_variance = (residual * share).sum(axis=1) - n_targets
    left, right = share, raw
    if sample.features.shape[1]:
        whitened = at.whitened[:, 1 + n_targets :]
        pulled = whitened @ found.covariance
        by_variance += n_targets * np.einsum("ij,ij->i", whitened, pulled)
        left, right = np.hstack([left, n_targets * pulled]), np.hstack([right, sample.features])
    by_weights = _pair_products(left, right, whitening.neighbors)
    by_weights /= np.sqrt(whitening.variance)[:, None]
    return by_variance / (2 * whitening.variance), by_weights


def _pair_products(left: FloatArray, right: FloatArray, neighbors: Indices) -> FloatArray:
    """⟨left_i, right_j⟩ for the neighbours j of each row i: [s, m], zero for none."""
    out = np.zeros(neighbors.shape)

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        _pairs(left[part], right, neighbors[part], out[part])

    for _ in ordered_map(run, range(0, len(out), BLOCK)):
        pass
    return out


@njit(nogil=True, cache=True, fastmath=True)
def _pairs(left, right, neighbors, out):  # type: ignore[no-untyped-def]
    """IN: all but the last, for a block of rows. OUT: products for each neighbour."""
    for i in range(len(neighbors)):
        for k in range(neighbors.shape[1]):
            j = neighbors[i, k]
            if j >= 0:
                total = 0.0
                for c in range(left.shape[1]):
                    total += left[i, c] * right[j, c]
                out[i, k] = total
