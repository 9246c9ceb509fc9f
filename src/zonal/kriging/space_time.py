r"""Kernels of space and time by evidence: what changes, what stays, and what comes back.

The last column is a time. The model is a sum,

.. math::

    k = k_{\text{change}}(h, u) + \sum_{j \le 2} w_j k_{\text{stay},j}(h)
    + \sum_p w_p k_{\text{season}}(h, u \bmod p),

each with length scales of its own in space. What changes is of Gneiting's class, with a generalized
Cauchy kernel of time; where all times lie within one period, time is a circle. The term that the
evidence wants most is added as long as it grows by more than the parameters cost (Schwarz's
criterion), and all parameters climb on together.
"""

import math
from dataclasses import replace

import numpy as np

from .._deadline import Deadline
from .._typing import Array, FloatArray
from ..kernels import Cauchy, Kernel, Matern, Periodic, SpaceTime
from .correlated import metric_points
from .covariance import terms_of
from .kernel_evidence import Bounds, Judged, Model, Term, judged_numbers
from .locations import Locations
from .low import CANDIDATES, LandmarkLow, farthest_points
from .marginal import Observed, marginal
from .neighbors import Indices
from .noise import has_signal
from .process import LocalProcess
from .search import Found

__all__ = ["find_space_time", "is_circle", "split_space_time"]

# Rows that are judged, and their neighbours: where terms are compared, and where the best is taken.
QUICK, WHOLE = (600, 16), (1_200, 20)
# Iterations of L-BFGS there, for each of two searches for neighbours.
MANY, FEW = 8, 5
# Length scales in units of the first, within which the climbs stay.
FARTHEST = (math.log(1e-3), math.log(1e3))
# What stays, from place to place and over large regions: starts in units of the first length scale.
STARTS = (("near", 0.25), ("far", 4.0))
LEAST_NOISE = 1e-5
# ν of what changes.
SMOOTHNESS = (0.5, 1.5, 2.5)
ROUNDING = 1e-6


def is_circle(times: Array, period: float) -> bool:
    """Whether times lie within one period: the months of a year.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.space_time import is_circle
    >>> is_circle(np.arange(1, 13), 12.0), is_circle(np.arange(1, 25), 12.0)
    (True, False)
    """
    return float(np.ptp(times)) < period


def find_space_time(
    locations: Locations,
    start: Found,
    periods: tuple[float, ...],
    *,
    noise: float | None = None,
    verbose: bool = False,
    deadline: Deadline | None = None,
) -> Found:
    """Find the terms and their parameters, from a Matérn kernel of all columns.

    Parameters
    ----------
    locations : Locations
        All rows; the last column is a time.
    start : Found
        With a length scale for each column.
    periods : tuple of float
        Seasons that are tried, in units of the time. One that holds all times makes it a circle;
        others that are not covered twice are left out.
    noise : float, optional
        η, if it is known.
    deadline : Deadline, optional
        How long it may take.

    Returns
    -------
    Found
        As given, where nothing is better.
    """
    kernel = start.kernel
    if not isinstance(kernel, Matern) or not has_signal(locations.targets) or len(locations) < 100:
        return start
    times = np.unique(np.asarray(locations.rows[:, -1], np.float64))
    if len(times) < 2:
        return start
    span = float(np.ptp(times))
    covered = span * len(times) / (len(times) - 1)  # the last time has its step too
    quick, judged = (Judged(locations, n_rows, m) for n_rows, m in (QUICK, WHOLE))
    deadline = deadline or Deadline()
    first = max(start.noise, LEAST_NOISE) if noise is None else max(noise, 1e-7)
    best = Model((_as_term(kernel),), math.log(first))
    value = judged.evidence(best, judged.neighbors(best.kernel))[0]
    price = math.log(len(judged)) / 2  # of a parameter: Schwarz's criterion
    circle = next((period for period in periods if is_circle(times, period)), None)
    space = np.asarray(kernel.length_scale, np.float64)[:-1]
    others = {f"what stays, {name}": (_stay(space, factor), 2) for name, factor in STARTS} | {
        f"season of {one:g}": (_season(space, one), 3)
        for one in periods
        if one != circle and covered >= (2 - ROUNDING) * one
    }
    trials: list[tuple[str, Model, int]] = [
        ("what changes", Model((_change(kernel, nu, span, circle),), best.log_noise), 0)
        for nu in SMOOTHNESS
    ]
    while trials and not deadline.passed():
        tried = [(name, *quick.climb(model, MANY), more) for name, model, more in trials]
        name, model, _, more = max(tried, key=lambda one: one[2] - one[3] * price)
        model, found = judged.climb(model, FEW)
        if verbose:
            print(f"{name}: {found:.2f}, {model.kernel}, noise {math.exp(model.log_noise):.3g}")
        if found - more * price <= value:
            break
        best, value = model, found
        others.pop(name, None)
        trials = [(one, best.plus(term), n) for one, (term, n) in others.items()]
    if best.kernel is kernel:
        return start
    eta = math.exp(best.log_noise) if noise is None else noise
    return Found(best.kernel, eta, 1.0, value)


