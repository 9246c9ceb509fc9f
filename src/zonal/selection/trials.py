"""Candidates judged on rows that are held out of *all* rows, not of the pilot.

Density is what a local part lives on, so its queries are rows of the pilot, but their neighbours
come from all rows that may be known then: all others, or with a splitter its training part.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._deadline import Deadline
from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..features.sums import moments_of_rows, start_of_moments
from ..kriging.joint import Features, fit_joint
from ..kriging.joint_search import joint_parameters
from ..kriging.ladder import split_parameters
from ..kriging.locations import Locations, locate
from ..kriging.neighbors import Indices
from ..kriging.process import LocalProcess
from ..kriging.search import Found, find_candidates, find_parameters, polish
from ..kriging.units import STARTS, share_of
from ..model.split_fits import FIT_NEIGHBORS, judged_rows
from ..moments.folds import Splits
from ..moments.held_out import HeldOut
from ..moments.ridge import default_alphas, solve
from ..rows import Block, sample_rows
from ..rows.threads import ordered_map

__all__ = ["Split", "Trial", "Trials", "preferred", "splits_of"]

# A climb starts from at least so much noise.
LEAST_NOISE = 1e-3
# Rows whose parameters are tried for predictions into gaps, where neighbours are far.
FEWER_ROWS = 1_000, 4_000
# A candidate replaces a simpler one if it gains this share, and as many standard errors.
LEAST_GAIN, DEVIATIONS = 0.005, 1.0


class Split(NamedTuple):
    """Row numbers of what is known, of what is not, and of what is predicted among these.

    Attributes
    ----------
    train, test, queries : ndarrays of int
    rows : ndarray of shape (n, d) or None
        All rows as they are to a model of the training rows, where that depends on the split.
    """

    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]
    queries: npt.NDArray[np.intp]
    rows: Array | None = None

    def mapped(self, metric: Any) -> "Split":
        """Return the same split in the columns of a learned metric."""
        return self if self.rows is None else self._replace(rows=metric.transform(self.rows))

    def of_pilot(
        self, pilot: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the rows of a pilot that are in either part, and which of them are not known.

        All rows of the test part are held out: beside the queries, they would tell what is in the
        gap.
        """
        pilot = pilot[np.isin(pilot, np.concatenate([self.train, self.test]))]
        return pilot, np.isin(pilot, self.test)


