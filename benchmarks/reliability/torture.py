"""Kill, starve and forbid at random moments: `make torture`.

    python -m benchmarks.reliability.torture [--moments N] [--seed S] [--only WORD]

Afterwards every output is the old file or the complete new one, nothing temporary is left (after
SIGKILL: when the next command for the same output has ended), a resumed fit equals an
uninterrupted one to the last bit, nothing hangs for a minute, and every error is a sentence.
"""

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import faults, page

Fault = Callable[[Any, Path, float], list[str]]

# Shares of the moments; the limits come on top.
STRUCK = {
    "zonal fit, struck": (faults.fit_struck, 0.3),
    "zonal predict, struck": (faults.prediction_struck, 0.15),
    "zonal.save, struck": (faults.save_struck, 0.2),
    "a stream with a checkpoint, struck and resumed": (faults.stream_struck, 0.25),
}
WORKER = "a Dask worker, struck"
LIMITED = {
    "files may not grow (RLIMIT_FSIZE)": (faults.disk_full, 0.15),
    "too little memory (RLIMIT_AS)": (faults.memory_short, 0.1),
    "not permitted to read or write": (faults.not_permitted, 0.05),
}


class Tally:
    """How often one thing was done, and what was wrong afterwards."""

    def __init__(self, name: str, fault: Fault) -> None:
        self.name, self.fault = name, fault
        self.times, self.seconds, self.longest = 0, 0.0, 0.0
        self.failures: list[dict[str, Any]] = []

    def once(self, rng: Any, place: Path, lasts: float) -> None:
        folder = faults.copied(place / "template", place / "case")
        start = time.monotonic()
        try:
            problems = self.fault(rng, folder, lasts)
        except Exception as error:  # a fault that cannot even be done is a failure too
            problems = [f"{type(error).__name__}: {error}"]
        seconds = time.monotonic() - start
        if problems:
            self.failures.append({"number": self.times, "problems": problems})
        self.times += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)

    def record(self) -> dict[str, Any]:
        seconds = {"longest": round(self.longest, 1), "seconds": round(self.seconds, 1)}
        return {"times": self.times, "failures": self.failures, **seconds}


def torture(moments: int, seed: int, only: str, dry: bool) -> None:
    """Do everything that is asked for in a random order, and keep the figures on the way."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = page.kept("torture").get("faults", {}) if only else {}

    def do(what: dict[str, tuple[Fault, float]]) -> None:
        tallies = {name: Tally(name, fault) for name, (fault, _) in what.items() if only in name}
        order = [name for name in tallies for _ in range(max(1, round(what[name][1] * moments)))]
        for number, name in enumerate(rng.permutation(order), 1):
            tallies[name].once(rng, place, lasts)
            found.update((one.name, one.record()) for one in tallies.values())
            if number % 10 == 0 or number == len(order):
                page.keep("torture", {"seed": seed, "faults": found}, dry=dry)

    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        place.chmod(0o755)
        (place / "template").mkdir()
        lasts = faults.prepare(place / "template")
        do({**STRUCK, **LIMITED})
        # Last, for it is not safe to fork once Dask has started its threads.
        from . import clusters

        do({"the Dask scheduler, killed": (clusters.scheduler_struck, 0.03)})
        if only in WORKER:
            with contextlib.closing(clusters.Workers()) as workers:
                do({WORKER: (workers.worker_struck, 0.07)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the name of what to do anew")
    parser.add_argument("--dry", action="store_true", help="print the page, but do not keep it")
    arguments = parser.parse_args()
    torture(arguments.moments, arguments.seed, arguments.only, arguments.dry)


if __name__ == "__main__":
    main()
