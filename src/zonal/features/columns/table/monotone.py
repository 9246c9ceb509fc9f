"""A smooth monotone map of a column to the normal distribution, with a tangent at either end."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from ...._typing import Array, FloatArray

__all__ = ["NormalScores"]

# Knots of the map, at equal steps of probability.
KNOTS = 32


@dataclass(frozen=True)
class NormalScores:
    r"""x ↦ Φ⁻¹(F(x)), with F the distribution of a column, smooth and invertible everywhere.

    A monotone cubic (Fritsch and Carlson) through quantiles of the column; beyond the outermost
    ones it goes on along its tangent, so that values never seen keep their order and distance.
    scikit-learn's `QuantileTransformer` is piecewise linear in a thousand steps and constant beyond
    the range seen.

    Attributes
    ----------
    x, z, slopes : ndarrays of shape (k,)
        Values of the column, their normal scores, and the slopes there; one knot for a column of
        one value.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.features.columns.table.monotone import NormalScores
    >>> x = np.exp(np.random.default_rng(0).standard_normal(5000))
    >>> z = NormalScores.of(x, np.ones(5000))(x)
    >>> bool(abs(z.mean()) < 0.02 and abs(z.std() - 1) < 0.05)
    True
    """

    x: FloatArray
    z: FloatArray
    slopes: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> "NormalScores":
        """Fit to the values of a column with their weights, none of them missing."""
        distinct, inverse = np.unique(values, return_inverse=True)
        share = np.bincount(inverse, weights) / weights.sum()
        # Half of a value's own share: the middle of its jump of F.
        middle = np.cumsum(share) - share / 2
        chosen = np.arange(len(distinct))
        if len(distinct) > KNOTS:
            levels = (np.arange(KNOTS) + 0.5) / KNOTS
            chosen = np.unique(np.clip(np.searchsorted(middle, levels), 0, len(distinct) - 1))
            chosen = np.union1d(chosen, [0, len(distinct) - 1])
        x, z = distinct[chosen], ndtri(middle[chosen])
        if len(x) < 2:
            return cls(x, np.zeros(len(x)), np.ones(len(x)))
        slopes = np.asarray(PchipInterpolator(x, z).derivative()(x))
        # The tangents at the ends must rise, or the map could not be inverted there.
        steps = np.diff(z) / np.diff(x)
        for end in (0, -1):
            slopes[end] = slopes[end] if slopes[end] > 0 else steps[end]
        return cls(x, z, slopes)

    def __call__(self, values: Array) -> FloatArray:
        """Return the scores of values; NaN stays NaN."""
        values = np.asarray(values, dtype=np.float64)
        if len(self.x) < 2:
            return np.where(np.isnan(values), np.nan, 0.0)
        inside = np.clip(values, self.x[0], self.x[-1])
        scores = np.asarray(PchipInterpolator(self.x, self.z)(inside))
        below, above = np.minimum(values - self.x[0], 0), np.maximum(values - self.x[-1], 0)
        return scores + self.slopes[0] * below + self.slopes[-1] * above
