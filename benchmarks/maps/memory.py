"""python -m benchmarks.maps.memory [step]: a grid larger than the memory that the process may have.

The limit is the system's (RLIMIT_DATA), so that a grid in memory fails; chunks must not.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from sklearn.pipeline import make_pipeline

import zonal

from ..measure import peak_memory, table
from .data import load

RESULTS = Path(__file__).parents[1] / "results" / "maps_memory.md"
LIMIT, STEP, LATITUDES, COLUMNS = 180 << 20, 0.1, 30, 16


def limit_memory(n_bytes: int) -> None:
    """Let the process have so much more memory than it has."""
    status = Path("/proc/self/status").read_text()
    now = int(status.split("VmData:")[1].split()[0]) << 10
    resource.setrlimit(resource.RLIMIT_DATA, (now + n_bytes, now + n_bytes))


def measured(function: Callable[[], Any]) -> tuple[str, str]:
    """Return seconds, and the memory added at the peak in MB."""
    start = time.perf_counter()
    peak = peak_memory(function)
    return f"{time.perf_counter() - start:.0f}", f"{peak / 1e6:.0f}"


def model() -> zonal.KernelRidge:
    """Few harmonics and no local part, not fitted."""
    harmonics = zonal.HarmonicFeatures(zonal.Gaussian(1.0), COLUMNS)
    features = make_pipeline(zonal.SphereEncoder(), harmonics)
    return zonal.KernelRidge(features, 1e-3, local=None)


def with_holes(grid: Any) -> Any:
    """A field of which a third is missing, in cells of 10°."""
    field = grid["prediction"].rename("sst")
    cell = np.floor(field["lat"] / 10) + np.floor(field["lon"] / 10)
    return field.where(cell % 3 > 0)


def main(step: float = STEP) -> None:
    """Run and write the table."""
    places, y = load("coads")
    fitted = model().fit(places, y)
    chunks = {"lat": LATITUDES}
    with tempfile.TemporaryDirectory() as folder:
        path, holes = Path(folder, "map.nc"), Path(folder, "holes.nc")
        few = zonal.predict_grid(fitted, resolution=2, chunks=chunks)
        zonal.fill(with_holes(few), model=model()).to_netcdf(path)  # compile
        with_holes(zonal.predict_grid(fitted, resolution=step, chunks=chunks)).to_netcdf(holes)
        limit_memory(LIMIT)
        try:
            zonal.predict_grid(fitted, resolution=step)
        except MemoryError:
            pass
        else:
            raise SystemExit(f"A grid of {step}° fits into the limit: take a smaller step.")
        whole = zonal.predict_grid(fitted, resolution=step, chunks=chunks)
        rows = [("predict_grid", *measured(lambda: whole.to_netcdf(path)))]
        with xr.open_dataset(holes, chunks=chunks) as file:
            rows.append(("fill", *measured(lambda: fill_file(file["sst"], path))))
    cells = whole["prediction"].size
    text = (
        "# A grid larger than memory\n\n`python -m benchmarks.maps.memory`: "
        f"`predict_grid(..., resolution={step}, chunks=...).to_netcdf(...)`, {cells:,} cells with "
        f"prediction, standard deviation and interval, {whole.nbytes / 1e6:,.0f} MB, in chunks of "
        f"{LATITUDES} latitudes; and `fill` of a file of as many cells, a third of them holes, "
        "fit included. The system lets the process have "
        f"{LIMIT / 1e6:.0f} MB more than it has after a first small grid (RLIMIT_DATA); without "
        "chunks it ends in a MemoryError. "
        f"The model has {COLUMNS} harmonics and no local part.\n\n"
        f"{table(rows, ('what', 'seconds', 'peak memory added, MB'))}\n"
    )
    RESULTS.write_text(text)
    print(text)


def fill_file(field: Any, path: Path) -> None:
    """Fit to the cells that have a value, predict the others, and write all of them."""
    zonal.fill(field, model=model()).to_netcdf(path)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
