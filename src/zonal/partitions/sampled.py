"""Whole neighbourhoods out of all parts, at their full density, by which intervals are calibrated.

A sample of places would be sparser than what queries will meet. So balls around a few places are
taken whole, and places within are left out of them; those near the rim of a ball, which miss half
of their neighbours, are not.
"""

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ..model.local_solution import (
    FEW_NEIGHBORS,
    OBSERVED_PLACES,
    LocalSolution,
    Observations,
)
from .around import Parts
from .part import Part

__all__ = ["sampled_neighborhoods"]

# So many balls of about so many places: what is held out of one has at most a fifth of them.
N_BALLS, BALL_PLACES = 16, 1 << 14
# Places within this share of the radius have all their neighbours.
INNER = 0.75


def sampled_neighborhoods(
    parts: Parts, solution: LocalSolution, in_space: bool
) -> tuple[Part, Observations]:
    """Return places of whole neighbourhoods, and the observations among them.

    Parameters
    ----------
    parts : Parts
    solution : LocalSolution
        With the first places of all, which are a random sample.
    in_space : bool
        Whether rows are places, among which there are holes.
    """
    first = parts.located(solution.joint.process.rows[:N_BALLS])
    if len(parts) <= N_BALLS * BALL_PLACES:
        infinite = np.full(first.shape[1], np.inf)
        places = parts.inside(-infinite, infinite)
        inner = np.ones(len(places), np.bool_)
    else:
        # The first places are thinner by this.
        share = len(solution.joint.process.rows) / len(parts)
        tree = cKDTree(parts.located(solution.joint.process.rows))
        distance, _ = tree.query(first, [max(2, round(BALL_PLACES * share))])
        radius = np.asarray(distance)[:, 0]
        balls = [_ball(parts, *ball) for ball in zip(first, radius, strict=True)]
        places = Part.joined(balls).distinct()
        points = parts.located(places.rows)
        away = np.stack([np.linalg.norm(points - center, axis=1) for center in first])
        inner = np.asarray((away <= INNER * radius[:, None]).any(axis=0))
    return places, _observations(places, inner, solution, in_space)


def _ball(parts: Parts, center: npt.NDArray[np.float64], radius: float) -> Part:
    places = parts.inside(center - radius, center + radius)
    return places.take(np.linalg.norm(parts.located(places.rows) - center, axis=1) <= radius)


def _observations(
    places: Part, inner: npt.NDArray[np.bool_], solution: LocalSolution, in_space: bool
) -> Observations:
    """Return the last inner places as observations, as a model in memory has them.

    Where several observations were at a place, their mean and the sum of squares about it are
    left: one observation stands for them that is as far from the mean as they are.
    """
    m = solution.joint.process.n_neighbors
    most = OBSERVED_PLACES if m <= FEW_NEIGHBORS else OBSERVED_PLACES // 2
    last = np.flatnonzero(inner)[-most:].astype(np.int32)
    deviation, weight = np.zeros((len(last), places.values.shape[1])), places.weight[last]
    if places.repeated is not None:
        within, more, _ = places.repeated.part(last)
        sign = np.where(places.hashes[last] % np.uint64(2) == 0, 1.0, -1.0)
        deviation = sign[:, None] * np.sqrt(within / weight[:, None])
        weight = weight / (1 + more)
    n_places = len(places) - int(last[0])
    return Observations(last, deviation, weight, n_places, in_space=in_space)
