"""Growth of time with the number of rows, and peak memory.

float32, points on the sphere, D = 1,024, degree 20. Run: python -m benchmarks.speed.memory
"""

import time
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

import zonal

from ..measure import peak_memory, table, verdict
from .data import DEGREE, WIDTH, N, gegenbauer, points, target

SIZES = (125_000, 250_000, 500_000, 1_000_000)


def transform_memory() -> str:
    """Bytes that `transform` takes beyond its output."""
    X = points(3)
    radial = zonal.GegenbauerFeatures(
        zonal.Gaussian(0.5), WIDTH, max_degree=DEGREE, n_radial=26, center=False, random_state=0
    )
    spread = 2 * np.random.default_rng(1).standard_normal((N, 3)).astype(np.float32)
    rows = []
    for name, features, fitted_to in (("s = 1", gegenbauer(), X), ("s = 26", radial, spread)):
        features.fit(fitted_to).transform(X[:1000])  # compiles
        extra = peak_memory(partial(features.transform, X)) - 4 * N * WIDTH
        rows.append(verdict(f"GegenbauerFeatures.transform, {name}", extra / 1e6, 200, " MB"))
    return table(rows, ("what", "peak memory beyond the output", "goal", "met"))


def fit_growth() -> str:
    """Seconds a row and bytes of `KernelRidge.fit`."""
    # A process for each size: memory that an earlier fit has freed but not returned to the
    # system would hide what a later one needs.
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = pool.map(measure_fit, SIZES, chunksize=1)
    paces = [duration / n for n, (duration, _) in zip(SIZES, measured, strict=True)]
    rows = [
        (f"{n:,}", f"{duration:.2f} s", *verdict(f"{pace / paces[0]:.2f}", extra / 1e6, 500, " MB"))
        for n, (duration, extra), pace in zip(SIZES, measured, paces, strict=True)
    ]
    header = ("n", "fit", "per row, relative (linear: 1)", "peak memory beyond X", "goal", "met")
    return table(rows, header)


def measure_fit(n: int) -> tuple[float, int]:
    """Seconds of one fit, and the bytes it adds at its peak."""
    X = points(3, n)
    y = target(X)
    zonal.KernelRidge(gegenbauer(), 1.0).fit(X[:1000], y[:1000])  # compiles
    duration = 0.0

    def fit() -> Any:
        nonlocal duration
        start = time.perf_counter()
        model = zonal.KernelRidge(gegenbauer(), 1.0).fit(X, y)
        duration = time.perf_counter() - start
        return model

    extra = peak_memory(fit)
    return duration, extra


def main() -> None:
    print(f"float32, d = 3, D = {WIDTH:,}, degree {DEGREE}, alpha = 1\n")
    print(transform_memory(), fit_growth(), sep="\n\n")


if __name__ == "__main__":
    main()
