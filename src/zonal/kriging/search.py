"""Parameters by evidence: from small samples and all candidates to the whole sample and one."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._deadline import Deadline
from .._typing import FloatArray
from ..engines.correlation import EXPONENTIAL, MATERN_32, MATERN_52, Correlation
from ..kernels import Kernel, Matern
from ..kernels.compiled import of_kernel
from .amplitude import Amplitude
from .locations import Locations
from .low import Low
from .noise import find_noise, has_signal
from .numerics import BASE_ROWS, NOISE_START, SMOOTHNESS, STARTS
from .rounds import BEGIN, COMPARE, GO_ON, POLISH, POLISH_QUICKLY, Candidate, Climber
from .sample import Parameters, Sample
from .units import Units, log_noise
from .warp import Warp

__all__ = ["Found", "find_candidates", "find_first", "find_others", "find_parameters", "polish"]

_FAMILIES = dict(
    zip(SMOOTHNESS, map(Correlation, (EXPONENTIAL, MATERN_32, MATERN_52)), strict=True)
)


@dataclass(frozen=True)
class Found:
    """The kernel, the noise and the features' share that the evidence prefers.

    Attributes
    ----------
    kernel : Kernel
        In the units of the rows.
    noise : float
        η, relative to the kernel.
    ratio : float
        τ, the variance of the coefficients of features, relative to the kernel.
    log_evidence : float
        Of the sample, with targets of unit variance; NaN where there was nothing to find or the
        kernel has no compiled form.
    low : Low or None
        Features that carry the low degrees of the kernel, where it is split.
    amplitude : Amplitude or None
        The standard deviation that varies with place; None: it does not.
    warp : Warp or None
        Where places are moved before all else; None: they stay.
    """

    kernel: Kernel
    noise: float
    ratio: float
    log_evidence: float
    low: Low | None = None
    amplitude: Amplitude | None = None
    warp: Warp | None = None


def find_parameters(
    locations: Locations,
    kernel: Kernel | None = None,
    noise: float | None = None,
    n_neighbors: int = 24,
    smoothness: tuple[float, ...] = (0.5, 1.5, 2.5),
    verbose: bool = False,
    deadline: Deadline | None = None,
    quick: Callable[[Found], bool] | None = None,
) -> Found:
    """Maximise the evidence of a sample, over whatever is not given.

    Parameters
    ----------
    locations : Locations
        All rows, for parameters that predict best among them. A part from the beginning is a
        sparser sample: ``locations.head(2000)`` gives parameters that predict best in gaps as
        wide as the distances between 2,000 rows.
    kernel : Kernel, optional
        A kernel whose parameters are numbers, and stay. By default a Matérn kernel of ν = 1/2,
        3/2 or 5/2 with length scales for each column (see `column_groups`).
    noise : float, optional
        η, if it is known.
    n_neighbors : int, default=24
        The most neighbours that rows are conditioned on here.
    smoothness : tuple of float
        The ν to choose from, of 1/2, 3/2 and 5/2, where no kernel is given.
    verbose : bool, default=False
        Print what each round finds.
    deadline : Deadline, optional
        How long it may take.
    quick : callable, optional
        Tells of the best parameters, before they are polished, whether fewer rows are enough for
        that: a short kernel is known well by few (on elevation 1.0 s instead of 2.5 s, and errors
        are the same), a long one is not.
    """
    if kernel is not None and of_kernel(kernel) is None:
        eta = find_noise(locations, kernel, n_neighbors) if noise is None else noise
        return Found(kernel, eta, 1.0, math.nan)
    if kernel is not None and noise is not None:
        return Found(kernel, noise, 1.0, math.nan)
    search = _Search.of(locations, kernel, noise, n_neighbors, smoothness, verbose)
    deadline = deadline or Deadline()
    candidates = search.compared(deadline)
    few = quick is not None and quick(search.found(candidates[-1]))
    return search.found(search.polished(candidates, deadline, POLISH_QUICKLY if few else POLISH))


def find_candidates(
    locations: Locations,
    noise: float | None = None,
    n_neighbors: int = 24,
    smoothness: tuple[float, ...] = (0.5, 1.5, 2.5),
    starts: tuple[tuple[float, float], ...] = STARTS,
    deadline: Deadline | None = None,
) -> list[Found]:
    """The parameters of each ν that `find_parameters` compares, before it polishes the best.

    Evidence is not always the best judge between kernels: choose among these by held-out errors.

    Parameters
    ----------
    locations, noise, n_neighbors, smoothness
        As in `find_parameters`.
    starts : tuple of (float, float)
        Where to climb from; see `Units.starts`.
    deadline : Deadline, optional
        How long it may take.

    Returns
    -------
    list of Found
        The one of the largest evidence first.
    """
    search = _Search.of(locations, None, noise, n_neighbors, smoothness, False, starts)
    candidates = search.compared(deadline or Deadline())
    return [search.found(candidate) for candidate in reversed(candidates)]


def find_first(
    locations: Locations,
    noise: float | None = None,
    n_neighbors: int = 24,
    deadline: Deadline | None = None,
) -> Found:
    """The parameters of ν = 3/2 after a first climb; `find_others` goes on from there.

    Parameters
    ----------
    locations, noise, n_neighbors, deadline
        As in `find_parameters`.
    """
    deadline = deadline or Deadline()
    search = _Search.of(locations, None, noise, n_neighbors, (1.5,), False)
    best = search.begun(deadline)
    if search.has_signal and not deadline.passed():
        best = search.climber.climb(GO_ON, best)
    return search.found(best)


def find_others(
    locations: Locations,
    found: Found,
    noise: float | None = None,
    n_neighbors: int = 24,
    smoothness: tuple[float, ...] = (0.5, 1.5, 2.5),
) -> list[Found]:
    """Climb with several ν from the parameters of one.

    Parameters
    ----------
    locations, noise, n_neighbors, smoothness
        As in `find_parameters`.
    found : Found
        With a Matérn kernel of its own length scales.
    """
    return _climbed(locations, found, noise, n_neighbors, smoothness, COMPARE)


def polish(
    locations: Locations, found: Found, noise: float | None = None, n_neighbors: int = 24
) -> Found:
    """Climb a little further with more rows, from one of `find_candidates`.

    Parameters
    ----------
    locations, found, noise, n_neighbors
        As in `find_others`.
    """
    smoothness = (float(found.kernel.nu),)
    return _climbed(locations, found, noise, n_neighbors, smoothness, POLISH_QUICKLY)[0]


def _climbed(
    locations: Locations,
    found: Found,
    noise: float | None,
    n_neighbors: int,
    smoothness: tuple[float, ...],
    number: int,
) -> list[Found]:
    """Climb one round from parameters that are known, with each of some ν."""
    search = _Search.of(locations, None, noise, n_neighbors, smoothness, False)
    if not search.has_signal:
        return [found]
    start = search.start_of(found)
    starts = [Candidate(correlation, start) for correlation in search.correlations]
    return [search.found(one) for one in search.climber.climb_all(number, starts, Deadline())]


@dataclass(frozen=True)
class _Search:
    """Rounds of climbs: find a start, compare the kernels from there, polish the best."""

    kernel: Kernel | None
    units: Units
    climber: Climber
    correlations: list[Correlation]
    starts: list[Parameters]
    has_signal: bool

    @classmethod
    def of(
        cls,
        locations: Locations,
        kernel: Kernel | None,
        noise: float | None,
        n_neighbors: int,
        smoothness: tuple[float, ...],
        verbose: bool,
        starts_from: tuple[tuple[float, float], ...] = STARTS,
    ) -> "_Search":
        head = locations.head(BASE_ROWS)
        given = None if kernel is None else of_kernel(kernel)
        units = Units.of(head.rows, given)
        sample = Sample.of(head, units.center, units.spread, units.groups)
        free = np.full(units.n_groups + 2, given is None)
        free[-2:] = noise is None, False
        if given is None:
            correlations = [_FAMILIES[nu] for nu in smoothness]
            starts = units.starts(noise, starts_from)
        else:
            start = log_noise(NOISE_START if noise is None else noise)
            correlations, starts = [given], [Parameters(np.zeros(units.n_groups), start)]
        climber = Climber(sample, free, n_neighbors, verbose)
        return cls(kernel, units, climber, correlations, starts, has_signal(head.targets))

    def start_of(self, found: Found) -> Parameters:
        """Parameters that were found before, in units of the columns."""
        units = self.units
        log_scales = np.log(np.broadcast_to(found.kernel.length_scale, units.spread.shape))
        first = np.unique(units.groups, return_index=True)[1]  # a group shares its scale
        return Parameters((log_scales - np.log(units.spread))[first], log_noise(found.noise))

    def begun(self, deadline: Deadline) -> Candidate:
        """The middle kernel from the best start."""
        middle = self.correlations[len(self.correlations) // 2]
        if not self.has_signal:
            return Candidate(middle, self.starts[0])
        begun = [Candidate(middle, start) for start in self.starts]
        if len(begun) > 1:
            begun = self.climber.climb_all(BEGIN, begun, deadline)
        return max(begun, key=_value)

    def compared(self, deadline: Deadline) -> list[Candidate]:
        """Candidates of all kernels, the best one last."""
        best = self.begun(deadline)
        if not self.has_signal or deadline.passed():
            return [best]
        # A single kernel climbs on where kernels would be compared.
        if len(self.correlations) > 1:
            best = self.climber.climb(GO_ON, best)
        starts = [replace(best, correlation=correlation) for correlation in self.correlations]
        return sorted(self.climber.climb_all(COMPARE, starts, deadline), key=_value)

    def polished(
        self, candidates: list[Candidate], deadline: Deadline, last: int = POLISH
    ) -> Candidate:
        """The best of the last two of some candidates, if they are close, after more climbing.

        The logarithm of a normal density has a variance of 1/2, so the evidence of n rows has a
        standard error of √(n / 2): kernels within it cannot be told apart yet.
        """
        if not self.has_signal or not deadline.allows("a polished local part"):
            return candidates[-1]
        n_compared = min(self.climber.rounds[COMPARE][0], len(self.climber.sample))
        least = candidates[-1].value - math.sqrt(n_compared / 2)
        close = [one for one in candidates[-2:-1] if one.value > least]
        return max(
            (self.climber.climb(last, candidate) for candidate in [*close, candidates[-1]]),
            key=_value,
        )

    def found(self, candidate: Candidate) -> Found:
        """A candidate in the units of the rows."""
        kernel, parameters = self.kernel, candidate.parameters
        if kernel is None:
            scales = np.exp(parameters.log_scales)[self.units.groups] * self.units.spread
            kernel = _matern(candidate.correlation, scales)
        noise, ratio = (math.exp(value) for value in parameters.vector()[-2:])
        return Found(kernel, noise, ratio, candidate.value)


def _value(candidate: Candidate) -> float:
    return candidate.value


def _matern(correlation: Correlation, scales: FloatArray) -> Kernel:
    nu = next(nu for nu, family in _FAMILIES.items() if family is correlation)
    return Matern(nu, scales)
