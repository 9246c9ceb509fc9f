"""Our models and their peers, with nothing tuned by hand: fit, predict, seconds."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor

import zonal

from ..suite.cells import threads
from .data import Task

__all__ = ["METHODS", "Result", "crps"]


class Result(NamedTuple):
    """What came of a method on a task."""

    mse: float
    fit: float
    predict: float
    crps: float | None = None
    note: str = ""


def crps(truth: Any, mean: Any, std: Any) -> float:
    """The continuous ranked probability score of normal distributions, averaged."""
    z = (truth - mean) / std
    return float(np.mean(std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))))


def _run(task: Task, fit: Callable[[], Any], predict: Callable[[Any], Any]) -> Any:
    start = time.process_time()
    model = fit()
    middle = time.process_time()
    found = predict(model)
    stop = time.process_time()
    mean = found[0] if isinstance(found, tuple) else found
    score = None
    if isinstance(found, tuple):
        score = crps(task.y_test, *found)
    mse = float(np.mean((task.y_test - mean) ** 2))
    return model, Result(mse, middle - start, stop - middle, score)


def _with_noise(model: Any, X: Any) -> Any:
    """Mean and standard deviation of a new observation; features alone have no noise of theirs."""
    if not isinstance(model, zonal.NeighborKriging) and model.local_ is None:
        return model.predict(X)
    mean, std = model.predict(X, return_std=True)
    noise = model._solution_.noise_at(model._cells_.rows(X))[:, 0]
    return mean, np.sqrt(std**2 + noise)


def ours(task: Task, **options: Any) -> Result:
    """KernelRidge with nothing set but what rows it will meet."""
    model, found = _run(
        task,
        lambda: zonal.KernelRidge(random_state=0, cv=task.cv, **options).fit(task.X, task.y),
        lambda model: _with_noise(model, task.X_test),
    )
    chosen = model.selection_[model.selection_["chosen"]].iloc[0]
    note = f"features: {chosen['features']}, local: {chosen['local']}"
    return found._replace(note=note + (", metric" if chosen["metric"] else ""))


def without_local(task: Task) -> Result:
    """Features alone."""
    return ours(task, local=None)


def neighbors_alone(task: Task) -> Result:
    """Kriging on 32 neighbours."""
    return _run(
        task,
        lambda: zonal.NeighborKriging().fit(task.X, task.y),
        lambda model: _with_noise(model, task.X_test),
    )[1]


def knn(task: Task) -> Result:
    """scikit-learn's nearest rows; their number by cross-validation."""
    search = GridSearchCV(
        KNeighborsRegressor(weights="distance"), {"n_neighbors": [2, 4, 8, 16]}, cv=task.cv
    )
    scale = zonal.features.Standardizer().fit(task.X)
    return _run(
        task,
        lambda: search.fit(scale.transform(task.X), task.y),
        lambda model: model.predict(scale.transform(task.X_test)),
    )[1]


def lightgbm(task: Task) -> Result:
    """LightGBM, stopped by a tenth of the training rows, or by a fold of blocks where we have them.

    Trees by the thousand do no harm on random rows; in gaps they do, and it is told as we are.
    """
    import lightgbm as lgb
    from sklearn.model_selection import ShuffleSplit

    random = ShuffleSplit(1, test_size=0.1, random_state=0)
    train, stop = next(random.split(task.X)) if task.cv == 2 else task.cv[0]

    def fit() -> Any:
        model = lgb.LGBMRegressor(n_estimators=5000, verbose=-1, n_jobs=threads(), random_state=0)
        stopping = lgb.early_stopping(50, verbose=False)
        held_out = [(task.X[stop], task.y[stop])]
        return model.fit(task.X[train], task.y[train], eval_set=held_out, callbacks=[stopping])

    model, found = _run(task, fit, lambda model: model.predict(task.X_test))
    return found._replace(note=f"{model.best_iteration_} trees")


METHODS: dict[str, Callable[[Task], Result]] = {
    "**zonal**, nothing set": ours,
    "zonal, `local=None`": without_local,
    "zonal `NeighborKriging`": neighbors_alone,
    "k nearest rows (scikit-learn)": knn,
    "LightGBM": lightgbm,
}
