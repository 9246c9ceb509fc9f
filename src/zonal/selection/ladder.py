"""The choice on one page: candidates are tried, most are dropped, and the last few are weighed.

*Places* (a sphere, or up to three columns of numbers): one candidate, whose parameters the
evidence finds: a local part with the low degrees of its kernel in features. On maps it is right
near the rows and far from them, so that nothing is left to choose. Features stand against it where
it leaves more than `LOST` of the variance, which may be outliers that it takes for a field. Where
the last column is like a time, a kernel of space and time stands beside it; both predict held-out
rows at several distances (`distances`), and are weighed by them (`weighing`).

*Other columns*:

1. Narrow features and neighbours in plain columns are scored. With less than `AHEAD` of the loss
   of narrow features, neighbours go on alone: wider features have not been seen to gain more than
   that. With more than `BEHIND` of it, and more than `NOISY` of noise, they go no further.
2. Neighbours are tried in a learned metric, and in tables in columns that are stretched where
   targets are steep. Features go through the rounds of `features`, in plain columns and in the
   learned metric; they are dropped after the second if neighbours have less than `BEHIND` of their
   loss.
3. Features stand beside the best neighbours: functions of single columns, or a few of long range,
   and those of step 2 where they do better than the neighbours.
4. The best `SURVIVORS` predict the same held-out rows. Their weights are those whose mean has the
   smallest squared error there. One candidate alone is taken unless the mean is better beyond
   chance.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._deadline import Deadline
from .._typing import Array, FloatArray
from ..features.columns.stretcher import Stretcher
from ..kriging.search import Found
from ..kriging.space_time import closing_period
from ..kriging.units import column_groups
from ..model.distance_weights import DistanceWeights
from ..model.held_out import time_like
from ..model.recipe import Local
from ..rows.progress import phase
from ..rows.threads import ordered_map
from .candidates import Kernelized, scout_for
from .distances import Distances
from .features import ROWS_A_COLUMN, FeatureSearch
from .judge import Candidate, Judge
from .neighbors import NeighborSearch, stretched
from .records import Log
from .rows import Rows
from .sums import Columns
from .weighing import verdict
from .weights import LEAST_WEIGHT, beyond_chance, simplex_weights, spread_of_mean

__all__ = ["BEHIND", "Ladder", "Weighed", "is_places", "weigh"]

#: Shares of the loss of narrow features: with less, neighbours go on alone; with more, and more
#: noise than this relative to the field, they go no further. Wage and happiness have 1.06 to 1.17
#: of the loss and a noise of 0.36 to 1.9; bikeshare and txhousing 0.16 and 0.71 and less than 0.1.
AHEAD, BEHIND, NOISY = 0.55, 0.9, 0.3
#: Candidates that are weighed: each costs as much as the others in predictions. Not tuned.
SURVIVORS = 4
#: Features of long range beside a local part: their number, and their length scale in median
#: distances. Of the features found: so many, for whitening takes as long as all the rest with more.
LONG_COLUMNS, LONG_WIDTH, JOINT_COLUMNS = 128, 1.5, 256
#: From so many columns on, functions of single columns stand beside a local part.
MANY_COLUMNS = 3
#: Places have at most so many columns.
PLACE_COLUMNS = 6
#: A field of which more is left on held-out rows may be none: Cauchy noise leaves all of it.
LOST = 0.5


@dataclass(frozen=True)
class Weighed:
    """The candidates that are left, and how much each counts.

    Attributes
    ----------
    candidates : tuple of Candidate
        The one with the largest weight first.
    weights : tuple of float
        Positive, of sum one.
    spread : float
        The error of their mean over the mean of their errors.
    weighing : DistanceWeights or None
        How the weights change with the distance to the nearest rows; None: they do not.
    """

    candidates: tuple[Candidate, ...]
    weights: tuple[float, ...] = (1.0,)
    spread: float = 1.0
    weighing: DistanceWeights | None = None


def is_places(rows: Rows, scaled: bool) -> bool:
    """Tell whether rows are places, perhaps with a time or a depth, not a table of other things."""
    few = rows.dim <= 3 or (rows.sphere is not None and rows.dim <= PLACE_COLUMNS)
    return few and not scaled


class Ladder:
    """The steps; see the module.

    Parameters
    ----------
    rows : Rows
    local : Local
        What is given of a local part.
    search : FeatureSearch
    log : Log
    deadline : Deadline
    scaled : bool
        Whether the rows are a table that was encoded.
    classes : bool
        Whether the targets are indicators of classes.
    """

    def __init__(
        self,
        rows: Rows,
        local: Local,
        search: FeatureSearch,
        log: Log,
        deadline: Deadline,
        scaled: bool,
        classes: bool = False,
    ) -> None:
        self.rows, self.local, self.search, self.log = rows, local, search, log
        self.deadline, self.scaled, self.classes = deadline, scaled, classes
        self.judge = Judge(rows, local.n_neighbors)
        self.neighbors = NeighborSearch(self.judge, local, deadline)

    def places(self, blend: bool, asked: Array | None = None, timeless: bool = False) -> Weighed:
        """Return what is left of the candidates for places.

        Parameters
        ----------
        blend : bool
            Whether more than one may be left.
        asked : ndarray of shape (q, d) or None
            Rows that will be asked, in the columns of the question.
        timeless : bool
            Whether no column is a time, whatever it looks like.
        """
        split = self._noted(self.neighbors.split())
        others = {} if timeless else self._other_places()
        if others and self.rows.split_by_user:
            timed = [self.judge.of_neighbors(found, name=name) for name, found in others.items()]
            return self.weighed([split, *map(self._noted, timed)], blend)
        if others:
            return self._chosen(self._at_distances(split, others, blend, asked))
        lost = self.judge.of_mean(split) > LOST and not self.local.required
        if lost and self.deadline.allows("features alone"):
            features = self._features(self.search.scout(self.search.glance()), None)
            return self.weighed([features, split], blend)
        return self.weighed([split], blend)

    def _other_places(self) -> dict[str, Found]:
        """Return candidates that may be better than the split kernel far from the rows."""
        periods, rows = self.local.periods, self.neighbors.centred().rows
        if rows.shape[1] < 2:  # a series alone has no space
            return {}
        if periods is None and time_like(rows, column_groups(rows)) == rows.shape[1] - 1:
            periods = closing_period(rows[:, -1])
        elif periods is not None:
            periods = tuple(one / self._unit_of_time() for one in periods)
        if periods is None or not self.deadline.allows("a local part of space and time"):
            return {}
        return {"space and time": self.neighbors.timed(periods)}

    def _at_distances(
        self, split: Candidate, others: dict[str, Found], blend: bool, asked: Array | None
    ) -> Weighed:
        """Weigh candidates by held-out rows at several distances."""
        phase("predicting at several distances")
        assert split.found is not None
        if asked is not None and self.rows.step is not None:
            asked = self.rows.step.transform(asked)
        held = Distances(self.neighbors.centred(), split.found, self.local.n_neighbors, asked)
        founds = [split.found, *others.values()]
        found = verdict(held, np.stack([held.predicted(one) for one in founds]), blend)
        assert split.line is not None
        self.log.judged(split.line, found.errors[0])
        candidates = [split]
        for (name, one), errors in zip(others.items(), found.errors[1:], strict=True):
            line = self.log.add(
                5,
                name,
                rows=len(held.locations),
                columns=0 if one.low is None else one.low.n_columns,
                loss=float(errors[0]),
                local=_words(one),
            )
            self.log.judged(line, errors)
            candidates.append(replace(split, name=name, found=one, line=line))
        weighing, left = found.weighing, tuple(candidates[i] for i in found.chosen)
        weights = tuple(weighing.values.mean(axis=0).tolist())
        if len(weighing.nodes) > 1:
            return Weighed(left, weights, weighing=weighing)
        return Weighed(left, weights, float(weighing.spread[0]))

    def weighed(self, candidates: list[Candidate], blend: bool) -> Weighed:
        """Weigh candidates by rows that all of them have predicted."""
        queries = np.concatenate([split.queries for split in self.rows.splits])
        weight = None if self.rows.weights is None else self.rows.weights[queries]
        return self._chosen(weigh(candidates, self.rows.targets[queries], weight, blend))

    def _chosen(self, found: Weighed) -> Weighed:
        """Say in the table what is left."""
        near = far = found.weights
        if found.weighing is not None:
            near, far = (found.weighing.values[node].tolist() for node in (0, -1))
        for candidate, *shares in zip(found.candidates, found.weights, near, far, strict=True):
            assert candidate.line is not None
            self.log.choose(candidate.line, *shares)
        return found

    def nearest_rows(self) -> Candidate:
        """Return the best local part in plain columns, with length scales of each or of all."""
        found = [self._noted(self.neighbors.alone(_never, _never))]
        if self.local.kernel is None and self._has_time("one length scale", found[0]):
            found.append(self._noted(self.neighbors.isotropic()))
        return self._noted(self.neighbors.polished(min(found, key=_loss)))

    def columns(self, both_kinds: bool = False) -> list[Candidate]:
        """Return the candidates for other columns.

        Parameters
        ----------
        both_kinds : bool
            Whether neighbours are wanted beside features even where they find mostly noise.
        """
        search, required = self.search, self.local.required
        narrow = search.glance()

        def is_noise(candidate: Candidate) -> bool:
            return self.judge.of_mean(candidate) > BEHIND * narrow[0][1]

        def is_loud(found: Found) -> bool:
            return found.noise > NOISY and not required

        plain = self._noted(self.neighbors.alone(is_loud, is_noise))
        assert plain.found is not None
        ratio = self.judge.of_mean(plain) / narrow[0][1]
        goes_on = not (is_loud(plain.found) and is_noise(plain))
        found = [plain]
        if self.classes and goes_on and self.local.kernel is None:
            found.append(self._noted(self.neighbors.isotropic()))
        metric = search.learn_metric() if ratio > AHEAD or required else None
        if goes_on:
            steps = [stretched(plain, self.rows.pilot) if self.scaled else None, metric]
            for step in steps:
                if step is not None and self._has_time("a local part in other columns", plain):
                    found.append(self._noted(self.neighbors.in_columns(step, plain)))
            best = min(range(len(found)), key=lambda i: found[i].loss)
            found[best] = self._noted(self.neighbors.polished(found[best]))
        if ratio > AHEAD and not required and self.deadline.allows("features alone"):
            scouts = search.scout(narrow)
            if min(map(self.judge.of_mean, found)) > BEHIND * scouts[0][1]:
                if not goes_on and not both_kinds:
                    return [self._unrivalled(scouts, metric)]
                found.append(self._features(scouts, metric))
        if goes_on:
            local = min((c for c in found if c.found is not None), key=_loss)
            if self._has_time("features beside the local part", local):
                found += self._beside(local, found[-1])
        return found

    def gains_by(self, n_neighbors: int, found: Weighed) -> bool:
        """Tell whether predictions should have more neighbours.

        Few rows can afford them. Where rows are a sample of more, so are queries, and held-out
        rows must gain by them beyond chance.
        """
        local = [candidate for candidate in found.candidates if candidate.found is not None]
        if not (local and self._is_sample):
            return True
        first, judge = local[0], self.judge.in_columns(local[0].columns)
        assert first.found is not None
        more = judge.of_neighbors(first.found, first.features, n_neighbors=n_neighbors)
        return beyond_chance(first.losses - more.losses, first.loss, first.ends)

    def _features(self, scouts: Any, metric: Any) -> Candidate:
        """Finish the search for features, and score the best like the others."""
        best, metric = self.search.finished(scouts, metric)
        return self._noted(self._wide_enough(best, metric), best)

    def _wide_enough(self, best: Kernelized, metric: Any) -> Candidate:
        """Score a kernel at full width.

        Where rows are a sample of more, all of which will be summed, at a quarter and a half of it
        first: time goes with the square of the width, and columns that gain nothing beyond chance
        are not worth minutes.
        """
        judge, found, widths = self.judge.in_columns(metric), None, [self._width]
        if self._is_sample:
            widths = [-(-self._width // share) for share in (4, 2, 1)]
        for width in widths:
            wider = judge.of_features(self.search.fitted(best, metric, width), best.map)
            if found is not None and not beyond_chance(
                found.losses - wider.losses, found.loss, found.ends
            ):
                break
            found = wider
        assert found is not None
        return found

    @property
    def _is_sample(self) -> bool:
        """Whether the rows are a sample of those that will be fitted."""
        return self.rows.pilot.n_rows > len(self.rows.targets)

    @property
    def _width(self) -> int:
        """The most features: with more wage takes a third longer, and has the same error."""
        return min(self.search.n_components, max(len(self.rows.targets) // ROWS_A_COLUMN, 1))

    def _unrivalled(self, scouts: Any, metric: Any) -> Candidate:
        """Finish the search for features; what the pilot says of the best is enough."""
        if self._is_sample:
            return self._features(scouts, metric)
        best, metric = self.search.finished(scouts, metric)
        features = self.search.fitted(best, metric, self._width)
        line = self.log.line_of(best.map, best.words())
        losses, nothing = np.array([line["error"]]), np.empty((0, 1))
        return Candidate(best.map, nothing, losses, (1,), metric, features, kernel=best, line=line)

    def _beside(self, local: Candidate, features: Candidate) -> list[Candidate]:
        """Score features beside the local part: those found, and a few of long range."""
        found, own = [], local.columns is not None
        judge = self.judge.in_columns(local.columns)
        if features.found is None and features.loss < local.loss and not own:
            kernel = features.kernel
            assert kernel is not None
            map_ = self.search.fitted(kernel, None, min(self.search.n_components, JOINT_COLUMNS))
            found.append(self._noted(self.neighbors.beside(local, map_, features.name), kernel))
        scout = scout_for(judge.rows.shape[1], LONG_COLUMNS)
        long = [Kernelized("matern 3/2", LONG_WIDTH, scout, metric=own)]
        # A rotation leaves no single columns.
        single = not own or isinstance(local.columns, Stretcher)
        if single and len(Columns.of(self.rows.pilot.rows)) >= MANY_COLUMNS:
            long.append(long[0].on("additive"))

        def tried(kernel: Kernelized) -> Candidate:
            map_ = self.search.fitted(kernel, local.columns, LONG_COLUMNS)
            return self.neighbors.beside(local, map_, kernel.map)

        # Side by side where there are threads: a climb is too short to share.
        for kernel, candidate in zip(long, ordered_map(tried, long), strict=True):
            found.append(self._noted(candidate, kernel))
        return found

    def _unit_of_time(self) -> float:
        """Return what the last column was divided by."""
        step = self.rows.step
        return 1.0 if step is None else float(np.asarray(step.scale_)[-1])

    def _has_time(self, what: str, like: Candidate) -> bool:
        """Tell whether there is time for something that takes about as long as a trial took."""
        return self.deadline.allows(what, like.seconds)

    def _noted(self, candidate: Candidate, kernel: Kernelized | None = None) -> Candidate:
        """Add a line to the table of what was tried."""
        found, width = candidate.found, 0
        if candidate.features is not None:
            width = len(candidate.features.get_feature_names_out())
        elif found is not None and found.low is not None:
            width = found.low.n_columns
        words = {"metric": candidate.columns is not None} if kernel is None else kernel.words()
        line = self.log.add(
            5,
            candidate.name,
            rows=len(self.rows.splits[0].train),
            columns=width,
            loss=self.judge.of_mean(candidate),
            seconds=candidate.seconds,
            local="none" if found is None else _words(found),
            **words,
        )
        return replace(candidate, kernel=kernel, line=line)


def weigh(
    candidates: list[Candidate],
    truth: FloatArray,
    weight: FloatArray | None = None,
    blend: bool = True,
) -> Weighed:
    """Weigh the best of some candidates by the rows that all of them have predicted.

    Parameters
    ----------
    candidates : list of Candidate
        The simplest first: another one alone is taken only if it is better beyond chance.
    truth : ndarray of shape (n_queries, t)
    weight : ndarray of shape (n_queries,) or None
    blend : bool
        Whether more than one may be left.
    """
    alone = candidates[0]
    for other in candidates[1:]:
        if beyond_chance(alone.losses - other.losses, alone.loss, alone.ends):
            alone = other
    few = sorted(candidates, key=_loss)[:SURVIVORS] if blend else [alone]
    shares = np.ones(1)
    while len(few) > 1:
        shares = simplex_weights(np.stack([c.predicted for c in few]), truth, weight)
        if shares.min() >= LEAST_WEIGHT:
            break
        few = [c for c, share in zip(few, shares, strict=True) if share >= LEAST_WEIGHT]
    if len(few) == 1:
        return Weighed((alone,))
    predicted = np.stack([c.predicted for c in few])
    mean = np.square(truth - np.tensordot(shares, predicted, 1)).mean(axis=1)
    losses = mean if weight is None else mean * weight / weight.mean()
    if not beyond_chance(alone.losses - losses, alone.loss, alone.ends):
        return Weighed((alone,))
    order = np.argsort(-shares)
    return Weighed(
        tuple(few[i] for i in order),
        tuple(shares[order].tolist()),
        spread_of_mean(predicted, truth, shares),
    )


def _loss(candidate: Candidate) -> float:
    return candidate.loss


def _never(_: Any) -> bool:
    return False


def _words(found: Found) -> str:
    """Describe a local part in a few words."""
    kernel = found.kernel
    name = type(kernel).__name__.lower()
    nu = getattr(kernel, "nu", None)
    return f"{name} {nu:g}, noise {found.noise:.2g}" if nu else f"{name}, noise {found.noise:.2g}"
