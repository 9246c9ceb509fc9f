"""Scores of predictive distributions, by the same rules for all methods. NumPy and SciPy alone."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

__all__ = ["LEVELS", "Forecast", "scores"]

#: Levels at which a method gives quantiles, if it does not give a normal distribution.
LEVELS = np.concatenate([[0.005, 0.025], np.arange(1, 20) / 20, [0.975, 0.995]])
# Names of the coverage and the interval score of central intervals, by their ends.
CENTRAL = {0.95: ("coverage", "interval"), 0.9: ("coverage90", "interval90")}


class Forecast(NamedTuple):
    """What a method says of new observations: a mean, and a standard deviation or quantiles.

    Attributes
    ----------
    mean : ndarray of shape (n,)
    std : ndarray of shape (n,) or None
        Of a normal distribution, the noise of a new observation included.
    quantiles : ndarray of shape (n, len(LEVELS)) or None
    note : str
        What the method chose, for the page.
    """

    mean: Any
    std: Any = None
    quantiles: Any = None
    note: str = ""


def scores(truth: Any, forecast: Forecast, weight: Any = None) -> dict[str, float | None]:
    """Return RMSE, CRPS, negative log density, coverage and interval score at 95 and 90 %.

    With `weight` [n], rows count as much as it says.

    A distribution that is given by quantiles has a constant density between them, and exponential
    tails whose scale is that of the last two quantiles on either side. *nlpd_normal* has in its
    place the normal law of the same mean whose central 95 % are as wide, as peers have it: where
    targets have few values, densities between quantiles have no bound.
    """
    truth, mean = np.asarray(truth, float), np.asarray(forecast.mean, float)

    def averaged(values: Any) -> float:
        return float(np.average(values, weights=weight))

    found: dict[str, float | None] = {"rmse": float(np.sqrt(averaged((truth - mean) ** 2)))}
    if forecast.std is None and forecast.quantiles is None:
        names = [name for pair in CENTRAL.values() for name in pair]
        return found | dict.fromkeys(("crps", "nlpd", "nlpd_normal", *names))
    if forecast.quantiles is None:
        std = np.asarray(forecast.std, float)
        levels = norm.ppf(LEVELS)
        quantiles = mean[:, None] + std[:, None] * levels
        nlpd = normal = -norm.logpdf(truth, mean, std)
    else:
        quantiles = np.maximum.accumulate(np.asarray(forecast.quantiles, float), axis=1)
        nlpd = -_log_density(truth, quantiles)
        normal = -norm.logpdf(truth, mean, _std(quantiles))
    for share, (held, score) in CENTRAL.items():
        ends = (0.5 - share / 2, 0.5 + share / 2)
        lower, upper = (quantiles[:, np.argmin(abs(LEVELS - level))] for level in ends)
        outside = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
        found[held] = averaged((lower <= truth) & (truth <= upper))
        found[score] = averaged(upper - lower + 2 / (1 - share) * outside)
    return found | {
        "crps": averaged(_crps(truth, quantiles)),
        "nlpd": averaged(nlpd),
        "nlpd_normal": averaged(normal),
    }


def _std(quantiles: Any) -> Any:
    """The standard deviation of the normal law with a central 95 % as wide: [n]."""
    width = quantiles[:, -2] - quantiles[:, 1]
    return np.maximum(width, np.finfo(float).tiny) / (2 * norm.ppf(0.975))


def _crps(truth: Any, quantiles: Any) -> Any:
    """Twice the mean pinball loss, by the trapezoidal rule over the levels: [n]."""
    loss = np.maximum(
        LEVELS * (truth[:, None] - quantiles), (LEVELS - 1) * (truth[:, None] - quantiles)
    )
    # The loss at the levels 0 and 1 is taken to be zero, as it is for tails that end.
    return 2 * np.trapezoid(np.pad(loss, ((0, 0), (1, 1))), np.r_[0, LEVELS, 1], axis=1)


def _log_density(truth: Any, quantiles: Any) -> Any:
    """The log density of a distribution by its quantiles: [n]."""
    n, rows = len(truth), np.arange(len(truth))
    spread = np.maximum(quantiles[:, -2] - quantiles[:, 1], np.finfo(float).tiny)
    widths = np.maximum(np.diff(quantiles, axis=1), 1e-6 * spread[:, None])
    place = np.clip((truth[:, None] > quantiles).sum(axis=1) - 1, 0, len(LEVELS) - 2)
    inside = np.log(np.diff(LEVELS)[place] / widths[rows, place])
    found = np.where(truth < quantiles[:, 0], 0.0, inside)
    for end, width, beyond in (
        (0, widths[:, 0], quantiles[:, 0] - truth),
        (-1, widths[:, -1], truth - quantiles[:, -1]),
    ):
        mass = LEVELS[0] if end == 0 else 1 - LEVELS[-1]
        inner = LEVELS[1] if end == 0 else 1 - LEVELS[-2]
        scale = width / np.log(inner / mass)  # of exp(-x / scale), from one level to the other
        tail = np.log(mass / scale) - np.maximum(beyond, 0) / scale
        found = np.where(beyond > 0, tail, found)
    assert found.shape == (n,)
    return found
