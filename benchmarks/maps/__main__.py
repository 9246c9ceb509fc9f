"""python -m benchmarks.maps [coads climate elevation] [--only METHOD]: results/maps.md.

What is known of other methods and fields stays.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ..measure import peak_memory, table
from .data import NAMES, Task, tasks
from .methods import METHODS, score

RESULTS = Path(__file__).parents[1] / "results"
HEADER = ("method", "test MSE", "CRPS", "fit, s", "predict, s", "peak memory, MB")
TEXT = """# Maps beside the peers

`python -m benchmarks.maps` (extra `bench`), methods one after the other, not all on the
same day, on a machine in use: seconds are rough. A tenth of the places is the test:
random ones, or those of whole cells of 10° (`zonal.BlockKFold`);
our learner is told which (`cv`). CRPS is of a new observation, where a method has a distribution:
99 quantiles of ours, a normal distribution of the others.
PyKrige gets 10,000 random training points, since it needs all distances; verde's spline gets means
of blocks, since it needs a matrix of all pairs, and works on a plane. Peak memory is what a method
adds to the process.
"""


def measured(task: Task, method: Any) -> list[str]:
    """Cells of the table for a method on a task."""
    found: dict[str, Any] = {}

    def run() -> None:
        start = time.perf_counter()
        predict = method(task)
        found["fit"] = time.perf_counter() - start
        start = time.perf_counter()
        found["forecast"] = predict()
        found["predict"] = time.perf_counter() - start

    peak = peak_memory(run)
    mse = float(np.mean((task.y_test - found["forecast"][0]) ** 2))
    seconds = f"{found['fit']:.1f}", f"{found['predict']:.2f}"
    return [
        f"{mse:.4g}", score(task.y_test, found["forecast"]), *seconds, f"{peak / 2**20:.0f}",
    ]  # fmt: skip


def write(known: dict[str, Any]) -> None:
    """Write what is known so far."""
    (RESULTS / "maps.json").write_text(json.dumps(known, indent=1) + "\n")
    parts = [TEXT]
    for title, found in known.items():
        rows = [tuple(row) for row in found["rows"]]
        heading = f"## {title[0].upper()}{title[1:]}"
        parts.append(f"{heading}\n\n{found['size']}\n\n{table(rows, HEADER)}\n")
    (RESULTS / "maps.md").write_text("\n".join(parts))


def main() -> None:
    """Run, and write what is known so far after each method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--only", default="", help="a part of the name of a method")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    file = RESULTS / "maps.json"
    known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    warm = tasks("coads")[0]
    few = warm._replace(places=warm.places[:600], y=warm.y[:600])
    METHODS["**zonal** `KernelRidge()`"](few)()  # compile
    methods = {name: run for name, run in METHODS.items() if arguments.only in name}
    for task in (task for name in arguments.names for task in tasks(name)):
        found = known.setdefault(task.title, {"rows": []})
        found["size"] = (
            f"{len(task.y):,} training places, {len(task.y_test):,} test places, "
            f"{numba.get_num_threads()} thread(s)."
        )
        for name, run in methods.items():
            rows = {row[0]: row for row in found["rows"]} | {name: [name, *measured(task, run)]}
            found["rows"] = [rows[method] for method in METHODS if method in rows]
            print(task.title, *rows[name], sep=" | ", flush=True)
            write(known)


if __name__ == "__main__":
    main()
