"""The command line on one machine: a table of Parquet that is larger than the memory it takes.

Rows are those of `scale_parts`, written as a folder of files. Run: python -m
benchmarks.scale_memory [rows, by default 10,000,000]; writes results/scale_memory.md. The system
refuses the command more than a gigabyte of memory of its own (`RLIMIT_DATA`: all that it may write
and does not share; a limit of addresses would count files and code that are only mapped).
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from subprocess import run

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import zonal

from .measure import table, verdict
from .scale_parts import QUERIES, Rows, block, field

RESULT = Path(__file__).parent / "results" / "scale_memory.md"
NAMES = ("east", "north", "up")
LIMIT = 10**9


def written(n: int, folder: Path) -> int:
    """Write the rows, a file for each block; return their bytes as numbers."""
    folder.mkdir()
    for number, (X, y) in enumerate(Rows(n)):
        columns = {name: X[:, j] for j, name in enumerate(NAMES)} | {"height": y}
        pq.write_table(pa.table(columns), folder / f"part.{number}.parquet")
    return 8 * n * (len(NAMES) + 1)


def limited() -> None:
    """Limit the memory of the process that begins."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


def main(n: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, saved = Path(place) / "parts", Path(place) / "model.zonal"
        size = written(n, folder)
        command = [sys.executable, "-m", "zonal", "fit", str(folder), "--target", "height",
                   "--out", str(saved)]  # fmt: skip
        begin = time.perf_counter()
        run(command, check=True, preexec_fn=limited)
        wall, used = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        model = zonal.load(saved)
        X, _ = block(10**6, QUERIES)
        error = np.sqrt(np.mean((np.asarray(model.predict(_frame(X))) - field(X)) ** 2))
        local = "with a local part" if model.local_ is not None else "without a local part"
        on_disk = sum(file.stat().st_size for file in [saved, *saved.rglob("*")] if file.is_file())
    rows = [
        ("rows", f"{n:,}, {size / 1e6:.0f} MB of numbers", "", ""),
        ("model", f"{local}, {on_disk / 1e6:.0f} MB saved", "", ""),
        ("CPU of the command", f"{used.ru_utime + used.ru_stime:.0f} s", "", ""),
        (f"wall time, load {os.getloadavg()[0]:.0f}", f"{wall:.0f} s", "", ""),
        ("memory of its own, limited", f"{LIMIT / 1e9:g} GB", "finished", "yes"),
        verdict("peak memory of the command", used.ru_maxrss * 1024 / 1e9, 1.0, " GB"),
        ("RMSE, km", f"{error:.4f}", "", ""),
    ]
    text = [
        "# A table larger than the memory of a fit",
        "`zonal fit parts/ --target height`: random places on the sphere in files of Parquet, "
        "elevation with noise; a tenth of the rows is held out for the report, and the table is "
        "read four times. The system limits what the command may write and does not share "
        "(`RLIMIT_DATA`); the peak is `ru_maxrss`, in which pages of mapped files count too. "
        "`python -m benchmarks.scale_memory`",
        table(rows, ("what", "measured", "goal", "met")),
    ]
    RESULT.write_text("\n\n".join(text) + "\n")
    print("\n\n".join(text))


def _frame(X):  # type: ignore[no-untyped-def]
    import pandas as pd

    return pd.DataFrame(X, columns=list(NAMES))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(int(float((sys.argv[1:] or ["1e7"])[0])))
