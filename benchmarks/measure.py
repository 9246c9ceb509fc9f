"""Measuring time and memory on a noisy machine."""

import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PAGE = 4096


def seconds(
    *functions: Callable[[], Any],
    repeats: int = 5,
    summary: Callable[[list[float]], float] = statistics.median,
) -> list[float]:
    """Median seconds of each function; they take turns, so that noise hits all of them.

    Each runs once before the clock starts, which compiles it and warms the caches. Limits of the
    hardware take ``summary=min``.
    """
    times: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()
    time.sleep(0.2)  # the threads of whatever BLAS did before still spin for a while
    for _ in range(repeats):
        for record, function in zip(times, functions, strict=True):
            start = time.perf_counter()
            function()
            record.append(time.perf_counter() - start)
    return [summary(record) for record in times]


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in the block when its CPU time is over."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def peak_memory(function: Callable[[], Any], every: float = 1e-3) -> int:
    """Bytes of resident memory that a call adds at its peak (Linux), sampled every so often."""
    start = peak = _resident()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(every):
            peak = max(peak, _resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = function()
        peak = max(peak, _resident())
        del result
    finally:
        done.set()
        watcher.join()
    return peak - start


def table(rows: Sequence[tuple[str, ...]], header: tuple[str, ...]) -> str:
    """A Markdown table."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdict(what: str, value: float, goal: float, unit: str) -> tuple[str, str, str, str]:
    """Cells of a table for a value that should be at most as large as its goal."""
    return what, f"{value:.2f}{unit}", f"≤ {goal:g}{unit}", "yes" if value <= goal else "no"
