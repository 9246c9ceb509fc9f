"""Kill, starve and forbid at random moments: `make torture`.

    python -m benchmarks.reliability.torture [--moments N] [--seed S] [--only WORD]

Afterwards every output is the old file or the complete new one, nothing temporary is left (after
SIGKILL: when the next command for the same output has ended), a resumed fit equals an
uninterrupted one to the last bit, nothing hangs for a minute, and every error is a sentence.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import faults, page

# Shares of the moments; the limits come on top.
STRUCK = {
    "zonal fit, struck": (faults.fit_struck, 0.3),
    "zonal predict, struck": (faults.prediction_struck, 0.15),
    "zonal.save, struck": (faults.save_struck, 0.2),
    "a stream with a checkpoint, struck and resumed": (faults.stream_struck, 0.25),
}
WORKER, WORKERS = "a Dask worker, struck", 0.07
SCHEDULER, SCHEDULERS = "the Dask scheduler, killed", 0.03
LIMITED = {
    "files may not grow (RLIMIT_FSIZE)": (faults.disk_full, 0.15),
    "too little memory (RLIMIT_AS)": (faults.memory_short, 0.1),
    "not permitted to read or write": (faults.not_permitted, 0.05),
}


def tally(
    fault: Callable[[Any, Path, float], list[str]], count: int, rng: Any, place: Path, lasts: float
) -> dict[str, Any]:
    """Do one thing many times, and count how often something was wrong afterwards."""
    start = time.monotonic()
    longest, wrong = 0.0, []
    for number in range(count):
        folder = faults.copied(place / "template", place / "case")
        before = time.monotonic()
        try:
            problems = fault(rng, folder, lasts)
        except Exception as error:  # a fault that cannot even be done is a failure too
            problems = [f"{type(error).__name__}: {error}"]
        longest = max(longest, time.monotonic() - before)
        wrong += [{"number": number, "problems": problems}] if problems else []
        if problems:
            print(f"  {number}: {problems}", flush=True)
    seconds = time.monotonic() - start
    return {
        "times": count,
        "failures": wrong,
        "longest": round(longest, 1),
        "seconds": round(seconds, 1),
    }


def torture(moments: int, seed: int, only: str, dry: bool) -> None:
    """Do everything that is asked for, and keep the figures of what is done."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}

    def keep() -> None:
        page.keep("torture", {"seed": seed, "faults": found}, dry=dry)

    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        place.chmod(0o755)
        (place / "template").mkdir()
        lasts = faults.prepare(place / "template")
        for name, (fault, share) in {**STRUCK, **LIMITED}.items():
            if only in name:
                print(name, flush=True)
                found[name] = tally(fault, max(1, round(share * moments)), rng, place, lasts)
                keep()
        if only in WORKER or only in SCHEDULER:
            _on_clusters(found, moments, rng, place, lasts, only)
            keep()


def _on_clusters(
    found: dict[str, Any], moments: int, rng: Any, place: Path, lasts: float, only: str
) -> None:
    """Strike clusters last: forks after Dask has started its threads are not safe."""
    from . import clusters

    if only in SCHEDULER:
        print(SCHEDULER, flush=True)
        count = max(1, round(SCHEDULERS * moments))
        found[SCHEDULER] = tally(clusters.scheduler_struck, count, rng, place, lasts)
    if only in WORKER:
        print(WORKER, flush=True)
        workers = clusters.Workers()
        count = max(1, round(WORKERS * moments))
        found[WORKER] = tally(workers.worker_struck, count, rng, place, lasts)
        workers.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the name of what to do")
    parser.add_argument("--dry", action="store_true", help="print the page, but do not keep it")
    arguments = parser.parse_args()
    torture(arguments.moments, arguments.seed, arguments.only, arguments.dry)


if __name__ == "__main__":
    main()
