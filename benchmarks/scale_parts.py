"""The local part of more rows than are gathered: growth with n, memory, two workers.

Rows are random places on the sphere, with the elevation there and noise; they are made block by
block and never held. Run: python -m benchmarks.scale_parts [largest n, by default 2,000,000]
[rows for Dask, by default 1,000,000]; writes results/scale_parts.md.
"""

import os
import resource
import sys
import time
from collections.abc import Iterator
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from scipy.optimize import nnls

import zonal
from zonal.rows.progress import listening

from .measure import table, verdict

BATCH, QUERIES, NOISE = 1 << 17, 20_000, 0.1
# A fit on workers is compared with one in memory.
EQUAL_ROWS = 300_000
RESULT = Path(__file__).parent / "results" / "scale_parts.md"
# Fits of any size are sorted into parts, so that their costs can be compared.
SORTED = mock.patch("zonal.partitions.staying.GATHERED_BYTES", 0)


@cache
def elevation() -> Any:
    """The elevation in km between the centres of the dataset's cells, of latitude and longitude."""
    X, y = zonal.datasets.load_elevation(return_X_y=True)
    lat, lon = (np.unique(column) for column in np.asarray(X, np.float64).T)
    order = np.lexsort((X[:, 1], X[:, 0]))
    values = np.asarray(y, np.float64)[order].reshape(len(lat), len(lon))
    values = np.column_stack([values[:, -1:], values, values[:, :1]])  # around the globe
    lon = np.concatenate([[lon[-1] - 360], lon, [lon[0] + 360]])
    return RegularGridInterpolator((lat, lon), values / 1000, bounds_error=False, fill_value=None)


def block(number: int, n_rows: int = BATCH) -> tuple[Any, Any]:
    """Rows and targets of one block."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n_rows, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, field(X) + NOISE * rng.standard_normal(n_rows)


def field(X: Any) -> Any:
    """The elevation at unit vectors."""
    lat, lon = np.degrees(np.arcsin(X[:, 2])), np.degrees(np.arctan2(X[:, 1], X[:, 0]))
    return elevation()(np.column_stack([lat, lon]))


class Rows:
    """n rows, made anew in every iteration."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for number in range(-(-self.n // BATCH)):
            yield block(number, min(BATCH, self.n - number * BATCH))


class Clock:
    """CPU seconds of the phases of a fit."""

    def __init__(self) -> None:
        self.names, self.times = ["choosing"], [time.process_time()]

    def __call__(self, name: str) -> None:
        self.names.append(name)
        self.times.append(time.process_time())

    def seconds(self) -> dict[str, float]:
        ends = [*self.times[1:], time.process_time()]
        found = zip(self.names, self.times, ends, strict=True)
        return {name: end - begin for name, begin, end in found}


def stream_fit(n: int) -> dict[str, float]:
    """CPU seconds of a fit and of predictions, peak bytes of the process, error."""
    made = time.process_time()
    for _ in Rows(n):
        pass
    made = time.process_time() - made
    clock = Clock()
    with SORTED, listening(clock):
        model = zonal.KernelRidge(random_state=0).fit(Rows(n))
    seconds = clock.seconds()
    X, _ = block(10**6, QUERIES)
    begin = time.process_time()
    predicted = model.predict(X)
    asked = time.process_time() - begin
    error = float(np.sqrt(np.mean((predicted - field(X)) ** 2)))
    parts = sum(seconds.get(name, 0) for name in ("sorting rows into parts", "summing over parts"))
    found = {
        "choice": seconds["choosing"],
        "parts": parts,
        "made": made,
        "asked": asked,
        "peak": peak(),
        "error": error,
    }
    print(n, found, flush=True)
    return found


def main(largest: int, on_dask: int) -> None:
    sizes = [n for n in (10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7) if n < largest] + [largest]
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found = pool.map(stream_fit, sizes, chunksize=1)
    text = growth(sizes, found)
    if on_dask:
        text += on_workers(on_dask, workers(on_dask))
    RESULT.write_text("\n\n".join(text) + "\n")
    print("\n\n".join(text))


def on_workers(n: int, found: dict[str, float]) -> list[str]:
    """Paragraphs about two workers."""
    return [
        f"## Two Dask workers of 2 GB, one thread each, n = {n:,}",
        "256 harmonics beside a local part with 32 neighbours, all rows whitened. CPU seconds: "
        "other processes were at work, so that wall time would tell nothing, and the speed-up is "
        "an estimate from these, not a measurement. The client has fitted rows in memory before, "
        "for the comparison.",
        about_workers(found),
    ]


