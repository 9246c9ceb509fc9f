"""The full model on Dask workers: a fit of many rows, one worker against two, a worker killed.

Rows are those of `scale_parts`, made by the workers. Run: python -m benchmarks.scale_dask
[rows of the large fit, by default 20,000,000] [rows of the comparison, by default 2,000,000];
writes results/scale_dask.md.
"""

import gc
import os
import signal
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import zonal
from zonal.rows.progress import listening

from .measure import table, verdict
from .scale_parts import SORTED, Rows, block, field, rows_on_dask

RESULT = Path(__file__).parent / "results" / "scale_dask.md"
LIMIT, QUERIES, WARM_ROWS = "2GB", 5000, 4000
SORTING, SUMMING = "sorting rows into parts", "summing over parts"


def peak() -> int:
    """The most bytes that this process had; `ru_maxrss` would count those of who started it."""
    return status("VmHWM")


def status(name: str) -> int:
    """Return a number of bytes that the system knows of this process."""
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0]) * 1024


def warm() -> None:
    """Import everything and load compiled code, which takes seconds and is no part of a fit."""
    zonal.KernelRidge(random_state=0).fit(*block(0, WARM_ROWS))
    with SORTED:
        zonal.KernelRidge(random_state=0).fit(Rows(WARM_ROWS)).predict(block(1, 10)[0])


def forget_peak() -> int:
    """Let the peak of this process begin again; return the bytes that it has now."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


class Phases:
    """When the phases of a fit began; one of them may be told to somebody."""

    def __init__(self, told: Any = None) -> None:
        self.told, self.begun = told, {"choosing": time.perf_counter()}

    def __call__(self, name: str) -> None:
        self.begun[name] = time.perf_counter()
        if name == SORTING and self.told is not None:
            self.told()


def largest_in_client(n: int) -> int:
    """Return the bytes of the largest object that the client holds while two workers fit."""
    from distributed import Client, LocalCluster

    most, ended = [0], threading.Event()

    def watch() -> None:
        seen = 0
        while not ended.wait(0.1):
            held = tracemalloc.get_traced_memory()[0]
            if held > 1.05 * seen:
                seen = held
                sizes = (trace.size for trace in tracemalloc.take_snapshot().traces)
                most[0] = max(most[0], *sizes)

    settings = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT}
    with LocalCluster(**settings, dashboard_address=":0") as cluster, Client(cluster):
        warm()
        tracemalloc.start(1)
        watcher = threading.Thread(target=watch)
        watcher.start()
        with SORTED:
            zonal.KernelRidge(random_state=0).fit(*rows_on_dask(n))
        ended.set()
        watcher.join()
        tracemalloc.stop()
    print("largest in the client", most[0], flush=True)
    return most[0]


def fit(n: int, n_workers: int, killed: bool = False) -> dict[str, Any]:
    """Fit the default model; return seconds, peaks and what it predicts."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": n_workers, "threads_per_worker": 1, "memory_limit": LIMIT}
    with LocalCluster(**settings, dashboard_address=":0") as cluster, Client(cluster) as client:
        client.run(warm)
        warm()
        processes = client.run(os.getpid)
        before, used = forget_peak(), client.run(time.process_time)

        def kill() -> None:
            victim = next(iter(processes.values()))
            threading.Timer(1.0, os.kill, (victim, signal.SIGKILL)).start()

        phases = Phases(kill if killed else None)
        begin, own = time.perf_counter(), time.process_time()
        with SORTED, listening(phases):
            model = zonal.KernelRidge(random_state=0).fit(*rows_on_dask(n))
        seconds, own = time.perf_counter() - begin, time.process_time() - own
        at_end = peak()
        after = client.run(time.process_time)
        lost = set(processes.values()) - set(client.run(os.getpid).values())
        assert bool(lost) == killed, "a worker was lost, or none was killed"
        X, _ = block(10**6, QUERIES)
        predicted = model.predict(X)
        found = {
            "seconds": seconds,
            "parts": begin + seconds - phases.begun[SORTING],
            "client": own,
            "used": [after[name] - used.get(name, 0.0) for name in after],
            "worker_peak": max(client.run(peak).values()),
            "client_peak": at_end,
            "client_before": before,
            "phases": {name: round(at - begin, 1) for name, at in phases.begun.items()},
            "error": float(np.sqrt(np.mean((predicted - field(X)) ** 2))),
            "load": os.getloadavg()[0],
        }
        print(n, n_workers, killed, found, flush=True)
        return found | {"predicted": predicted}


