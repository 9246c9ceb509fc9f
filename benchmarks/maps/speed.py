"""python -m benchmarks.maps.speed: seconds of predict_grid at 0.25° (1,038,240 cells)."""

import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
from sklearn.pipeline import make_pipeline

import zonal
from zonal.polynomials import to_sphere

from ..measure import table
from .data import load

RESULTS = Path(__file__).parents[1] / "results" / "maps_speed.md"
STEP = 0.25


def seconds(function: Any) -> float:
    """Return the seconds of the processor that a call takes, for each of the threads.

    Which is how long it takes where nothing else runs, if the threads have the same to do.
    """
    start = time.process_time()
    function()
    return (time.process_time() - start) / numba.get_num_threads()


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
    start = time.process_time()
    Z = features.transform(X)
    plain = time.process_time() - start
    start = time.process_time()
    shared = _shared(features, lat, lon)
    return plain, time.process_time() - start, float(np.abs(Z - shared).max())


def _features() -> Any:
    harmonics = zonal.HarmonicFeatures(zonal.Matern(1.5, 0.5), 1024)
    return make_pipeline(zonal.SphereEncoder(), harmonics)


def _points(rng: np.random.Generator) -> np.ndarray:
    points = rng.standard_normal((200, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def _shared(features: Any, lat: np.ndarray, lon: np.ndarray) -> np.ndarray:
    """Features by separation of variables: a harmonic is P(φ) cos kλ or P(φ) sin kλ.

    Its values on two meridians give P, those along a parallel (one where it is large) the rest.
    """
    parallels = np.linspace(lat[0], lat[-1], 12)
    along = np.stack([features.transform(to_sphere(np.full(len(lon), p), lon)) for p in parallels])
    best = np.abs(along).max(axis=1).argmax(axis=0)
    columns = np.arange(along.shape[2])
    rest = along[best, :, columns].T  # [n_lon, D]
    profile = np.zeros((len(lat), len(columns)))
    size = np.zeros(len(columns))
    for meridian in (0.0, 1.0):
        here = features.transform(to_sphere(lat, np.full(len(lat), meridian)))
        at = features.transform(to_sphere(parallels, np.full(12, meridian)))[best, columns]
        larger = np.abs(at) > size
        profile[:, larger] = here[:, larger] / at[larger]
        size = np.maximum(size, np.abs(at))
    return (profile[:, None, :] * rest[None, :, :]).reshape(-1, len(columns))


def main() -> None:
    """Run and write the table."""
    places, y = load("coads")
    rows = []
    both = {"features": _features(), "local": zonal.NeighborKriging()}
    for name, options in (
        ("`KernelRidge()`: everything chosen", {}),
        ("features and a local part", both),
    ):
        model = zonal.KernelRidge(random_state=0, **options).fit(places, y)
        zonal.predict_grid(model, resolution=20)  # compile
        took = seconds(lambda model=model: zonal.predict_grid(model, resolution=STEP))
        width = f"{model.n_columns_:,}"
        local = "none" if model.local_ is None else f"{model.local_.n_neighbors_} neighbours"
        rows.append((name, width, local, f"{took:.1f}"))
        print(*rows[-1], sep=" | ", flush=True)
    header = ("model of COADS, July", "features", "local part", "seconds")
    plain, shared, error = harmonics_of_rows(1.0)
    cores = numba.get_num_threads()
    text = (
        f"# Speed of `predict_grid`\n\n`python -m benchmarks.maps.speed`, {cores} thread(s), "
        "0.25°: 1,038,240 cells with prediction, standard deviation and interval. Seconds of the "
        "processor for each thread, since the machine had other work.\n\n"
        f"{table(rows, header)}\n\nHarmonic features of a grid of 43,200 cells, 1,024 columns: "
        f"{plain:.2f} s cell by cell, {shared:.2f} s if rows of equal latitude share their "
        f"Legendre part (largest difference {error:.0e}).\n"
    )
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