def split_space_time(
    locations: Locations, found: Found, n_features: int, n_neighbors: int, verbose: bool = False
) -> Found:
    """Carry the low degrees of the term that is longest by features, if the evidence is higher.

    It is the same process: the neighbours see what features leave, and only how well Vecchia's
    approximation knows it changes.

    Parameters
    ----------
    locations : Locations
    found : Found
        With a sum of kernels of space and time.
    n_features : int
        D, at most.
    n_neighbors : int
        Of predictions.
    """
    n_features = min(n_features, len(locations) // 4)
    if n_features < 1 or not found.kernel.by_differences or found.noise <= 0:
        return found
    numbers = judged_numbers(len(locations), WHOLE[0], 1)
    best, value = found, _evidence(locations, found, numbers, n_neighbors)
    for weight, term in terms_of(found.kernel):
        landmarks = _landmarks(term, locations.rows, n_features)
        low = LandmarkLow.of(term, weight, landmarks, n_features)
        split = replace(found, low=low)
        reached = _evidence(locations, split, numbers, n_neighbors)
        if verbose:
            print(f"features of {term}: {reached:.2f}, without {value:.2f}")
        if reached > value:
            best, value = split, reached
    return best


def _evidence(locations: Locations, found: Found, numbers: Indices, n_neighbors: int) -> float:
    process = LocalProcess(
        locations.rows, locations.weight, found.kernel, found.noise, n_neighbors, 0, found.low
    )
    whitening = process.whitening(numbers, min(n_neighbors, WHOLE[1]))
    columns = np.column_stack(
        [np.ones(len(locations)), locations.targets, process.features(locations.rows)]
    )
    whitened = whitening.apply(columns)
    observed = Observed.of(whitening.variance, locations.repeated.part(numbers), found.noise)
    n_targets = locations.targets.shape[1]
    return float(marginal(whitened.T @ whitened, n_targets, observed, 1.0).log_evidence)


def _landmarks(term: Kernel, rows: Array, n_landmarks: int) -> FloatArray:
    """Return rows that are spread out in the metric of a term."""
    some = np.asarray(rows[:CANDIDATES], np.float64)
    points = metric_points(term, some)
    numbered = np.column_stack([points, np.arange(len(some))])
    scales = np.append(np.ones(points.shape[1]), np.inf)  # numbers are at no distance
    chosen = farthest_points(numbered, scales, n_landmarks)[0][:, -1].astype(int)
    return np.asarray(some[chosen])


def _as_term(kernel: Matern) -> Term:
    """A kernel without parameters."""
    return Term(lambda _: kernel, np.zeros(0), ())


def _change(kernel: Matern, nu: float, span: float, circle: float | None) -> Term:
    """Gneiting's class, from the length scales of a Matérn kernel of all columns."""
    scales = np.asarray(kernel.length_scale, np.float64)
    space, time = scales[:-1], min(float(scales[-1]), 10 * span)

    if circle is not None:

        def on_circle(values: FloatArray) -> Kernel:
            periodic = Periodic(circle, math.exp(values[1]), nu=1.5)
            return SpaceTime(Matern(nu, math.exp(values[0]) * space), periodic, float(values[2]))

        # In units of the circle's radius.
        around = math.log(min(max(2 * math.pi * time / circle, 0.05), 20.0))
        bounds: Bounds = (FARTHEST, (math.log(0.01), math.log(100.0)), (0.0, 1.0))
        return Term(on_circle, np.array([0.0, around, 0.0]), bounds)

    def on_line(values: FloatArray) -> Kernel:
        cauchy = Cauchy(math.exp(values[1]) * time, float(values[2]), math.exp(values[3]))
        return SpaceTime(Matern(nu, math.exp(values[0]) * space), cauchy, float(values[4]))

    decay = (math.log(0.05), math.log(20.0))
    bounds = (FARTHEST, FARTHEST, (0.1, 2.0), decay, (0.0, 1.0))
    return Term(on_line, np.array([0.0, 0.0, min(2.0, 2 * nu), 0.0, 0.1]), bounds)


def _stay(space: FloatArray, factor: float) -> Term:
    """What is the same at all times."""
    return Term(
        lambda values: SpaceTime(Matern(1.5, math.exp(values[0]) * space), None),
        np.array([math.log(factor)]), (FARTHEST,), math.log(0.3),
    )  # fmt: skip


def _season(space: FloatArray, period: float) -> Term:
    """What comes back after a period."""

    def kernel_of(values: FloatArray) -> Kernel:
        periodic = Periodic(period, math.exp(values[1]))
        return SpaceTime(Matern(1.5, math.exp(values[0]) * space), periodic)

    bounds = (FARTHEST, (math.log(0.1), math.log(100.0)))
    return Term(kernel_of, np.array([math.log(4.0), 0.0]), bounds, 0.0)