def main(large: int, compared: int) -> None:
    known = RESULT.read_text().split("\n\n## ") if RESULT.exists() else []
    sections = {one.split(" rows")[0]: one.strip() for one in known[1:]}
    asked = [(compared, 1), (compared, 2), (compared, 2, True)] if compared else []
    asked += [(large, 2)] if large else []
    # A process of its own for each client, for its peak.
    spawn = {"mp_context": get_context("spawn"), "max_tasks_per_child": 1}
    with ProcessPoolExecutor(1, **spawn) as pool:
        found = [one.result() for one in [pool.submit(fit, *each) for each in asked]]
        held = pool.submit(largest_in_client, compared).result() if compared else 0
    if compared:
        sections[f"{compared:,}"] = "\n\n".join(comparison(compared, *found[:3], held))
    if large:
        sections[f"{large:,}"] = "\n\n".join(alone(large, found[-1]))
    text = "\n\n## ".join([INTRODUCTION, *sections.values()]).strip() + "\n"
    RESULT.write_text(text)
    print(text)


INTRODUCTION = (
    "# The full model on Dask\n\n"
    "KernelRidge() as it is: random places on the sphere, elevation with noise; rows are made by "
    f"the workers, processes of one thread and {LIMIT} each. Two cores: where the load is "
    "above three, other processes shared them, and wall times tell nothing of the speed-up; CPU is "
    "that of each process, and all have imported everything before. The client chooses the model "
    "by a sample first. `python -m benchmarks.scale_dask`, where 0 rows leave a section as it is."
)


def comparison(n: int, one: Any, two: Any, killed: Any, held: int) -> list[str]:
    """One worker, two, and two of which one is killed; the largest object of the client."""
    grown = (two["client_peak"] - two["client_before"]) / 1e6
    same = float(np.abs(two["predicted"] - killed["predicted"]).max())
    each = {"one": one, "two": two, "two, one killed": killed}
    lost = "largest difference after a worker was killed while rows were sorted"
    return [
        f"{n:,} rows: one worker, two, and two of which one is killed",
        table([_line(name, found) for name, found in each.items()], HEADER),
        table(
            [
                (lost, f"{same:.0e}", "0", "yes" if same == 0 else "no"),
                *_speed_up(one, two),
                _work(one, two),
                verdict("largest object in the client", held / 1e6, 200.0, " MB"),
                ("all that the client took for the fit", f"{grown:.0f} MB", "", ""),
            ],
            ("what", "measured", "goal", "met"),
        ),
    ]


def alone(n: int, found: Any) -> list[str]:
    """Two workers."""
    grown = (found["client_peak"] - found["client_before"]) / 1e9
    return [
        f"{n:,} rows, two workers",
        table([_line("two", found)], HEADER),
        table(
            [
                verdict("peak memory of a worker", found["worker_peak"] / 1e9, 2.0, " GB"),
                ("all that the client took for the fit", f"{1000 * grown:.0f} MB", "", ""),
            ],
            ("what", "measured", "goal", "met"),
        ),
    ]


HEADER = ("workers", "fit", "of that in parts", "CPU of workers", "of the client", "worker, peak",
          "client, peak", "RMSE, km", "load")  # fmt: skip


def _line(name: str, found: dict[str, Any]) -> tuple[str, ...]:
    return (
        name,
        f"{found['seconds']:.0f} s",
        f"{found['parts']:.0f} s",
        " + ".join(f"{used:.0f}" for used in found["used"]) + " s",
        f"{found['client']:.0f} s",
        f"{found['worker_peak'] / 1e9:.2f} GB",
        f"{found['client_peak'] / 1e9:.2f} GB",
        f"{found['error']:.4f}",
        f"{found['load']:.0f}",
    )


def _speed_up(one: dict[str, Any], two: dict[str, Any]) -> list[tuple[str, ...]]:
    """Wall times of one worker over those of two, in parts and with the choice by the client."""
    ratios = {
        "two workers, wall time in parts: times as fast": one["parts"] / two["parts"],
        "the same of the whole fit": one["seconds"] / two["seconds"],
    }
    return [
        (name, f"{ratio:.2f}", "≥ 1.6", "yes" if ratio >= 1.6 else "no")
        for name, ratio in ratios.items()
    ]


def _work(one: dict[str, Any], two: dict[str, Any]) -> tuple[str, ...]:
    """What the workers' own CPU allows: all of the work over that of the busier one."""
    ratio = sum(two["used"]) / max(two["used"])
    more = sum(two["used"]) / sum(one["used"])
    told = f"{ratio:.2f} ({more:.2f} times the CPU of one)"
    return "work of both over that of the busier one", told, "", ""


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    given = [int(float(text)) for text in sys.argv[1:]]
    main(*(given + [20_000_000, 2_000_000][len(given) :]))
