"""What a model with a local part says of rows that it does not see, with parameters that stay."""

from dataclasses import replace

import numpy as np

from .._typing import Array, FloatArray
from ..calibration.variance import OutOfFold
from ..kriging.joint import Features, Joint
from ..kriging.neighbors import Indices
from ..kriging.process import LocalProcess
from ..rows.copies import one_of_many, seen
from .local_solution import LocalSolution, Observations

__all__ = ["FIELD_NEIGHBORS", "errors_at", "left_out", "one_left_out", "predicted"]

#: Errors that tell how the noise varies are each from so many other rows.
FIELD_NEIGHBORS = 32
# A leverage beyond this is of rows that nothing else is near.
MOST_LEVERAGE = 0.5


def left_out(
    solution: LocalSolution,
    observed: Observations,
    features: Features,
    alike: bool = False,
    most: float = np.inf,
) -> OutOfFold:
    """Predict each observation from all others.

    Parameters
    ----------
    solution, observed, features
        As in `local_calibration.calibrate_local`.
    alike : bool
        Whether observations have the noise of the mean weight, not that of their own.
    most : float
        The most that is left out of an observation's weight: the rest are its copies, which stay.
    """
    joint = solution.joint
    process, places = joint.process, observed.places
    own = np.minimum(observed.weight, most)[:, None]
    neighbors, weights, variance = process.held_out(places)
    residual = joint.residual[places]
    error = residual + observed.deviation
    near = np.einsum("ij,ijt->it", weights, joint.residual[neighbors])
    # Others at the same place are an observation of it, with the noise of all of them.
    rest = np.maximum(process.weight[places][:, None] - own, 0.0)
    mates = rest > 1e-9 * own
    others = residual - observed.deviation * np.where(mates, own / np.where(mates, rest, 1.0), 0.0)
    unit = process.noise_at(process.rows[places])[:, None]
    noise = unit / np.where(mates, rest, 1.0)
    v = variance[:, None]
    gain = np.where(mates, v / (v + noise), 0.0)
    error -= near + gain * (others - near)
    total = v * (1 - gain) + (unit if alike else unit / own)
    unknown = joint.variance_of_mean(process.rows[places], features, neighbors, weights)[:, None]
    unknown = unknown * (1 - gain) ** 2
    leverage = np.minimum(unknown / (total + unknown), MOST_LEVERAGE)
    std = np.sqrt((total + unknown / (1 - leverage)) * joint.found.scale)
    return OutOfFold(error / (1 - leverage), std, observed.weight)


def one_left_out(solution: LocalSolution, observed: Observations, features: Features) -> OutOfFold:
    """Predict each observation from all others and its own copies.

    What weights mean is decided as for features (`feature_calibration`).
    """
    every, at = solution.observations or observed, (solution, observed, features)
    if solution.errors is not None or (every.weight == 1).all():
        return left_out(*at)
    one = one_of_many(every.weight)
    found = left_out(*at, alike=True, most=one)
    if np.isinf(one) and not found.more_likely(own := left_out(*at)):
        found = own
    return replace(found, weight=seen(observed.weight, every.total))


def errors_at(
    process: LocalProcess, residual: FloatArray, scale: FloatArray, rows: Indices
) -> FloatArray:
    """Return errors at some rows of a process, from others near them, over their deviations."""
    most = min(FIELD_NEIGHBORS, process.n_neighbors)
    neighbors, weights, variance = process.held_out(rows, n_neighbors=most)
    error = residual[rows] - np.einsum("ij,ijt->it", weights, residual[neighbors])
    return np.asarray(error / np.sqrt((variance + process.nugget[rows])[:, None] * scale))


def predicted(
    solution: LocalSolution,
    fitted: Joint,
    features: Features,
    queries: Array,
    truth: FloatArray,
    weight: FloatArray,
    near: Indices | None = None,
) -> OutOfFold:
    """Return errors of a fit to some rows, with deviations on the scale of the whole fit."""
    mean, std = fitted.predict(queries, features, return_std=True, neighbors=near)
    assert std is not None
    noise = fitted.process.noise_at(queries)[:, None]
    latent = std**2 / fitted.found.scale + noise / weight[:, None]
    return OutOfFold(truth - mean, np.sqrt(latent * solution.joint.found.scale), weight)
