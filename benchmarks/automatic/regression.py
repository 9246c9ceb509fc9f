"""KernelRidge(features="auto") beside single methods at their own best bandwidth.

The paper's other methods (FastFood, Maclaurin, PolySketch) are in its Table 2, benchmarks.paper.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler

import zonal
from zonal.features import Standardizer
from zonal.kernels.bandwidth import median_distance

from .data import load, split

WIDTH = 1024
FACTORS = (2.0, 1.0, 0.5, 0.25, 0.12, 0.06, 0.03)
REST_FACTORS = (2.0, 0.7)
PILOT = 10_000
#: Errors that the automatic choice should stay below.
GOALS = {"elevation": 0.37, "climate_berkeley": 7.9, "co2": 0.50, "protein": 17.3}
HEADER = ("data", "method", "test MSE", "over the best single", "goal", "chosen")
COST_HEADER = ("data", "training rows", "choice, s", "final fit, s", "allowed, s")

Make = Callable[[float], Any]
SEEDED: dict[str, Any] = {"n_components": WIDTH, "random_state": 0}


def methods(A: Any, sphere: bool) -> Iterator[tuple[str, Make, tuple[float, ...]]]:
    """Name, feature map of a bandwidth, bandwidths."""
    bandwidths = tuple(factor * median_distance(A) for factor in FACTORS)
    gaussian, matern = zonal.Gaussian, lambda s: zonal.Matern(1.5, s)
    plain: dict[str, Make] = {
        "scikit-learn RBFSampler": lambda s: RBFSampler(gamma=0.5 / s**2, **SEEDED),
        "scikit-learn Nystroem": lambda s: Nystroem(gamma=0.5 / s**2, **SEEDED),
        "Fourier, orthogonal": lambda s: zonal.FourierFeatures(
            gaussian(s), orthogonal=True, **SEEDED
        ),
        "Gegenbauer": lambda s: zonal.GegenbauerFeatures(gaussian(s), **SEEDED),
        "harmonic": lambda s: zonal.HarmonicFeatures(gaussian(s), WIDTH),
        "harmonic, Matérn 3/2": lambda s: zonal.HarmonicFeatures(matern(s), WIDTH),
        "Nyström, recursive": lambda s: zonal.NystroemFeatures(
            gaussian(s), sampling="recursive", **SEEDED
        ),
        "Nyström, Matérn 3/2": lambda s: zonal.NystroemFeatures(
            matern(s), sampling="uniform", **SEEDED
        ),
    }
    for name, make in plain.items():
        yield name, make, bandwidths
    if sphere:
        scales = median_distance(A[:, :3]), median_distance(A[:, 3:])
        for name, kernel in (("product", gaussian), ("product, Matérn 3/2", matern)):
            for rest in REST_FACTORS:

                def product(factor: float, kernel: Any = kernel, rest: float = rest) -> Any:
                    groups = (
                        ([0, 1, 2], factor * scales[0]),
                        (list(range(3, A.shape[1])), rest * scales[1]),
                    )
                    return zonal.ProductFeatures(
                        [(c, zonal.HarmonicFeatures(kernel(s), WIDTH)) for c, s in groups], WIDTH
                    )

                yield f"{name}, other columns {rest:g} × median", product, FACTORS


def cost(name: str) -> tuple[str, ...]:
    """A row of the table of seconds. Nothing else should run meanwhile."""
    train, _, y_train, _ = split(*load(name))
    start = time.perf_counter()
    model = zonal.KernelRidge(random_state=0).fit(train, y_train)
    whole = time.perf_counter() - start
    start = time.perf_counter()
    zonal.KernelRidge(model.features_, random_state=0).fit(train, y_train)
    final = time.perf_counter() - start
    allowed = max(30.0, final / 3)
    row = (name, f"{len(train):,}", f"{whole - final:.1f}", f"{final:.1f}", f"{allowed:.0f}")
    print(*row, sep=" | ", flush=True)
    return row


def errors(name: str) -> list[tuple[str, ...]]:
    """The rows of the table of errors."""
    train, test, y_train, y_test = split(*load(name))

    def error(model: Any, rows: Any) -> float:
        return float(np.mean((model.predict(rows) - y_test) ** 2))

    model = zonal.KernelRidge(random_state=0).fit(train, y_train)
    chosen = model.selection_[model.selection_["chosen"]].iloc[0]
    what = f"{chosen['kernel']}, {chosen['features']}" + (", metric" if chosen["metric"] else "")
    auto = error(model, test)
    print(name, f"{auto:.4g}", what, sep=" | ", flush=True)
    keep = () if name == "protein" else (0, 1, 2)
    scale = Standardizer(keep=keep).fit(train)
    A, B = scale.transform(train), scale.transform(test)
    part = np.random.default_rng(0).permutation(len(A))[:PILOT]
    singles = []
    for method, make, bandwidths in methods(A, sphere=A.shape[1] > 3 and bool(keep)):
        # Its own best bandwidth by the cross-validation error on training rows.
        _, best = min(_trials(make, bandwidths, A[part], y_train[part]))
        edge = " (edge of the grid)" if best in (bandwidths[0], bandwidths[-1]) else ""
        found = error(zonal.KernelRidge(make(best)).fit(A, y_train), B)
        singles.append((found, method, f"bandwidth {best:.3g}{edge}"))
        print(f"  {method}: {found:.4g} at {best:.3g}{edge}", flush=True)
    least = min(found for found, _, _ in singles)
    rows = [(name, "**auto**", f"{auto:.4g}", f"{auto / least:.3f}", f"{GOALS[name]:g}", what)]
    for found, method, choice in sorted(singles):
        rows.append((name, method, f"{found:.4g}", f"{found / least:.3f}", "", choice))
    return rows


def _trials(
    make: Make, bandwidths: tuple[float, ...], A: Any, y: Any
) -> Iterator[tuple[float, float]]:
    for bandwidth in bandwidths:
        model = zonal.KernelRidge(make(bandwidth)).fit(A, y)
        yield float(model.cv_results_["mean_test_mse"].min()), bandwidth
