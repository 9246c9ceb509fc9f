r"""Intervals of a weighted mean of local parts at the same places, near the rows and in holes.

Of each row that is held out every part says a mean and a deviation. The mixture has

.. math:: \hat y = \sum_c w_c \hat y_c, \qquad
    s^2 = \sum_c w_c \big(s_c^2 + (\hat y_c - \hat y)^2\big),

with weights that may change with the distance: where the parts differ, nobody knows. It is
calibrated as one model: how the noise varies is told by the first part, and the factor of s at
several distances and the quantiles by errors of the mean itself.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..calibration.intervals import Calibration
from ..calibration.variance import OutOfFold, shares_of
from ..kriging.joint import Features
from .distance_calibration import Holes, LeftOut, calibrated, own_distance
from .from_rows import FromRows
from .local_calibration import left_out_alone
from .local_solution import Observations
from .unseen import one_left_out

__all__ = ["calibrate_mixture", "left_out_mixture", "mixture", "same_places"]

# Rows that are left out alone: 90 % of so many are known to within .6 %. A kernel of space and time
# takes a second for 2,500 of them.
ALONE = 2_500


def same_places(parts: Sequence[Any]) -> bool:
    """Tell whether all parts are local ones on the same places, among which holes can be made."""
    if not all(isinstance(part, FromRows) for part in parts):
        return False
    first = parts[0].part
    observed = first.observations
    if observed is None or not observed.in_space or observed.splits:
        return False
    return all(np.array_equal(part.part.joint.process.rows, first.joint.process.rows)
               for part in parts[1:])  # fmt: skip


def mixture(
    means: Sequence[Array], stds: Sequence[Array], shares: Sequence[Any]
) -> tuple[Array, Array]:
    """Return the mean and the deviation of a mixture: [n, n_targets].

    Parameters
    ----------
    means, stds : sequences of ndarrays of shape (n, n_targets)
    shares : sequence of float or ndarrays of shape (n, 1)
        The weight of each part.
    """
    mean = sum(w * m for w, m in zip(shares, means, strict=True))
    each = zip(shares, means, stds, strict=True)
    square = sum(w * (np.square(s) + np.square(m - mean)) for w, m, s in each)
    return np.asarray(mean), np.sqrt(np.asarray(square))


def calibrate_mixture(
    parts: Sequence[FromRows], shares: Callable[[FloatArray], Sequence[Any]]
) -> Calibration:
    """Calibrate a weighted mean of local parts by rows that it does not see.

    Parameters
    ----------
    parts : sequence of FromRows
        At the same places; distances are in the units of the first.
    shares : callable
        Returns the weight of each part at distances [n] to the nearest row.
    """
    first = parts[0].part
    assert first.observations is not None
    wanted = first.observations.wanted
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(part.part.joint.process.kept_features())
        near, own = left_out_mixture(parts, shares)
        holes = Holes.of(first, wanted)
        if not holes.parts:
            return Calibration.of(near.found, near.variance, near.log_variance)
        # How the noise varies, the first part alone tells.
        told = [near, *[replace(near, variance=None)] * (len(parts) - 1)]
        said = [
            holes.predicted(part.part, _map(part), one)
            for part, one in zip(parts, told, strict=True)
        ]
    far = _mixed([found for found, _ in said], shares(holes.distance))
    return calibrated(near, own, far, said[0][1], holes)


def left_out_mixture(
    parts: Sequence[FromRows], shares: Callable[[FloatArray], Sequence[Any]]
) -> tuple[LeftOut, FloatArray]:
    """Predict some rows, each from all others; also the distance to the nearest of these.

    Parameters
    ----------
    parts, shares
        As in `calibrate_mixture`.
    """
    first = parts[0]
    assert first.part.observations is not None
    few = _few(first.part.observations)
    near = left_out_alone(first.part, few, _map(first))
    own = own_distance(first.part, near.places)
    same = _some(few, np.flatnonzero(np.isin(few.places, near.places)))
    others = [one_left_out(part.part, same, _map(part)) for part in parts[1:]]
    return _varied(near, _mixed([near.found, *others], shares(own))), own


def _map(part: FromRows) -> Features:
    return part.map or part.part.joint.process.features


def _few(observed: Observations) -> Observations:
    """Return fewer observations, spread over all."""
    n_rows = len(observed.places)
    return _some(observed, np.linspace(0, n_rows - 1, min(n_rows, ALONE)).astype(np.intp))


def _some(observed: Observations, rows: npt.NDArray[np.intp]) -> Observations:
    return replace(
        observed,
        places=observed.places[rows],
        deviation=observed.deviation[rows],
        weight=observed.weight[rows],
    )


def _mixed(parts: Sequence[OutOfFold], shares: Sequence[Any]) -> OutOfFold:
    """Return the errors of a weighted mean, with the deviations of the mixture."""
    mean, std = mixture([-part.residual for part in parts], [part.std for part in parts], shares)
    return OutOfFold(-mean, std, parts[0].weight)


def _varied(near: LeftOut, mixed: OutOfFold) -> LeftOut:
    """Take as much of the noise that varies in the first part as is good for the mixture."""
    if near.variance is None:
        return replace(near, found=mixed)
    share, _ = shares_of(mixed, np.asarray(near.log_variance))
    if not share:
        return LeftOut(near.places, mixed)
    variance = replace(near.variance, share=share * near.variance.share)
    return replace(near, found=mixed, variance=variance, log_variance=share * near.log_variance)
