"""Peak memory and seconds of ``zonal fit`` on a Parquet file of 1,000,000 rows.

The file is made here, block by block. Run: python -m benchmarks.cli_memory [rows]
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from .measure import table

N, DIM, BLOCK = 1_000_000, 8, 100_000
GOAL = 1e9


def make(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    names = [f"x{number}" for number in range(DIM)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "y"]])
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, BLOCK):
            X = rng.standard_normal((min(BLOCK, n_rows - start), DIM))
            y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(len(X))
            writer.write_table(pa.table([*X.T, y], schema=schema))


def main(n_rows: int = N) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make(place / "rows.parquet", n_rows)
        script = Path(sys.executable).with_name("zonal")
        command = [script, "fit", "rows.parquet", "--target", "y", "--components", "1024"]
        start = time.perf_counter()
        subprocess.run(
            [*command, "--out", "m.zonal", "--report", "r.html"],
            cwd=place,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        verdict = "yes" if peak <= GOAL else "no"
        rows.append(("peak memory", f"{peak / 1e6:.0f} MB", f"≤ {GOAL / 1e6:.0f} MB", verdict))
        rows.append(("seconds", f"{seconds:.0f}", "", ""))
    print(f"zonal fit: {n_rows:,} rows, {DIM} columns in float64, 1,024 features, with report\n")
    print(table(rows, ("what", "measured", "goal", "met")))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
