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
LIMIT, STEP, LATITUDES = 400 << 20, 0.05, 60


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


def fill(source: Path, target: Path, model: Any) -> None:
    """Fit a model to the cells of a file that are left, and fill the others."""
    with xr.open_dataset(source, chunks={"lat": LATITUDES}) as whole:
        field = whole["prediction"]
        holes = (np.floor(field.lat / 7) + np.floor(field.lon / 7)) % 5 == 0
        zonal.fill(field.where(~holes), model=model).to_netcdf(target)


def main(step: float = STEP) -> None:
    """Run and write the table."""
    places, y = load("coads")
    features = make_pipeline(zonal.SphereEncoder(), zonal.HarmonicFeatures(zonal.Gaussian(0.5), 64))
    empty = zonal.KernelRidge(features, 1e-3, local=None)
    model = zonal.KernelRidge(features, 1e-3, local=None).fit(places, y)
    chunks = {"lat": LATITUDES}
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder, "one.nc"), Path(folder, "other.nc")
        zonal.predict_grid(model, resolution=2, chunks=chunks).to_netcdf(one)  # compile
        fill(one, other, empty)
        limit_memory(LIMIT)
        try:
            zonal.predict_grid(model, resolution=step)
        except MemoryError:
            pass
        else:
            raise SystemExit(f"A grid of {step}° fits into the limit: take a smaller step.")
        whole = zonal.predict_grid(model, resolution=step, chunks=chunks)
        rows = [
            ("`predict_grid(..., chunks=...)`, written", *measured(lambda: whole.to_netcdf(one))),
            (
                "`fill` of the file: fitted, filled, written",
                *measured(lambda: fill(one, other, empty)),
            ),
        ]
    cells = whole["prediction"].size
    text = (
        "# A grid larger than memory\n\n`python -m benchmarks.maps.memory`: "
        f"{step}°, {cells:,} cells with prediction, standard deviation and interval, "
        f"{whole.nbytes / 1e6:,.0f} MB, in chunks of {LATITUDES} latitudes. The system lets the "
        f"process have {LIMIT / 1e6:.0f} MB more than it has after the first small grid "
        "(RLIMIT_DATA); without chunks it ends in a MemoryError. The model has 64 harmonics and "
        f"no local part.\n\n{table(rows, ('', 'seconds', 'peak memory added, MB'))}\n"
    )
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
