"""KernelRidge(features="auto") beside single methods at their own best bandwidth.

D = 1,024, 90/10 split (seed 0). Writes results/automatic.md. Run: python -m benchmarks.automatic
[dataset …]; with --auto-only the single methods are left out.
"""

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split

import zonal
from zonal.features import Standardizer
from zonal.kernels.bandwidth import median_distance

from .measure import table

RESULT = Path(__file__).parent / "results" / "automatic.md"
WIDTH = 1024
FACTORS = (1.0, 0.5, 0.25, 0.12, 0.06)
GOALS = {"elevation": 0.37, "climate_berkeley": 7.9, "co2": 0.50, "protein": 17.3}


def load(name: str) -> tuple[Any, Any]:
    """Rows as a user has them: unit vectors, and time on an interval of length one."""
    X, y = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if name == "protein":
        return X, y
    place = zonal.datasets.to_sphere(X[:, 0], X[:, 1])
    if name == "elevation":
        return place, y / 1000
    time_ = (X[:, 2:] - X[:, 2:].min(axis=0)) / np.ptp(X[:, 2:], axis=0)
    return np.column_stack([place, time_]), np.log10(y) if name == "co2" else y


def singles(sigma: float) -> dict[str, Any]:
    kernel, gamma = zonal.Gaussian(sigma), 1 / (2 * sigma**2)
    seeded: dict[str, Any] = {"n_components": WIDTH, "random_state": 0}
    return {
        "RBFSampler": RBFSampler(gamma=gamma, **seeded),
        "Nystroem": Nystroem(gamma=gamma, **seeded),
        "Gegenbauer": zonal.GegenbauerFeatures(kernel, **seeded),
        "harmonic": zonal.HarmonicFeatures(kernel, WIDTH),
        "harmonic, Matern 3/2": zonal.HarmonicFeatures(zonal.Matern(1.5, sigma), WIDTH),
        "Nyström, Matern 3/2": zonal.NystroemFeatures(
            zonal.Matern(1.5, sigma), sampling="uniform", **seeded
        ),
    }


def run(name: str, auto_only: bool) -> list[tuple[str, ...]]:
    X, y = load(name)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.1, random_state=0)

    def error(model: Any, rows: Any = test) -> float:
        return float(np.mean((model.predict(rows) - y_test) ** 2))

    start = time.perf_counter()
    model = zonal.KernelRidge(random_state=0).fit(train, y_train)
    whole = time.perf_counter() - start
    start = time.perf_counter()
    again = zonal.KernelRidge(model.features_, random_state=0).fit(train, y_train)
    final = time.perf_counter() - start
    chosen = model.selection_[model.selection_["chosen"]].iloc[0]
    what = f"{chosen['kernel']}, {chosen['features']}" + (", metric" if chosen["metric"] else "")
    rows = [
        (name, "auto", f"{error(model):.4g}", f"{GOALS[name]:g}", what),
        (name, "choice / final fit, s", f"{whole - final:.0f} / {final:.1f}", "30", ""),
    ]
    print(rows, f"{error(again):.4g}", flush=True)
    if auto_only:
        return rows
    scale = Standardizer(keep=() if name == "protein" else (0, 1, 2)).fit(train)
    A, B = scale.transform(train), scale.transform(test)
    median = median_distance(A)
    for method in singles(1.0):
        # Its own best bandwidth by the cross-validation error on the training rows.
        trials = []
        for factor in FACTORS:
            single = zonal.KernelRidge(singles(factor * median)[method]).fit(A, y_train)
            trials.append((single.cv_results_["mean_test_mse"].min(), factor, single))
        _, factor, best = min(trials, key=lambda trial: trial[0])
        rows.append((name, method, f"{error(best, B):.4g}", "", f"{factor} × median"))
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(GOALS)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)
        for name in names:
            rows += run(name, "--auto-only" in sys.argv)
    text = table(rows, ("data", "method", "test MSE", "goal", "choice"))
    if set(names) == set(GOALS):
        RESULT.write_text(f"# The automatic choice\n\n`python -m benchmarks.automatic`\n\n{text}\n")
    print(text)


if __name__ == "__main__":
    main()
