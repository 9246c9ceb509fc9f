"""Out-of-core and Dask: growth with n, peak memory, speed-up of two workers, cost of the parts.

float32, d = 3, D = 512; rows are made block by block from a known function, and never held.
Run: python -m benchmarks.scale [largest n, by default 10,000,000]; writes results/scale.md.
"""

import os
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import zonal
from zonal.distributed import local_cluster

from .measure import peak_memory, table, verdict

DIM, WIDTH, DEGREE, BATCH = 3, 512, 12, 1 << 16
# So many that the start of a fit does not count.
CLUSTER_ROWS = 4_000_000
RESULT = Path(__file__).parent / "results" / "scale.md"


class Rows:
    """n rows of a known function with noise, made anew in every iteration."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for number in range(-(-self.n // BATCH)):
            X = block(number, min(BATCH, self.n - number * BATCH))
            yield X, target(X, number)


def block(number: int, n_rows: int) -> Any:
    X = np.random.default_rng(number).standard_normal((n_rows, DIM), dtype=np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def target(X: Any, number: int) -> Any:
    noise = np.random.default_rng([number, 1]).standard_normal(len(X), dtype=np.float32)
    return np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + np.float32(0.1) * noise


def model() -> zonal.KernelRidge:
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(0.5), WIDTH, max_degree=DEGREE, random_state=0
    )
    return zonal.KernelRidge(features, alpha=1.0)


def main(largest: int) -> None:
    # One process for each, or memory that was freed but not returned would hide what is needed.
    sizes = [n for n in (10**5, 10**6, 10**7) if n < largest] + [largest]
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        streamed = pool.map(stream_fit, sizes, chunksize=1)
    serial = {workers: cluster_fit(min(largest, CLUSTER_ROWS), workers) for workers in (1, 2)}
    text = "\n\n".join(
        [
            "# Out-of-core and two workers",
            f"float32, d = {DIM}, D = {WIDTH}, degree {DEGREE}, alpha = 1; {os.cpu_count()} cores. "
            "`python -m benchmarks.scale`",
            "## A stream of blocks, one process",
            growth(sizes, streamed),
            f"## Dask workers, one thread each, n = {min(largest, CLUSTER_ROWS):,}",
            speed_up(serial),
        ]
    )
    RESULT.write_text(text + "\n")
    print(text)


def growth(sizes: list[int], streamed: list[tuple[float, int, float]]) -> str:
    pace = [seconds / n for n, (seconds, _, _) in zip(sizes, streamed, strict=True)]
    rows = [
        (
            f"{n:,}",
            f"{seconds:.1f} s",
            f"{1e6 * own:.2f} µs",
            f"{own / pace[-1]:.2f}",
            f"{peak / 1e6:.0f} MB",
            f"{error:.2e}",
        )
        for n, (seconds, peak, error), own in zip(sizes, streamed, pace, strict=True)
    ]
    header = ("n", "fit", "per row", "relative to the last", "peak memory", "excess error")
    worst = max(peak for _, peak, _ in streamed) / 1e9
    # The columns of the tables of all benchmarks: what, measured, goal, met.
    goal = table(
        [verdict("peak memory of the process", worst, 1.0, " GB")],
        ("what", "measured", "goal", "met"),
    )
    return table(rows, header) + "\n\n" + goal


def stream_fit(n: int) -> tuple[float, int, float]:
    """Seconds, peak bytes of the whole process, and the mean squared error beyond the noise."""
    model().fit(Rows(BATCH))  # compiles
    start = resident()
    seconds = 0.0
    fitted = model()

    def fit() -> None:
        nonlocal seconds
        begin = time.perf_counter()
        fitted.fit(Rows(n))
        seconds = time.perf_counter() - begin

    extra = peak_memory(fit)
    X = block(10**9, 10_000)
    truth = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]
    return seconds, start + extra, float(np.mean((fitted.predict(X) - truth) ** 2))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def cluster_fit(n: int, workers: int) -> float:
    """Seconds of a fit on rows that the workers make themselves."""
    import dask
    import dask.array as da

    def parts(count: int) -> tuple[Any, Any]:
        blocks = [dask.delayed(block)(number, BATCH) for number in range(count)]
        values = [dask.delayed(target)(X, number) for number, X in enumerate(blocks)]
        X = da.concatenate([da.from_delayed(b, (BATCH, DIM), np.float32) for b in blocks])
        return X, da.concatenate([da.from_delayed(v, (BATCH,), np.float32) for v in values])

    with local_cluster(workers):
        model().fit(*parts(2 * workers))  # compiles, on every worker
        rows = parts(n // BATCH)
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            model().fit(*rows)
            times.append(time.perf_counter() - begin)
    return min(times)


def speed_up(seconds: dict[int, float]) -> str:
    ratio = seconds[1] / seconds[2]
    rows = [(f"{workers} workers", f"{value:.1f} s", "", "") for workers, value in seconds.items()]
    # A goal to exceed, unlike those of `verdict`.
    rows.append(("speed-up", f"{ratio:.2f}", "≥ 1.6", "yes" if ratio >= 1.6 else "no"))
    return table(rows, ("what", "measured", "goal", "met"))


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7)
