r"""One kernel, split by degree, with parameters by evidence: each step starts where the last ended.

The model is k = k_short + w k_long. Features carry the low degrees of k_long (`low`), and the
neighbours see what these leave, k - z·z. The steps are

1. one kernel alone, known by its nearest rows: what `search` finds;
2. the same kernel, its low degrees in features: better where it is long against the
   neighbourhoods of the rows, which lie on one side of what it correlates;
3. the kernel of step 1 as k_short beside a longer one, whose length scale, smoothness and weight
   are found; where the first was long itself, all parameters are.

Every step is judged by the evidence of the same rows given the same neighbours, and taken only
where that is higher: the evidence never falls.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..engines.correlation import Correlation, scaled
from ..kernels import Kernel, Matern
from ..kernels.compiled import of_kernel
from .covariance import Covariance
from .evidence import climb, evaluate
from .locations import Locations
from .low import (
    CANDIDATES,
    LandmarkLow,
    Low,
    farthest_points,
    less,
    low_degrees,
)
from .marginal import Observed, marginal
from .neighbors import Indices, Nearest, earlier_neighbors
from .noise import has_signal
from .sample import Parameters, Sample
from .search import Found
from .units import column_groups, log_noise
from .weights import NO_LOW, Extra, compiled_pairs

__all__ = ["is_short", "split_parameters"]

# The first rows, which are far apart, tell of the long range; rows spread over the order have
# neighbours as near as they will be, and tell of the short range. All are judged, the first alone
# where long kernels are compared.
FIRST_ROWS, SPREAD_ROWS, BASE_ROWS = 2_000, 1_000, 100_000
# Neighbours where long kernels are compared; the steps have as many as predictions.
FEW_NEIGHBORS = 16
# A kernel is long if the nearest rows, as many as neighbours, lie within this share of its length
# scale. Medians are 1.0 on elevation, which gets worse in blocks if its kernel is taken for a long
# one (.333 where a second term has .288), .26 on COADS and .05 on the simulated field, which get
# better (2.3 to 1.2 K; .833 to .831).
NEAR = 0.5
# Among more columns than these a few hundred features carry next to nothing of a kernel.
MANY_COLUMNS = 6
# With less noise, what features leave at a row may be rounding alone: landmarks are rows.
LEAST_NOISE = 1e-9
# Rows whose neighbourhoods are measured.
NEIGHBORHOODS = 1_000
# Length scales of k_long, in units of the distance that the features resolve: from scales that they
# just carry to such as cross the domain; in one group of columns alone, in units of its extent.
REACHES, EXTENTS = (6.0, 12.0, 24.0, 3.0), (1.0, 0.3)
# Weights of k_long, the one with which neighbours see it first, and how often it is found.
WEIGHTS, START_WEIGHT, N_WEIGHED = np.geomspace(0.03, 300.0, 9), 1.0, 2
# Iterations of L-BFGS for the noise alone, and for all parameters.
FEW, MANY = 4, 12


@dataclass(frozen=True)
class _Step:
    """A model and its evidence.

    Attributes
    ----------
    long : Kernel or None
        The kernel whose low degrees are features, of weight one; None: there are none.
    low : Low or None
    share : float
        One with a short kernel beside it, zero without.
    parameters : Parameters
        Logarithms of the factors of the short kernel's length scales, of noise and of the weight.
    value : float
        The log evidence.
    """

    long: Kernel | None
    low: Low | None
    share: float
    parameters: Parameters
    value: float


@dataclass(frozen=True)
class _Short:
    """The kernel that the steps start from.

    Attributes
    ----------
    kernel : Kernel
    correlation : Correlation
    scales : ndarray of shape (d,)
        Its length scales.
    groups : ndarray of shape (d,)
        Columns of one number share a length scale.
    isotropic : bool
        Whether it has one for all.
    """

    kernel: Kernel
    correlation: Correlation
    scales: FloatArray
    groups: npt.NDArray[np.intp]
    isotropic: bool

    @classmethod
    def of(cls, kernel: Kernel, rows: Array) -> "_Short":
        correlation = of_kernel(kernel)
        assert correlation is not None
        isotropic, n_columns = np.ndim(correlation.length_scale) == 0, rows.shape[1]
        scales = np.broadcast_to(np.asarray(correlation.length_scale, float), (n_columns,))
        groups = np.zeros(n_columns, np.intp) if isotropic else column_groups(rows)
        return cls(kernel, correlation, np.ascontiguousarray(scales), groups, isotropic)

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    def moved(self, log_factors: FloatArray) -> Kernel:
        """Return the kernel with other length scales."""
        name = "bandwidth" if hasattr(self.kernel, "bandwidth") else "length_scale"
        scales = self.scales * np.exp(log_factors)[self.groups]
        given: Any = float(scales[0]) if self.isotropic else scales
        return type(self.kernel)(**(self.kernel.get_params() | {name: given}))


class _Judge:
    """Rows whose terms of the evidence are summed, with the rows that they need."""

    def __init__(
        self, part: Locations, judged: Indices, n_first: int, short: _Short, n_neighbors: int
    ) -> None:
        self.part, self.short, self.n_first = part, short, n_first
        center = np.asarray(part.rows, np.float64).mean(axis=0)
        sample = Sample.of(part, center, short.scales, short.groups)
        self.sample = replace(sample, judged=judged)
        nothing = Parameters(np.zeros(short.n_groups), 0.0)
        self.neighbors = self.sample.neighbors(nothing, n_neighbors)
        self._harmonics: FloatArray | None = None
        self._last: tuple[Low, Sample, Extra] | None = None

    def alone(self, start: Parameters) -> _Step:
        """Return the kernel as it is."""
        found = evaluate(self.sample, self.short.correlation, start, self.neighbors).found
        return _Step(None, None, 1.0, start, found.log_evidence)

    def climbed(self, step: _Step, free: npt.NDArray[np.bool_], n_iterations: int) -> _Step:
        """Climb from a step, whose evidence need not be known."""
        sample, extra = self._with(step)
        best, value, _ = climb(
            sample, self.short.correlation, step.parameters, free, self.neighbors, n_iterations,
            extra,
        )  # fmt: skip
        return replace(step, parameters=best, value=value)

    def at_near_rows(self, step: _Step) -> float:
        """Return the evidence of the rows whose neighbours are as near as they will be."""
        sample, extra = self._with(step)
        near = slice(self.n_first, None)
        sample = replace(sample, judged=sample.judged[near])
        at = step.parameters
        neighbors, extra = self.neighbors[near], extra.part(near)
        return evaluate(sample, self.short.correlation, at, neighbors, extra).found.log_evidence

    def weighed(self, step: _Step) -> _Step:
        """Return the step with the weight of k_long that is best for its features.

        While the neighbours see k_long with one weight, all weights of the features are compared by
        one matrix of sums; then the neighbours see it with the best of them.
        """
        sample, extra = self._with(step)
        for _ in range(N_WEIGHED):
            parameters = step.parameters
            at = evaluate(sample, self.short.correlation, parameters, self.neighbors, extra)
            judged, noise = sample.judged, math.exp(parameters.log_noise)
            observed = Observed.of(at.whitening.variance, sample.repeated.part(judged), noise)
            gram, n_targets = at.whitened.T @ at.whitened, sample.targets.shape[1]
            values = [marginal(gram, n_targets, observed, one).log_evidence for one in WEIGHTS]
            best = replace(parameters, log_ratio=math.log(WEIGHTS[int(np.argmax(values))]))
            step = replace(step, parameters=best)
        found = evaluate(sample, self.short.correlation, best, self.neighbors, extra).found
        return replace(step, value=found.log_evidence)

    def _with(self, step: _Step) -> tuple[Sample, Extra]:
        """Return the sample with features, and what k_long adds to covariances beside them."""
        long, low = step.long, step.low
        assert long is not None
        assert low is not None
        if self._last is not None and self._last[0] is low:
            return self._last[1], self._last[2]._replace(share=step.share)
        features = self._features(low)
        of_long = of_kernel(long)
        assert of_long is not None
        covariance = less(Covariance.of(of_long), low)
        z = features if isinstance(low, LandmarkLow) else NO_LOW[0]
        points = scaled(self.part.rows, of_long.length_scale)
        extra = compiled_pairs(covariance, points, self.sample.judged, self.neighbors, z)
        self._last = low, replace(self.sample, features=features), extra
        return self._last[1], extra._replace(share=step.share)

    def _features(self, low: Low) -> FloatArray:
        if isinstance(low, LandmarkLow):
            return low.features(self.part.rows)
        if self._harmonics is None:  # the same for all kernels, but for their variances
            unit = replace(low, coefficients=low.dimensions.astype(float))
            self._harmonics = unit.features(self.part.rows)
        return self._harmonics * np.repeat(low.roots, low.dimensions)


def split_parameters(
    locations: Locations,
    start: Found,
    n_features: int,
    *,
    n_neighbors: int = 32,
    move_kernel: bool = True,
    move_noise: bool = True,
    verbose: bool = False,
) -> Found:
    """Split a kernel by degree, or set a longer one beside it, where the evidence is higher.

    Parameters
    ----------
    locations : Locations
        All rows, with targets that are about zero.
    start : Found
        The kernel alone, by its nearest rows.
    n_features : int
        D.
    n_neighbors : int, default=32
        As many as predictions will have.
    move_kernel, move_noise : bool, default=True
        Whether the kernel may change and get a second term, and whether the noise may change. A
        kernel that may not is split as it is.
    verbose : bool, default=False
        Print each step.

    Returns
    -------
    Found
        With the features in `low`, or as given where nothing is better.
    """
    n_features = min(n_features, len(locations) // 2)
    if n_features < 1 or of_kernel(start.kernel) is None or not has_signal(locations.targets):
        return start
    if locations.rows.shape[1] > MANY_COLUMNS or start.noise < LEAST_NOISE:
        return start
    short = _Short.of(start.kernel, locations.rows)
    first = _Judge(*_first(locations), short, min(FEW_NEIGHBORS, n_neighbors))
    both = _Judge(*_both(locations, short, n_neighbors), short, n_neighbors)
    begin = Parameters(np.zeros(short.n_groups), log_noise(start.noise))
    noise_moves = move_noise and start.noise > 0
    by_noise = np.array([False] * short.n_groups + [noise_moves, False])
    is_long = not is_short(locations, n_neighbors, start)
    best = both.alone(begin)
    least = best.value
    if is_long or not move_kernel:
        # The same process, known better where neighbours lie on one side.
        own = low_degrees(start.kernel, 1.0, locations.rows, n_features)
        best = both.climbed(_Step(start.kernel, own, 0.0, begin, math.nan), by_noise, FEW)
        least = max(least, best.value)
    if move_kernel:
        step = _beside(first, locations, begin, n_features, verbose)
        free = np.array([False] * short.n_groups + [False, True])
        step = both.climbed(step, free, FEW)
        if is_long:  # it mixes what is short and what is long, which can now part
            every = np.array([True] * short.n_groups + [noise_moves, True])
            moved = both.climbed(step, every, MANY)
            # Rows that are spread over the order stand for all that have near neighbours.
            n_spread = len(both.sample) - both.n_first
            more = (len(locations) - both.n_first) / n_spread - 1
            at_near = both.at_near_rows(moved) - both.at_near_rows(step)
            if moved.value - step.value + more * at_near > 0:
                step = moved
        # Weight, length scale and ν are three parameters more: Schwarz's price for them.
        if step.value > least + 1.5 * math.log(len(both.sample)):
            best = step
    if verbose:
        _say(best)
    return _found(start, short, best)


def is_short(locations: Locations, n_neighbors: int, found: Found) -> bool:
    """Whether the nearest rows of a row reach beyond the range of a kernel."""
    if of_kernel(found.kernel) is None:
        return True
    short = _Short.of(found.kernel, locations.rows)
    return _neighborhood(locations, short, n_neighbors) >= NEAR


def _neighborhood(locations: Locations, short: _Short, n_neighbors: int) -> float:
    """Return the distance to the last of the nearest rows, in length scales: its median."""
    points = scaled(locations.head(BASE_ROWS).rows, short.scales)
    thinned = (len(locations) / len(points)) ** (1 / max(1, min(points.shape[1], 2)))
    most = min(n_neighbors + 1, len(points))
    asked = points[:NEIGHBORHOODS]
    far = Nearest(points).query(asked, most)[:, -1]
    distances = np.sqrt(((points[far] - asked) ** 2).sum(axis=1))
    return float(np.median(distances)) / thinned


def _say(step: _Step) -> None:
    numbers = np.exp(step.parameters.vector()).round(6)
    print(f"{step.long} beside {step.share:g} short: {step.value:.2f}, {numbers}")


def _beside(
    judge: _Judge, locations: Locations, begin: Parameters, n_features: int, verbose: bool
) -> _Step:
    """Return the best longer kernel beside the one that there is."""
    short = judge.short
    start = replace(begin, log_ratio=math.log(START_WEIGHT))

    def tried(nu: float, scales: FloatArray) -> _Step:
        long = Matern(nu, float(scales[0]) if short.isotropic else scales)
        low = low_degrees(long, 1.0, locations.rows, n_features)
        step = judge.weighed(_Step(long, low, 1.0, start, math.nan))
        if verbose:
            _say(step)
        return step

    best, best_scales = None, short.scales
    for family in _families(locations, short, n_features):
        last = -math.inf
        for scales in family:
            step = tried(1.5, scales)
            if best is None or step.value > best.value:
                best, best_scales = step, scales
            if step.value <= last:  # further in this direction it falls
                break
            last = step.value
    assert best is not None
    return max(best, tried(2.5, best_scales), key=lambda step: step.value)


def _families(
    locations: Locations, short: _Short, n_features: int
) -> Iterator[Iterator[FloatArray]]:
    """Yield families of length scales: longer in all columns, or in one group of them."""
    resolved = covered_distance(locations.rows, short.scales, n_features)
    yield (reach * resolved * short.scales for reach in REACHES)
    if short.n_groups == 1:
        return
    variance = np.asarray(locations.rows[:CANDIDATES], np.float64).var(axis=0)
    for group in range(short.n_groups):
        mine = short.groups == group
        extent = math.sqrt(2 * float(variance[mine].sum()))
        longer = [share * extent for share in EXTENTS]
        yield (
            np.where(mine, scale, short.scales)
            for scale in longer
            if scale > 2 * short.scales[mine].max()
        )


def covered_distance(rows: Array, length_scale: Any, n_points: int) -> float:
    """Return how far rows are at most from so many of them that are spread out, in length scales.

    That is the distance which as many features resolve.
    """
    points = scaled(rows[:CANDIDATES], length_scale)
    nearest = np.full(len(points), np.inf)
    for one in farthest_points(points, 1.0, n_points):
        nearest = np.minimum(nearest, ((points - one) ** 2).sum(axis=1))
    return math.sqrt(float(nearest.max()))


def _found(start: Found, short: _Short, step: _Step) -> Found:
    """Return a step in the units of the rows."""
    if step.long is None or step.low is None:
        return start
    noise, weight = (math.exp(value) for value in step.parameters.vector()[-2:])
    if step.share == 0:
        return Found(step.long, noise, 1.0, step.value, step.low)
    whole = short.moved(step.parameters.log_scales) + weight * step.long
    return Found(whole, noise, 1.0, step.value, step.low.times(weight))


def _first(locations: Locations) -> tuple[Locations, Indices, int]:
    """Return the first rows, all of them judged, and how many they are."""
    part = locations.head(FIRST_ROWS)
    return part, np.arange(len(part), dtype=np.int32), len(part)


def _both(locations: Locations, short: _Short, n_neighbors: int) -> tuple[Locations, Indices, int]:
    """Return the first rows and some spread over all, with the rows that these need."""
    base = locations.head(BASE_ROWS)
    n_first = min(FIRST_ROWS, len(base) // 2)
    n_spread = min(SPREAD_ROWS, len(base) - n_first)
    spread = n_first + np.linspace(0, len(base) - n_first - 1, n_spread).astype(np.int32)
    most = min(n_neighbors, max(len(base) - 1, 1))
    near = earlier_neighbors(scaled(base.rows, short.scales), most, spread.astype(np.int32))
    judged = np.append(np.arange(n_first), spread)
    support = np.unique(np.append(near, judged))
    support = support[support >= 0]
    return base.take(support), np.searchsorted(support, judged).astype(np.int32), n_first
