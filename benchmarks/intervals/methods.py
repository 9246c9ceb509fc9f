"""Our models and their peers: coverage, CRPS, interval score and seconds."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

import zonal
from zonal.evaluation import coverage, crps, crps_of_quantiles, interval_score

from .data import Task

__all__ = ["METHODS", "Result", "classes"]

LEVELS = (np.arange(50) + 0.5) / 50
COVERAGE = 0.9


class Result(NamedTuple):
    """What came of a method on a task; seconds of the fit, and of the calibration beyond it."""

    coverage: float
    crps: float
    score: float
    fit: float
    calibration: float = 0.0


def ours(task: Task) -> Result:
    """KernelRidge with nothing set but what rows it will meet."""
    start = time.perf_counter()
    model = zonal.KernelRidge(random_state=0, cv=task.cv).fit(task.X, task.y)
    fitted = time.perf_counter()
    model.calibration_  # noqa: B018  # found now
    done = time.perf_counter()
    lower, upper = model.predict_interval(task.X_test, COVERAGE)
    quantiles = model.predict_quantiles(task.X_test, LEVELS)
    return Result(
        coverage(task.y_test, lower, upper),
        crps_of_quantiles(task.y_test, quantiles, LEVELS),
        interval_score(task.y_test, lower, upper, COVERAGE),
        fitted - start,
        done - fitted,
    )


def _normal(task: Task, fit: Callable[[], Any], predict: Callable[[Any], Any]) -> Result:
    start = time.perf_counter()
    model = fit()
    seconds = time.perf_counter() - start
    mean, std = predict(model)
    z = norm.ppf(0.5 + COVERAGE / 2)
    lower, upper = mean - z * std, mean + z * std
    return Result(
        coverage(task.y_test, lower, upper),
        crps(task.y_test, mean, std),
        interval_score(task.y_test, lower, upper, COVERAGE),
        seconds,
    )


def catboost(task: Task) -> Result:
    """CatBoost with a mean and a variance, early stopping on a tenth of the training rows."""
    from catboost import CatBoostRegressor
    from sklearn.model_selection import train_test_split

    def fit() -> Any:
        X, X_stop, y, y_stop = train_test_split(task.X, task.y, test_size=0.1, random_state=0)
        model = CatBoostRegressor(
            loss_function="RMSEWithUncertainty", iterations=4000, random_seed=0, verbose=False,
            allow_writing_files=False, early_stopping_rounds=50,
        )  # fmt: skip
        return model.fit(X, y, eval_set=(X_stop, y_stop))

    def predict(model: Any) -> Any:
        found = model.predict(task.X_test)
        return found[:, 0], np.sqrt(found[:, 1])

    return _normal(task, fit, predict)


METHODS: dict[str, Callable[[Task], Result]] = {
    "**zonal**": ours,
    "CatBoost": catboost,
}


def classes(task: Task) -> dict[str, float]:
    """Sets and probabilities of KernelRidgeClassifier."""
    start = time.perf_counter()
    model = zonal.KernelRidgeClassifier(random_state=0).fit(task.X, task.y)
    fitted = time.perf_counter()
    model.calibration_  # noqa: B018  # found now
    done = time.perf_counter()
    held = model.predict_set(task.X_test, COVERAGE)
    chances = model.predict_proba(task.X_test)
    place = np.searchsorted(model.classes_, task.y_test)
    rows = np.arange(len(place))
    return {
        "coverage": float(held[rows, place].mean()),
        "classes in a set": float(held.sum(axis=1).mean()),
        "accuracy": float((chances.argmax(axis=1) == place).mean()),
        "log loss": float(-np.log(chances[rows, place]).mean()),
        "calibration error": zonal.evaluation.calibration_error(
            task.y_test, chances, model.classes_
        ),
        "fit, s": fitted - start,
        "calibration, s": done - fitted,
    }
