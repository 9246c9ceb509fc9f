"""Intervals of a model with a local part, from rows that are left out of their neighbours.

The mean of a row without itself is known from its other neighbours, at no cost of a second fit.
With a splitter the rows of each test part are predicted from its training part, with parameters
that stay; where an encoder has looked at targets, from rows that are encoded anew. How the noise
varies there is told by the training part alone too: errors at the edge of a gap are others than
they were with rows in it.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..calibration.intervals import Calibration
from ..calibration.local_variance import ErrorField, local_variance
from ..calibration.variance import OutOfFold, log_squares
from ..kriging.joint import Features, explained
from ..kriging.locations import locate
from ..kriging.neighbors import Nearest
from ..kriging.process import LocalProcess
from ..rows import Block, sample_rows
from .distance_calibration import LeftOut, at_distances
from .local_solution import LocalSolution, Observations
from .split_fits import SplitFits, fit_part, part_of
from .unseen import FIELD_NEIGHBORS, errors_at, left_out, one_left_out, predicted

__all__ = [
    "Part",
    "calibrate_local",
    "left_out_alone",
    "refitted_parts",
    "unseen_local",
    "unseen_rows",
]

# Test rows of splits whose scores are sorted, more or less: rows of a block tell much the same.
CALIBRATED_ROWS = 5_000
# Errors at so many rows tell how the noise varies.
FIELD_ROWS = 50_000
# Fewer rows than this in the calibration cannot tell it.
LEAST_ROWS = 100
# Fewer places than this have no holes to calibrate by.
LEAST_IN_SPACE = 300


def calibrate_local(
    solution: LocalSolution,
    features: Callable[[Array], Array] | None,
    parts: list["Part"] | None = None,
) -> Calibration:
    """Calibrate a model by rows that it does not see.

    Parameters
    ----------
    solution : LocalSolution
        With the observations that it kept for this.
    features : callable or None
        Maps rows as the local part sees them to features.
    parts : list of Part, optional
        Test rows of splits, where they are known.
    """
    with solution.joint.process.kept_features():
        return _calibrated(solution, features, parts)


def _calibrated(
    solution: LocalSolution,
    features: Callable[[Array], Array] | None,
    parts: list["Part"] | None,
) -> Calibration:
    observed = _observed(solution)
    map_ = features or solution.joint.process.features
    if observed.splits:
        if parts is None:
            parts = list(_parts(solution, observed, map_, CALIBRATED_ROWS))
        if parts:
            return _by_splits(solution, parts)
        warnings.warn(
            "No split of cv has two training places and a test row: intervals are calibrated by "
            "leaving out rows one by one, and do not hold in gaps.",
            UserWarning,
            stacklevel=3,
        )
    return _by_leaving_out(solution, observed, map_)


def unseen_local(
    solution: LocalSolution,
    features: Callable[[Array], Array] | None,
    parts: list["Part"] | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return targets, what is predicted for them from other rows, and weights.

    Parameters
    ----------
    solution, features, parts
        As in `calibrate_local`.

    Returns
    -------
    truth, prediction : ndarrays of shape (s, n_targets)
    weight : ndarray of shape (s,)
    """
    observed = _observed(solution)
    map_ = features or solution.joint.process.features
    if observed.splits and parts is None:
        parts = list(_parts(solution, observed, map_))
    if parts:
        found = OutOfFold.joined([part.found for part in parts])
        truth = np.concatenate([part.truth for part in parts])
    else:
        found = left_out(solution, observed, map_)
        truth = _truth(solution, observed, map_)
    return truth + solution.offset, truth + solution.offset - found.residual, found.weight


