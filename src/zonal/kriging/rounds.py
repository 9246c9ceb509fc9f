"""Rounds of climbs on more and more rows."""

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from .._deadline import Deadline
from ..engines.correlation import Correlation
from ..rows.threads import ordered_map
from .climbing import maximize
from .effort import ROUNDS
from .sample import Parameters, Sample

__all__ = [
    "BEGIN",
    "COMPARE",
    "GO_ON",
    "POLISH",
    "POLISH_QUICKLY",
    "Candidate",
    "Climber",
]

BEGIN, GO_ON, COMPARE, POLISH, POLISH_QUICKLY = range(len(ROUNDS[1]))


@dataclass(frozen=True)
class Candidate:
    """A correlation function with parameters, and its log evidence once it is known."""

    correlation: Correlation
    parameters: Parameters
    value: float = math.nan


@dataclass(frozen=True)
class Climber:
    """Climbs with everything but the start and the kernel fixed."""

    sample: Sample
    free: npt.NDArray[np.bool_]
    n_neighbors: int
    verbose: bool

    @cached_property
    def parts(self) -> list[Sample]:
        """The sample of each round."""
        return [self.sample.thin(n_rows, n_base) for n_rows, n_base, *_ in self.rounds]

    @property
    def rounds(self) -> tuple[tuple[int, int, int, int, int], ...]:
        """The rounds for as many length scales."""
        return ROUNDS[max(least for least in ROUNDS if least <= max(len(self.free) - 2, 1))]

    def climb_all(
        self, number: int, candidates: list[Candidate], deadline: Deadline
    ) -> list[Candidate]:
        """Candidates after a round, side by side: the sums of one climb are too short to share."""
        part = self.parts[number]
        part.columns  # noqa: B018  made once, for all
        timely = deadline.while_time(candidates, "all climbs of a local part")
        return list(ordered_map(partial(self.climb, number), timely))

    def climb(self, number: int, candidate: Candidate) -> Candidate:
        """A candidate after a round."""
        _, _, m, n_iterations, n_searches = self.rounds[number]
        part = self.parts[number]
        best, value = maximize(
            part,
            candidate.correlation,
            candidate.parameters,
            self.free,
            min(m, self.n_neighbors),
            n_iterations,
            n_searches,
        )
        if self.verbose:
            numbers = np.exp(best.vector()).round(6)
            print(f"{len(part)} rows, {candidate.correlation}: {value / len(part):.4f}, {numbers}")
        return Candidate(candidate.correlation, best, value)
