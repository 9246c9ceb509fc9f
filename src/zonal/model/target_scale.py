r"""The scale on which targets are learnt: as they are, their roots or their logarithms.

Skewed positive targets (prices, counts) often have errors in proportion to their size. On the scale
z = h(y) these are alike everywhere, and ridge regression has no use for its largest rows alone. The
scale is the one with the largest held-out likelihood of a kernel regression,

.. math:: -\tfrac12 \log \overline{(z - \hat z)^2} + \overline{\log h'(y)},

if the squared errors of its predictions of y are smaller by a tenth too: often they are not,
whatever the likelihood. On the way back the mean of y is not the inverse of the mean of z: Duan's
smearing (1983) averages it over errors e_k, the quantiles of those on held-out rows,

.. math:: \hat y = \frac1K \sum_{k=1}^K h^{-1}(\hat z + \sigma e_k) .
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import skew

from .._typing import Array, FloatArray
from ..features.columns.metric.regression import Design
from ..features.columns.table.pilot import numbered
from ..kernels import Matern
from ..kernels.bandwidth import median_distance
from ..rows import sample_rows

__all__ = ["TargetScale", "choose_scale"]

PILOT_ROWS, LANDMARKS, QUANTILES = 4000, 400, 32
# Targets that are less skewed stay as they are.
LEAST_SKEWNESS = 0.75
# What a scale must gain: in likelihood for each row, and of the squared error of y. Small gains of
# that in the pilot's rough regression do not last in a better one.
LEAST_GAIN, LEAST_SHARE = 0.02, 0.1


@dataclass(frozen=True)
class TargetScale:
    """h and its inverse with smearing.

    Attributes
    ----------
    name : {"root", "logarithm"}
        √(y + shift) or log(y + shift).
    shift : float
        Where there are zeros: one for counts, else half of the smallest other value.
    errors : ndarray of shape (K,)
        Quantiles of errors on the scale of z, of unit variance.
    deviation : float
        σ, the held-out error of the model on the scale of z.
    """

    name: str
    shift: float
    errors: FloatArray
    deviation: float = 0.0

    def forward(self, y: Array) -> Array:
        """Return h(y); values below those of the fit count as the least that has one."""
        tiny = np.finfo(np.float64).tiny
        positive = np.maximum(np.asarray(y) + self.shift, tiny if self.shift == 0 else 0.0)
        return np.asarray(np.sqrt(positive) if self.name == "root" else np.log(positive))

    def backward(self, z: Array) -> Array:
        """Return the mean of y where the mean of z is given, of any shape."""
        return np.asarray(self._mean(z, self._inverse) - self.shift, dtype=np.asarray(z).dtype)

    def inverse(self, z: Array) -> Array:
        """Return y itself, which takes quantiles of z to those of y."""
        found = self._inverse(np.asarray(z, dtype=np.float64)) - self.shift
        return np.asarray(found, dtype=np.asarray(z).dtype)

    def slope(self, z: Array) -> Array:
        """Return the derivative of `backward`."""
        return np.asarray(self._mean(z, self._inverse_slope), dtype=np.asarray(z).dtype)

    def _mean(self, z: Array, function: Any) -> Array:
        total = np.zeros(np.shape(z))
        for error in self.errors * self.deviation:
            total += function(np.asarray(z, dtype=np.float64) + error)
        return total / len(self.errors)

    def _inverse(self, z: Array) -> Array:
        return np.square(np.maximum(z, 0.0)) if self.name == "root" else np.exp(z)

    def _inverse_slope(self, z: Array) -> Array:
        return 2 * np.maximum(z, 0.0) if self.name == "root" else np.exp(z)

    def log_slope(self, y: FloatArray) -> FloatArray:
        """Return log h'(y)."""
        positive = np.maximum(y + self.shift, np.finfo(np.float64).tiny)
        return -0.5 * np.log(4 * positive) if self.name == "root" else -np.log(positive)


def choose_scale(rows: Any, y: Array, weights: FloatArray | None) -> TargetScale | None:
    """Return the scale on which targets are learnt; None: as they are.

    Parameters
    ----------
    rows : ndarray of shape (n, d), or what gives some of them by their numbers
        With columns on a common scale.
    y : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    """
    weights = np.ones(len(y)) if weights is None else weights
    counting = np.flatnonzero(weights > 0)
    few = counting[sample_rows(len(counting), PILOT_ROWS)]
    y, y_all = np.asarray(y[few], dtype=np.float64), np.asarray(y)[counting]
    if y_all.min() < 0 or not np.ptp(y) > 0 or skew(y) < LEAST_SKEWNESS:
        return None
    shift = 0.0
    if y_all.min() == 0:
        whole = bool((y_all == np.rint(y_all)).all())
        shift = 1.0 if whole else float(y_all[y_all > 0].min()) / 2
    scales = [TargetScale(name, shift, np.zeros(1)) for name in ("root", "logarithm")]
    targets = np.column_stack([y, *(scale.forward(y) for scale in scales)])
    found, truths = _held_out(np.asarray(rows[few], dtype=np.float64), targets, weights[few])
    plain, truth = found[:, 0], truths[:, 0]
    likelihood = -0.5 * np.log(np.mean((truth - plain) ** 2))
    losses, best = (truth - plain) ** 2, None
    for number, scale in enumerate(scales, start=1):
        z = found[:, number]
        errors = truths[:, number] - z
        gain = -0.5 * np.log(np.mean(errors**2)) + np.mean(scale.log_slope(truth))
        spread = float(np.std(errors)) or 1.0
        levels = (np.arange(QUANTILES) + 0.5) / QUANTILES
        quantiles = np.quantile(errors - errors.mean(), levels)
        scale = replace(scale, errors=quantiles / (np.std(quantiles) or 1.0), deviation=spread)
        gains = losses - (truth - scale.backward(z)) ** 2
        if gains.mean() > LEAST_SHARE * losses.mean() and gain > likelihood + LEAST_GAIN:
            likelihood, best = gain, scale
    return best


def _held_out(
    rows: FloatArray, targets: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Regress several targets on the same rows: predictions and truth of those held out."""
    sample = numbered(rows, targets, weights)
    scale = median_distance(sample.rows[:1000], sample.weights[:1000])
    landmarks = np.arange(min(LANDMARKS, sample.n_train))
    design = Design.of(Matern(1.5, scale), sample, landmarks)
    errors = np.stack([found for _, found in design.path(sample.targets)])
    # Each has the alpha of its own least error; of equal ones the strongest.
    losses = np.tensordot(np.square(errors), sample.weights[sample.n_train :], (1, 0))
    best = np.argmin(losses, axis=0)
    truth = sample.targets[sample.n_train :]
    return truth - errors[best, :, np.arange(len(best))].T, truth
