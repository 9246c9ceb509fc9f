"""Rows and models that the benchmarks share: float32, 64,800 rows, 1,024 features."""

from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler

import zonal

__all__ = ["DEGREE", "WIDTH", "N", "gegenbauer", "peer", "points", "target"]

N, WIDTH, DEGREE = 64_800, 1024, 20


def points(dim: int, n: int = N) -> Any:
    """Rows on the sphere for d = 3, else normal with standard deviation 1/2."""
    X = np.random.default_rng(0).standard_normal((n, dim), dtype=np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True) if dim == 3 else X / 2


def target(X: Any) -> Any:
    """A smooth function and noise, without which all small alphas would be equally good."""
    noise = np.random.default_rng(1).standard_normal(len(X), dtype=np.float32)
    return np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + np.float32(0.1) * noise


def gegenbauer(width: int = WIDTH) -> zonal.GegenbauerFeatures:
    """The features that the ridge regressions of the benchmarks use, for d = 3."""
    return zonal.GegenbauerFeatures(zonal.Gaussian(0.5), width, max_degree=DEGREE, random_state=0)


def peer(width: int = WIDTH, gamma: float = 2.0) -> RBFSampler:
    return RBFSampler(gamma=gamma, n_components=width, random_state=0)