def splits_of(
    plan: Splits,
    counting: npt.NDArray[np.intp],
    seen: Callable[[npt.NDArray[np.bool_]], Array] | None = None,
    most: int = 3_000,
) -> list[Split]:
    """Return the splits of a splitter, with at most so many queries in all.

    Parameters
    ----------
    plan : Splits
        Groups of rows, and splits in terms of these.
    counting : ndarray of int
        Rows of positive weight.
    seen : callable, optional
        Returns all rows as they are to a model of some, by a mask of these.
    most : int
        Queries, drawn by a hash of the row numbers.
    """
    found = []
    for split in plan.splits:
        train, test = (
            counting[np.isin(plan.labels[counting], part)] for part in (split.train, split.test)
        )
        few = sample_rows(len(test), max(most // len(plan.splits), 1))
        if len(train) and len(test):
            rows = None if seen is None else seen(np.isin(plan.labels, split.train))
            found.append(Split(train, test, test[few], rows))
    return found


@dataclass(frozen=True)
class Trial:
    """One candidate and how well it did.

    Attributes
    ----------
    losses : ndarray of shape (n_queries,)
        Squared errors times weights, averaged over targets.
    seconds : float
    found : Found or None
        Parameters of the local part.
    sparse : bool
        Whether they are those of fewer rows, for predictions into gaps.
    ends : tuple of int
        Where the losses of each split end.
    """

    losses: FloatArray
    seconds: float
    found: Found | None = None
    sparse: bool = False
    ends: tuple[int, ...] = ()

    @property
    def error(self) -> float:
        """The mean of the losses."""
        return float(self.losses.mean())


def preferred(simple: Trial, other: Trial) -> bool:
    """Tell whether a candidate is better than a simpler one beyond chance, on the same queries.

    Rows of a gap gain or lose together, so that splits count rather than rows: in one of five
    gaps everything may be better, and nothing in the others.
    """
    gains = simple.losses - other.losses
    error = gains.std() / max(len(gains), 2) ** 0.5
    if len(simple.ends) > 1:
        means = np.array([part.mean() for part in np.split(gains, simple.ends[:-1])])
        error = max(error, means.std(ddof=1) / len(means) ** 0.5)
    return bool(gains.mean() > max(LEAST_GAIN * simple.error, DEVIATIONS * error))


def _error(trial: Trial) -> float:
    return trial.error


class Trials:
    """Trials on all rows, in the columns that a local part sees.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        All rows, with columns on a common scale.
    targets : ndarray of shape (n, t)
        Of about unit variance.
    weights : ndarray of shape (n,) or None
    splits : list of Split
    n_neighbors : int
        Neighbours in predictions.
    """

    def __init__(
        self,
        rows: Array,
        targets: FloatArray,
        weights: FloatArray | None,
        splits: list[Split],
        n_neighbors: int = 32,
    ) -> None:
        self.rows, self.targets, self.weights = rows, targets, weights
        self.plain = rows
        self.learnt = False  # whether the columns come from a metric
        self.splits, self.n_neighbors = splits, n_neighbors
        self.n_far = 0
        self.deadline = Deadline()
        self.move_kernel = self.move_noise = True
        self._locations: list[Locations] = []
        self._neighbors: dict[tuple[Any, ...], Indices] = {}
        self._mapped: list[tuple[Any, Trials]] = []

    def alone(
        self,
        kernel: Any = None,
        noise: float | None = None,
        gaps: bool = False,
        like: Found | None = None,
        hopeless: Callable[[Trial], bool] | None = None,
        loud: float = 0.0,
    ) -> Trial:
        """Try the local part alone.

        The evidence finds the parameters of each kernel; the held-out rows choose the kernel. For
        predictions into gaps, parameters that belong to fewer rows, and so to longer distances,
        compete too, and are taken where they are better beyond chance. What was found for the same
        rows in other columns, `like`, saves most of the search, and so does a first result that is
        `hopeless`, which only one with that much noise can be.
        """
        start = time.perf_counter()
        locations = self.locations(0)
        if kernel is not None:
            candidates = [find_parameters(locations, kernel, noise)]
        elif like is not None:
            # In many columns the mean of very different length scales may be a bad start.
            starts = (self.share(like), max(like.noise, LEAST_NOISE)), STARTS[0]
            nu = (like.kernel.nu,)
            candidates = find_candidates(locations, noise, smoothness=nu, starts=starts)
        else:

            def settled(found: Found) -> bool:
                if hopeless is None or found.noise < loud:
                    return False
                return hopeless(self._trial(self.losses(found), 0.0, found))

            candidates = find_candidates(locations, noise, deadline=self.deadline, settled=settled)
        best = self._best(candidates)
        sizes = [size for size in FEWER_ROWS if 2 * size <= len(locations)]
        wider = gaps and kernel is None and like is None and sizes
        if wider and self.deadline.allows("a local part of longer range"):
            assert best.found is not None
            sparse = [self._sparser(locations.head(size), best.found, noise) for size in sizes]
            other = self._best([found for pair in sparse for found in pair])
            best = replace(other, sparse=True) if preferred(best, other) else best
        return replace(best, seconds=time.perf_counter() - start)

    def _sparser(self, locations: Locations, like: Found, noise: float | None) -> list[Found]:
        """Return what fewer rows prefer: the best by evidence, and the best of the same ν."""
        start = self.share(like), max(like.noise, LEAST_NOISE)
        best, *others = find_candidates(locations, noise, starts=(start,))
        return [best, *(other for other in others if other.kernel.nu == like.kernel.nu)]

    def polished(self, trial: Trial, noise: float | None = None) -> Trial:
        """Climb a little further with more rows, and stay there if that is better."""
        assert trial.found is not None
        start = time.perf_counter()
        found = polish(self.locations(0), trial.found, noise)
        seconds = trial.seconds + time.perf_counter() - start
        other = self._trial(self.losses(found), seconds, found)
        return min(replace(trial, seconds=seconds), other, key=_error)

    def split(self, trial: Trial, n_features: int) -> Trial | None:
        """Try the local part with what is long of its kernel in features; None: that gains nothing.

        Its parameters are those of largest evidence, not of held-out rows: near other rows it is as
        good as the local part alone, and far from them it is the one that is right.
        """
        assert trial.found is not None
        start = time.perf_counter()
        locations = self.locations(0)
        middle = np.average(locations.targets, axis=0, weights=locations.weight)
        found = split_parameters(
            replace(locations, targets=locations.targets - middle),
            trial.found,
            n_features,
            n_neighbors=self.n_neighbors,
            move_kernel=self.move_kernel,
            move_noise=self.move_noise,
        )
        if found.low is None:
            return None
        return self._trial(self.losses(found), time.perf_counter() - start, found)

    def _best(self, candidates: list[Found]) -> Trial:
        """Try parameters of a local part alone; of many splits the first tells which to try."""
        if len(self.splits) > 1 and len(candidates) > 1:
            first = ordered_map(partial(self.losses, n_splits=1), candidates)
            candidates = [candidates[int(np.argmin([losses.mean() for losses in first]))]]
        timely = self.deadline.while_time(candidates, "all kernels of a local part")
        trials = zip(ordered_map(self.losses, timely), candidates, strict=False)
        return min((self._trial(losses, 0.0, found) for losses, found in trials), key=_error)

    def _trial(self, losses: FloatArray, seconds: float, found: Found | None = None) -> Trial:
        ends = np.cumsum([len(split.queries) for split in self.splits])
        return Trial(losses, seconds, found, ends=tuple(ends.tolist()))

    def beside(self, features: Features, n_columns: int, start: Found) -> Trial:
        """Try features and the local part together."""
        begin = time.perf_counter()
        locations = self.locations(0)
        found = joint_parameters(
            locations,
            features,
            n_columns,
            start,
            move_kernel=self.move_kernel,
            move_noise=self.move_noise,
        )
        losses = self.losses(found, features, n_columns)
        return self._trial(losses, time.perf_counter() - begin, found)

    def spread(self) -> float:
        """Return the squared error of the mean on the queries of the first split."""
        first = self.splits[0]
        return float(self._squares(first, self.targets[first.train].mean(axis=0)).mean())

    def share(self, found: Found) -> float:
        """Return the length scale of a kernel of other columns of these rows, as a share."""
        return share_of(found.kernel.length_scale, self.plain)

    def mapped(self, metric: Any) -> "Trials":
        """Return the same trials in the columns of a learned metric; None: these."""
        if metric is None:
            return self
        for known, trials in self._mapped:
            if known is metric:
                return trials
        rows = metric.transform(self.rows)
        splits = [split.mapped(metric) for split in self.splits]
        other = Trials(rows, self.targets, self.weights, splits, self.n_neighbors)
        other.move_kernel, other.move_noise = self.move_kernel, self.move_noise
        other.n_far = self.n_far
        other.deadline = self.deadline
        other.plain, other.learnt = self.rows, True
        self._mapped.append((metric, other))
        return other

    def locations(self, split: int) -> Locations:
        """Return the distinct training rows of a split, in random order."""
        while len(self._locations) <= split:
            part = self.splits[len(self._locations)]
            train = part.train
            weights = None if self.weights is None else self.weights[train]
            self._locations.append(
                locate(self._seen(part)[train], self.targets[train], weights, learnt=self.learnt)
            )
        return self._locations[split]

    def _seen(self, split: Split) -> Array:
        """Return all rows as they are to a model of the training rows of a split."""
        return self.rows if split.rows is None else split.rows

    def losses(
        self,
        found: Found,
        features: Features | None = None,
        n_columns: int = 0,
        n_splits: int | None = None,
    ) -> FloatArray:
        """Return the losses of a local part, with features beside it or without, in some splits."""
        parts = []
        for number, split in enumerate(self.splits[:n_splits]):
            locations = self.locations(number)
            process = LocalProcess(
                locations.rows,
                locations.weight,
                found.kernel,
                found.noise,
                self.n_neighbors,
                self.n_far,
                found.low,
            )
            own = n_columns if found.low is None else found.low.n_columns
            judged = judged_rows(len(locations), own)
            joint = fit_joint(
                locations,
                process,
                features,
                found.ratio,
                judged=judged,
                neighbors=self._known(
                    (number, len(judged), process.metric),
                    lambda: process.earlier(judged, FIT_NEIGHBORS),  # noqa: B023  called here
                ),
            )
            queries = self._seen(split)[split.queries]
            near = self._known((number, process.metric), lambda: process.near(queries))  # noqa: B023
            predicted, _ = joint.predict(queries, features, neighbors=near)
            parts.append(self._squares(split, predicted))
        return np.concatenate(parts)

    def _known(self, key: tuple[Any, ...], find: Callable[[], Indices]) -> Indices:
        """Return neighbours, found once for all candidates that have the same.

        A kernel on the sphere has one length scale, which does not change who is near.
        """
        if key not in self._neighbors:
            self._neighbors[key] = find()
        return self._neighbors[key]

    def of_features(self, features: Any) -> Trial:
        """Try ridge regression on fitted features of the columns, at the best alpha."""
        start = time.perf_counter()
        parts = []
        for split in self.splits:
            train, test = self._moments(features, split)
            held_out = HeldOut.of(train, test)
            alphas = default_alphas(train)
            best = alphas[int(np.argmin(held_out.errors(alphas)))]
            solution = solve(train, float(best), fit_intercept=True)
            Z = FeatureSpace(features, train.n_features).transform(self._seen(split)[split.queries])
            parts.append(self._squares(split, Z @ solution.coef + solution.intercept))
        return self._trial(np.concatenate(parts), time.perf_counter() - start)

    def _moments(self, features: Any, split: Split) -> Any:
        """Sum the moments of the training rows and of the queries."""
        rows = self._seen(split)
        X, Y = rows[split.train], self.targets[split.train]
        shift = start_of_moments(FeatureSpace(features, 0), X, Y)
        space = FeatureSpace(features, len(shift) - Y.shape[1])
        known = Block(X, Y, None if self.weights is None else self.weights[split.train])
        queries = split.queries
        asked = Block(rows[queries], self.targets[queries], self._weight(split))
        return [moments_of_rows(space, block, None, shift)[0] for block in (known, asked)]

    def _weight(self, split: Split) -> FloatArray | None:
        return None if self.weights is None else self.weights[split.queries]

    def _squares(self, split: Split, predicted: Array) -> FloatArray:
        losses = np.square(self.targets[split.queries] - predicted).mean(axis=1)
        weight = self._weight(split)
        return np.asarray(losses if weight is None else losses * weight / weight.mean())
