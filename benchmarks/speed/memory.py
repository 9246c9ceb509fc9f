"""Growth of time with the number of rows, and peak memory.

float32, points on the sphere, D = 1,024, degree 20. Writes results/memory.md.
Run: python -m benchmarks.speed.memory
"""

import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import zonal

from ..measure import peak_memory, table, verdict
from .data import DEGREE, WIDTH, N, gegenbauer, points, target

RESULTS = Path(__file__).parents[1] / "results"
SIZES = (125_000, 250_000, 500_000, 1_000_000)
LOCAL = zonal.NeighborKriging(zonal.Matern(1.5, 0.1), noise=0.01)
# Megabytes beyond the rows.
STEPS = {
    "fit": 300,
    "predict": 300,
    "transform": None,
    "fit, local part": None,
    "predict, local part": None,
    "choice and fit": None,
}


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


def steps() -> str:
    """Bytes that each step takes beyond the rows and its result, at a million rows."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = pool.map(measure_step, STEPS, chunksize=1)
    rows = [
        (name, f"{extra / 1e6:.0f} MB", "" if goal is None else f"≤ {goal} MB", met(extra, goal))
        for (name, goal), extra in zip(STEPS.items(), measured, strict=True)
    ]
    return table(rows, ("what, n = 1,000,000", "peak memory beyond the rows", "goal", "met"))


def met(extra: float, goal: int | None) -> str:
    """Whether a goal in megabytes is met."""
    return "" if goal is None else ("yes" if extra <= 1e6 * goal else "no")


def measure_step(name: str) -> int:
    """Bytes that one step adds at its peak, without its result where that is as long as X."""
    n = SIZES[-1]
    X = points(3, n)
    y = target(X)
    features = zonal.KernelRidge(gegenbauer(), 1.0)
    local = zonal.KernelRidge(features=None, local=LOCAL)
    chosen = zonal.KernelRidge(random_state=0)
    few = slice(0, 2000)
    for model in (features, local, chosen):
        model.fit(X[few], y[few]).predict(X[few])  # compiles
    fitted = {"predict": features, "predict, local part": local}
    if name in fitted:
        model = fitted[name].fit(X, y)
        return max(0, peak_memory(partial(model.predict, X)) - y.nbytes)
    if name == "transform":
        map_ = gegenbauer().fit(X)
        out = np.empty((n // 4, WIDTH), np.float32)
        out.fill(0)
        return peak_memory(partial(map_.transform_into, X[: n // 4], out))
    models = {"fit": features, "fit, local part": local, "choice and fit": chosen}
    return peak_memory(partial(models[name].fit, X, y))


def main() -> None:
    parts = [transform_memory(), fit_growth(), steps()]
    (RESULTS / "memory.md").write_text(
        "\n\n".join(
            [
                "# Memory",
                f"`python -m benchmarks.speed.memory`: float32, d = 3, D = {WIDTH:,}, degree "
                f"{DEGREE}, alpha = 1. Each step has a process of its own; a local part has a "
                "given kernel, and a model with one keeps its rows and a tree over them.",
                *parts,
            ]
        )
        + "\n"
    )
    print(*parts, sep="\n\n")


if __name__ == "__main__":
    main()
