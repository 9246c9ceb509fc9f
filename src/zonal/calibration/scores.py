r"""Scores of probabilistic forecasts: proper ones, and whether intervals hold.

A forecast is a normal distribution, an interval, or quantiles at several levels. All scores are
means over rows (with weights, if they are given) in the units of the target; less is better.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from .._typing import Array, FloatArray

__all__ = [
    "calibration_error",
    "coverage",
    "crps",
    "crps_of_quantiles",
    "interval_score",
    "pit_histogram",
]


def crps(
    truth: npt.ArrayLike, mean: npt.ArrayLike, std: npt.ArrayLike, sample_weight: Any = None
) -> float:
    r"""Return the continuous ranked probability score of normal distributions.

    .. math::

        \int (F(x) - [x \ge y])^2 dx
        = \sigma \left(z (2 \Phi(z) - 1) + 2 \varphi(z) - \pi^{-1/2}\right),
        \qquad z = (y - \mu) / \sigma .

    Where σ = 0 it is the absolute error.

    Parameters
    ----------
    truth : array-like of shape (n,) or (n, n_targets)
        y.
    mean, std : array-likes of the same shape
        μ and σ of an observation, its noise included.
    sample_weight : array-like of shape (n,), optional
        How much each row counts.

    Examples
    --------
    >>> import zonal
    >>> round(zonal.evaluation.crps([0.0], [0.0], [1.0]), 4)
    0.2337
    """
    y, mu, sigma = (np.asarray(part, np.float64) for part in (truth, mean, std))
    if (sigma < 0).any():
        raise ValueError(f"std must be at least 0, but its smallest value is {sigma.min():g}.")
    error = y - mu
    z = np.divide(error, sigma, out=np.zeros_like(error), where=sigma > 0)
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    score = sigma * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / math.sqrt(math.pi))
    return _mean(np.where(sigma > 0, score, np.abs(error)), sample_weight)


def crps_of_quantiles(
    truth: npt.ArrayLike,
    quantiles: npt.ArrayLike,
    levels: npt.ArrayLike,
    sample_weight: Any = None,
) -> float:
    r"""Return the continuous ranked probability score of distributions known by quantiles.

    .. math:: \mathrm{CRPS} = 2 \int_0^1 \left(p - [y < q_p]\right) (y - q_p)\, dp,

    twice the mean pinball loss over levels: each level stands for those nearer to it than to
    another one. Levels (k - 1/2)/K with k = 1, …, K are the midpoint rule.

    Parameters
    ----------
    truth : array-like of shape (n,)
        y.
    quantiles : array-like of shape (n, n_levels)
        q, as of `predict_quantiles`.
    levels : array-like of shape (n_levels,), increasing
        p.
    sample_weight : array-like of shape (n,), optional
        How much each row counts.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> from scipy.stats import norm
    >>> levels = (np.arange(200) + 0.5) / 200
    >>> round(zonal.evaluation.crps_of_quantiles([0.0], norm.ppf(levels)[None], levels), 3)
    0.234
    """
    losses = pinball(truth, quantiles, levels)
    return _mean(2 * losses @ level_weights(levels), sample_weight)


def pinball(truth: npt.ArrayLike, quantiles: npt.ArrayLike, levels: npt.ArrayLike) -> FloatArray:
    """Return the pinball losses of quantiles: [n, n_levels]."""
    p = _check_levels(levels)
    y, q = np.asarray(truth, np.float64)[:, None], np.asarray(quantiles, np.float64)
    if q.shape != (len(y), len(p)):
        raise ValueError(
            f"quantiles must have the shape {(len(y), len(p))}, a column for each of the levels, "
            f"but have {q.shape}."
        )
    return np.where(y < q, (q - y) * (1 - p), (y - q) * p)


def level_weights(levels: npt.ArrayLike) -> FloatArray:
    """Return the share of [0, 1] that is nearer to each level than to the others."""
    p = _check_levels(levels)
    edges = np.concatenate([[0.0], (p[1:] + p[:-1]) / 2, [1.0]])
    return np.diff(edges)


def interval_score(
    truth: npt.ArrayLike,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    coverage: float = 0.9,
    sample_weight: Any = None,
) -> float:
    r"""Return the interval score (Gneiting and Raftery 2007): the width, and a fine for misses.

    .. math:: (u - l) + \tfrac2a (l - y)_+ + \tfrac2a (y - u)_+, \qquad a = 1 - \text{coverage} .

    Parameters
    ----------
    truth, lower, upper : array-likes of shape (n,) or (n, n_targets)
        y, l and u.
    coverage : float, default=0.9
        What the intervals promise.
    sample_weight : array-like of shape (n,), optional
        How much each row counts.

    Examples
    --------
    >>> import zonal
    >>> zonal.evaluation.interval_score([0.0, 3.0], [-1.0, -1.0], [1.0, 1.0], coverage=0.5)
    6.0
    """
    missed = 1 - check_coverage(coverage)
    y, low, high = (np.asarray(part, np.float64) for part in (truth, lower, upper))
    outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return _mean(high - low + 2 / missed * outside, sample_weight)


def coverage(
    truth: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike, sample_weight: Any = None
) -> float:
    """Return the share of rows whose target lies in its interval, ends included.

    Parameters
    ----------
    truth, lower, upper : array-likes of shape (n,) or (n, n_targets)
    sample_weight : array-like of shape (n,), optional
        How much each row counts.

    Examples
    --------
    >>> import zonal
    >>> zonal.evaluation.coverage([0.0, 3.0], [-1.0, -1.0], [1.0, 1.0])
    0.5
    """
    y = np.asarray(truth)
    return _mean((np.asarray(lower) <= y) & (y <= np.asarray(upper)), sample_weight)


def pit_histogram(
    truth: npt.ArrayLike,
    quantiles: npt.ArrayLike,
    levels: npt.ArrayLike,
    sample_weight: Any = None,
) -> FloatArray:
    """Return how often targets fall between neighbouring quantiles, over how often they should.

    The histogram of the probability integral transform: ones where the forecasts are calibrated,
    more at both ends where they are too narrow.

    Parameters
    ----------
    truth : array-like of shape (n,)
    quantiles : array-like of shape (n, n_levels)
        As of `predict_quantiles`.
    levels : array-like of shape (n_levels,), increasing
    sample_weight : array-like of shape (n,), optional
        How much each row counts.

    Returns
    -------
    ndarray of shape (n_levels + 1,)
        Below the first level, between the first and the second, …, above the last.

    Examples
    --------
    >>> import zonal
    >>> zonal.evaluation.pit_histogram([-2.0, 0.5], [[-1.0, 1.0], [-1.0, 1.0]], [0.25, 0.75])
    array([2., 1., 0.])
    """
    p = _check_levels(levels)
    y, q = np.asarray(truth, np.float64)[:, None], np.asarray(quantiles, np.float64)
    places = (y > q).sum(axis=1)
    counts = np.bincount(places, sample_weight, minlength=len(p) + 1)
    return np.asarray(counts / counts.sum() / np.diff(np.concatenate([[0.0], p, [1.0]])))


def calibration_error(
    truth: npt.ArrayLike, chances: npt.ArrayLike, classes: npt.ArrayLike, n_bins: int = 15
) -> float:
    r"""Return the expected calibration error of probabilities of classes (Guo et al. 2017).

    .. math:: \sum_b \frac{n_b}{n} |\text{share right}_b - \text{mean probability}_b|

    over bins b of rows by the probability of the class that is named, of equal width.

    Parameters
    ----------
    truth : array-like of shape (n,)
        The classes.
    chances : array-like of shape (n, n_classes)
        Their probabilities, as of `predict_proba`.
    classes : array-like of shape (n_classes,)
        What the columns stand for, as ``classes_``.
    n_bins : int, default=15

    Examples
    --------
    >>> import zonal
    >>> chances = [[0.75, 0.25]] * 4
    >>> zonal.evaluation.calibration_error(["a", "a", "b", "b"], chances, ["a", "b"])
    0.25
    """
    p = np.asarray(chances, np.float64)
    confidence = p.max(axis=1)
    right = np.asarray(classes)[p.argmax(axis=1)] == np.asarray(truth)
    return confidence_error(confidence, right, n_bins)


def confidence_error(confidence: Array, right: Array, n_bins: int = 15) -> float:
    """Return the same from the probability of the named class, and whether it was right."""
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, right - confidence, minlength=n_bins)
    return float(np.abs(gaps).sum() / max(len(confidence), 1))


def check_coverage(coverage: float) -> float:
    """Return a coverage if it is between 0 and 1."""
    if not 0 < float(coverage) < 1:
        raise ValueError(f"coverage={coverage!r} must be between 0 and 1, such as 0.9.")
    return float(coverage)


def _check_levels(levels: npt.ArrayLike) -> FloatArray:
    p = np.asarray(levels, np.float64)
    if p.ndim != 1 or not len(p) or not ((p > 0) & (p < 1)).all() or (np.diff(p) <= 0).any():
        raise ValueError(f"levels={levels!r} must be increasing numbers between 0 and 1.")
    return p


def _mean(values: Array, weight: Any) -> float:
    return float(np.average(np.asarray(values, np.float64), axis=0, weights=weight).mean())
