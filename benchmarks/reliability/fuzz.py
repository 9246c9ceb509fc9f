"""Try every property of `tests/properties` on thousands of random cases: `make fuzz`.

    python -m benchmarks.reliability.fuzz [--examples N] [--minutes M] [--seed S] [--only WORD]

The cases come in batches of one property and one seed each, and the batches are shared out to
worker processes: which cases there are does not depend on how many workers there are. Nothing is
shrunk and nothing stops at the first failure: cases are counted, and those that fail are kept
with all that it takes to make them again.

Altered model files are tried with the bounds of compiled code checked, for which it is compiled
anew: reading beyond an array does not always end in a signal.
"""

import argparse
import collections
import itertools
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from threadpoolctl import threadpool_limits

from tests.properties import altered
from tests.properties.properties import PROPERTIES, ShowsNothingError, try_one

from . import page

# Cases in a row with one seed: hypothesis makes many of a seed's cases by changing earlier ones.
BATCH = 25
SLOW = 12
STOPPED = 60
# Choices take a second each, and have a batch in every eighth round.
EVERY = 8
BY_NAME = {tried.name: tried for tried in PROPERTIES}


class TooSlowError(Exception):
    """A case that was stopped."""


def _stop(*_: Any) -> None:
    raise TooSlowError(f"stopped after {STOPPED} s of CPU")


@dataclass
class Tally:
    """What became of cases of one property."""

    name: str
    cases: int = 0
    seconds: float = 0.0
    empty: collections.Counter[str] = field(default_factory=collections.Counter)
    failures: list[dict[str, str]] = field(default_factory=list)
    slow: list[dict[str, Any]] = field(default_factory=list)

    def try_one(self, case: Any) -> None:
        """Try a case and note what became of it."""
        start = time.process_time()  # whatever else the machine does
        signal.setitimer(signal.ITIMER_PROF, STOPPED)
        try:
            try_one(BY_NAME[self.name].check, case)
        except ShowsNothingError as error:
            self.empty[str(error)] += 1
        except Exception as error:  # whatever it is, it is counted
            text = " ".join(str(error).split())[:300]
            self.failures.append({"error": f"{type(error).__name__}: {text}", "case": repr(case)})
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - start
        self.cases += 1
        self.seconds += seconds
        if seconds > SLOW:
            self.slow.append({"seconds": round(seconds, 1), "case": repr(case)})

    def add(self, other: "Tally") -> None:
        """Count the cases of another tally too."""
        self.cases += other.cases
        self.seconds += other.seconds
        self.empty.update(other.empty)
        self.failures += other.failures
        self.slow += other.slow

    def record(self) -> dict[str, Any]:
        return {
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "empty": dict(self.empty),
            "failures": self.failures,
            "slow": self.slow,
        }


@dataclass(frozen=True)
class Batch:
    """Cases of one property that one seed makes."""

    name: str
    seed: int
    size: int

    def run(self, deadline: float) -> Tally:
        """Try the cases until the time is over."""
        signal.signal(signal.SIGPROF, _stop)
        tally = Tally(self.name)

        @seed(self.seed)
        @settings(
            max_examples=self.size,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(BY_NAME[self.name].drawn)
        def run(case: Any) -> None:
            if time.monotonic() < deadline:
                tally.try_one(case)

        with threadpool_limits(1):  # there is a process for each core
            run()
        return tally


def batches(examples: int, first_seed: int, only: str = "") -> list[Batch]:
    """Return batches of the properties in turn, of that many cases in all."""
    wanted = [tried for tried in PROPERTIES if only in tried.name]
    turns = (
        tried.name
        for number in itertools.count(1)
        for tried in wanted
        if number % EVERY == 0 or not tried.automatic
    )
    starts = range(0, examples, BATCH)
    return [
        Batch(name, first_seed + start // BATCH, min(BATCH, examples - start))
        for start, name in zip(starts, turns, strict=False)
    ]


def fuzz(jobs: list[Batch], minutes: float, workers: int) -> Iterator[dict[str, Any]]:
    """Run the batches in worker processes; yield the figures after every round, and at the end."""
    start = time.monotonic()
    tallies = {job.name: Tally(job.name) for job in jobs}
    with ProcessPoolExecutor(workers) as pool:
        running = [pool.submit(job.run, start + 60 * minutes) for job in jobs]
        for number, done in enumerate(as_completed(running), 1):
            tally = done.result()
            tallies[tally.name].add(tally)
            if number % len(tallies) == 0 or number == len(jobs):
                yield {
                    "seed": jobs[0].seed,
                    "workers": workers,
                    "minutes": round((time.monotonic() - start) / 60, 1),
                    "properties": {name: one.record() for name, one in tallies.items()},
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the name of the properties to try")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--dry", action="store_true", help="print the page, but do not keep it")
    arguments = parser.parse_args()
    jobs = batches(arguments.examples, arguments.seed, arguments.only)
    with tempfile.TemporaryDirectory() as compiled:
        os.environ[altered.CHECKED] = compiled
        for found in fuzz(jobs, arguments.minutes, arguments.workers):
            page.keep("fuzz", found, dry=arguments.dry)


if __name__ == "__main__":
    main()
