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

from sklearn.pipeline import make_pipeline

import zonal

from ..measure import peak_memory, table
from .data import load

RESULTS = Path(__file__).parents[1] / "results" / "maps_memory.md"
LIMIT, STEP, LATITUDES, COLUMNS = 110 << 20, 0.125, 30, 16


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


def main(step: float = STEP) -> None:
    """Run and write the table."""
    places, y = load("coads")
    harmonics = zonal.HarmonicFeatures(zonal.Gaussian(1.0), COLUMNS)
    features = make_pipeline(zonal.SphereEncoder(), harmonics)
    model = zonal.KernelRidge(features, 1e-3, local=None).fit(places, y)
    chunks = {"lat": LATITUDES}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "map.nc")
        zonal.predict_grid(model, resolution=2, chunks=chunks).to_netcdf(path)  # compile
        limit_memory(LIMIT)
        try:
            zonal.predict_grid(model, resolution=step)
        except MemoryError:
            pass
        else:
            raise SystemExit(f"A grid of {step}° fits into the limit: take a smaller step.")
        whole = zonal.predict_grid(model, resolution=step, chunks=chunks)
        found = measured(lambda: whole.to_netcdf(path))
    cells = whole["prediction"].size
    text = (
        "# A grid larger than memory\n\n`python -m benchmarks.maps.memory`: "
        f"`predict_grid(..., resolution={step}, chunks=...).to_netcdf(...)`, {cells:,} cells with "
        f"prediction, standard deviation and interval, {whole.nbytes / 1e6:,.0f} MB, in chunks of "
        f"{LATITUDES} latitudes. The system lets the process have {LIMIT / 1e6:.0f} MB more than "
        "it has after a first small grid (RLIMIT_DATA); without chunks it ends in a MemoryError. "
        f"The model has {COLUMNS} harmonics and no local part.\n\n"
        f"{table([found], ('seconds', 'peak memory added, MB'))}\n"
    )
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
