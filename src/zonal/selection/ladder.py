"""The choice on one page: candidates are tried, most are dropped, and the last few are weighed.

*Places* (a sphere, or up to three columns of numbers): one candidate, whose parameters the
evidence finds: a local part with the low degrees of its kernel in features. On maps it is right
near the rows and far from them, so that nothing is left to choose. Features stand against it where
it leaves more than `LOST` of the variance, which may be outliers that it takes for a field. Where
the last column is like a time, a kernel of space and time stands beside it; both predict held-out
rows at several distances (`distances`), and are weighed by them (`weighing`).

*Other columns* (`Ladder.columns`); one rule, better beyond chance on the same held-out rows
(`weights.beyond_chance`), decides all of it:

1. Neighbours in plain columns, after the first climb of the evidence.
2. Features by successive halving (`features`), on twice as many rows and columns in each round.
   They are dropped as soon as neighbours are better, even if all rounds to come together gain as
   much as the last. The best two of different kinds are left.
3. Neighbours are dropped if a mean with them is not better than these features alone. Else they
   are tried with other kernels, in columns that are stretched where targets are steep, in a learned
   metric, and beside features of long range and functions of single columns.
4. The best `SURVIVORS` predict the same held-out rows. Their weights are those whose mean has the
   smallest squared error there. One candidate alone is taken unless the mean is better.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._deadline import Deadline
from .._typing import Array, FloatArray
from ..calibration.variance import LEAST_GAIN
from ..features.columns.stretcher import Stretcher
from ..kriging.effort import FEW_COLUMNS
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
from .features import FeatureSearch, Ranked
from .judge import Candidate, Judge
from .neighbors import NeighborSearch, stretched
from .records import Log
from .rows import Rows
from .sums import SUMS, Columns
from .weighing import verdict
from .weights import LEAST_WEIGHT, beyond_chance, simplex_weights, spread_of_mean

__all__ = ["Ladder", "Weighed", "is_places", "weigh", "worth"]

#: Candidates that are weighed: each costs as much as the others in predictions. Not tuned.
SURVIVORS = 4
#: Features of long range beside a local part: their number, and their length scale in median
#: distances.
LONG_COLUMNS, LONG_WIDTH = 128, 1.5
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
    few = rows.dim <= 3 or (rows.sphere is not None and rows.dim <= FEW_COLUMNS)
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
        first = self.neighbors.split()
        founds = {"none" if first.low is None else "split": first}
        founds |= {} if timeless else self._other_places()
        told = self.rows.split_by_user
        if len(founds) > 1 and not told:
            return self._chosen(self._at_distances(founds, blend, asked))
        found = [
            self._noted(self.judge.of_neighbors(one, name=name)) for name, one in founds.items()
        ]
        lost = self.judge.of_mean(found[0]) > LOST
        compete = (told or lost) and not self.local.required
        if compete and self.deadline.allows("features alone"):
            features = self._with_features(self._features(None)[0][0])
            # What leaves so much may be no field: neighbours must be better beyond chance.
            found.insert(0 if lost and not told else len(found), features)
        return self.weighed(found, blend)

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

    def _at_distances(self, founds: dict[str, Found], blend: bool, asked: Array | None) -> Weighed:
        """Weigh local parts, the simplest first, by held-out rows at several distances."""
        phase("predicting at several distances")
        first = next(iter(founds.values()))
        if asked is not None and self.rows.step is not None:
            asked = self.rows.step.transform(asked)
        held = Distances(self.neighbors.centred(), first, self.local.n_neighbors, asked)
        found = verdict(held, np.stack([held.predicted(one) for one in founds.values()]), blend)
        candidates = []
        nothing = np.empty((0, self.rows.targets.shape[1]))
        for (name, one), errors in zip(founds.items(), found.errors, strict=True):
            line = self.log.add(
                5,
                name,
                rows=len(held.locations),
                columns=0 if one.low is None else one.low.n_columns,
                loss=float(errors[0]),
                local=_words(one),
            )
            self.log.judged(line, errors)
            candidates.append(Candidate(name, nothing, nothing[:, 0], (), found=one, line=line))
        weighing, left = found.weighing, tuple(candidates[i] for i in found.chosen)
        weights = tuple(weighing.values.mean(axis=0).tolist())
        if len(weighing.nodes) > 1:
            return Weighed(left, weights, weighing=weighing)
        return Weighed(left, weights, float(weighing.spread[0]))

    def weighed(self, candidates: list[Candidate], blend: bool) -> Weighed:
        """Weigh candidates by rows that all of them have predicted."""
        return self._chosen(weigh(candidates, *self._held_out(), blend, thrifty=self._is_sample))

    def _chosen(self, found: Weighed) -> Weighed:
        """Say in the table what is left."""
        near = far = found.weights
        if found.weighing is not None:
            near, far = (found.weighing.values[node].tolist() for node in (0, -1))
        for candidate, *shares in zip(found.candidates, found.weights, near, far, strict=True):
            assert candidate.line is not None
            self.log.choose(candidate.line, *shares)
        return found

    def columns(self, both_kinds: bool = False) -> list[Candidate]:
        """Return the candidates for other columns.

        Parameters
        ----------
        both_kinds : bool
            Whether neighbours are wanted beside features even where these are better.
        """
        first = self._noted(self.neighbors.first())
        ranked = [] if self.local.required else self._features(first)
        if not ranked:
            return self._neighbors(first)
        best = self._with_features(ranked[0][0])
        if both_kinds or self._adds(first, best):
            return [*self._neighbors(first), best]
        return [best, *(self._with_features(one) for one in _other_kind(ranked))]

    def _features(self, rival: Candidate | None) -> Ranked:
        """Rank features by successive halving; none where a rival is better beyond chance.

        Losses fall as one over the number of columns or slower: all that is to come is at most
        what the last doubling has brought.
        """
        if not self.deadline.allows("features alone"):
            return []
        before, ranked = math.inf, Ranked()
        for ranked, width in self.search.rounds():
            to_come, before = before - ranked[0][1], ranked[0][1]
            least = ranked[0][1] - max(to_come, 0.0)
            if rival is not None and least > self.judge.of_mean(rival):
                best = self._scored(ranked[0][0], width)
                unit = best.loss / self.judge.of_mean(best)
                if _is_better(rival, best, unit * to_come):
                    return []
        return ranked

    def _with_features(self, kernel: Kernelized) -> Candidate:
        """Score features at full width: half of the budget, for a local part was tried too.

        Where rows are a sample of more, all of which will be summed, at a quarter and a half of the
        budget first. Sums go with the square of the width: twice as many columns double the time
        twice, and have to gain as much for that (`worth`).
        """
        most = min(self.search.n_components, max(len(self.rows.targets) // 4, 1))
        if not self._is_sample:
            return self._noted(self._scored(kernel, -(-most // 2)), kernel)
        found = self._scored(kernel, -(-most // 4))
        for share in (2, 1):
            wider = self._scored(kernel, -(-most // share))
            if not worth(found.losses - wider.losses, found, doublings=2):
                break
            found = wider
        return self._noted(found, kernel)

    def _scored(self, kernel: Kernelized, n_columns: int) -> Candidate:
        """Score features of so many columns on the same rows as all others."""
        metric = self.search.metric_of(kernel)
        features = self.search.fitted(kernel, metric, n_columns)
        return self.judge.in_columns(metric).of_features(features, kernel.map)

    def _adds(self, other: Candidate, best: Candidate) -> bool:
        """Tell whether a mean with another candidate gains on one alone.

        Each half of the held-out rows judges the weights that the other has found. A gain within
        chance counts: with heavy tails all gains are, and neighbours were dropped on one split of
        diamonds (RMSE 723 instead of 537).
        """
        truth, both = self._held_out()[0], np.stack([best.predicted, other.predicted])
        gain = best.loss
        for half in (0, 1):
            own, rest = slice(half, None, 2), slice(1 - half, None, 2)
            mean = np.tensordot(simplex_weights(both[:, rest], truth[rest]), both[:, own], 1)
            gain -= float(np.square(truth[own] - mean).mean(axis=1).sum()) / len(truth)
        return gain > LEAST_GAIN * best.loss

    def _neighbors(self, first: Candidate) -> list[Candidate]:
        """Return local parts in plain and in learned columns, alone and beside features."""
        best = self._noted(self.neighbors.smoothest(first))
        found = [best]
        if self.classes and self.local.kernel is None:
            found.append(self._noted(self.neighbors.isotropic()))
        steps = [stretched(best, self.rows.pilot) if self.scaled else None]
        steps.append(self.search.learn_metric())
        for step in steps:
            if step is not None and self._has_time("a local part in other columns", best):
                found.append(self._noted(self.neighbors.in_columns(step, best)))
        best = min(found, key=_loss)
        found.append(self._noted(self.neighbors.polished(best)))
        if self._has_time("features beside the local part", found[-1]):
            found += self._beside(found[-1])
        return found

    def n_neighbors(self, most: int, found: Weighed) -> int:
        """Return how many neighbours predictions should have.

        Few rows can afford the most. Where rows are a sample of more, so are queries: neighbours
        are doubled as long as the mean of all candidates gains by it what the time is worth, which
        goes with their third power (`worth`).
        """
        count = self.local.n_neighbors
        if not (self._is_sample and any(one.found is not None for one in found.candidates)):
            return max(count, most)
        # What a likelihood will judge has predicted nothing yet.
        each = zip(found.candidates, found.weights, strict=True)
        judged, weights = zip(*((one, w) for one, w in each if len(one.predicted)), strict=True)
        usual, shares = judged, np.array(weights) / sum(weights)
        while count < most:
            more = min(2 * count, most)
            wider = tuple(self._with_neighbors(one, more) for one in judged)
            gains = self._losses(usual, shares) - self._losses(wider, shares)
            if not worth(gains, judged[0], doublings=3 * math.log2(more / count)):
                break
            count, usual = more, wider
        return count

    def _with_neighbors(self, candidate: Candidate, n_neighbors: int) -> Candidate:
        """Return a candidate as it predicts with so many neighbours, if it has any."""
        if candidate.found is None:
            return candidate
        judge = self.judge.in_columns(candidate.columns)
        return judge.of_neighbors(candidate.found, candidate.features, n_neighbors=n_neighbors)

    def _losses(self, candidates: Sequence[Candidate], shares: FloatArray) -> FloatArray:
        """Return the losses of a weighted mean on the held-out rows: [n_queries]."""
        return losses_of_mean(candidates, shares, *self._held_out())

    def _held_out(self) -> tuple[FloatArray, FloatArray | None]:
        """Return targets and weights of the rows that all candidates have predicted."""
        queries = np.concatenate([split.queries for split in self.rows.splits])
        weight = None if self.rows.weights is None else self.rows.weights[queries]
        return self.rows.targets[queries], weight

    @property
    def _is_sample(self) -> bool:
        """Whether the rows are a sample of those that will be fitted."""
        return self.rows.pilot.n_rows > len(self.rows.targets)

    def _beside(self, local: Candidate) -> list[Candidate]:
        """Score features of long range beside a local part, and functions of single columns."""
        own = local.columns is not None
        scout = scout_for(self.judge.in_columns(local.columns).rows.shape[1], LONG_COLUMNS)
        long = [Kernelized("matern 3/2", LONG_WIDTH, scout, metric=own)]
        # A rotation leaves no single columns.
        single = not own or isinstance(local.columns, Stretcher)
        if single and len(Columns.of(self.rows.pilot.rows)) > 2:
            long.append(long[0].on("additive"))

        def tried(kernel: Kernelized) -> Candidate:
            map_ = self.search.fitted(kernel, local.columns, LONG_COLUMNS)
            return self.neighbors.beside(local, map_, kernel.map)

        # Side by side where there are threads: a climb is too short to share.
        both = zip(long, ordered_map(tried, long), strict=True)
        return [self._noted(candidate, kernel) for kernel, candidate in both]

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


def _other_kind(ranked: Ranked) -> list[Kernelized]:
    """Return the best features of another kind than the first: of a sum, in a metric, or not."""
    kinds = [(kernel.metric, kernel.map in SUMS) for kernel, _ in ranked]
    return [one for (one, _), kind in zip(ranked, kinds, strict=True) if kind != kinds[0]][:1]


def _is_better(one: Candidate, other: Candidate, to_come: float = 0.0) -> bool:
    """Tell whether a candidate is better beyond chance, even if the other gains so much more."""
    return beyond_chance(other.losses - to_come - one.losses, other.loss, other.ends)


def worth(gains: FloatArray, scale: Candidate, doublings: float = 1.0) -> bool:
    """Tell whether gains are worth the time: half a per cent for each time that it doubles.

    On 2,700,000 flights 512 columns instead of 256 gain .54 % and 1,024 another .51 %, and take 283
    s of CPU instead of 75.

    Parameters
    ----------
    gains : ndarray of shape (n_queries,)
        By how much losses fall.
    scale : Candidate
        Whose loss is the unit.
    doublings : float
        The logarithm to base two of how many times as long it takes.
    """
    enough = gains.mean() > doublings * LEAST_GAIN * scale.loss
    return bool(enough and beyond_chance(gains, scale.loss, scale.ends))


def losses_of_mean(
    candidates: Sequence[Candidate],
    shares: FloatArray,
    truth: FloatArray,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Return the losses of a weighted mean of candidates: [n_queries]."""
    predicted = np.tensordot(shares, np.stack([c.predicted for c in candidates]), 1)
    losses = np.square(truth - predicted).mean(axis=1)
    return np.asarray(losses if weight is None else losses * weight / weight.mean())