def unseen_rows(
    solution: LocalSolution,
    features: Callable[[Array], Array] | None,
    rows: Array,
    targets: FloatArray,
    weight: FloatArray,
) -> FloatArray:
    """Return what is predicted for rows of the fit from the others: [s, n_targets].

    Parameters
    ----------
    solution, features
        As in `calibrate_local`.
    rows : ndarray of shape (s, d)
        Rows of the fit, as the local part sees them.
    targets : ndarray of shape (s, n_targets)
    weight : ndarray of shape (s,)
        Their weights in the fit.
    """
    process, map_ = solution.joint.process, features or solution.joint.process.features
    if len(process.rows) < 2:
        return np.broadcast_to(solution.offset, targets.shape).copy()
    asked = process.observed_at(rows, weight).points
    places = Nearest(process.points).query(asked, 1)[:, 0].astype(np.int32)
    observed = Observations(places, np.zeros(targets.shape), weight, len(process.rows))
    truth = targets - solution.offset
    observed = replace(observed, deviation=truth - _truth(solution, observed, map_))
    return np.asarray(targets - left_out(solution, observed, map_).residual)


def _observed(solution: LocalSolution) -> Observations:
    if solution.observations is None:
        raise ValueError(
            "The model was fitted by an earlier version, which kept no rows to calibrate by: fit "
            "it again."
        )
    return solution.observations


def _truth(solution: LocalSolution, observed: Observations, features: Features) -> FloatArray:
    """Return the targets of observations, about the offset: [s, n_targets]."""
    joint, places = solution.joint, observed.places
    known = explained(features, joint.process.rows[places], joint.found.coef)
    return np.asarray(joint.residual[places] + joint.found.mean + known + observed.deviation)


def _by_leaving_out(
    solution: LocalSolution, observed: Observations, features: Features
) -> Calibration:
    n_rows = len(solution.joint.process.rows)
    if n_rows < 2:
        shape = (0, len(solution.offset))
        return Calibration.of(OutOfFold(np.empty(shape), np.empty(shape), np.empty(0)))
    near = left_out_alone(solution, observed, features)
    if observed.in_space and n_rows >= LEAST_IN_SPACE:
        return at_distances(solution, features, near, observed.wanted)
    return Calibration.of(near.found, near.variance, near.log_variance)


