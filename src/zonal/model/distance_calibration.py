"""Intervals of a model with a local part that hold near its rows and in holes.

Rows that are left out one by one tell of new rows beside known ones. For holes, balls are emptied
of rows (`held_out`), their rows are predicted from all others with parameters that stay, and the
model's own deviations get a factor that changes with the distance (`calibration.distance`), by
balls as large as the holes that will be asked where these are known. The quantiles are those of
rows left out alone. Those of all rows with the distances of the queries took away again what the
factor has for a new hole, which may err more than all that were seen: in nine caps of 1,000 km
that were emptied north of 64° in two other months than the benchmark's, 90 % held about 80 % of the
values more than 600 km from the next, and hold 87.3 %.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..calibration.distance import DistanceScale, distance_scale, held_at_distances
from ..calibration.intervals import Calibration
from ..calibration.local_variance import ErrorField, LocalVariance
from ..calibration.variance import OutOfFold, log_squares
from ..kriging.joint import Features, Joint
from ..kriging.neighbors import Indices, Nearest
from ..kriging.units import column_groups
from .held_out import LEAST_HOLES, HeldOut, hold_out, time_like
from .local_solution import LocalSolution
from .split_fits import SplitFits
from .unseen import FIELD_NEIGHBORS, errors_at, predicted

__all__ = ["Holes", "LeftOut", "at_distances", "calibrated", "own_distance"]


@dataclass(frozen=True)
class LeftOut:
    """Rows that are left out one by one, and how the noise varies.

    Attributes
    ----------
    places : ndarray of shape (s,)
        Where the process holds each row.
    found : OutOfFold
        What is predicted for them.
    variance : LocalVariance or None
        None: the noise does not vary.
    log_variance : ndarray of shape (s, n_targets) or 0.0
        The same at the rows, from others.
    known : ndarray of int32 or None
        Places at which errors told it.
    errors : ndarray of shape (f, n_targets) or None
        These errors.
    """

    places: npt.NDArray[np.int32]
    found: OutOfFold
    variance: LocalVariance | None = None
    log_variance: FloatArray | float = 0.0
    known: Indices | None = None
    errors: FloatArray | None = None


def at_distances(
    solution: LocalSolution, features: Features, near: LeftOut, wanted: FloatArray | None
) -> Calibration:
    """Calibrate by rows that are left out alone and by rows in holes.

    Parameters
    ----------
    solution : LocalSolution
        The fit, whose parameters stay.
    features : callable
        Maps rows to features.
    near : LeftOut
    wanted : ndarray of shape (q,) or None
        Distances of rows that will be asked to the rows of the fit, where they are known.
    """
    holes = Holes.of(solution, wanted)
    if not holes.parts:
        return Calibration.of(near.found, near.variance, near.log_variance)
    far, log_far = holes.predicted(solution, features, near)
    own = own_distance(solution, near.places)
    return calibrated(near, own, far, log_far, holes)


@dataclass(frozen=True)
class Holes:
    """Rows of a fit that are held out in holes.

    Attributes
    ----------
    parts : list of HeldOut
    """

    parts: list[HeldOut]

    @classmethod
    def of(cls, solution: LocalSolution, wanted: FloatArray | None) -> "Holes":
        """Empty balls among the rows of a fit, as large as what is asked, where that is known."""
        process = solution.joint.process
        time = time_like(process.rows, column_groups(process.rows))
        return cls(
            hold_out(process.points, wanted, time=time, scattered=False, least_holes=LEAST_HOLES)
        )

    @property
    def distance(self) -> FloatArray:
        """From each row to the nearest that stays: [r]."""
        return np.concatenate([part.distance for part in self.parts])

    @property
    def numbers(self) -> npt.NDArray[np.intp]:
        """The hole that each row lies in: [r]."""
        ends = np.cumsum([0, *(int(part.hole.max()) + 1 for part in self.parts)])
        each = zip(self.parts, ends[:-1], strict=True)
        return np.concatenate([part.hole + end for part, end in each])

    def predicted(
        self, solution: LocalSolution, features: Features, near: LeftOut
    ) -> tuple[OutOfFold, FloatArray]:
        """Return what a fit says of the rows without their holes, and how the noise varies."""
        process = solution.joint.process
        fits = SplitFits.of(solution.joint, features, solution.found.ratio)
        founds, logs = [], []
        for part in self.parts:
            queries = process.rows[part.test]
            fitted, neighbors = fits.without(np.flatnonzero(part.train), queries)
            truth, weight = fits.targets[part.test], process.weight[part.test]
            founds.append(predicted(solution, fitted, features, queries, truth, weight, neighbors))
            logs.append(_log_variance(solution, fitted, near, part))
        return OutOfFold.joined(founds), np.concatenate(logs)


def calibrated(
    near: LeftOut,
    own: FloatArray,
    far: OutOfFold,
    log_far: FloatArray,
    holes: Holes,
) -> Calibration:
    """Compare scores of rows that are left out alone with those of rows in holes.

    Parameters
    ----------
    near : LeftOut
    own : ndarray of shape (s,)
        The distance of each of its rows to the nearest other one.
    far, log_far, holes
        What is predicted for rows in holes (`Holes.predicted`).
    """
    distance = holes.distance
    scale = distance_scale(
        near.found.scores(near.log_variance), own, far.scores(log_far), distance, holes.numbers
    )
    log_near = near.log_variance + _twice(scale, own)
    log_near = np.broadcast_to(log_near, near.found.residual.shape)
    every = OutOfFold.joined([near.found, far])
    log_every = np.concatenate([log_near, log_far + _twice(scale, distance)])
    distances = np.concatenate([own, distance])
    calibration = Calibration.of(near.found, near.variance, log_near, scale)
    spacing = float(np.median(own))
    held = held_at_distances(every.scores(log_every), distances, spacing, calibration.quantiles)
    return replace(calibration, held=held)


def _log_variance(
    solution: LocalSolution, fitted: Joint, near: LeftOut, part: HeldOut
) -> FloatArray:
    """Return how the noise varies in holes, from errors at known rows near by."""
    n_targets = len(solution.offset)
    if near.variance is None:
        return np.zeros((len(part.test), n_targets))
    assert near.known is not None
    assert near.errors is not None
    whole, scale = solution.joint.process, solution.joint.found.scale
    # Of the places that tell it of the whole fit, those that are known beside the holes.
    places = np.cumsum(part.train) - 1
    known = places[near.known[part.train[near.known]]]
    most = min(FIELD_NEIGHBORS, whole.n_neighbors, len(known))
    nearest = Nearest(fitted.process.points[known])
    rows = np.unique(known[nearest.query(whole.points[part.test], most)]).astype(np.int32)
    errors = errors_at(fitted.process, fitted.residual, scale, rows)
    field = ErrorField(fitted.process.rows[rows], log_squares(errors, near.errors))
    process = near.variance.process
    variance = field.variance(process.kernel, process.noise, min(most, len(rows)))
    return replace(variance, share=near.variance.share).at(whole.rows[part.test])


def own_distance(solution: LocalSolution, places: npt.NDArray[np.int32]) -> FloatArray:
    """Return the distance from places to the nearest other one."""
    points = solution.joint.process.points
    other = Nearest(points).query(points[places], 2)[:, 1]
    return np.asarray(np.linalg.norm(points[places] - points[other], axis=1))


def _twice(scale: DistanceScale | None, distance: FloatArray) -> FloatArray | float:
    """Return a factor of deviations as a log variance: [n, n_targets]."""
    return 0.0 if scale is None else 2 * scale.at(distance)
