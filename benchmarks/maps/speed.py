"""python -m benchmarks.maps.speed: seconds of predict_grid at 0.25° (1,038,240 cells)."""

import time
from pathlib import Path
from typing import Any

import numpy as np

import zonal
from zonal.polynomials import to_sphere

from ..measure import table
from .data import load

RESULTS = Path(__file__).parents[1] / "results" / "maps_speed.md"
STEP = 0.25


def seconds(function: Any) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def harmonics_of_rows(step: float) -> tuple[float, float, float]:
    """Seconds of harmonic features of a grid: point by point, and with the sharing of latitudes.

    Rows of equal latitude share the Legendre part; what is left is an outer product with cosines
    and sines of the longitudes. The last number is the largest difference.
    """
    lat, lon = np.arange(-60, 60, step), np.arange(-180, 180, step)
    features = zonal.HarmonicFeatures(zonal.Gaussian(0.15), 1024, center=False)
    rng = np.random.default_rng(0)
    features.fit(_points(rng))
    grid = np.meshgrid(lat, lon, indexing="ij")
    X = to_sphere(grid[0].ravel(), grid[1].ravel())
    features.transform(X[:100])
    start = time.perf_counter()
    Z = features.transform(X)
    plain = time.perf_counter() - start
    start = time.perf_counter()
    shared = _shared(features, lat, lon)
    return plain, time.perf_counter() - start, float(np.abs(Z - shared).max())


def _points(rng: np.random.Generator) -> np.ndarray:
    points = rng.standard_normal((200, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def _shared(features: Any, lat: np.ndarray, lon: np.ndarray) -> np.ndarray:
    """Features by separation of variables: z(φ, λ) = Σ over two meridians of cos and sin."""
    # A harmonic of order k is P(φ) cos kλ or P(φ) sin kλ: its values at two longitudes tell P,
    # and its values along one parallel tell the function of λ.
    base = features.transform(to_sphere(np.full(len(lon), 37.0), lon))
    column = features.transform(to_sphere(lat, np.full(len(lat), 0.0)))
    quarter = features.transform(to_sphere(lat, np.full(len(lat), 1.0)))
    at = features.transform(to_sphere([37.0, 37.0], [0.0, 1.0]))
    use = np.abs(at[0]) > np.abs(at[1])
    profile = np.where(use, column, quarter) / np.where(use, at[0], at[1])
    return (profile[:, None, :] * base[None, :, :]).reshape(-1, base.shape[1])


def main() -> None:
    """Run and write the table."""
    places, y = load("elevation")
    rows = []
    for name, options in (
        ("`KernelRidge()`: everything chosen", {}),
        ("128 features and a local part", {"budget": 128, "local": zonal.NeighborKriging()}),
        ("features alone", {"local": None}),
    ):
        model = zonal.KernelRidge(random_state=0, **options).fit(places, y)
        zonal.predict_grid(model, resolution=20)  # compile
        took = seconds(lambda model=model: zonal.predict_grid(model, resolution=STEP))
        lazy = seconds(
            lambda model=model: zonal.predict_grid(
                model, resolution=STEP, chunks={"lat": 64}
            ).compute()
        )
        width = f"{model.n_columns_:,}"
        local = "none" if model.local_ is None else f"{model.local_.n_neighbors_} neighbours"
        rows.append((name, width, local, f"{took:.1f}", f"{lazy:.1f}"))
        print(*rows[-1], sep=" | ", flush=True)
    header = ("model of elevation", "features", "local part", "in memory, s", "in chunks, s")
    plain, shared, error = harmonics_of_rows(1.0)
    text = (
        "# Speed of `predict_grid`\n\n`python -m benchmarks.maps.speed`, two cores, 0.25°: "
        "1,038,240 cells with prediction, standard deviation and interval.\n\n"
        f"{table(rows, header)}\n\nHarmonic features of a grid of 43,200 cells, 1,024 columns: "
        f"{plain:.2f} s cell by cell, {shared:.2f} s if rows of equal latitude share their "
        f"Legendre part (largest difference {error:.0e}).\n"
    )
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
