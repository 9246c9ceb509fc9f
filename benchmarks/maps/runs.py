"""One run of one method on one fold, in a process of its own; and the runs that are known."""

import fcntl
import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..measure import peak_memory
from .data import NAMES, TITLES, kinds, tasks
from .methods import METHODS, OURS, score

__all__ = ["add_runs", "known_runs", "run_apart", "with_runs"]

KNOWN = Path(__file__).parents[1] / "results" / "maps.json"
# Seconds between two looks at the memory, which themselves take time of the processor.
LOOK = 0.02


def run_apart(name: str, kind: int, fold: int, method: str) -> dict[str, Any]:
    """Run in a new process, which no other method has left its memory in."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_run, name, kind, fold, method).result()


def _run(name: str, kind: int, fold: int, method: str) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    task = tasks(name, fold)[kind]
    if method == OURS:  # load what was compiled
        every = slice(None, None, len(task.y) // 600)
        few = task._replace(places=task.places[every], y=task.y[every])
        METHODS[method](few)()
    found: dict[str, Any] = {}

    def run() -> None:
        with _clock(found, "fit"):
            predict = METHODS[method](task)
        with _clock(found, "predict"):
            found["forecast"] = predict()

    peak = peak_memory(run, every=LOOK)
    forecast = found.pop("forecast")
    return {
        "mse": float(np.mean((task.y_test - forecast[0]) ** 2)),
        "crps": score(task.y_test, forecast),
        **found,
        "memory": peak / 2**20,
        "threads": os.environ["OMP_NUM_THREADS"],
        "training": len(task.y),
        "test": len(task.y_test),
    }


@contextmanager
def _clock(found: dict[str, Any], what: str) -> Iterator[None]:
    """Seconds by the clock, and of the processor, which a busy machine hardly changes."""
    start, begin = time.perf_counter(), time.process_time()
    yield
    found[what] = time.perf_counter() - start
    found[f"{what}_cpu"] = time.process_time() - begin


def add_runs(file: Path) -> None:
    """Add the runs of another file, as of another machine, where there are none."""
    known = known_runs()
    for task, methods in json.loads(file.read_text()).items():
        for method, runs in methods.items():
            here = known.setdefault(task, {}).setdefault(method, {})
            here.update({fold: run for fold, run in runs.items() if fold not in here})
    _write(known)


def known_runs() -> dict[str, Any]:
    """Return {task: {method: {fold: run}}}."""
    return json.loads(KNOWN.read_text()) if KNOWN.exists() else {}


def with_runs(task: str, method: str, fold: int, run: dict[str, Any]) -> dict[str, Any]:
    """Add a run to those that are known; peers and ours may run side by side."""
    with KNOWN.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = known_runs()
        known.setdefault(task, {}).setdefault(method, {})[str(fold)] = run
        _write(known)
    return known


def _write(known: dict[str, Any]) -> None:
    """Write runs in the order of tasks, methods and folds, whichever came first."""
    ordered = {
        title: {
            method: {fold: known[title][method][fold] for fold in sorted(known[title][method])}
            for method in METHODS
            if method in known[title]
        }
        for name in NAMES
        for kind in kinds()
        if (title := f"{TITLES[name]}: {kind}") in known
    }
    KNOWN.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")
