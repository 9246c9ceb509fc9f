"""Methods of the comparisons, as fair as we know how; libraries are imported when they are used."""

from typing import Any

import numpy as np

from .cells import Task, threads
from .scores import LEVELS, Forecast

__all__ = ["gpboost", "kernel_ridge", "neighbor_kriging", "sklearn_gp", "vif"]

# Neighbours that GPBoost has, rows by which it chooses ν, and rows of scikit-learn's exact process.
NEIGHBORS, SMOOTHNESS_ROWS, EXACT_ROWS = 30, 5_000, 1_000


def kernel_ridge(task: Task) -> Forecast:
    """zonal's `KernelRidge()`, told only how the rows to predict are chosen (`cv`)."""
    import zonal

    model = zonal.KernelRidge(random_state=0, cv=task.told.get("cv", 2)).fit(task.X, task.y)
    quantiles = model.predict_quantiles(task.X_test, LEVELS)
    return Forecast(model.predict(task.X_test), quantiles=quantiles)


def neighbor_kriging(task: Task) -> Forecast:
    """zonal's `NeighborKriging()`, with `time=` where the last column is one; not calibrated."""
    import zonal

    X, X_test = coordinates(task)
    options = {"time": task.told["time"]} if "time" in task.told else {}
    model = zonal.NeighborKriging(**options).fit(X, task.y)
    mean, std = model.predict(X_test, return_std=True)
    return Forecast(mean, np.hypot(std, np.sqrt(model.noise_ * model.scale_)))


def coordinates(task: Task) -> tuple[Any, Any]:
    """Return the columns that a process of places takes: points of the sphere, and the time."""
    return task.told.get("points", (task.X, task.X_test))


def _gpboost(X: Any, y: Any, shape: float, approximation: str) -> tuple[Any, float]:
    """Fit GPBoost's process with a linear trend; return it and its negative log likelihood."""
    import gpboost as gpb

    ard = {} if X.shape[1] == 2 or _on_sphere(X) else {"cov_function": "matern_ard"}
    model = gpb.GPModel(
        gp_coords=X,
        **({"cov_function": "matern"} | ard),
        cov_fct_shape=shape,
        gp_approx=approximation,
        num_neighbors=NEIGHBORS,
        likelihood="gaussian",
        num_parallel_threads=threads(),
        seed=0,
    )
    model.fit(y=y, X=np.column_stack([np.ones(len(X)), X]))
    return model, float(model.get_current_neg_log_likelihood())


def _on_sphere(X: Any) -> bool:
    """Whether rows are points of the unit sphere alone, on which one scale fits all columns."""
    return X.shape[1] == 3 and bool(np.allclose(np.square(X).sum(axis=1), 1, atol=1e-6))


def gpboost(task: Task, approximation: str = "vecchia") -> Forecast:
    """GPBoost: a scale for each column, 30 neighbours, a linear trend, ν by its own likelihood.

    ν is the best of 1/2, 3/2 and 5/2 on 5,000 random training rows.
    """
    X, X_test = coordinates(task)
    middle, spread = X.mean(axis=0), X.std(axis=0)
    if not _on_sphere(X):
        spread = np.where(spread > 0, spread, 1.0)
        X, X_test = (X - middle) / spread, (X_test - middle) / spread
    few = np.random.default_rng(0).permutation(len(X))[:SMOOTHNESS_ROWS]
    losses = {
        shape: _gpboost(X[few], task.y[few], shape, "vecchia")[1] for shape in (0.5, 1.5, 2.5)
    }
    shape = min(losses, key=losses.__getitem__)
    model, _ = _gpboost(X, task.y, shape, approximation)
    found = model.predict(
        gp_coords_pred=X_test,
        X_pred=np.column_stack([np.ones(len(X_test)), X_test]),
        predict_var=True,
        predict_response=True,
    )
    return Forecast(found["mu"], np.sqrt(found["var"]), note=f"ν = {shape:g}")


def vif(task: Task) -> Forecast:
    """GPBoost's VIF: inducing points, and Vecchia for what they leave."""
    return gpboost(task, "full_scale_vecchia")


def sklearn_gp(task: Task) -> Forecast:
    """scikit-learn's exact process, Matérn 3/2 with a scale for each column, on a random subset."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    X, X_test = coordinates(task)
    middle, spread = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
    few = np.random.default_rng(0).permutation(len(X))[:EXACT_ROWS]
    X, X_test = (X - middle) / spread, (X_test - middle) / spread
    kernel = ConstantKernel() * Matern(np.ones(X.shape[1]), (1e-2, 1e4), nu=1.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    mean, std = model.fit(X[few], task.y[few]).predict(X_test, return_std=True)
    return Forecast(mean, std, note=f"{len(few):,} rows")
