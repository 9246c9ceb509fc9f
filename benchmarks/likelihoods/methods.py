"""What is compared: all with their defaults."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import zonal

from .data import Task

__all__ = ["CLASSIFIERS", "COUNTERS"]

#: Return probabilities of the classes of the test rows: [n, K].
CLASSIFIERS: dict[str, Callable[[Task], Any]] = {}
#: Return means of the test rows: [n].
COUNTERS: dict[str, Callable[[Task], Any]] = {}


def _classifier(name: str, make: Callable[[], Any]) -> None:
    CLASSIFIERS[name] = lambda task: make().fit(task.X, task.y).predict_proba(task.X_test)


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


def _catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=1, verbose=False, allow_writing_files=False)


def _nystroem(model: Any) -> Any:
    return make_pipeline(StandardScaler(), Nystroem(n_components=1000, random_state=0), model)


_classifier("**zonal**", lambda: zonal.KernelRidgeClassifier(random_state=0))
_classifier("zonal, squared", lambda: zonal.KernelRidgeClassifier(loss="squared", random_state=0))
_classifier("LightGBM", _lightgbm)
_classifier("CatBoost", _catboost)
_classifier("logistic, Nyström", lambda: _nystroem(LogisticRegression(max_iter=1000)))


def _bernoulli(task: Task) -> Any:
    model = zonal.KernelGLM("bernoulli", random_state=0).fit(task.X, task.y.astype(np.float64))
    chance = model.predict(task.X_test)
    return np.column_stack([1 - chance, chance])


def _counts(likelihood: str) -> Callable[[Task], Any]:
    return lambda task: (
        zonal.KernelGLM(likelihood, random_state=0).fit(task.X, task.y).predict(task.X_test)
    )


def _lightgbm_counts(task: Task) -> Any:
    from lightgbm import LGBMRegressor

    model = LGBMRegressor(objective="poisson", n_jobs=1, verbose=-1).fit(task.X, task.y)
    return model.predict(task.X_test)


CLASSIFIERS["zonal, KernelGLM"] = _bernoulli
COUNTERS["**zonal**, negative binomial"] = _counts("negative_binomial")
COUNTERS["LightGBM, Poisson"] = _lightgbm_counts
COUNTERS["Poisson regression, Nyström"] = lambda task: (
    _nystroem(PoissonRegressor(max_iter=1000)).fit(task.X, task.y).predict(task.X_test)
)
