"""What a model says of rows: prediction, standard deviation, interval."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.pipeline import Pipeline

from .._typing import Array

__all__ = ["Outcomes", "knows_uncertainty", "outcomes"]


class Outcomes(NamedTuple):
    """Of each row: [n]. All but the prediction are None where the model does not know them."""

    prediction: Array
    std: Array | None
    lower: Array | None
    upper: Array | None


def outcomes(model: Any, X: Any, coverage: float) -> Outcomes:
    """Predict rows, with the uncertainty of a new observation.

    Parameters
    ----------
    model : regressor
        Of this library, a pipeline that ends in one, or any other (predictions only).
    X : frame
    coverage : float
        The share of observations that lie between lower and upper.
    """
    learner = _last(model)
    if isinstance(model, Pipeline) and len(model) > 1:
        X = model[:-1].transform(X)
    if not knows_uncertainty(model):
        return Outcomes(np.asarray(learner.predict(X)), None, None, None)
    if hasattr(learner, "predict_interval") and not hasattr(learner, "target_"):
        return _calibrated(learner, X, coverage)
    mean, std = learner.predict(X, return_std=True)
    std = np.sqrt(std**2 + _noise(learner, mean))
    if hasattr(learner, "predict_interval"):
        return Outcomes(mean, std, *learner.predict_interval(X, coverage))
    half = norm.ppf(0.5 + coverage / 2) * std
    return Outcomes(mean, std, mean - half, mean + half)


def _noise(learner: Any, mean: Array) -> Any:
    """Return the variance of the noise of observations, on the scale of the targets."""
    local = getattr(learner, "local_", None)
    if local is None:
        return 0.0
    noise = local.noise_ * local.scale_
    if hasattr(learner, "target_"):  # learnt on another scale
        scale = learner.target_
        return noise * scale.slope(scale.forward(mean)) ** 2
    return noise


def _calibrated(learner: Any, X: Any, coverage: float) -> Outcomes:
    """Find all from the interval, which is mean + std × quantiles that are the same everywhere.

    A second pass over the rows for mean and standard deviation would cost as much again. The
    standard deviation is then that of the calibrated distribution, not the model's own.
    """
    lower, upper = learner.predict_interval(X, coverage)
    levels = [(1 - coverage) / 2, (1 + coverage) / 2]
    zero = np.zeros((1, 1))
    low, high = np.ravel(learner.calibration_.at(zero, zero + 1, levels))
    own = (upper - lower) / (high - low)
    std = own * learner.calibration_.spread[0].astype(own.dtype)
    return Outcomes(lower - low * own, std, lower, upper)


def knows_uncertainty(model: Any) -> bool:
    """Tell whether a model gives standard deviations."""
    learner = _last(model)
    return hasattr(learner, "predict_interval") or hasattr(learner, "local_")


def _last(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model
