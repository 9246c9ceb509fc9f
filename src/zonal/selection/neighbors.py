"""Local parts: their parameters by evidence, in several columns, alone and beside features."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._deadline import Deadline
from ..features.columns.stretcher import Stretcher
from ..kernels import Matern
from ..kernels.bandwidth import median_distance
from ..kriging.joint_search import joint_parameters
from ..kriging.ladder import is_short, split_parameters
from ..kriging.locations import Locations
from ..kriging.numerics import STARTS
from ..kriging.search import (
    Found,
    find_candidates,
    find_first,
    find_others,
    find_parameters,
    polish,
)
from ..kriging.space_time import find_space_time
from ..kriging.space_time_split import split_space_time
from ..kriging.units import column_groups, share_of
from ..kriging.varying import varying
from ..model.held_out import time_like
from ..model.recipe import Local, varies_among
from ..rows.progress import phase
from ..rows.threads import ordered_map
from .judge import Candidate, Judge
from .pilot import Pilot

__all__ = ["NeighborSearch", "stretched"]


class NeighborSearch:
    """Finds the parameters of local parts, and has them scored.

    Parameters
    ----------
    judge : Judge
        In plain columns.
    local : Local
        What is given of the local part.
    deadline : Deadline
    """

    def __init__(self, judge: Judge, local: Local, deadline: Deadline) -> None:
        self.judge, self.local, self.deadline = judge, local, deadline
        self.free = {"move_kernel": local.kernel is None, "move_noise": local.noise is None}
        self._single: Found | None = None

    def split(self) -> Found:
        """Find the model of two ranges: low degrees of its kernel in features, the rest local.

        Its few parameters come from all rows, those that are held out too: there is no other
        candidate that this would be unfair to, and they stay for the fit.
        """
        phase("finding a local part")
        locations, local = self.centred(), self.local
        singles = []

        def search(places: Locations) -> Found:
            quick = partial(is_short, places, local.n_neighbors)
            found = find_parameters(
                places, local.kernel, local.noise, deadline=self.deadline, quick=quick
            )
            singles.append(found)
            if local.n_features and self.deadline.allows("a local part of two ranges"):
                found = split_parameters(
                    places, found, local.n_features, n_neighbors=local.n_neighbors, **self.free
                )
            return found

        found = self._varying(locations, search)
        self._single = singles[0]
        return found

    def centred(self) -> Locations:
        """Return the distinct ones of all rows, with targets about zero."""
        return _centred(self.judge.locations(None))

    def timed(self, periods: tuple[float, ...]) -> Found:
        """Find the model of space and time, from the kernel that `split` began with.

        Parameters
        ----------
        periods : tuple of float
            Seasons that are tried, in units of the last column.
        """
        phase("finding a local part of space and time")
        local, locations = self.local, self.centred()
        single = self._single
        assert single is not None

        def search(places: Locations) -> Found:
            found = find_space_time(
                places, single, periods, noise=local.noise, deadline=self.deadline
            )
            return split_space_time(places, found, local.n_features, local.n_neighbors)

        return self._varying(locations, search)

    def _varying(self, locations: Locations, search: Callable[[Locations], Found]) -> Found:
        """Find parameters that vary with place, where nothing of the local part is given."""
        local, rows = self.local, locations.rows
        free = local.kernel is None and varies_among(locations)
        return varying(
            locations,
            search,
            local.n_neighbors,
            varies=local.varies and free,
            warps=local.warps and free,
            in_time=local.periods is not None
            or time_like(rows, column_groups(rows)) == rows.shape[1] - 1,
            deadline=self.deadline,
        )

    def first(self) -> Candidate:
        """Score a local part in plain columns: ν = 3/2, the other parameters by evidence."""
        phase("finding a local part")
        local, locations = self.local, self.judge.locations()
        if local.kernel is not None:
            return self.judge.of_neighbors(find_parameters(locations, local.kernel, local.noise))
        return self.judge.of_neighbors(find_first(locations, local.noise, deadline=self.deadline))

    def smoothest(self, first: Candidate) -> Candidate:
        """Score kernels that are rougher and smoother; held-out rows choose."""
        found = first.found
        if self.local.kernel is not None or not self.deadline.allows("all kernels of a local part"):
            return first
        assert found is not None
        options = find_others(self.judge.locations(), found, self.local.noise)
        return self._best(self.judge, options)

    def isotropic(self) -> Candidate:
        """Score one length scale for all columns, the median distance, with noise by evidence.

        Length scales of many columns may follow the sample that finds them: of training rows of
        pendigits, 0.4 % of the labels were wrong with those of one sample, and none with one for
        all columns.
        """
        locations = self.judge.locations()
        kernel = Matern(1.5, median_distance(locations.rows, locations.weight))
        # The noise alone is known well by few rows.
        found = find_parameters(locations, kernel, self.local.noise, quick=lambda _: True)
        return self.judge.of_neighbors(found)

    def in_columns(self, step: Any, like: Candidate) -> Candidate:
        """Score a local part in other columns, from what was found in plain ones."""
        assert like.found is not None
        judge = self.judge.in_columns(step)
        if self.local.kernel is not None:
            return judge.of_neighbors(
                find_parameters(judge.locations(), self.local.kernel, self.local.noise)
            )
        # Not from its length scales: another climb may end far above that in plain columns, as on
        # one of three samples of weather (a third of the loss).
        share = share_of(like.found.kernel.length_scale, self.judge.rows)
        options = find_candidates(
            judge.locations(),
            self.local.noise,
            smoothness=(float(like.found.kernel.nu),),
            starts=((share, STARTS[0][1]), STARTS[0]),
        )
        return self._best(judge, options)

    def polished(self, candidate: Candidate) -> Candidate:
        """Climb a little further with more rows, and stay there if that is better."""
        if self.local.kernel is not None or not self.deadline.allows("a polished local part"):
            return candidate
        assert candidate.found is not None
        judge = self.judge.in_columns(candidate.columns)
        found = polish(judge.locations(), candidate.found, self.local.noise)
        return min(candidate, judge.of_neighbors(found), key=_loss)

    def beside(self, candidate: Candidate, features: Any, name: str) -> Candidate:
        """Score a fitted feature map beside a local part, with parameters of both together."""
        assert candidate.found is not None
        judge = self.judge.in_columns(candidate.columns)
        width = len(features.get_feature_names_out())
        found = joint_parameters(
            judge.locations(), features.transform, width, candidate.found, **self.free
        )
        return judge.of_neighbors(found, features, name)

    def _best(self, judge: Judge, options: list[Found]) -> Candidate:
        """Score parameters; of many splits the first tells which to take."""
        if len(options) > 1 and len(judge.splits) > 1:
            first = ordered_map(partial(judge.of_neighbors, n_splits=1), options)
            best = min(first, key=_loss)
            assert best.found is not None
            options = [best.found]
        timely = self.deadline.while_time(options, "all kernels of a local part")
        return min(ordered_map(judge.of_neighbors, timely), key=_loss)


def stretched(candidate: Candidate, pilot: Pilot) -> Stretcher | None:
    """Return columns of a table stretched where targets are steep, as a local part sees it.

    None where it sees all columns alike.
    """
    assert candidate.found is not None
    scales = getattr(candidate.found.kernel, "length_scale", 1.0)
    if np.ndim(scales) != 1:
        return None
    groups = column_groups(pilot.rows)
    single = np.flatnonzero(np.bincount(groups)[groups] == 1)
    training = np.flatnonzero(pilot.folds < 2)
    rows, targets = pilot.rows[training], pilot.targets[training]
    # A few landmarks tell where targets are steep.
    stretcher = Stretcher(scales, single.tolist(), max(len(training) // 8, 16))
    return stretcher.fit(rows, targets, pilot.weights[training])


def _centred(locations: Locations) -> Locations:
    middle = np.average(locations.targets, axis=0, weights=locations.weight)
    return replace(locations, targets=locations.targets - middle)


def _loss(candidate: Candidate) -> float:
    return candidate.loss
