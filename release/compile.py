"""Compile what Numba compiles, into the caches beside the modules, before tests share them.

Two processes of tests would each compile everything; this runs beside the type checker instead.
"""

import warnings

import numpy as np

import zonal


def main() -> None:
    """Use each compiled part once, in both precisions."""
    rng = np.random.default_rng(0)
    kernel = zonal.Gaussian(1.0)
    maps = [
        zonal.GegenbauerFeatures(kernel, 32, random_state=0),
        zonal.HarmonicFeatures(kernel, 32),
        zonal.FourierFeatures(kernel, 32, random_state=0),
        zonal.FastFoodFeatures(kernel, 32, random_state=0),
        zonal.NystroemFeatures(zonal.Matern(1.5, 1.0), 32, random_state=0),
        zonal.PolySketchFeatures(kernel, 32, random_state=0),
        zonal.HashingFeatures(zonal.Laplacian(1.0), 32, random_state=0),
    ]
    for dtype in (np.float64, np.float32):
        X = rng.uniform(-1, 1, (600, 3)).astype(dtype)
        y = (np.sin(5 * X[:, 0]) + X[:, 1]).astype(dtype)
        for features in maps:
            zonal.KernelRidge(features).fit(X, y).predict(X)
        model = zonal.KernelRidge(budget=32, random_state=0).fit(X, y)
        model.predict_interval(X)
        zonal.KernelRidge(maps[1], local=zonal.NeighborKriging()).fit(X, y).importances_  # noqa: B018
        zonal.KernelRidgeClassifier(budget=32, random_state=0).fit(X, y > 0).predict_proba(X)
        zonal.ExactKernelRidge(zonal.Matern(1.5, 1.0), 0.1).fit(X, y)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