def growth(sizes: list[int], found: list[dict[str, float]]) -> list[str]:
    """Paragraphs about fits of growing sizes."""
    pace = [(one["parts"] - one["made"]) / n for n, one in zip(sizes, found, strict=True)]
    rows = [
        (
            f"{n:,}",
            f"{one['choice']:.1f} s",
            f"{one['parts']:.1f} s",
            f"{1e6 * own:.1f} µs",
            f"{1e6 * one['asked'] / QUERIES:.0f} µs",
            f"{one['peak'] / 1e6:.0f} MB",
            f"{one['error']:.4f}",
        )
        for n, one, own in zip(sizes, found, pace, strict=True)
    ]
    fixed, slope, off = line(sizes, [one["parts"] - one["made"] for one in found])
    header = ("n", "choice", "parts", "parts, a row", "prediction, a row", "memory", "RMSE, km")
    return [
        "# The local part of more rows than are gathered",
        f"Random places on the sphere, elevation with noise of {NOISE} km; KernelRidge() as it is; "
        "CPU seconds of one thread; the time to make the rows is not counted in parts a row. A "
        "small fit pays for the coefficients of the first 20,000 places all the same, so that a "
        "line a + b n is fitted too; predictions are 20,000 queries of one call. "
        "`python -m benchmarks.scale_parts`",
        "## A stream of blocks, one process",
        table(rows, header),
        table(
            [
                verdict("peak memory", max(one["peak"] for one in found) / 1e9, 1.0, " GB"),
                verdict("parts, a row: most over least", max(pace) / min(pace), 1.3, ""),
                verdict("parts, a row: last over least", pace[-1] / min(pace), 1.3, ""),
                (
                    "seconds of the best line a + b n",
                    f"{fixed:.2f} s + {1e6 * slope:.2f} µs n",
                    "",
                    "",
                ),
                verdict("farthest of the sizes from that line, times", off, 1.3, ""),
            ],
            ("what", "measured", "goal", "met"),
        ),
    ]


def line(sizes: list[int], seconds: list[float]) -> tuple[float, float, float]:
    """Return a ≥ 0 and b of seconds a + b n by relative errors, and the largest ratio to it."""
    n, known = np.array(sizes, float), np.array(seconds)
    system = np.column_stack([np.ones(len(n)), n]) / known[:, None]
    (fixed, slope), _ = nnls(system, np.ones(len(n)))
    ratio = known / (fixed + slope * n)
    return float(fixed), float(slope), float(max(ratio.max(), 1 / ratio.min()))


def rows_on_dask(n: int) -> tuple[Any, Any]:
    """n rows that workers make themselves."""
    import dask
    import dask.array as da

    sizes = [min(BATCH, n - first) for first in range(0, n, BATCH)]
    blocks = [dask.delayed(block)(number, size) for number, size in enumerate(sizes)]
    each = list(zip(blocks, sizes, strict=True))
    X = [da.from_delayed(one[0], (size, 3), np.float64) for one, size in each]
    y = [da.from_delayed(one[1], (size,), np.float64) for one, size in each]
    return da.concatenate(X), da.concatenate(y)


def peak() -> int:
    """The most bytes that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def workers(n: int) -> dict[str, float]:
    """Two workers of 2 GB: how far from a fit in memory, CPU seconds and peak bytes."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GB"}
    with LocalCluster(**settings, dashboard_address=":0") as cluster, Client(cluster) as client:
        X, y = rows_on_dask(EQUAL_ROWS)
        with SORTED:
            found = zonal.KernelRidge(random_state=0).fit(X, y)
        serial = zonal.KernelRidge(random_state=0).fit(X.compute(), y.compute())
        queries, _ = block(10**6, 5000)
        difference = np.abs(serial.predict(queries) - found.predict(queries)).max()
        features = zonal.HarmonicFeatures(zonal.Matern(1.5, 1.0), n_components=256)
        local = zonal.NeighborKriging(zonal.Matern(1.5, 0.1), noise=0.1)
        before, begin = client.run(time.process_time), time.process_time()
        with SORTED:
            zonal.KernelRidge(features, local=local).fit(*rows_on_dask(n))
        own, after = time.process_time() - begin, client.run(time.process_time)
        used = [after[name] - before[name] for name in after]
        return {
            "difference": float(difference),
            "least": min(used),
            "most": max(used),
            "client": own,
            "worker_peak": max(client.run(peak).values()),
            "client_peak": peak(),
        }


def about_workers(found: dict[str, float]) -> str:
    """A table about two workers."""
    work = found["least"] + found["most"]
    ratio = (work + found["client"]) / (found["most"] + found["client"])
    equal = f"largest difference to a fit in memory, {EQUAL_ROWS:,} rows, KernelRidge()"
    same = "yes" if found["difference"] <= 1e-9 else "no"
    rows = [
        (equal, f"{found['difference']:.0e}", "≤ 1e-9", same),
        ("CPU of one worker, s", f"{found['least']:.1f}", "", ""),
        ("CPU of the other, s", f"{found['most']:.1f}", "", ""),
        ("CPU of the client, s", f"{found['client']:.1f}", "", ""),
        ("speed-up that these allow, not measured", f"{ratio:.2f}", "", ""),
        verdict("peak memory of a worker", found["worker_peak"] / 1e9, 2.0, " GB"),
        ("peak memory of the client", f"{found['client_peak'] / 1e9:.2f} GB", "", ""),
    ]
    return table(rows, ("what", "measured", "goal", "met"))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    given = [int(float(text)) for text in sys.argv[1:]]
    main(*(given + [2_000_000, 1_000_000][len(given) :]))
