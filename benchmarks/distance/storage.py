"""python -m benchmarks.distance.storage [names ...]: writes benchmarks/results/storage.md.

The same cells stored in several ways: latitudes or rows the other way round, axes exchanged,
chunks of Dask, rows of a table in random orders. Grids are filled by `zonal.fill` with nothing set,
tables by `KernelRidge()`. The largest and the root mean square difference of filled values and of
their standard deviations from those of the first order are in units of the standard deviation of
what is filled. Deviations of
climate_berkeley are of the version that sampled queries by their numbers, and not measured again.
Results are kept in storage.json, so that parts can be run one by one.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import zonal

from ..measure import table
from .data import coads, coads_axes, elevation, forecast, gaps

KEPT = Path(__file__).parents[1] / "results" / "storage.json"
HEADER = ("data", "stored", "largest difference", "root mean square", "of deviations, largest",
          "CPU s")  # fmt: skip
# Cells of 2° of the elevation, so that each order takes seconds.
STEP = 2


def _elevation() -> xr.DataArray:
    """Heights on every other degree, without a tenth of the blocks of 10°."""
    found = elevation("blocks")
    lat = np.degrees(np.arcsin(np.clip(found.X[:, 2], -1, 1))).round(3)
    lon = (np.degrees(np.arctan2(found.X[:, 1], found.X[:, 0])) % 360).round(3)
    lats, row = np.unique(lat, return_inverse=True)
    lons, column = np.unique(lon, return_inverse=True)
    cells = np.full((len(lats), len(lons)), np.nan)
    cells[row.ravel(), column.ravel()] = np.where(found.asked, np.nan, found.y)
    return xr.DataArray(cells, {"lat": lats, "lon": lons})[::STEP, ::STEP]


def _coads() -> xr.DataArray:
    """Sea surface temperatures of July without 50° × 50°; land stays empty."""
    field, (lat, lon) = coads(), coads_axes()
    hole = np.zeros(field.cells.shape, bool)
    hole[field.known] = field.task.asked
    return xr.DataArray(np.where(hole, np.nan, field.cells), {"lat": lat, "lon": lon})


def _climate() -> xr.DataArray:
    """Temperatures of July over land, without every fifth place."""
    with np.load(Path(__file__).parents[1] / "data" / "climate_berkeley.npz") as data:
        X, y = data["X"].astype(float), data["y"].astype(float)
    july = X[:, 2] == 7
    lats, row = np.unique(X[july, 0], return_inverse=True)
    lons, column = np.unique(X[july, 1], return_inverse=True)
    cells = np.full((len(lats), len(lons)), np.nan)
    cells[row.ravel(), column.ravel()] = y[july]
    drawn = np.random.default_rng(0).random(cells.shape) < 0.2
    return xr.DataArray(np.where(drawn, np.nan, cells), {"lat": lats, "lon": lons})


GRIDS: dict[str, Callable[[], xr.DataArray]] = {
    "elevation at 2°": _elevation,
    "COADS July": _coads,
    "climate_berkeley, July": _climate,
}
STORED: dict[str, Callable[[xr.DataArray], Any]] = {
    "as it comes": lambda cells: cells,
    "latitudes the other way round": lambda cells: cells[::-1],
    "axes exchanged": lambda cells: cells.T,
    "chunks of 40 × 50": lambda cells: cells.chunk({"lat": 40, "lon": 50}),
}


def _filled(cells: xr.DataArray, how: str) -> tuple[np.ndarray, np.ndarray]:
    found = zonal.fill(STORED[how](cells)).compute()
    like = found.transpose("lat", "lon").reindex_like(cells)
    hole = np.isnan(cells.to_numpy())
    return like["prediction"].to_numpy()[hole], like["std"].to_numpy()[hole]


def _slice() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places and values of one time of `kaust_2a_1`, and a fifth of the places to ask for."""
    found = forecast(1)
    X, y = found.X[~found.asked], found.y[~found.asked]
    times, counts = np.unique(X[:, 2], return_counts=True)
    mine = X[:, 2] == times[counts.argmax()]
    asked = np.random.default_rng(0).random(mine.sum()) < 0.2
    return X[mine][~asked][:, :2], y[mine][~asked], X[mine][asked][:, :2]


def _simulated() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A third of the known cells of the simulated field, and some of those asked for."""
    found = gaps()
    known, asked = np.flatnonzero(~found.asked)[::3], np.flatnonzero(found.asked)[::10]
    return found.X[known], found.y[known], found.X[asked]


TABLES = {"simulated field, a third": _simulated, "kaust_2a_1, one time": _slice}
ORDERS = ("as it comes", "the other way round", "random order 1", "random order 2")


def _predicted(rows: Any, how: str) -> tuple[np.ndarray, np.ndarray]:
    X, y, asked = rows
    order = np.arange(len(y))[:: -1 if how == "the other way round" else 1]
    if how.startswith("random"):
        order = np.random.default_rng(int(how[-1])).permutation(len(y))
    model = zonal.KernelRidge(random_state=0).fit(X[order], y[order])
    mean, std = model.predict(asked, return_std=True)
    return mean, std


def run(load: Callable[[], Any], answer: Callable[..., Any], orders: Any) -> dict[str, Any]:
    """Return the differences of what is filled, by the order of storage."""
    data, first, found = load(), None, {}
    for how in orders:
        start = time.process_time()
        mean, std = answer(data, how)
        first = (mean, std) if first is None else first
        unit, apart = first[0].std(), np.abs(mean - first[0])
        found[how] = {
            "largest": float(apart.max() / unit),
            "rms": float(np.sqrt(np.mean(apart**2)) / unit),
            "std": float(np.abs(std - first[1]).max() / unit),
            "seconds": time.process_time() - start,
        }
    return found


def main() -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="the data whose title has one of these in it")
    names = parser.parse_args().names
    tasks = {title: (load, _filled, STORED) for title, load in GRIDS.items()}
    tasks |= {title: (load, _predicted, ORDERS) for title, load in TABLES.items()}
    for title, task in tasks.items():
        if names and not any(name in title for name in names):
            continue
        found = run(*task)
        known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        known[title] = found
        known = {one: known[one] for one in tasks if one in known}
        KEPT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
        lines = [
            (one, how, *(f"{part[key]:.2g}" for key in ("largest", "rms", "std")),
             f"{part['seconds']:.1f}")
            for one, parts in known.items()
            for how, part in parts.items()
        ]  # fmt: skip
        about = "# The order of storage\n\n" + (__doc__ or "").split("\n\n", 1)[1]
        KEPT.with_suffix(".md").write_text(f"{about}\n{table(lines, HEADER)}\n")
        print(title, found, flush=True)


if __name__ == "__main__":
    main()
