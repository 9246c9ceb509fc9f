r"""One kernel, split by degree, with parameters by evidence: each step starts where the last ended.

The model is k = k_short + w k_long. Features carry the low degrees of k_long (`low`), and the
neighbours see what these leave, k - z·z. The steps are

1. one kernel alone, known by its nearest rows: what `search` finds;
2. the same kernel, with the length scales that rows far apart prefer and its low degrees in
   features: better where it is long against the neighbourhoods of the rows, which lie on one side
   of what it correlates;
3. the kernel of step 1 as k_short beside a longer one, whose length scale, smoothness and weight
   are found; where the first was long itself, or rows near others gain much, all parameters are.

Every step is judged by the evidence of the same rows given the same neighbours, and taken only
where that is higher: the evidence never falls.
"""

import math
from dataclasses import replace

import numpy as np

from ..engines.correlation import scaled
from ..kernels import Kernel
from ..kernels.compiled import of_kernel
from .covariance import covariance_of, terms_of
from .effort import FEW_COLUMNS, FEW_NEIGHBORS, JUDGED
from .judge import Judge, Short, Step
from .locations import Locations
from .longer import best_beside
from .low import covers_sphere, length_scale_of, low_degrees
from .neighbors import Indices, Nearest, earlier_neighbors
from .noise import has_signal
from .numerics import BASE_ROWS, LEAST_NOISE, LOG_NOISE, START_NOISE, STEPS
from .sample import Parameters
from .search import Found
from .units import log_noise

__all__ = ["is_short", "split_parameters"]

