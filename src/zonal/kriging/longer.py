"""A longer kernel beside the one that there is: which length scales are tried."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._typing import FloatArray
from ..kernels import Matern
from .judge import Judge, Short, Step
from .locations import Locations
from .low import farthest_points, low_degrees
from .numerics import CANDIDATES, EXTENTS, REACHES
from .sample import Parameters

__all__ = ["best_beside"]


def best_beside(
    judge: Judge, locations: Locations, begin: Parameters, n_features: int, verbose: bool = False
) -> Step:
    """Return the best longer kernel beside the one that there is.

    Parameters
    ----------
    judge : Judge
    locations : Locations
        All rows.
    begin : Parameters
        Of the kernel that there is.
    n_features : int
        D at most.
    verbose : bool, default=False
        Print each one that is tried.
    """
    short, start = judge.short, replace(begin, log_ratio=0.0)  # as much of one as of the other

    def tried(nu: float, scales: FloatArray) -> Step:
        long = Matern(nu, float(scales[0]) if short.isotropic else scales)
        low = low_degrees(long, 1.0, locations.rows, n_features)
        step = judge.weighed(Step(long, low, 1.0, start))
        if verbose:
            step.say()
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
    locations: Locations, short: Short, n_features: int
) -> Iterator[Iterator[FloatArray]]:
    """Yield families of length scales: longer in all columns, or in one group of them."""
    # The distance that features resolve, as many as landmarks, in units of the length scales.
    _, resolved = farthest_points(locations.rows[:CANDIDATES], short.scales, n_features)
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