def left_out_alone(solution: LocalSolution, observed: Observations, features: Features) -> LeftOut:
    """Predict each observation from all others, and find how the noise varies."""
    process = solution.joint.process
    n_rows = len(process.rows)
    n_held = min(n_rows // 4, observed.n_places)
    found = one_left_out(solution, observed, features)
    everything = LeftOut(observed.places, found)
    held = np.flatnonzero(observed.places >= n_rows - n_held)
    # Where rows repeat places there are none: new ones come to known places, not to those held out.
    if len(held) < LEAST_ROWS:
        return everything
    # The rows whose scores count must tell nothing about how the noise varies.
    known = part_of(process, np.arange(n_rows - n_held))
    few = np.arange(min(n_rows - n_held, FIELD_ROWS), dtype=np.int32)
    errors = errors_at(known, solution.joint.residual, solution.joint.found.scale, few)
    field = ErrorField(known.rows[few], log_squares(errors))
    part = found.rows(held)
    rows = process.rows[observed.places[held]]
    most = min(FIELD_NEIGHBORS, process.n_neighbors)
    variance, log_variance = local_variance(
        [(field, np.arange(len(held)))], field, rows, part, process.kernel, most
    )
    if variance is None:
        return everything
    return LeftOut(observed.places[held], part, variance, log_variance, few, errors)


@dataclass(frozen=True)
class Part:
    """The test rows of a split, and what its training rows say of them.

    Attributes
    ----------
    process : LocalProcess
        The local part, observed at the training places.
    residual : ndarray of shape (n, n_targets)
        What the features leave there.
    n_first : int
        How many of these places are among the first of all.
    queries : ndarray of shape (s, d)
        The test rows.
    truth : ndarray of shape (s, n_targets)
        Their targets, about the offset of the whole fit.
    found : OutOfFold
        What is predicted for them.
    """

    process: LocalProcess
    residual: FloatArray
    n_first: int
    queries: Array
    truth: FloatArray
    found: OutOfFold


def _parts(
    solution: LocalSolution, observed: Observations, features: Features, most: int | None = None
) -> Iterator[Part]:
    """Predict the test rows of each split, or about so many in all, from its training places."""
    whole = solution.joint.process
    fits = SplitFits.of(solution.joint, features, solution.found.ratio)
    splits = list(observed.parts())
    n_rows = sum(len(test) for _, test in splits)
    for train, every in splits:
        test = _some(every, most, n_rows)
        places = observed.places[test]
        queries = whole.rows[places]
        fitted, near = fits.without(train, queries)
        truth = fits.targets[places] + observed.deviation[test]
        found = predicted(solution, fitted, features, queries, truth, observed.weight[test], near)
        n_first = int(np.searchsorted(train, FIELD_ROWS))
        yield Part(fitted.process, fitted.residual, n_first, queries, truth, found)


def refitted_parts(
    solution: LocalSolution,
    features: Callable[[Array], Array] | None,
    splits: Iterable[tuple[Block, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]],
    n_test: int,
) -> Iterator[Part]:
    """Predict some test rows of splits, in each of which all rows are others.

    Parameters
    ----------
    solution : LocalSolution
        The fit to all rows, whose parameters stay.
    features : callable or None
        Maps rows as the local part sees them to features.
    splits : iterable of (Block, train, test)
        All rows as they are in a split, with targets [n, n_targets], and masks of its parts.
    n_test : int
        The number of test rows in all splits.
    """
    whole = solution.joint.process
    map_ = features or whole.features
    for block, train, test in splits:
        weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight)
        known = np.flatnonzero(train & (weight > 0))
        asked = _some(np.flatnonzero(test & (weight > 0)), CALIBRATED_ROWS, n_test)
        if len(known) < 2 or not len(asked):
            continue
        targets = block.y - solution.offset
        locations = locate(block.X[known], targets[known], weight[known])
        process = whole.observed_at(locations.rows, locations.weight)
        fitted = fit_part(locations, process, map_, solution.found.ratio)
        queries, truth = block.X[asked], targets[asked]
        found = predicted(solution, fitted, map_, queries, truth, weight[asked])
        share = len(locations) / max(len(whole.rows), 1)
        n_first = min(len(locations), math.ceil(share * FIELD_ROWS))
        yield Part(process, fitted.residual, n_first, queries, truth, found)


def _some(rows: npt.NDArray[np.intp], most: int | None, n_rows: int) -> npt.NDArray[np.intp]:
    """Return the share of these rows that leaves about so many of all."""
    share = 1.0 if most is None else min(1.0, most / max(n_rows, 1))
    return rows[sample_rows(len(rows), math.ceil(share * len(rows)))]


def _by_splits(solution: LocalSolution, parts: list[Part]) -> Calibration:
    """Calibrate by the test rows of each split."""
    joint, scale = solution.joint, solution.joint.found.scale
    whole = joint.process
    n_field, most = min(len(whole.rows), FIELD_ROWS), min(FIELD_NEIGHBORS, whole.n_neighbors)
    errors = errors_at(whole, joint.residual, scale, np.arange(n_field, dtype=np.int32))
    fields, n_done = [], 0
    for part in parts:
        # Places are in random order, so that the first of them are as dense as those at new rows.
        n_known = max(part.n_first, 1)
        points = whole.observed_at(part.queries, part.found.weight).points
        nearest = Nearest(part.process.points[:n_known])
        near = np.unique(nearest.query(points, min(most, n_known)))
        own = errors_at(part.process, part.residual, scale, near)
        mine = np.arange(n_done, n_done + len(points))
        fields.append((ErrorField(part.process.rows[near], log_squares(own, errors)), mine))
        n_done += len(points)
    found = OutOfFold.joined([part.found for part in parts])
    if n_done < LEAST_ROWS:
        return Calibration.of(found)
    rows = np.concatenate([part.queries for part in parts])
    everything = ErrorField(whole.rows[:n_field], log_squares(errors))
    variance, log_variance = local_variance(fields, everything, rows, found, whole.kernel, most)
    return Calibration.of(found, variance, log_variance)
