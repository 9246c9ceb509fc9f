"""python -m benchmarks.ntk: features of Neural Tangent kernels, in results/ntk.md."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import zonal

from .measure import table

RESULTS = Path(__file__).parent / "results" / "ntk.md"
N_ROWS, WIDTHS, DEPTHS, SEEDS = 1000, (512, 2048), (2, 3), (0, 1, 2)
MAPS = {
    "NTK": zonal.NTKFeatures,
    "Gegenbauer": zonal.GegenbauerFeatures,
    "Harmonic": zonal.HarmonicFeatures,
    "Nyström": zonal.NystroemFeatures,
}


def rows() -> dict[str, np.ndarray]:
    """Normal rows of 64 and 256 columns, and images of digits with 64 pixels."""
    rng = np.random.default_rng(0)
    made = {f"normal, d = {dim}": rng.standard_normal((N_ROWS, dim)) for dim in (64, 256)}
    digits = load_digits().data[:N_ROWS]
    return {**made, "digits, d = 64": digits - digits.mean(axis=0)}


def error(label: str, kernel: Any, X: np.ndarray, K: np.ndarray, width: int) -> str:
    """‖Z Zᵀ - K‖ / ‖K‖, the mean over the seeds."""
    if label == "Nyström" and width >= len(X):
        return "–"
    found = []
    for seed in SEEDS:
        Z = MAPS[label](kernel, width, random_state=seed).fit_transform(X)
        found.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
        if label == "Harmonic":
            break  # nothing is drawn
    return f"{np.mean(found):.2g}"


def main() -> None:
    """Measure and write the table."""
    warnings.simplefilter("ignore")
    lines = []
    for name, X in rows().items():
        for depth in DEPTHS:
            kernel = zonal.NTK(depth)
            K = np.asarray(kernel(X))
            for width in WIDTHS:
                cells = (error(label, kernel, X, K, width) for label in MAPS)
                lines.append((name, str(depth), f"{width:,}", *cells))
                print(*lines[-1], sep=" | ", flush=True)
    header = ("rows", "depth", "columns", *MAPS)
    text = (
        "# Neural Tangent kernels in many columns\n\n`python -m benchmarks.ntk`: ‖Z Zᵀ - K‖ / ‖K‖ "
        f"(Frobenius) of {N_ROWS:,} rows, mean over {len(SEEDS)} seeds.\n\n"
    )
    RESULTS.write_text(text + table(lines, header) + "\n")


if __name__ == "__main__":
    main()
