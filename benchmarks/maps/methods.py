"""Our models and their peers, as their documentation would have it: fit, then predict."""

from collections.abc import Callable
from typing import Any

import numpy as np
import verde
from scipy.special import ndtri

import zonal
from zonal.evaluation import crps_of_quantiles

from ..suite.cells import Task as Rows
from ..suite.cells import threads
from ..suite.methods import gpboost as suite_gpboost
from ..suite.methods import vif
from ..suite.scores import Forecast
from .data import Task

__all__ = ["METHODS", "OURS", "score"]

LEVELS = np.arange(1, 100) / 100

# What a peer can take: PyKrige needs all distances, a spline of verde a matrix of all pairs.
PYKRIGE_ROWS = 10_000
SPLINE_ROWS = 6_000


def ours(task: Task) -> Callable[[], Any]:
    """Everything chosen; told whether gaps or random places are to be predicted."""
    model = zonal.KernelRidge(random_state=0, cv=task.cv).fit(task.places, task.y)

    def predict() -> Any:
        quantiles = model.predict_quantiles(task.test_places, LEVELS)
        return model.predict(task.test_places), quantiles

    return predict


def score(truth: Any, forecast: Any) -> float | None:
    """Return the CRPS of 99 quantiles, those of a normal distribution where there are no others.

    The same rule for all: the integral over levels in closed form would count the tails, which 99
    quantiles leave out.
    """
    mean, spread = forecast
    if spread is None:
        return None
    if spread.ndim == 1:
        spread = mean[:, None] + spread[:, None] * ndtri(LEVELS)
    return float(crps_of_quantiles(truth, spread, LEVELS))


def _columns(places: Any) -> tuple[Any, Any]:
    return places["lon"].to_numpy(), places["lat"].to_numpy()


def _points(places: Any) -> Any:
    return zonal.datasets.to_sphere(places["lat"], places["lon"])


def _plane(places: Any) -> tuple[Any, Any]:
    """East and north in degrees of a great circle, as verde's tutorials do on small regions."""
    lon, lat = _columns(places)
    return lon * np.cos(np.radians(lat)), lat


def neighbors(task: Task) -> Callable[[], Any]:
    """verde's mean of the 4 nearest points, on a sinusoidal map."""
    model = verde.KNeighbors(k=4).fit(_plane(task.places), task.y)
    return lambda: (model.predict(_plane(task.test_places)), None)


def spline(task: Task) -> Callable[[], Any]:
    """verde's biharmonic spline on means of blocks, damping by its cross-validation."""
    spacing = 1.0
    while True:
        reduce = verde.BlockReduce(np.mean, spacing=spacing)
        points, values = reduce.filter(_plane(task.places), task.y)
        if len(values) <= SPLINE_ROWS:
            break
        spacing *= 1.25
    rng = np.random.default_rng(0)
    few = rng.permutation(len(values))[:1500]
    best = max(
        (1e-6, 1e-4, 1e-2),
        key=lambda damping: np.mean(
            verde.cross_val_score(
                verde.Spline(damping=damping), tuple(p[few] for p in points), values[few]
            )
        ),
    )
    model = verde.Spline(damping=best).fit(points, values)
    return lambda: (model.predict(_plane(task.test_places)), None)


def lightgbm(task: Task) -> Callable[[], Any]:
    """LightGBM on points of the sphere, stopped by random places or by blocks as we are told."""
    import lightgbm as lgb
    from sklearn.model_selection import KFold

    folds = KFold(10, shuffle=True, random_state=0) if task.cv == 2 else task.cv
    train, stop = next(folds.split(task.places))
    X = _points(task.places)
    model = lgb.LGBMRegressor(n_estimators=5000, verbose=-1, n_jobs=threads(), random_state=0)
    stopping = lgb.early_stopping(50, verbose=False)
    model.fit(X[train], task.y[train], eval_set=[(X[stop], task.y[stop])], callbacks=[stopping])
    return lambda: (model.predict(_points(task.test_places)), None)


def pykrige(task: Task) -> Callable[[], Any]:
    """Ordinary kriging with great-circle distances and the 24 closest of 10,000 points."""
    from pykrige.ok import OrdinaryKriging

    rows = np.random.default_rng(0).permutation(len(task.y))[:PYKRIGE_ROWS]
    lon, lat = _columns(task.places.iloc[rows])
    model = OrdinaryKriging(
        lon % 360, lat, task.y[rows], variogram_model="exponential", coordinates_type="geographic"
    )

    def predict() -> Any:
        lon, lat = _columns(task.test_places)
        mean, variance = model.execute(
            "points", lon % 360, lat, n_closest_points=24, backend="loop"
        )
        return np.asarray(mean), np.sqrt(np.maximum(np.asarray(variance), 1e-12))

    return predict


def gpboost(task: Task, run: Callable[[Rows], Forecast] = suite_gpboost) -> Callable[[], Any]:
    """GPBoost as the comparison of fields has it: its own ν, a linear trend."""
    points = _points(task.places), _points(task.test_places)
    found = run(Rows(points[0], task.y, points[1], task.y_test))
    return lambda: (found.mean, found.std)


def full_scale(task: Task) -> Callable[[], Any]:
    """GPBoost's VIF: inducing points, and Vecchia for what they leave."""
    return gpboost(task, vif)


OURS = "**zonal** `KernelRidge()`"
METHODS: dict[str, Callable[[Task], Callable[[], Any]]] = {
    OURS: ours,
    "GPBoost, Vecchia": gpboost,
    "GPBoost, VIF": full_scale,
    "LightGBM": lightgbm,
    "verde `KNeighbors`": neighbors,
    "verde `Spline` on blocks": spline,
    "PyKrige, 24 closest of 10,000": pykrige,
}
