"""The time to reach the same test error on the Earth's elevation."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import zonal
from zonal.moments.ridge import solve

from ..measure import seconds
from .data import peer
from .limits import Limits
from .line import Line

__all__ = ["equal_error"]

PEER_WIDTH = 4096
BANDWIDTHS = (0.025, 0.035, 0.05, 0.07, 0.1)
ALPHAS = (0.01, 0.1, 1.0)
# The local part's kernel and noise, as the evidence finds them, outside the clock as well.
NEIGHBORS = 16
# Full degrees of spherical harmonics have square numbers of columns.
WIDTHS = tuple(k**2 for k in range(16, 65, 2))


def equal_error(limits: Limits) -> Iterator[Line]:
    """Both sides at their best bandwidth and alpha, which are found outside the clock."""
    data, height = zonal.datasets.load_elevation(return_X_y=True)
    X = zonal.datasets.to_sphere(*data.T).astype(np.float32)
    split = train_test_split(X, (height / 1000).astype(np.float32), test_size=0.1, random_state=0)
    X, test, y, y_test = split

    def best(features: Iterable[Any]) -> tuple[float, float, Any]:
        """The smallest test error, its alpha and its features."""
        found = []
        for candidate in features:
            model = zonal.KernelRidge(candidate, 1.0).fit(X, y)
            Z = model.features_.transform(test)
            for alpha in ALPHAS:
                solution = solve(model.moments_[0], alpha, fit_intercept=True)
                residuals = Z @ solution.coef[:, 0] + solution.intercept[0] - y_test
                found.append((float(np.mean(residuals**2)), alpha, candidate))
        return min(found, key=lambda item: item[0])

    error, alpha, other = best(peer(PEER_WIDTH, 1 / (2 * h**2)) for h in BANDWIDTHS)

    def harmonic(width: int) -> tuple[float, float, Any]:
        return best(zonal.HarmonicFeatures(zonal.Gaussian(h), width) for h in BANDWIDTHS)

    # Errors fall with the width, so that the smallest one that will do is found by bisection.
    place = bisect_left(WIDTHS, True, key=lambda width: harmonic(width)[0] <= error)
    width = WIDTHS[min(place, len(WIDTHS) - 1)]
    ours = harmonic(width)
    mine, theirs = seconds(
        lambda: zonal.KernelRidge(ours[2], ours[1]).fit(X, y),
        lambda: make_pipeline(other, Ridge(alpha, solver="cholesky")).fit(X, y),
        repeats=7,
    )
    found = zonal.NeighborKriging(n_neighbors=NEIGHBORS).fit(X, y)
    local = zonal.NeighborKriging(found.kernel_, NEIGHBORS, noise=found.noise_)
    near, far = seconds(
        lambda: zonal.KernelRidge(features=None, local=local).fit(X, y),
        lambda: make_pipeline(other, Ridge(alpha, solver="cholesky")).fit(X, y),
        repeats=3,
    )
    predicted = zonal.KernelRidge(features=None, local=local).fit(X, y).predict(test)
    local_error = float(np.mean((predicted - y_test) ** 2))
    their_name = (
        f"RBFSampler + Ridge, D = {PEER_WIDTH:,}, test MSE {error:.3f} km², "
        f"bandwidth {(2 * other.gamma) ** -0.5:.3f}"
    )
    yield Line(
        f"fit to elevation, local part of {NEIGHBORS} neighbours, test MSE {local_error:.3f} km²",
        their_name,
        near,
        far,
        0.05,
        rest="the whitening of 20,000 rows, and a tree over all of them",
    )
    ideal, bound = limits.ideal(len(X) * width * (width + 1) / 2)
    yield Line(
        f"fit to elevation, HarmonicFeatures, D = {width}, test MSE {ours[0]:.3f} km²",
        their_name,
        mine,
        theirs,
        None,
        ideal,
        bound,
        "the features, and what a small product misses of the peak rate",
    )
