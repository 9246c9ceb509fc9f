"""What a model says of rows: prediction, standard deviation, interval; or chances of classes."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from .._typing import Array

__all__ = ["class_flags", "known_outcomes", "knows_uncertainty", "names_of", "outcomes"]


class Outcomes(NamedTuple):
    """Of each row: [n]. All but the prediction are None where the model does not know them."""

    prediction: Array
    std: Array | None
    lower: Array | None
    upper: Array | None


def names_of(model: Any) -> tuple[str, ...]:
    """Return the names of what a model says: of a classifier, a probability of each class."""
    learner = _last(model)
    if not is_classifier(learner):
        return Outcomes._fields if knows_uncertainty(model) else Outcomes._fields[:1]
    chances = learner.classes_ if hasattr(learner, "predict_proba") else []
    return ("prediction", *(f"probability_{_word(label)}" for label in chances))


def known_outcomes(model: Any, values: Array) -> dict[str, Any]:
    """Return what is said of cells whose value is known: that, with no doubt; by `names_of`."""
    learner, names = _last(model), names_of(model)
    found: dict[str, Any] = dict.fromkeys(names, values)
    if "std" in found:
        found["std"] = np.zeros(len(values))
    if is_classifier(learner):
        found |= {
            name: values == label for name, label in zip(names[1:], learner.classes_, strict=False)
        }
    return found


def _word(label: Any) -> str:
    """Return a label as a name: those of a grid are numbers with a point, whole or not."""
    whole = isinstance(label, float | np.floating) and float(label).is_integer()
    return str(int(label) if whole else label)


def class_flags(model: Any) -> dict[str, Any]:
    """Return the CF attributes that tell which number stands for which class; else nothing."""
    learner = _last(model)
    if not is_classifier(learner):
        return {}
    words = ["_".join(_word(label).split()) for label in learner.classes_]
    return {"flag_values": _numbers(learner), "flag_meanings": " ".join(words)}


def outcomes(model: Any, X: Any, coverage: float) -> dict[str, Any]:
    """Predict rows, with the uncertainty of a new observation: arrays [n] by `names_of`.

    Parameters
    ----------
    model : regressor or classifier
        Of this library, a pipeline that ends in one, or any other (predictions only).
    X : frame
    coverage : float
        The share of observations that lie between lower and upper.
    """
    if not is_classifier(_last(model)):
        return _of_numbers(model, X, coverage)._asdict()
    learner, names = _last(model), names_of(model)
    if len(names) == 1:
        return {names[0]: _numbers(learner)[_places(learner, model.predict(X))]}
    chances = np.asarray(model.predict_proba(X))
    best = _numbers(learner)[_places(learner, model.predict(X))]
    return dict(zip(names, [best, *chances.T], strict=True))


def _numbers(learner: Any) -> Array:
    """Return the number that stands for each class on a map: itself, or its place."""
    classes = np.asarray(learner.classes_)
    return classes if classes.dtype.kind in "iufb" else np.arange(len(classes))


def _places(learner: Any, labels: Array) -> Any:
    return np.searchsorted(learner.classes_, labels)


def _of_numbers(model: Any, X: Any, coverage: float) -> Outcomes:
    learner = _last(model)
    if isinstance(model, Pipeline) and len(model) > 1:
        X = model[:-1].transform(X)
    if not knows_uncertainty(model):
        return Outcomes(np.asarray(learner.predict(X)), None, None, None)
    if hasattr(learner, "likelihood_"):
        interval = learner.predict_interval(X, coverage)
        return Outcomes(learner.predict(X), learner.predict_std(X), *interval)
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
