"""Scattered predictions from rows in parts: what a query costs as the parts grow in number.

Run: python -m benchmarks.scale_queries [sizes, by default 1e6 1e7]; writes
results/scale_queries.md.
"""

import os
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import zonal

from .measure import table
from .scale_parts import QUERIES, SORTED, Rows, block, field

RESULT = Path(__file__).parent / "results" / "scale_queries.md"
CALLS = 3


def ask(n: int) -> tuple[int, int, float, float, float]:
    """The number of parts, CPU seconds of the fastest and the slowest call, and the error."""
    with SORTED:
        model = zonal.KernelRidge(random_state=0).fit(Rows(n))
    X, _ = block(10**6, QUERIES)
    model.predict(X[:50])
    seconds = []
    for _ in range(CALLS):
        begin = time.process_time()
        predicted = model.predict(X)
        seconds.append(time.process_time() - begin)
    error = float(np.sqrt(np.mean((predicted - field(X)) ** 2)))
    found = n, len(model._solution_.parts.cells), min(seconds), max(seconds), error
    print(found, flush=True)
    return found


def main(sizes: list[int]) -> None:
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found = pool.map(ask, sizes, chunksize=1)
    rows = [
        (
            f"{n:,}",
            str(cells),
            f"{1e6 * fast / QUERIES:.0f} µs",
            f"{1e6 * slow / QUERIES:.0f} µs",
            f"{error:.4f}",
        )
        for n, cells, fast, slow, error in found
    ]
    text = [
        "# Scattered predictions from rows in parts",
        f"{QUERIES:,} random places of the sphere in one call, of the models of "
        f"[scale_parts.md](scale_parts.md); CPU of one thread for each query, the fastest and the "
        f"slowest of {CALLS} calls, while other processes shared the cores. "
        "`python -m benchmarks.scale_queries`",
        table(rows, ("n", "parts", "fastest", "slowest", "RMSE, km")),
    ]
    RESULT.write_text("\n\n".join(text) + "\n")
    print("\n\n".join(text))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main([int(float(text)) for text in sys.argv[1:]] or [10**6, 10**7])
