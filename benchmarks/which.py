"""python -m benchmarks.which: errors of all maps by kernel and dimension, in results/which.md."""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import zonal
from zonal.evaluation import relative_error

from .measure import table

RESULTS = Path(__file__).parent / "results" / "which.md"
N_ROWS, WIDTH = 1200, 512
MAPS = {
    "Harmonic": zonal.HarmonicFeatures,
    "Gegenbauer": zonal.GegenbauerFeatures,
    "Nyström": zonal.NystroemFeatures,
    "Fourier": zonal.FourierFeatures,
    "Maclaurin": zonal.MaclaurinFeatures,
    "PolySketch": zonal.PolySketchFeatures,
    "TensorSketch": zonal.TensorSketchFeatures,
    "Adaptive Sketch": zonal.AdaptiveSketchFeatures,
    "Spherical": zonal.SphericalFeatures,
    "ReLU": zonal.ReLUFeatures,
    "NTK": zonal.NTKFeatures,
}


def words(rng: np.random.Generator, dim: int) -> Any:
    """Sparse rows of thirty words each, whose frequencies fall like those of a text."""
    ranks = 1 / np.arange(1, dim + 1)
    columns = rng.choice(dim, (N_ROWS, 30), p=ranks / ranks.sum())
    starts = np.arange(0, columns.size + 1, 30)
    rows = sp.csr_array((np.ones(columns.size), columns.ravel(), starts), shape=(N_ROWS, dim))
    rows.sum_duplicates()
    norms = np.sqrt(rows.multiply(rows).sum(axis=1))
    return sp.csr_array(rows.multiply(1 / np.asarray(norms).reshape(-1, 1)))


def cases() -> list[tuple[str, Any, Any]]:
    """Name of the rows, rows, kernel."""
    rng = np.random.default_rng(0)
    found: list[tuple[str, Any, Any]] = []
    high = zonal.Polynomial(10, gamma=0.5, coef0=0.5)
    for dim in (3, 9, 64):
        X = rng.standard_normal((N_ROWS, dim))
        U = X / np.linalg.norm(X, axis=1, keepdims=True)
        found += [(f"d = {dim}", X, zonal.Gaussian("median").resolve(X))]
        found += [(f"d = {dim}", X, zonal.ArcCosine(1)), (f"d = {dim}", X, zonal.NTK(2))]
        found += [(f"unit, d = {dim}", U, high)]
    text = words(rng, 10_000)
    found += [("words, d = 10,000", text, kernel) for kernel in (zonal.Gaussian(1.0), high)]
    return found


def main() -> None:
    """Measure and write the table."""
    warnings.simplefilter("ignore")
    rows = []
    for name, X, kernel in cases():
        for label, kind in MAPS.items():
            start = time.perf_counter()
            try:
                features = kind(kernel, WIDTH, random_state=0).fit(X)
                error = relative_error(features, X)
            except (ValueError, MemoryError):
                continue  # not for this kernel, or not in so many columns
            seconds = time.perf_counter() - start
            rows.append((name, str(kernel), label, f"{error:.2g}", f"{seconds:.2f}"))
            print(*rows[-1], sep=" | ", flush=True)
    text = (
        "# Which map for what\n\n`python -m benchmarks.which`: ‖Z Zᵀ - K‖ / ‖K‖ (Frobenius) of "
        f"{N_ROWS} rows with {WIDTH} features, one seed; seconds include compilation where a map "
        "is met for the first time. Rows are normal; words are sparse rows of thirty words of "
        "Zipf's frequencies, of norm one. Maps that are not for a kernel are left out.\n\n"
    )
    header = ("rows", "kernel", "map", "error", "s")
    RESULTS.write_text(text + table(rows, header) + "\n")


if __name__ == "__main__":
    main()
