"""At fixed parameters all libraries have the same likelihood: what comes before any comparison."""

from typing import Any

import numpy as np

from .data import task

__all__ = ["likelihoods"]

ROWS, RANGE, SCALE, NOISE = 300, 2.5, 0.8, 0.1


def likelihoods(name: str = "kin40k") -> dict[str, float]:
    """Log likelihoods of 300 rows: mean zero, Matérn 3/2 with one range, and noise."""
    given = task(name, "0")
    X, y = given.X[:ROWS], given.y[:ROWS]
    return {
        "closed form (SciPy)": _dense(X, y),
        "scikit-learn": _sklearn(X, y),
        "GPBoost": _gpboost(X, y),
        "zonal, all rows as neighbours": _zonal(X, y),
    }


def _dense(X: Any, y: Any) -> float:
    from scipy.spatial.distance import cdist
    from scipy.stats import multivariate_normal

    h = np.sqrt(3) * cdist(X, X) / RANGE
    covariance = SCALE * (1 + h) * np.exp(-h) + NOISE * np.eye(len(X))
    return float(multivariate_normal(np.zeros(len(X)), covariance).logpdf(y))


def _sklearn(X: Any, y: Any) -> float:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    kernel = ConstantKernel(SCALE) * Matern(RANGE, nu=1.5) + WhiteKernel(NOISE)
    model = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)
    return float(model.log_marginal_likelihood_value_)


def _gpboost(X: Any, y: Any) -> float:
    import gpboost as gpb

    model = gpb.GPModel(
        gp_coords=X, cov_function="matern", cov_fct_shape=1.5, gp_approx="none",
        likelihood="gaussian",
    )  # fmt: skip
    # Its parameters are the noise, the scale and the range.
    return -float(model.neg_log_likelihood(np.array([NOISE, SCALE, RANGE]), y))


def _zonal(X: Any, y: Any) -> float:
    import zonal
    from zonal.kriging import LocalProcess

    kernel, ones = zonal.Matern(1.5, RANGE), np.ones(len(X))
    process = LocalProcess(X, ones, kernel, NOISE / SCALE, len(X) - 1)
    whitening = process.whitening()
    squares = np.square(whitening.apply(y[:, None])).sum() / SCALE
    logs = np.log(2 * np.pi * SCALE * whitening.variance).sum()
    return float(-0.5 * (squares + logs))