def weigh(
    candidates: list[Candidate],
    truth: FloatArray,
    weight: FloatArray | None = None,
    blend: bool = True,
    thrifty: bool = False,
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
    thrifty : bool
        Whether each must gain what it costs, where there are more rows than these.
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
    while thrifty and len(few) > 2:
        fewer = _without_one(few, truth, weight)
        gains = losses_of_mean(*fewer, truth, weight) - losses_of_mean(few, shares, truth, weight)
        if worth(gains, alone, doublings=math.log2(len(few) / len(fewer[0]))):
            break
        few, shares = fewer
    if len(few) == 1:
        return Weighed((alone,))
    predicted = np.stack([c.predicted for c in few])
    losses = losses_of_mean(few, shares, truth, weight)
    if not beyond_chance(alone.losses - losses, alone.loss, alone.ends):
        return Weighed((alone,))
    order = np.argsort(-shares)
    return Weighed(
        tuple(few[i] for i in order),
        tuple(shares[order].tolist()),
        spread_of_mean(predicted, truth, shares),
    )


def _without_one(
    candidates: list[Candidate], truth: FloatArray, weight: FloatArray | None
) -> tuple[list[Candidate], FloatArray]:
    """Return all candidates but the one that is missed least, and their weights."""
    options = []
    for left in candidates:
        rest = [one for one in candidates if one is not left]
        shares = simplex_weights(np.stack([c.predicted for c in rest]), truth, weight)
        options.append((rest, shares))
    return min(options, key=lambda one: losses_of_mean(one[0], one[1], truth, weight).mean())


def _loss(candidate: Candidate) -> float:
    return candidate.loss


def _words(found: Found) -> str:
    """Describe a local part in a few words."""
    kernel = found.kernel
    name = type(kernel).__name__.lower()
    nu = getattr(kernel, "nu", None)
    return f"{name} {nu:g}, noise {found.noise:.2g}" if nu else f"{name}, noise {found.noise:.2g}"
