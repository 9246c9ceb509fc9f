"""Smooth monotone maps of a column, with a tangent at either end.

A monotone cubic (Fritsch and Carlson) through knots; beyond the outermost ones it goes on along its
tangent, so that values never seen keep their order and distance.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from ...._typing import Array, FloatArray
from ..choices import KNOTS, RARE

__all__ = ["MonotoneMap", "NormalScores", "Stretch"]


@dataclass(frozen=True)
class MonotoneMap:
    """A rising function through knots, smooth and invertible everywhere.

    Attributes
    ----------
    x, z, slopes : ndarrays of shape (k,)
        Values of the column, those of the map, and the slopes there; one knot for a column of one
        value.
    """

    x: FloatArray
    z: FloatArray
    slopes: FloatArray

    @classmethod
    def through(cls, x: FloatArray, z: FloatArray) -> Self:
        """Return the map through knots."""
        if len(x) < 2:
            return cls(x, np.zeros(len(x)), np.ones(len(x)))
        slopes = np.asarray(PchipInterpolator(x, z).derivative()(x))
        # The tangents at the ends must rise, or the map could not be inverted there.
        steps = np.diff(z) / np.diff(x)
        for end in (0, -1):
            slopes[end] = slopes[end] if slopes[end] > 0 else steps[end]
        return cls(x, z, slopes)

    def __call__(self, values: Array) -> FloatArray:
        """Return the map of values; NaN stays NaN."""
        values = np.asarray(values, dtype=np.float64)
        if len(self.x) < 2:
            return np.where(np.isnan(values), np.nan, 0.0)
        inside = np.clip(values, self.x[0], self.x[-1])
        found = np.asarray(PchipInterpolator(self.x, self.z)(inside))
        below, above = np.minimum(values - self.x[0], 0), np.maximum(values - self.x[-1], 0)
        return found + self.slopes[0] * below + self.slopes[-1] * above

    def slope(self, values: Array) -> FloatArray:
        """Return the derivative at values."""
        if len(self.x) < 2:
            return np.zeros(len(values))
        inside = PchipInterpolator(self.x, self.z).derivative()(values)
        ends = np.where(values < self.x[0], self.slopes[0], self.slopes[-1])
        beyond = (values < self.x[0]) | (values > self.x[-1])
        return np.asarray(np.where(beyond, ends, inside))


class NormalScores(MonotoneMap):
    r"""x ↦ Φ⁻¹(F(x)), with F the distribution of a column.

    scikit-learn's `QuantileTransformer` is piecewise linear in a thousand steps and constant beyond
    the range seen.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.features.columns.table.monotone import NormalScores
    >>> x = np.exp(np.random.default_rng(0).standard_normal(5000))
    >>> z = NormalScores.of(x, np.ones(5000))(x)
    >>> bool(abs(z.mean()) < 0.02 and abs(z.std() - 1) < 0.05)
    True
    """

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray, n_knots: int = KNOTS) -> Self:
        """Fit to the values of a column with their weights, none of them missing."""
        x, middle = _knots(values, weights, n_knots)
        return cls.through(x, ndtri(middle))


class Stretch(MonotoneMap):
    r"""A column stretched where a function f of it is steep, of mean zero and variance one.

    .. math:: x \mapsto \int^x \left(E\left[(\partial f)^2 \mid x = t\right]\right)^{1/4} dt ,

    which is to the length scale at t what the fourth root of the average gradient outer product is
    to the metric of all columns (`zonal.LearnedMetric`).

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.features.columns.table.monotone import Stretch
    >>> x = np.linspace(-1, 1, 2000)
    >>> step = Stretch.of(x, 1 / np.cosh(10 * x) ** 4, np.ones(2000))
    >>> bool(np.ptp(step([-0.1, 0.1])) > 2 * np.ptp(step([0.6, 0.8])))
    True
    """

    @classmethod
    def of(cls, values: FloatArray, squares: FloatArray, weights: FloatArray) -> Self:
        """Fit to values, squared slopes of f there, and weights, none of them missing."""
        x, _ = _knots(values, weights)
        if len(x) < 2:
            return cls.through(x, np.zeros(len(x)))
        counts = weights * len(weights) / weights.sum()
        nearest = np.searchsorted((x[1:] + x[:-1]) / 2, values)
        rows = np.bincount(nearest, counts, minlength=len(x))
        sums = np.bincount(nearest, counts * squares, minlength=len(x))
        mean = float(sums.sum() / rows.sum()) or 1.0
        density = ((sums + RARE * mean) / (rows + RARE) / mean) ** 0.25
        steps = np.diff(x) * (density[1:] + density[:-1]) / 2
        found = cls.through(x, np.concatenate([[0.0], np.cumsum(steps)]))
        share = weights / weights.sum()
        z = found(values)
        center = float(share @ z)
        spread = float(np.sqrt(share @ (z - center) ** 2)) or 1.0
        return cls(x, (found.z - center) / spread, found.slopes / spread)


def _knots(
    values: FloatArray, weights: FloatArray, n_knots: int = KNOTS
) -> tuple[FloatArray, FloatArray]:
    """Return some values, the least and the largest among them, and their places in F."""
    distinct, inverse = np.unique(values, return_inverse=True)
    share = np.bincount(inverse, weights) / weights.sum()
    # Half of a value's own share: the middle of its jump of F.
    middle = np.cumsum(share) - share / 2
    chosen = np.arange(len(distinct))
    if len(distinct) > n_knots:
        levels = (np.arange(n_knots) + 0.5) / n_knots
        chosen = np.unique(np.clip(np.searchsorted(middle, levels), 0, len(distinct) - 1))
        chosen = np.union1d(chosen, [0, len(distinct) - 1])
    return distinct[chosen], middle[chosen]
