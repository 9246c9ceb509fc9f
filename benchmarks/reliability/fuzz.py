"""Try every property of `tests/properties` on thousands of random cases: `make fuzz`.

    python -m benchmarks.reliability.fuzz [--examples N] [--minutes M] [--seed S] [--only WORD]

Nothing is shrunk and nothing stops at the first failure: cases are counted, and those that fail
are kept with all that it takes to make them again.
"""

import argparse
import collections
import signal
import time
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.properties.properties import PROPERTIES, Property, ShowsNothingError, try_one

from . import page

# Cases in a row with one seed: hypothesis makes many of a seed's cases by changing earlier ones.
BATCH = 25
SLOW = 12
STOPPED = 60


class TooSlowError(Exception):
    """A case that was stopped."""


def _stop(*_: Any) -> None:
    raise TooSlowError(f"stopped after {STOPPED} s of CPU")


class Tally:
    """What became of the cases of one property."""

    def __init__(self, tried: Property) -> None:
        self.tried = tried
        self.cases = 0
        self.seconds = 0.0
        self.empty: collections.Counter[str] = collections.Counter()
        self.slow: list[dict[str, Any]] = []
        self.failures: list[dict[str, str]] = []

    def try_one(self, case: Any) -> None:
        """Try a case and note what became of it."""
        start = time.process_time()  # whatever else the machine does
        signal.setitimer(signal.ITIMER_PROF, STOPPED)
        try:
            try_one(self.tried.check, case)
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

    def batch(self, number: int, size: int, deadline: float) -> None:
        """Try cases of a new seed until the time is over."""

        @seed(number)
        @settings(
            max_examples=size,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(self.tried.drawn)
        def run(case: Any) -> None:
            if time.monotonic() < deadline:
                self.try_one(case)

        run()

    def record(self) -> dict[str, Any]:
        return {
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "empty": dict(self.empty),
            "failures": self.failures,
            "slow": self.slow,
        }


def fuzz(
    examples: int, minutes: float, first_seed: int, only: str = ""
) -> Iterator[dict[str, Any]]:
    """Try the properties in turn, a batch of each, until there are examples enough or no time.

    Yields the figures after each round.
    """
    signal.signal(signal.SIGPROF, _stop)
    start = time.monotonic()
    tallies = [Tally(tried) for tried in PROPERTIES if only in tried.name]
    number = first_seed
    while (done := sum(tally.cases for tally in tallies)) < examples:
        before = done
        for tally in tallies:
            left = examples - sum(tally.cases for tally in tallies)
            tally.batch(number, min(BATCH, left), start + 60 * minutes)
            number += 1
            if left <= BATCH:
                break
        yield {
            "seed": first_seed,
            "minutes": round((time.monotonic() - start) / 60, 1),
            "properties": {tally.tried.name: tally.record() for tally in tallies},
        }
        if sum(tally.cases for tally in tallies) == before:
            break  # the time is over


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the name of the properties to try")
    parser.add_argument("--dry", action="store_true", help="print the page, but do not keep it")
    arguments = parser.parse_args()
    rounds = fuzz(arguments.examples, arguments.minutes, arguments.seed, arguments.only)
    for found in rounds:
        page.keep("fuzz", found, dry=arguments.dry)


if __name__ == "__main__":
    main()
