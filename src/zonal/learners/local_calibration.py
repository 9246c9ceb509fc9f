"""Intervals of a model with a local part, from rows that are left out of their neighbours.

The mean of a row without itself is known from its other neighbours, at no cost of a second fit.
With a splitter the rows of each test part are predicted from its training part, with parameters
that stay. How the noise varies there is told by the training part alone too: errors at the edge of
a gap are others than they were with rows in it.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..calibration.intervals import Calibration
from ..calibration.local_variance import ErrorField, local_variance
from ..calibration.variance import OutOfFold, log_squares
from ..kriging.joint import Features, explained
from ..kriging.neighbors import Indices, Nearest
from ..kriging.process import LocalProcess
from ..rows import sample_rows
from .local_solution import LocalSolution, Observations
from .split_fits import SplitFits, part_of

__all__ = ["calibrate_local", "unseen_local"]

# Test rows of splits whose scores are sorted, more or less: rows of a block tell much the same.
CALIBRATED_ROWS = 5_000
# Errors at so many rows, each from so many others, tell how the noise varies.
FIELD_ROWS, FIELD_NEIGHBORS = 50_000, 32
# Fewer rows than this in the calibration cannot tell it.
LEAST_ROWS = 100
# Nor can more rows than this at each place.
MOST_REPEATED = 1.5
# A leverage beyond this is of rows that nothing else is near.
MOST_LEVERAGE = 0.5


def calibrate_local(
    solution: LocalSolution, features: Callable[[Array], Array] | None
) -> Calibration:
    """Calibrate a model by rows that it does not see.

    Parameters
    ----------
    solution : LocalSolution
        With the observations that it kept for this.
    features : callable or None
        Maps rows as the local part sees them to features.
    """
    observed = _observed(solution)
    map_ = features or solution.joint.process.features
    if observed.splits:
        parts = list(_parts(solution, observed, map_, CALIBRATED_ROWS))
        if parts:
            return _by_splits(solution, observed, parts)
        warnings.warn(
            "No split of cv has two training places and a test row: intervals are calibrated by "
            "leaving out rows one by one, and do not hold in gaps.",
            UserWarning,
            stacklevel=2,
        )
    return _by_leaving_out(solution, observed, map_)


def unseen_local(
    solution: LocalSolution, features: Callable[[Array], Array] | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return targets, what is predicted for them from other rows, and weights.

    Returns
    -------
    truth, prediction : ndarrays of shape (s, n_targets)
    weight : ndarray of shape (s,)
    """
    observed = _observed(solution)
    map_ = features or solution.joint.process.features
    rows = np.arange(len(observed.places))
    if observed.splits:
        parts = list(_parts(solution, observed, map_))
        rows = np.concatenate([part.test for part in parts])
        residual = np.concatenate([part.found.residual for part in parts])
    else:
        residual = _left_out(solution, observed, map_).residual
    truth = _truth(solution, observed, map_, rows) + solution.offset
    return truth, truth - residual, observed.weight[rows]


def _observed(solution: LocalSolution) -> Observations:
    if solution.observations is None:
        raise ValueError(
            "The model was fitted by an earlier version, which kept no rows to calibrate by: fit "
            "it again."
        )
    return solution.observations


def _truth(
    solution: LocalSolution, observed: Observations, features: Features, rows: Array
) -> FloatArray:
    """Return the targets of observations, about the offset: [s, n_targets]."""
    joint, places = solution.joint, observed.places[rows]
    known = explained(features, joint.process.rows[places], joint.found.coef)
    return np.asarray(joint.residual[places] + joint.found.mean + known + observed.deviation[rows])


