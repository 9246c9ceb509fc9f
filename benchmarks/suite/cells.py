"""Cells of comparisons: each is run in a process of its own, with a limit, and kept as a line.

`python -m benchmarks.suite.cells MODULE DATA SPLIT METHOD [FILE]` runs one cell of the comparison
whose module has `task(data, split)` and `METHODS`, and prints it as JSON; methods of FILE are added
to it. NumPy and SciPy are enough for that, so that a method may have an environment of its own.
"""

import argparse
import contextlib
import datetime
import importlib
import importlib.metadata
import json
import os
import resource
import runpy
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .scores import Forecast, scores

__all__ = ["Method", "Task", "known_cells", "run_cells"]

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parents[1] / "results"
# Seconds of the processor, for each thread, after which a method is given up.
LIMIT = 900


class Task(NamedTuple):
    """Training and test rows; `told` is what a method may know of what is asked for."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    told: dict[str, Any] = {}  # never changed


class Method(NamedTuple):
    """A function from a task to a forecast, and the library whose version is noted.

    `python` is an interpreter beside the present one, by the name of the variable of the
    environment that has its path.
    """

    run: Callable[[Task], Forecast]
    library: str
    python: str | None = None


def threads() -> int:
    """The number of threads that every method has."""
    return int(os.environ.get("OMP_NUM_THREADS", "2"))


def known_cells(name: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the cells of a comparison, by dataset, split and method; the last line counts."""
    path = RESULTS / f"{name}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    cells = [json.loads(line) for line in lines if line.strip()]
    return {(cell["data"], cell["split"], cell["method"]): cell for cell in cells}


def run_cells(
    name: str,
    module: str,
    wanted: Iterable[tuple[str, str, str]],
    methods: dict[str, Method],
    *,
    again: bool = False,
    limit: int = LIMIT,
    file: str | None = None,
) -> None:
    """Run the cells that are not known, and append each to the results when it is there."""
    for data, split, method in wanted:
        if _is_known(known_cells(name).get((data, split, method))) and not again:
            continue
        cell = _apart(module, data, split, method, methods[method], limit, file)
        print(json.dumps(cell), flush=True)
        with (RESULTS / f"{name}.jsonl").open("a") as kept:
            kept.write(json.dumps(cell) + "\n")


def _is_known(cell: dict[str, Any] | None) -> bool:
    """Whether a cell has scores, or took too long; one that failed is tried again."""
    return cell is not None and ("rmse" in cell or "not done" in cell["reason"])


def _apart(
    module: str, data: str, split: str, method: str, found: Method, limit: int, file: str | None
) -> dict[str, Any]:
    """Run one cell in a new process."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    cell = {"data": data, "split": split, "method": method, "date": today, "threads": threads()}
    python = sys.executable
    if found.python is not None:
        python = os.environ.get(found.python, "")
        if not python:
            return cell | {"reason": f"not run: {found.python} names no interpreter"}
    command = [python, "-m", "benchmarks.suite.cells", module, data, split, method]
    command += [file] if file else []
    most = limit * threads()

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))

    before = _seconds_of_children()
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=limited
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        # Memory, or somebody, may have killed it too.
        late = done.returncode == -signal.SIGXCPU or _seconds_of_children() - before >= most
        return cell | {"reason": f"not done in {limit / 60:g} min" if late else "failed: killed"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return cell | {"reason": f"failed: {last[:200]}"}
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return cell | result


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _measured(task: Task, method: Method) -> dict[str, Any]:
    """Return the scores of one method on a task, its seconds and the memory that it adds."""
    version = importlib.metadata.version(method.library)  # fails before the work, not after
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clock, cpu = time.perf_counter(), time.process_time()
    forecast = method.run(task)
    seconds = {"clock": time.perf_counter() - clock, "cpu": time.process_time() - cpu}
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {
        "version": version,
        "rows": [len(task.y), len(task.y_test)],
        **scores(task.y_test, forecast, task.told.get("weight")),
        **_by_class(task, forecast),
        **seconds,
        "memory": memory,
        "note": forecast.note,
    }


def _by_class(task: Task, forecast: Forecast) -> dict[str, Any]:
    """Return the scores of each class of test rows, where a task has classes."""
    if "classes" not in task.told:
        return {}
    truth, weight = np.asarray(task.y_test), task.told.get("weight")
    found = {}
    for name, mine in task.told["classes"].items():
        parts = [None if one is None else np.asarray(one)[mine] for one in forecast[:3]]
        own = None if weight is None else weight[mine]
        found[name] = {"rows": int(mine.sum())} | scores(truth[mine], Forecast(*parts), own)
    return {"by": found}


def main() -> None:
    """Run one cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("data")
    parser.add_argument("split")
    parser.add_argument("method")
    parser.add_argument("file", nargs="?")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):  # some libraries print
        module = importlib.import_module(asked.module)
        methods: dict[str, Method] = dict(module.METHODS)
        if asked.file:
            methods |= runpy.run_path(asked.file)["METHODS"]
        method = methods[asked.method]
        task = module.task(asked.data, asked.split)
        if hasattr(module, "warm"):
            module.warm(asked.method, task)
        found = _measured(task, method)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
