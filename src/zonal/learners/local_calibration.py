"""Intervals of a model with a local part, from rows that are left out of their neighbours.

The mean of a row without itself is known from its other neighbours, at no cost of a second fit.
With a splitter the rows of each test part are predicted from its training part, with parameters
that stay.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..calibration.intervals import Calibration
from ..calibration.local_variance import ErrorField, local_variance
from ..calibration.variance import OutOfFold, log_squares
from ..kriging.joint import Features, fit_joint, no_features
from ..kriging.locations import Locations
from ..selection.trials import FIT_NEIGHBORS, JUDGED_ROWS, ROWS_A_COLUMN
from .local_solution import LocalSolution, Observations

__all__ = ["calibrate_local", "unseen_local"]

# Errors at so many rows tell how the noise varies.
FIELD_ROWS = 50_000
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
    map_ = features or no_features
    if observed.splits:
        return _by_splits(solution, observed, map_)
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
    observed, map_ = _observed(solution), features or no_features
    rows = np.arange(len(observed.places))
    if observed.splits:
        parts = list(observed.parts())
        rows = np.concatenate([test for _, test in parts])
        errors = [_predicted(solution, observed, map_, *part).residual for part in parts]
        residual = np.concatenate(errors)
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
    truth = joint.residual[places] + joint.found.mean + observed.deviation[rows]
    if len(joint.found.coef):
        truth = truth + np.asarray(features(joint.process.rows[places])) @ joint.found.coef
    return np.asarray(truth)


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
    field = _errors(solution, np.arange(n_rows - n_held, dtype=np.int32))
    part = found.rows(held)
    rows = process.rows[observed.places[held]]
    variance, log_variance = local_variance(
        [(field, np.arange(len(held)))], field, rows, part, process.kernel, process.n_near
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


def _errors(solution: LocalSolution, known: npt.NDArray[np.int32]) -> ErrorField:
    """Return errors at (some of) the known rows, each from the other known ones."""
    joint = solution.joint
    whole = joint.process
    process = whole.observed_at(whole.rows[known], whole.weight[known])
    few = np.arange(min(len(known), FIELD_ROWS), dtype=np.int32)
    neighbors, weights, variance = process.held_out(few)
    residual = joint.residual[known]
    error = residual[few] - np.einsum("ij,ijt->it", weights, residual[neighbors])
    std = np.sqrt((variance + process.nugget[few])[:, None] * joint.found.scale)
    return ErrorField(process.rows[few], log_squares(error / std))


def _by_splits(solution: LocalSolution, observed: Observations, features: Features) -> Calibration:
    """Predict the test rows of each split from its training rows."""
    joint = solution.joint
    process = joint.process
    everything = _errors(solution, np.arange(len(process.rows), dtype=np.int32))
    errors, chosen, fields = [], [], []
    n_done = 0
    for train, test in observed.parts():
        errors.append(_predicted(solution, observed, features, train, test))
        known = train[train < len(everything.rows)]
        fields.append(
            (
                ErrorField(everything.rows[known], everything.values[known]),
                np.arange(n_done, n_done + len(test)),
            )
        )
        chosen.append(test)
        n_done += len(test)
    found = OutOfFold(
        np.concatenate([one.residual for one in errors]),
        np.concatenate([one.std for one in errors]),
        observed.weight[np.concatenate(chosen)],
    )
    if n_done < LEAST_ROWS:
        return Calibration.of(found)
    rows = process.rows[observed.places[np.concatenate(chosen)]]
    variance, log_variance = local_variance(
        fields, everything, rows, found, process.kernel, process.n_near
    )
    return Calibration.of(found, variance, log_variance)


def _predicted(
    solution: LocalSolution,
    observed: Observations,
    features: Features,
    train: npt.NDArray[np.intp],
    test: npt.NDArray[np.intp],
) -> OutOfFold:
    """Fit to the training places, with parameters that stay, and predict observations."""
    joint = solution.joint
    process, places = joint.process, observed.places[test]
    n_columns = len(joint.found.coef)
    rows = process.rows[train]
    targets = joint.residual[train] + joint.found.mean
    if n_columns:
        targets = targets + np.asarray(features(rows)) @ joint.found.coef
    locations = Locations(
        rows, targets, process.weight[train], np.zeros_like(targets), np.arange(len(train))
    )
    local = process.observed_at(rows, locations.weight)
    n_judged = min(len(train), max(JUDGED_ROWS, ROWS_A_COLUMN * n_columns))
    fitted = fit_joint(
        locations,
        local,
        features,
        solution.found.ratio,
        n_neighbors=FIT_NEIGHBORS,
        judged=np.linspace(0, len(train) - 1, n_judged).astype(np.int32),
    )
    queries = process.rows[places]
    mean, std = fitted.predict(queries, features, return_std=True)
    assert std is not None
    truth = _truth(solution, observed, features, test)
    latent = std**2 / fitted.found.scale + process.noise / observed.weight[test][:, None]
    return OutOfFold(truth - mean, np.sqrt(latent * joint.found.scale), observed.weight[test])
