"""KernelRidge.fit: growth with n and peak memory, seconds beside RBFSampler + Ridge and bare syrk.

float32, points on the sphere, D = 1,024, degree 20. Run: python -m benchmarks.learners
"""

import time
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy.linalg.blas import ssyrk
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import zonal

from .features import verdict
from .measure import peak_memory, seconds, table

N, DIM, WIDTH, DEGREE = 64_800, 3, 1024, 20
SIZES = (125_000, 250_000, 500_000, 1_000_000)


def main() -> None:
    print(f"KernelRidge: float32, d = {DIM}, D = {WIDTH:,}, degree {DEGREE}, alpha = 1\n")
    growth()
    print(f"\nKernelRidge beside others: float32, n = {N:,}, d = {DIM}, D = {WIDTH:,}\n")
    speed()


def growth() -> None:
    # A process for each size: memory that an earlier fit has freed but not returned to the
    # system would hide what a later one needs.
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = pool.map(measure_fit, SIZES, chunksize=1)
    per_row = [duration / n for n, (duration, _) in zip(SIZES, measured, strict=True)]
    rows = [
        (f"{n:,}", f"{duration:.2f} s", f"{pace / per_row[0]:.2f}", f"{extra / 1e6:.0f} MB", "", "")
        for n, (duration, extra), pace in zip(SIZES, measured, per_row, strict=True)
    ]
    rows[-1] = rows[-1][:4] + verdict("", measured[-1][1] / 1e6, 500, " MB")[2:]
    header = ("n", "fit", "per row, relative (linear: 1)", "peak memory beyond X", "goal", "met")
    print(table(rows, header))


def measure_fit(n: int) -> tuple[float, int]:
    """Seconds of one fit, and the bytes it adds at its peak."""
    X, y = sphere(n)
    ridge(1.0).fit(X[:1000], y[:1000])  # compiles
    duration = 0.0

    def fit() -> Any:
        nonlocal duration
        start = time.perf_counter()
        model = ridge(1.0).fit(X, y)
        duration = time.perf_counter() - start
        return model

    extra = peak_memory(fit)
    return duration, extra


def speed() -> None:
    X, y = sphere(N)
    Z = ridge(1.0).features.fit(X).transform(X)
    pipeline = make_pipeline(
        RBFSampler(gamma=2.0, n_components=WIDTH, random_state=0),
        Ridge(alpha=1.0, solver="cholesky"),
    )
    ours, peer, bare, searched = seconds(
        lambda: ridge(1.0).fit(X, y),
        lambda: pipeline.fit(X, y),
        lambda: ssyrk(1.0, Z.T),
        lambda: ridge("cv").fit(X, y),
    )
    rows = [
        ("KernelRidge.fit, alpha = 1", f"{ours:.3f} s", "", ""),
        ("RBFSampler + Ridge, fit", f"{peer:.3f} s", "", ""),
        ("syrk of the ready features", f"{bare:.3f} s", "", ""),
        ('KernelRidge.fit, alpha = "cv"', f"{searched:.3f} s", "", ""),
        verdict("alpha = 1, ratio to RBFSampler + Ridge", ours / peer, 0.8, ""),
        verdict("alpha = 1, ratio to syrk", ours / bare, 1.6, ""),
        ('alpha = "cv", ratio to syrk', f"{searched / bare:.2f}", "", ""),
    ]
    print(table(rows, ("what", "measured", "goal", "met")))


def sphere(n: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).standard_normal((n, DIM), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]


def ridge(alpha: float | str) -> zonal.KernelRidge:
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(0.5), WIDTH, max_degree=DEGREE, random_state=0
    )
    return zonal.KernelRidge(features, alpha)


if __name__ == "__main__":
    main()
