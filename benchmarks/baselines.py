"""Every feature map at the same width on real data: seconds and error, beside scikit-learn's.

Relative Frobenius error of Z Zᵀ against the exact kernel matrix, and seconds of fit and transform
(median of 5), D = 1,024, float32, 10,000 rows of elevation (the sphere), climate (the sphere and
time) and protein (nine columns). Run: python -m benchmarks.baselines
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler

import zonal
from zonal.rows import sample_rows

from .measure import seconds, table

WIDTH, ROWS = 1024, 10_000


def elevation() -> np.ndarray:
    data = zonal.datasets.load_elevation().data
    return zonal.datasets.to_sphere(*data[sample_rows(len(data), ROWS)].T)


def climate() -> np.ndarray:
    data = zonal.datasets.load_climate().data
    data = data[sample_rows(len(data), ROWS)]
    # Time on an interval of length one, as in the paper.
    return np.column_stack([zonal.datasets.to_sphere(data[:, 0], data[:, 1]), data[:, 2] / 12])


def protein() -> np.ndarray:
    data = zonal.datasets.load_protein().data
    data = data[sample_rows(len(data), ROWS)]
    return (data - data.mean(axis=0)) / data.std(axis=0)


def error(Z: np.ndarray, X: np.ndarray, kernel: Any) -> float:
    """‖ZZᵀ - K‖ / ‖K‖ in the Frobenius norm, block by block."""
    difference = total = 0.0
    for start in range(0, len(X), 1000):
        K = kernel(X[start : start + 1000], X).astype(np.float64)
        difference += float(np.sum((Z[start : start + 1000].astype(np.float64) @ Z.T - K) ** 2))
        total += float(np.sum(K**2))
    return (difference / total) ** 0.5


def measure(name: str, make: Callable[[], Any], X: np.ndarray, kernel: Any) -> tuple[str, ...]:
    (time,) = seconds(lambda: make().fit_transform(X), repeats=5)
    return name, f"{error(make().fit_transform(X), X, kernel):.1e}", f"{time:.3f}"


def gaussian(X: np.ndarray) -> None:
    kernel = zonal.Gaussian("median").resolve(X)
    gamma = 1 / (2 * kernel.bandwidth**2)
    ours = {"kernel": kernel, "n_components": WIDTH, "random_state": 0}
    theirs = {"gamma": gamma, "n_components": WIDTH, "random_state": 0}
    methods: list[tuple[str, Callable[[], Any]]] = [
        ("GegenbauerFeatures", lambda: zonal.GegenbauerFeatures(**ours)),
        ("FourierFeatures", lambda: zonal.FourierFeatures(**ours)),
        ("FourierFeatures, orthogonal", lambda: zonal.FourierFeatures(**ours, orthogonal=True)),
        ("ModifiedFourierFeatures", lambda: zonal.ModifiedFourierFeatures(**ours)),
        ("FastFoodFeatures", lambda: zonal.FastFoodFeatures(**ours)),
        ("MaclaurinFeatures", lambda: zonal.MaclaurinFeatures(**ours)),
        ("PolySketchFeatures", lambda: zonal.PolySketchFeatures(**ours)),
        ("NystroemFeatures, recursive", lambda: zonal.NystroemFeatures(**ours)),
        ("NystroemFeatures, uniform", lambda: zonal.NystroemFeatures(**ours, sampling="uniform")),
        (
            "NystroemFeatures, rpcholesky",
            lambda: zonal.NystroemFeatures(**ours, sampling="rpcholesky"),
        ),
        ("scikit-learn RBFSampler", lambda: RBFSampler(**theirs)),
        ("scikit-learn Nystroem", lambda: Nystroem(kernel="rbf", **theirs)),
    ]
    print(f"\nGaussian kernel, median bandwidth {kernel.bandwidth:.3g}\n")
    rows = [measure(name, make, X, kernel) for name, make in methods]
    print(table(rows, ("features", "relative error", "seconds")))


def polynomial(X: np.ndarray) -> None:
    kernel = zonal.Polynomial(3, gamma=1 / float(np.mean(np.sum(X**2, axis=1))))
    ours = {"kernel": kernel, "n_components": WIDTH, "random_state": 0}
    methods: list[tuple[str, Callable[[], Any]]] = [
        ("GegenbauerFeatures", lambda: zonal.GegenbauerFeatures(**ours)),
        ("MaclaurinFeatures", lambda: zonal.MaclaurinFeatures(**ours)),
        ("PolySketchFeatures", lambda: zonal.PolySketchFeatures(**ours)),
        (
            "scikit-learn PolynomialCountSketch",
            lambda: PolynomialCountSketch(
                degree=3, gamma=kernel.gamma, coef0=1, n_components=WIDTH, random_state=0
            ),
        ),
    ]
    print("\nPolynomial kernel of degree 3\n")
    rows = [measure(name, make, X, kernel) for name, make in methods]
    print(table(rows, ("features", "relative error", "seconds")))


def fastfood() -> None:
    X = np.random.default_rng(0).standard_normal((2000, 1024)).astype(np.float32) / 32
    kwargs = {"kernel": zonal.Gaussian(1.0), "n_components": 8192, "random_state": 0}
    fast = zonal.FastFoodFeatures(**kwargs).fit(X)
    dense = zonal.FourierFeatures(**kwargs).fit(X)
    quick, slow = seconds(lambda: fast.transform(X), lambda: dense.transform(X))
    print("\n## Walsh–Hadamard: d = 1,024, D = 8,192, 2,000 rows\n")
    rows = [
        ("FastFoodFeatures.transform", f"{quick:.3f} s", ""),
        ("FourierFeatures.transform", f"{slow:.3f} s", ""),
        ("ratio", f"{quick / slow:.2f}", "≤ 1, " + ("met" if quick <= slow else "not met")),
    ]
    print(table(rows, ("what", "measured", "goal")))


def main() -> None:
    for name, load in (("elevation", elevation), ("climate", climate), ("protein", protein)):
        X = load()
        print(f"\n## {name}: {len(X):,} rows, {X.shape[1]} columns, D = {WIDTH:,}, float32")
        gaussian(X)
        polynomial(X)
    fastfood()


if __name__ == "__main__":
    main()
