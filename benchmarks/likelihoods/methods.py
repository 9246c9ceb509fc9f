"""What is compared: all with their defaults."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import zonal
from zonal.likelihoods import Observed, as_likelihood

from .data import Task

__all__ = ["CLASSIFIERS", "COUNTERS"]

#: Return probabilities of the classes of the test rows: [n, K].
CLASSIFIERS: dict[str, Callable[[Task], Any]] = {}
#: Return means and log predictive densities of the test rows: [n], [n] or None.
COUNTERS: dict[str, Callable[[Task, str], tuple[Any, Any]]] = {}


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


def _zonal(task: Task, likelihood: str) -> tuple[Any, Any]:
    model = zonal.KernelGLM(likelihood, random_state=0).fit(task.X, task.y)
    return model.predict(task.X_test), model.log_density(task.X_test, task.y_test)


def _gpboost(task: Task, likelihood: str) -> tuple[Any, Any]:
    """Vecchia and Laplace, a length scale for each column, the smoothness estimated."""
    import gpboost

    scaler = StandardScaler().fit(task.X)
    ones = np.ones((len(task.y), 1))
    model = gpboost.GPModel(
        gp_coords=scaler.transform(task.X),
        cov_function="matern_ard_estimate_shape",
        gp_approx="vecchia",
        likelihood=likelihood,
    )
    model.fit(y=task.y, X=ones)
    found = model.predict(
        gp_coords_pred=scaler.transform(task.X_test),
        X_pred=np.ones((len(task.y_test), 1)),
        predict_var=True,
        predict_response=False,
    )
    shape = [] if likelihood == "poisson" else [float(np.ravel(model.get_aux_pars(False))[0])]
    own = type(as_likelihood(likelihood))(*shape)
    mean, variance = np.asarray(found["mu"]), np.asarray(found["var"])
    observed = Observed.of(task.y_test)
    return own.average(mean, variance), own.log_predictive(observed, mean, variance)


def _lightgbm_counts(task: Task, likelihood: str) -> tuple[Any, Any]:
    from lightgbm import LGBMRegressor

    objective = "gamma" if likelihood == "gamma" else "poisson"
    model = LGBMRegressor(objective=objective, n_jobs=1, verbose=-1).fit(task.X, task.y)
    return model.predict(task.X_test), None


def _linear_counts(task: Task, likelihood: str) -> tuple[Any, Any]:
    kind = GammaRegressor if likelihood == "gamma" else PoissonRegressor
    model = _nystroem(kind(alpha=1e-3, max_iter=1000)).fit(task.X, task.y)
    return model.predict(task.X_test), None


CLASSIFIERS["zonal, KernelGLM"] = _bernoulli
COUNTERS["**zonal**"] = _zonal
COUNTERS["GPBoost"] = _gpboost
COUNTERS["LightGBM"] = _lightgbm_counts
COUNTERS["linear, Nyström"] = _linear_counts