# A kernel is long if the nearest rows, as many as neighbours, lie within this share of its length
# scale. Medians are 1.0 on elevation, which gets worse in blocks if its kernel is taken for a long
# one (.333 where a second term has .288), .26 on COADS and .05 on the simulated field, which get
# better (2.3 to 1.2 K; .833 to .831).
NEAR = 0.5
# Nats a row by which rows near others must gain before all parameters of two kernels move although
# the first is short. On elevation they gain .00 to .04, and errors in blocks would grow from .294
# to .338; on climate_berkeley, whose kernel mixes places and months, .55, and errors fall from .281
# to .078. The neighbourhood (.498 to .504 there, as the units have it) cannot tell these apart.
MUCH = 0.1


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
        kernel that may not is split as it is: the low degrees of its longest term.
    verbose : bool, default=False
        Print each step.

    Returns
    -------
    Found
        With the features in `low`, or as given where nothing is better.
    """
    n_features = min(n_features, len(locations) // 2)
    if n_features < 1 or start.noise < LEAST_NOISE or not has_signal(locations.targets):
        return start
    if locations.rows.shape[1] > FEW_COLUMNS:
        return start
    if not move_kernel:
        return _as_given(locations, start, n_features)
    if of_kernel(start.kernel) is None:
        return start
    short = Short.of(start.kernel, locations.rows)
    first = Judge(*_first(locations), short, min(FEW_NEIGHBORS, n_neighbors))
    both = Judge(*_both(locations, short, n_neighbors), short, n_neighbors)
    begin = Parameters(np.zeros(short.n_groups), log_noise(start.noise))
    noise_moves = move_noise and start.noise > 0
    best = both.alone(begin)
    least = best.value
    is_long = not is_short(locations, n_neighbors, start)
    if is_long:
        # The same process, known better where neighbours lie on one side.
        kernel, at = start.kernel, begin
        if begin.log_noise > LOG_NOISE[0]:  # else the evidence is flat: a climb goes anywhere
            kernel, at = _as_long_as_it_is(both, best, noise_moves)
        own = low_degrees(kernel, 1.0, locations.rows, n_features)
        best = both.valued(Step(kernel, own, 0.0, at))
        least = max(least, best.value)
    step = both.weighed(best_beside(first, locations, begin, n_features, verbose))
    moved = _parted(both, step, noise_moves)
    n_spread = len(both.sample) - both.n_first
    at_near = both.at_near_rows(moved) - both.at_near_rows(step)
    # Rows that are spread over the order stand for all that have near neighbours.
    more = (len(locations) - both.n_first) / n_spread - 1
    gains = moved.value - step.value + more * at_near > 0
    if gains and (is_long or at_near > MUCH * n_spread):
        step = moved
    step = both.bounded(step)
    # Weight, length scale and ν are three parameters more: Schwarz's price for them.
    if step.value > least + 1.5 * math.log(len(both.sample)):
        best = step
    if verbose:
        best.say()
    return _found(start, short, best)


def _as_long_as_it_is(both: Judge, begin: Step, noise_moves: bool) -> tuple[Kernel, Parameters]:
    """Return the kernel alone with the length scales that rows far apart prefer, and its noise.

    Nearest rows tell how steep it is and hardly how long: of the simulated field they find 0.55 or
    3.0, as the order of the rows has it, and errors in holes are .830 or .858; from here 0.8.
    """
    free = np.array([True] * both.short.n_groups + [noise_moves, False])
    start = both.as_large_as_targets(begin.parameters)
    start = start if noise_moves else replace(start, log_noise=begin.parameters.log_noise)
    moved, value = both.climbed_alone(start, free, STEPS)
    if value <= begin.value:
        return both.short.kernel, begin.parameters
    kernel = both.short.moved(moved.log_scales)
    return kernel, replace(moved, log_scales=begin.parameters.log_scales)


def _parted(both: Judge, step: Step, noise_moves: bool) -> Step:
    """Let all parameters of two kernels move: the first may mix what is short and what is long."""
    free = np.array([True] * both.short.n_groups + [noise_moves, True])
    parameters = step.parameters
    if noise_moves:  # the evidence is flat where there is no noise, and a climb stays there
        start_noise = max(parameters.log_noise, math.log(START_NOISE))
        parameters = replace(parameters, log_noise=start_noise)
    return both.climbed(replace(step, parameters=parameters), free, STEPS)


def _as_given(locations: Locations, start: Found, n_features: int) -> Found:
    """Split a kernel of one term or several as it is: the low degrees of its longest term."""
    terms = terms_of(start.kernel)
    weight, long = max(terms, key=lambda term: float(np.min(length_scale_of(term[1]))))
    compiled = covariance_of(start.kernel) is not None
    if not compiled and not covers_sphere(long, locations.rows):
        return start  # neither a table nor a compiled loop for what features leave
    return replace(start, low=low_degrees(long, weight, locations.rows, n_features))


def is_short(locations: Locations, n_neighbors: int, found: Found) -> bool:
    """Whether the nearest rows of a row reach beyond the range of a kernel."""
    if of_kernel(found.kernel) is None:
        return True
    short = Short.of(found.kernel, locations.rows)
    return _neighborhood(locations, short, n_neighbors) >= NEAR


def _neighborhood(locations: Locations, short: Short, n_neighbors: int) -> float:
    """Return the distance to the last of the nearest rows, in length scales: its median."""
    points = scaled(locations.head(BASE_ROWS).rows, short.scales)
    thinned = (len(locations) / len(points)) ** (1 / max(1, min(points.shape[1], 2)))
    most = min(n_neighbors + 1, len(points))
    asked = points[: JUDGED // 2]
    far = Nearest(points).query(asked, most)[:, -1]
    distances = np.sqrt(((points[far] - asked) ** 2).sum(axis=1))
    return float(np.median(distances)) / thinned


def _found(start: Found, short: Short, step: Step) -> Found:
    """Return a step in the units of the rows."""
    if step.long is None or step.low is None:
        return start
    noise, weight = (math.exp(value) for value in step.parameters.vector()[-2:])
    if step.share == 0:
        return Found(step.long, noise, 1.0, step.value, step.low)
    whole = short.moved(step.parameters.log_scales) + weight * step.long
    return Found(whole, noise, 1.0, step.value, step.low.times(weight))


def _first(locations: Locations) -> tuple[Locations, Indices, int]:
    """Return the first rows, all of them judged, and how many they are.

    They are far apart, and tell of the long range: long kernels are compared by them alone.
    """
    part = locations.head(JUDGED)
    return part, np.arange(len(part), dtype=np.int32), len(part)


def _both(locations: Locations, short: Short, n_neighbors: int) -> tuple[Locations, Indices, int]:
    """Return the first rows and some spread over all, with the rows that these need.

    Those have neighbours as near as they will be, and tell of the short range.
    """
    base = locations.head(BASE_ROWS)
    n_first = min(JUDGED, len(base) // 2)
    n_spread = min(JUDGED // 2, len(base) - n_first)
    spread = n_first + np.linspace(0, len(base) - n_first - 1, n_spread).astype(np.int32)
    most = min(n_neighbors, max(len(base) - 1, 1))
    near = earlier_neighbors(scaled(base.rows, short.scales), most, spread.astype(np.int32))
    judged = np.append(np.arange(n_first), spread)
    support = np.unique(np.append(near, judged))
    support = support[support >= 0]
    return base.take(support), np.searchsorted(support, judged).astype(np.int32), n_first
