"""Peak memory and seconds of ``zonal fit`` on a Parquet file of 1,000,000 rows.

The file is made here, block by block. Run: python -m benchmarks.cli_memory [rows]
It writes benchmarks/results/cli_memory.md.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet

from .measure import table

N, DIM, BLOCK = 1_000_000, 8, 100_000
GOAL = 1e9
OUT = Path(__file__).parent / "results" / "cli_memory.md"


def make(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    names = [f"x{number}" for number in range(DIM)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "y"]])
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, BLOCK):
            X = rng.standard_normal((min(BLOCK, n_rows - start), DIM))
            y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(len(X))
            writer.write_table(pa.table([*X.T, y], schema=schema))


def peak_of(command: list[str], cwd: Path) -> tuple[float, float]:
    """Peak resident bytes and seconds of a command with all processes that it starts."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL)
    root, peak = psutil.Process(process.pid), 0.0
    while process.poll() is None:
        peak = max(peak, _resident(root))
        time.sleep(0.01)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with exit code {process.returncode}.")
    # What the system has noted of the largest process alone; samples may miss a short peak.
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024.0
    return max(peak, largest), seconds


def _resident(root: psutil.Process) -> float:
    """Bytes of a process and its descendants; those that have just ended count nothing."""
    total = 0
    try:
        own = root.cmdline()
        total += root.memory_info().rss
        for process in root.children(recursive=True):
            # Between fork and exec a child still has its parent's command line and memory, which
            # would count twice. The line is read first: once it is new, so is the memory.
            if process.cmdline() != own:
                total += process.memory_info().rss
    except psutil.NoSuchProcess:
        return float(total)
    return float(total)


def main(n_rows: int = N) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make(place / "rows.parquet", n_rows)
        size = (place / "rows.parquet").stat().st_size
        script = str(Path(sys.executable).with_name("zonal"))
        command = [script, "fit", "rows.parquet", "--target", "y", "--components", "1024"]
        peak, seconds = peak_of([*command, "--out", "m.zonal", "--report", "r.html"], place)
    rows = [
        ("peak memory of all processes", f"{peak / 1e6:.0f} MB", f"≤ {GOAL / 1e6:.0f} MB"),
        ("seconds", f"{seconds:.0f}", ""),
    ]
    text = (
        f"# zonal fit: memory\n\n{n_rows:,} rows and {DIM} columns of float64 in a Parquet file of "
        f"{size / 1e6:.0f} MB; 1,024 features chosen automatically, with model and report "
        "(`python -m benchmarks.cli_memory`).\n\n"
        + table(rows, ("what", "measured", "goal"))
        + f"\n\nGoal met: {'yes' if peak <= GOAL else 'no'}.\n"
    )
    OUT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
