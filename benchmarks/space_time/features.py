"""python -m benchmarks.space_time.features: features of kernels of space and time, beside Nyström.

Writes results/space_time_features.md.
"""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import zonal

from ..measure import table

HERE = Path(__file__).parents[1]
RESULTS = HERE / "results" / "space_time_features.md"
N_TRAINING, N_TEST, N_EXACT = 10_000, 4_000, 1_500
MAPS = {"Harmonic": zonal.HarmonicFeatures, "Nyström": zonal.NystroemFeatures}


def cases() -> list[tuple[str, Any, Any, Any, Any]]:
    """Return name, rows [place, time], targets, and the kernels of space and of time."""
    rng = np.random.default_rng(0)
    n = N_TRAINING + N_TEST
    latitude, longitude = np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)
    place, when = zonal.datasets.to_sphere(latitude, longitude), rng.uniform(0, 12, n)
    field = np.sin(4 * place[:, 0] + when / 2) * np.cos(3 * place[:, 2] - when / 3)
    found: list[tuple[str, Any, Any, Any, Any]] = [
        (
            "globe and times, uniform",
            np.column_stack([place, when]),
            field + 0.1 * rng.standard_normal(n),
            zonal.Matern(1.5, 0.5),
            zonal.Matern(1.5, 4.0),
        )
    ]
    for name, space, in_time in (
        ("climate_berkeley", zonal.Matern(1.5, 0.5), zonal.Periodic(12.0, 1.0)),
        ("kaust_2a_9", zonal.Matern(1.5, 0.2), zonal.Cauchy(50.0)),
    ):
        data = np.load(HERE / "data" / f"{name}.npz")
        chosen = rng.permutation(len(data["X"]))[:n]
        X, y = data["X"][chosen].astype(np.float64), data["y"][chosen].astype(np.float64).ravel()
        if name == "climate_berkeley":
            X = np.column_stack([zonal.datasets.to_sphere(X[:, 0], X[:, 1]), X[:, 2]])
        found.append((name, X, y, space, in_time))
    return found


def main() -> None:
    """Measure and write the table."""
    warnings.simplefilter("ignore")
    lines = []
    for name, X, y, space, in_time in cases():
        X, X_test = X[:N_TRAINING], X[N_TRAINING:]
        y, y_test = y[:N_TRAINING], y[N_TRAINING:]
        for beta in (0.0, 0.6):
            kernel = zonal.SpaceTime(space, in_time, beta)
            exact = kernel(X_test[:N_EXACT])
            for width in (256, 1024):
                for label, kind in MAPS.items():
                    kind(kernel, 32, random_state=0).fit(X[:500]).transform(X[:10])  # compiles
                    start = time.process_time()
                    features = kind(kernel, width, random_state=0).fit(X)
                    fitted = time.process_time()
                    Z = features.transform(X_test)
                    done = time.process_time()
                    few = Z[:N_EXACT]
                    error = np.linalg.norm(few @ few.T - exact) / np.linalg.norm(exact)
                    model = zonal.KernelRidge(kind(kernel, width, random_state=0), local=None)
                    off = model.fit(X, y).predict(X_test) - y_test
                    line = (name, f"{beta:g}", f"{width:,}", label, f"{error:.2g}")
                    rmse = np.sqrt(np.mean(np.square(off)))
                    per_row = 1e6 * (done - fitted) / N_TEST
                    line += (f"{rmse:.3g}", f"{fitted - start:.2f}", f"{per_row:.1f}")
                    lines.append(line)
                    print(*line, sep=" | ", flush=True)
    text = (
        "# Features of kernels of space and time\n\n`OMP_NUM_THREADS=1 python -m "
        "benchmarks.space_time.features`: `SpaceTime(space, time, β)` with `HarmonicFeatures` and "
        f"`NystroemFeatures` of the same width, {N_TRAINING:,} training rows, parameters given "
        "and not found. Error: ‖Z Zᵀ - K‖ / ‖K‖ (Frobenius) of "
        f"{N_EXACT:,} other rows; RMSE: that of `KernelRidge(features, local=None)` on "
        f"{N_TEST:,} other rows; CPU seconds of a fit, microseconds of a row.\n\n"
    )
    header = ("rows", "β", "columns", "map", "error", "RMSE", "fit, s", "a row, µs")
    RESULTS.write_text(text + table(lines, header) + "\n")


if __name__ == "__main__":
    main()
