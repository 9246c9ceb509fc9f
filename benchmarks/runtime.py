"""The theorems' claims on runtime, measured: time of features over nnz(X), m, s and q.

Writes results/runtime.md and .png. Run: OMP_NUM_THREADS=1 python -m benchmarks.runtime
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure

import zonal

from .measure import table
from .paper.common import environment

RESULTS = Path(__file__).parent / "results"
KERNEL = zonal.Gaussian(2.0)
# The point that the four sweeps share: rows, columns, non-zero entries a row, directions, s, q.
ROWS, COLUMNS, FILLED, DIRECTIONS, ORDER, DEGREE = 4000, 2000, 50, 512, 2, 8
REPEATS = 5
SWEEPS: dict[str, tuple[int, ...]] = {
    "nnz(X)": (10, 50, 250, 1000),
    "m": (128, 512, 2048),
    "s": (1, 2, 4, 8),
    "q": (2, 4, 8, 16, 32),
}


def rows(filled: int) -> Any:
    """Sparse rows of norm about one with so many entries each."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal(ROWS * filled) / np.sqrt(filled)
    columns = np.concatenate([rng.permutation(COLUMNS)[:filled] for _ in range(ROWS)])
    return sp.csr_array(
        (values, columns, np.arange(0, ROWS * filled + 1, filled)), shape=(ROWS, COLUMNS)
    )


def seconds(filled: int, directions: int, order: int, degree: int) -> float:
    """CPU seconds of the paper's features of all rows: the best of several."""
    X = rows(filled)
    features = zonal.GegenbauerFeatures.paper(KERNEL, directions * order, degree, order, 0).fit(X)
    features.transform(X[:50])  # compile before the clock starts
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        features.transform(X)
        times.append(time.process_time() - start)
    return min(times)


def measure() -> dict[str, list[tuple[float, float]]]:
    """Places and times of each sweep; the others stay at the common point."""
    found: dict[str, list[tuple[float, float]]] = {}
    for position, (name, values) in enumerate(SWEEPS.items()):
        found[name] = []
        for value in values:
            point = [FILLED, DIRECTIONS, ORDER, DEGREE]
            point[position] = value
            place = value * ROWS if name == "nnz(X)" else value
            found[name].append((float(place), seconds(*point)))
            print(name, place, found[name][-1][1], flush=True)
    return found


def slope(points: list[tuple[float, float]]) -> float:
    """Milliseconds for one more, by least squares."""
    x, y = np.array(points).T
    return float(1e3 * np.polynomial.polynomial.polyfit(x, y, 1)[1])


def main() -> None:
    """Measure, and write the page."""
    found = measure()
    lines = []
    for name, points in found.items():
        (x0, t0), (x1, t1) = points[0], points[-1]
        power = np.log(t1 / t0) / np.log(x1 / x0)
        cells = "; ".join(f"{x:,.0f}: {1e3 * t:.0f}" for x, t in points)
        lines.append((name, cells, f"{slope(points):.3g}", f"{power:.2f}"))
    where = environment()
    text = (
        "# Runtime of the paper's features\n\nMade by `python -m benchmarks.runtime`: CPU "
        f"milliseconds of one thread for `GegenbauerFeatures.paper` of {ROWS:,} sparse rows in "
        f"{COLUMNS:,} columns. Where it is not varied: {FILLED} entries a row, m = {DIRECTIONS} "
        f"directions, s = {ORDER}, q = {DEGREE}.\n\n"
        + table(lines, ("varied", "value: milliseconds", "ms for one more", "growth"))
        + "\n\nThe paper states O(m nnz(X)): the products X w. Evaluating the polynomials costs "
        "m n q more, and the sums over degrees m s n q; where rows have few entries beside q s, "
        "these decide.\n\n![Time over nnz, m, s and q](runtime.png)\n\n"
        f"Machine: {', '.join(f'{key} {value}' for key, value in where['machine'].items())}.\n"
    )
    (RESULTS / "runtime.md").write_text(text)
    figure = Figure(figsize=(11, 3), layout="constrained")
    for axis, (name, points) in zip(figure.subplots(1, 4), found.items(), strict=True):
        x, y = np.array(points).T
        axis.plot(x, 1e3 * y, "o-")
        axis.set(xlabel=name, ylabel="CPU milliseconds", ylim=(0, None), xlim=(0, None))
        axis.grid(alpha=0.3)
    figure.savefig(RESULTS / "runtime.png", dpi=110)


if __name__ == "__main__":
    main()
