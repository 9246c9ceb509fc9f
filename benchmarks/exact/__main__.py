"""python -m benchmarks.exact [peers] [centers] [protein] [magic]: writes results/exact*.md.

What is found of all rows is kept in exact.json, so that methods can be run one by one.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from ..measure import table
from . import centers
from .all_rows import KERNELS, METHODS, Task, lines
from .peers import PEERS, problem, run

RESULTS = Path(__file__).parents[1] / "results"
DATA = Path(__file__).parents[1] / "data"
KEPT = RESULTS / "exact.json"
NAMES = ("peers", "centers", "protein", "magic")
PEERS_HEADER = (
    "rows",
    "method",
    "work, s",
    "MB",
    "time ratio",
    "memory ratio",
    "difference",
    "note",
)
PEERS_ABOUT = (
    "# The exact solution beside its peers\n\n`OMP_NUM_THREADS=1 python -m benchmarks.exact peers` "
    "(extra `bench`), one core. Protein, standardised, Gaussian kernel of bandwidth 2, alpha 0.1, "
    "tol 1e-4, fit and 1,000 predictions. Work is seconds of the processor. Ratios are to "
    "scikit-learn; the difference is the root mean square of predictions, relative. rlaopt gets "
    "the whole matrix in float32, which is in its time."
)
HEADER = ("kernel", "method", "test MSE", "wrong, %", "fit, s", "work, s", "note")


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The columns and the target; of classes, whether it is the first."""
    with np.load(DATA / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    if not np.issubdtype(y.dtype, np.number) or len(np.unique(y)) == 2:
        y = (y == y[0]).astype(np.float64)
    return X, y.astype(np.float64)


def peers(sizes: tuple[int, ...] = (10_000, 20_000)) -> None:
    """Time and memory beside the peers."""
    X, y = rows_of("protein")
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    run("zonal.ExactKernelRidge", *problem(2_500, X, y))  # compiles
    rows = []
    for n in sizes:
        found = {name: run(name, *problem(n, X, y)) for name in PEERS}
        peer = found["scikit-learn KernelRidge"]
        for name, result in found.items():
            gap = np.sqrt(np.mean((result.predictions - peer.predictions) ** 2))
            gap /= np.sqrt(np.mean(peer.predictions**2))
            ratios = f"{result.seconds / peer.seconds:.2f}", f"{result.memory / peer.memory:.3f}"
            cells = f"{result.seconds:.2f}", f"{result.memory / 1e6:.0f}", *ratios, f"{gap:.1e}"
            rows.append((f"{n:,}", name, *cells, result.note))
            print(*rows[-1], sep=" | ", flush=True)
        (RESULTS / "exact_peers.md").write_text(f"{PEERS_ABOUT}\n\n{table(rows, PEERS_HEADER)}\n")


def a_million() -> None:
    """Fewer centres than rows."""
    found = centers.line()
    print(*found, sep=" | ", flush=True)
    text = (
        "# A million rows, a thousand centres\n\n`python -m benchmarks.exact centers`: Falkon's "
        "system, Matérn 5/2 kernel of three columns, alpha 1, tol 1e-4; a wave with noise of "
        f"deviation {centers.NOISE}, and errors against the wave. Memory is what the fit adds to "
        "the rows; work is seconds of all cores together.\n\n"
    )
    (RESULTS / "exact_centers.md").write_text(text + table([found], centers.HEADER) + "\n")


def all_rows(name: str, kernels: list[str], methods: list[str]) -> None:
    """One dataset with all its rows."""
    X, y = rows_of(name)
    known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    entry = known.setdefault(name, {"rows": len(X) - len(X) // 10, "lines": {}})
    for line in lines(Task(X, y), kernels, methods):
        entry["lines"][f"{line[0]}, {line[1]}"] = line
        print(name, *line, sep=" | ", flush=True)
        write(known)


def write(known: dict[str, Any]) -> None:
    """Write what is known of all datasets."""
    KEPT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    parts = [
        "# All rows, exactly\n\n`OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m benchmarks.exact "
        "protein magic`: one thread, one run (the exact solution of protein: two threads). Work is "
        "seconds of the processor; the seconds of the clock are more where the machine had "
        "something else to do. A random tenth is the test; learned metric, intercept. Features: "
        "alpha by cross-validation on all training rows."
    ]
    order = [f"{kernel}, {method}" for kernel in KERNELS for method in METHODS]
    for name, entry in known.items():
        found = [entry["lines"][key] for key in order if key in entry["lines"]]
        parts.append(f"## {name}: {entry['rows']:,} training rows\n\n{table(found, HEADER)}")
    (RESULTS / "exact.md").write_text("\n\n".join(parts) + "\n")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="name")
    parser.add_argument("--kernels", nargs="*", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    asked = parser.parse_args()
    for name in asked.names:
        if name == "peers":
            peers()
        elif name == "centers":
            a_million()
        else:
            all_rows(name, asked.kernels, asked.methods)


main()