def _by_leaving_out(
    solution: LocalSolution, observed: Observations, features: Features
) -> Calibration:
    process = solution.joint.process
    n_rows = len(process.rows)
    n_held = min(n_rows // 4, observed.n_places)
    if n_rows < 2:
        shape = (0, len(solution.offset))
        return Calibration.of(OutOfFold(np.empty(shape), np.empty(shape), np.empty(0)))
    found = _left_out(solution, observed, features)
    held = np.flatnonzero(observed.places >= n_rows - n_held)
    # New rows at known places are not like rows at places that are held out.
    repeated = len(observed.places) > MOST_REPEATED * len(np.unique(observed.places))
    if len(held) < LEAST_ROWS or repeated:
        return Calibration.of(found)
    # The rows whose scores count must tell nothing about how the noise varies.
    known = part_of(process, np.arange(n_rows - n_held))
    few = np.arange(min(n_rows - n_held, FIELD_ROWS), dtype=np.int32)
    errors = _errors(known, solution.joint.residual, solution.joint.found.scale, few)
    field = ErrorField(known.rows[few], log_squares(errors))
    part = found.rows(held)
    rows = process.rows[observed.places[held]]
    most = min(FIELD_NEIGHBORS, process.n_near)
    variance, log_variance = local_variance(
        [(field, np.arange(len(held)))], field, rows, part, process.kernel, most
    )
    if variance is None:
        return Calibration.of(found)
    return Calibration.of(part, variance, log_variance)


def _left_out(solution: LocalSolution, observed: Observations, features: Features) -> OutOfFold:
    """Predict each observation from all others."""
    joint = solution.joint
    process, places, own = joint.process, observed.places, observed.weight[:, None]
    neighbors, weights, variance = process.held_out(places)
    residual = joint.residual[places]
    error = residual + observed.deviation
    near = np.einsum("ij,ijt->it", weights, joint.residual[neighbors])
    # Others at the same place are an observation of it, with the noise of all of them.
    rest = np.maximum(process.weight[places][:, None] - own, 0.0)
    mates = rest > 1e-9 * own
    others = residual - observed.deviation * np.where(mates, own / np.where(mates, rest, 1.0), 0.0)
    noise = process.noise / np.where(mates, rest, 1.0)
    v = variance[:, None]
    gain = np.where(mates, v / (v + noise), 0.0)
    error -= near + gain * (others - near)
    total = v * (1 - gain) + process.noise / own
    unknown = joint.variance_of_mean(process.rows[places], features, neighbors, weights)[:, None]
    unknown = unknown * (1 - gain) ** 2
    leverage = np.minimum(unknown / (total + unknown), MOST_LEVERAGE)
    std = np.sqrt((total + unknown / (1 - leverage)) * joint.found.scale)
    return OutOfFold(error / (1 - leverage), std, observed.weight)


def _errors(
    process: LocalProcess, residual: FloatArray, scale: FloatArray, rows: Indices
) -> FloatArray:
    """Return errors at some rows of a process, from others near them, over their deviations."""
    most = min(FIELD_NEIGHBORS, process.n_near)
    neighbors, weights, variance = process.held_out(rows, n_neighbors=most)
    error = residual[rows] - np.einsum("ij,ijt->it", weights, residual[neighbors])
    return np.asarray(error / np.sqrt((variance + process.nugget[rows])[:, None] * scale))


@dataclass(frozen=True)
class _Part:
    """A split: places that are known, observations that are not, what is predicted for them."""

    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]
    process: LocalProcess
    found: OutOfFold


def _parts(
    solution: LocalSolution, observed: Observations, features: Features, most: int | None = None
) -> Iterator[_Part]:
    """Predict the test rows of each split, or about so many in all, from its training places."""
    whole, scale = solution.joint.process, solution.joint.found.scale
    fits = SplitFits(solution.joint, features, solution.found.ratio)
    splits = list(observed.parts())
    n_rows = sum(len(test) for _, test in splits)
    share = 1.0 if most is None else min(1.0, most / max(n_rows, 1))
    for train, every in splits:
        test = every[sample_rows(len(every), math.ceil(share * len(every)))]
        places, own = observed.places[test], observed.weight[test]
        queries = whole.rows[places]
        fitted, near = fits.without(train, queries)
        mean, std = fitted.predict(queries, features, return_std=True, neighbors=near)
        assert std is not None
        latent = std**2 / fitted.found.scale + whole.noise / own[:, None]
        residual = fits.targets[places] + observed.deviation[test] - mean
        found = OutOfFold(residual, np.sqrt(latent * scale), own)
        yield _Part(train, test, fitted.process, found)


def _by_splits(solution: LocalSolution, observed: Observations, parts: list[_Part]) -> Calibration:
    """Calibrate by the test rows of each split."""
    joint, scale = solution.joint, solution.joint.found.scale
    whole = joint.process
    n_field, most = min(len(whole.rows), FIELD_ROWS), min(FIELD_NEIGHBORS, whole.n_near)
    errors = _errors(whole, joint.residual, scale, np.arange(n_field, dtype=np.int32))
    fields, n_done = [], 0
    for part in parts:
        # Places are in random order, so that the first of them are as dense as those at new rows.
        n_known = max(int(np.searchsorted(part.train, n_field)), 1)
        points = whole.points[observed.places[part.test]]
        nearest = Nearest(part.process.points[:n_known])
        near = np.unique(nearest.query(points, min(most, n_known)))
        own = _errors(part.process, joint.residual[part.train], scale, near)
        mine = np.arange(n_done, n_done + len(part.test))
        fields.append((ErrorField(part.process.rows[near], log_squares(own, errors)), mine))
        n_done += len(part.test)
    found = OutOfFold(
        np.concatenate([part.found.residual for part in parts]),
        np.concatenate([part.found.std for part in parts]),
        np.concatenate([part.found.weight for part in parts]),
    )
    if n_done < LEAST_ROWS:
        return Calibration.of(found)
    rows = whole.rows[observed.places[np.concatenate([part.test for part in parts])]]
    everything = ErrorField(whole.rows[:n_field], log_squares(errors))
    variance, log_variance = local_variance(fields, everything, rows, found, whole.kernel, most)
    return Calibration.of(found, variance, log_variance)
