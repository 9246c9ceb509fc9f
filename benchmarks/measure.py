"""Measuring time and memory on a noisy machine."""

import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAGE = 4096


def seconds(*functions: Callable[[], Any], repeats: int = 5) -> list[float]:
    """Median seconds of each function; they take turns, so that noise hits all of them.

    Each runs once before the clock starts, which compiles it and warms the caches.
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
    return [statistics.median(record) for record in times]


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def peak_memory(function: Callable[[], Any]) -> int:
    """Bytes of resident memory that a call adds at its peak (Linux), sampled every millisecond."""
    start = peak = _resident()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(1e-3):
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


def table(rows: list[tuple[str, ...]], header: tuple[str, ...]) -> str:
    """A Markdown table."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
