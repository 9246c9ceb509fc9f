"""The choice and the fit of a model on a machine that has other work to do.

Each fit has a process of its own, compiled before the clock starts: alone; beside a process that
keeps as many cores busy as there are (half a machine is a fair share then); two fits at once. They
take turns. Writes results/busy.md. Run: python -m benchmarks.busy
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .measure import table, verdict

RESULTS = Path(__file__).parent / "results"
FIT = """
import sys, time
import zonal
from benchmarks.local.data import random
task = random(sys.argv[1])
zonal.KernelRidge(random_state=0).fit(task.X[:2000], task.y[:2000])
print("ready", flush=True)
sys.stdin.readline()
start = time.perf_counter()
zonal.KernelRidge(random_state=0).fit(task.X, task.y)
print(time.perf_counter() - start, flush=True)
"""
# Products of matrices with all threads of BLAS, as another person's program would make them.
BUSY = """
import numpy as np
a = np.random.default_rng(0).random((2000, 2000))
while True:
    a @ a
"""
GOALS = {"beside a busy process": 2.5, "two fits at once": 2.2}


def fits(name: str, count: int = 1) -> float:
    """Seconds until so many fits, started together, are done."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", FIT, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    start = time.perf_counter()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    return time.perf_counter() - start


def beside(name: str) -> float:
    """Seconds of one fit beside a process that takes all cores."""
    other = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        return fits(name)
    finally:
        other.kill()
        other.wait()


def measure(name: str, repeats: int) -> list[tuple[str, ...]]:
    """Lines of the table of one dataset."""
    ways = {"alone": fits, "beside a busy process": beside, "two fits at once": pair}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way, run in ways.items():
            seconds[way].append(run(name))
    middle = {way: statistics.median(times) for way, times in seconds.items()}
    lines = [(f"{name}, alone", f"{middle['alone']:.1f} s", "", "", "")]
    for way, goal in GOALS.items():
        _, *judged = verdict(way, middle[way] / middle["alone"], goal, " ×")
        lines.append((f"{name}, {way}", f"{middle[way]:.1f} s", *judged))
    return lines


def pair(name: str) -> float:
    """Seconds of two fits at once."""
    return fits(name, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("names", nargs="*", default=["elevation", "protein"])
    arguments = parser.parse_args()
    lines = [line for name in arguments.names for line in measure(name, arguments.repeats)]
    header = ("what", "seconds", "times alone", "goal", "met")
    (RESULTS / "busy.md").write_text(
        "# On a busy machine\n\n"
        f"`python -m benchmarks.busy`: `KernelRidge().fit`, everything chosen, on "
        f"{os.cpu_count()} cores; medians of {arguments.repeats} runs that take turns, each in a "
        "process of its own. The busy process multiplies matrices with all threads of BLAS.\n\n"
        f"{table(lines, header)}\n"
    )
    print(table(lines, header))


if __name__ == "__main__":
    main()
