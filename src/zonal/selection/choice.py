"""The choice of a whole model: features, a local part, or both.

The search on the pilot finds features. A local part, alone and beside features, in the plain
columns and in the learned metric, is judged on rows that are held out of all rows (see `trials`).
A candidate with more parts replaces a simpler one only if it is better beyond chance.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from .._deadline import Deadline
from .._typing import FloatArray
from ..features.columns.stretcher import Stretcher
from ..kriging.search import Found
from ..kriging.units import column_groups
from ..model.recipe import Local, Recipe
from ..model.split_fits import FIT_NEIGHBORS
from ..rows.progress import phase
from ..rows.threads import ordered_map
from .candidates import Candidate, scout_for
from .pilot import Pilot
from .records import left_out, record
from .search import Search
from .structure import prepare
from .trials import Split, Trial, Trials, preferred

__all__ = ["select_model"]

# Rows that candidates are judged on.
MAX_QUERIES = 3_000
# Features alone are given up where a local part has less than this share of their error, with more
# rows than those of the pilot.
HOPELESS = 0.9
# A local part with less than this share of the error that narrow features have on half the pilot
# leaves nothing for wider ones to find, nor for a metric that is learnt from them.
FAR_AHEAD = 0.35
# With less than this share of that of the simplest features, others need not be looked at.
OUT_OF_REACH = 0.1
# With less than this share, only the metric is learnt: the local part may be better in it.
AHEAD = 0.55
# The same for gaps: there the density of rows counts less, so that narrow features tell what wide
# ones would find.
GAP_AHEAD = 0.9
# The family of kernels that tells whether there is anything to find.
GLANCE = "matern 3/2"
# With more noise than this, relative to the local part, there is little for neighbours to tell.
LOUD = 1.0
# The same for tables that were encoded, whose many columns make trials of local parts slow.
LOUD_TABLE = 0.5
# So much better than narrow features it has to be there, on half of the rows of the pilot, not to
# be given up: on so few rows, less may be chance.
CLEARLY = 0.9
# Features of long range beside a local part: their number, kernel and widths.
LONG_COLUMNS, LONG_FAMILY, LONG_WIDTHS = 128, "matern 3/2", (1.5, 0.5)
# Of the features found, so many: whitening takes as long as all of the rest with more.
JOINT_COLUMNS = 256
# Of so many columns sums of functions of each are tried there too.
MANY_COLUMNS = 3
# In more columns than these, more rows are about as near as the nearest ones, and each of them
# tells something: predictions of the model that was chosen use so many.
FEW_COLUMNS, MANY_NEIGHBORS = 6, 96
# Neighbours for predictions into gaps, and how many of them are far.
GAP_NEIGHBORS, FAR_NEIGHBORS = 64, 32


@dataclass(frozen=True)
class _Contender:
    """A model that takes part in the last comparison."""

    trial: Trial
    metric: Any = None
    features: Any = None
    name: str = "none"
    candidate: Candidate | None = None
    #: Its line in the table of what was tried.
    line: dict[str, Any] | None = None


def select_model(
    X: Any,
    y: Any,
    targets: FloatArray,
    weights: FloatArray | None,
    pilot: npt.NDArray[np.intp],
    *,
    n_components: int,
    local: Local,
    splits: list[Split] | None = None,
    scaled: bool = False,
    seed: int = 0,
    verbose: bool = False,
    metric: bool = True,
    deadline: Deadline | None = None,
) -> Recipe:
    """Choose features, a local part or both for rows that are all in memory.

    Parameters
    ----------
    X : ndarray or frame of shape (n, d)
        All rows.
    y : array-like of shape (n,)
        The targets as they were given, for the learned metric.
    targets : ndarray of shape (n, t)
        Numbers, or indicators of classes.
    weights : ndarray of shape (n,) or None
    pilot : ndarray of int
        Numbers of the rows of the pilot, all of positive weight.
    n_components : int
        The width D of features.
    local : Local
    splits : list of Split, optional
        Held-out rows of the kind that the model will meet; by default random ones.
    scaled, seed, verbose, metric, deadline
        As in `select_features`.
    """
    with config_context(transform_output="default"):
        deadline = deadline or Deadline()
        chooser = _Chooser(
            X, y, targets, weights, pilot, n_components, local, splits, scaled, seed, verbose,
            metric, deadline,
        )  # fmt: skip
        return chooser.choose()


class _Chooser:
    """The steps of `select_model`."""

    def __init__(
        self,
        X: Any,
        y: Any,
        targets: FloatArray,
        weights: FloatArray | None,
        pilot: npt.NDArray[np.intp],
        n_components: int,
        local: Local,
        splits: list[Split] | None,
        scaled: bool,
        seed: int,
        verbose: bool,
        metric: bool,
        deadline: Deadline,
    ) -> None:
        self.deadline = deadline
        self.local, self.scaled, self.seed, self.verbose = local, scaled, seed, verbose
        self.n_components, self.gaps = n_components, splits is not None
        self.n_neighbors, self.n_far = local.n_neighbors, 0
        held_out = None
        if splits is not None:
            if not local.required:
                self.n_neighbors, self.n_far = GAP_NEIGHBORS, FAR_NEIGHBORS
            pilot, held_out = splits[0].of_pilot(pilot)
        seen = X if splits is None or splits[0].rows is None else splits[0].rows
        self.y = _safe_indexing(y, pilot)
        pilot_weights = np.ones(len(pilot)) if weights is None else weights[pilot]
        self.step, rows, sphere = prepare(_safe_indexing(seen, pilot), pilot_weights, scaled)
        spread = targets[pilot].std(axis=0)
        unit = targets / np.where(spread > 0, spread, 1.0)
        whole = Pilot(rows, unit[pilot], pilot_weights, len(targets), held_out)
        self.search = Search(whole, sphere, n_components, seed, verbose, metric, deadline)
        if splits is None:
            queries = pilot[whole.folds == 2][:MAX_QUERIES]
            train = np.setdiff1d(np.arange(len(targets)), queries)
            splits = [Split(train, queries, queries)]
        everything = np.asarray(X if self.step is None else self.step.transform(X))
        self.trials = Trials(everything, unit, weights, splits, self.n_neighbors)
        self.trials.n_far = self.n_far
        self.trials.deadline = deadline
        self.trials.move_kernel = local.kernel is None
        self.trials.move_noise = local.noise is None

    def choose(self) -> Recipe:
        """Run the trials and build what wins."""
        search = self.search
        first = search.first_round((GLANCE,), products=False)
        alone = self._alone(self.trials, None, first=first)
        locals_, scouts, metric = [alone], [], None
        ahead = GAP_AHEAD if self.gaps else AHEAD
        error = self._of_mean(alone.trial)
        if error > OUT_OF_REACH * search.of_mean(first[0][1], 2):
            first = search.first_round((GLANCE,), known=first)
        of_features = search.of_mean(first[0][1], 2)
        noise = self._finds_noise(alone.trial, first)
        if noise:
            search.narrow()
        features_may_win = error > ahead * of_features and not self.local.required
        if features_may_win and self.deadline.allows("features alone"):
            scouts = search.second_round(search.first_round(known=first))
        simple = noise and bool(scouts) and scouts[0][0].map == "additive"
        if (error > FAR_AHEAD * of_features or self.local.required) and not simple:
            metric = search.learn_metric(self.y)
        for columns in () if noise else (self._stretched(alone), metric):
            if columns is not None and self._has_time("a local part in other columns", alone):
                locals_.append(self._alone(self.trials.mapped(columns), columns, alone.trial.found))
        best_local = alone if noise else self._polished(locals_)
        split = None if noise else self._split(best_local)
        if split is not None:
            locals_ = [split if local is best_local else local for local in locals_]
            best_local = split
        features = None
        of_scouts = search.of_mean(scouts[0][1]) if scouts else np.inf
        far = self._of_mean(best_local.trial) <= self._hopeless() * of_scouts
        if scouts and not far:
            features = self._searched(scouts, metric)
        contenders = locals_ if features is None else [features, *locals_]
        if noise or split is not None:
            return self._build(self._final(contenders))
        if self._has_time("features beside the local part", best_local):
            contenders += self._beside(best_local, features)
        return self._build(self._final(contenders))

    def _has_time(self, what: str, like: _Contender) -> bool:
        """Tell whether there is time for something that takes about as long as a trial took."""
        return self.deadline.allows(what, like.trial.seconds)

    def _hopeless(self) -> float:
        """Return the share of their error with which a local part beats features of half width.

        More rows than those of the pilot are in favour of features too.
        """
        pilot = self.search.pilot
        whole = pilot.rows.shape[0] == pilot.n_rows
        return 1.0 if whole and not self.gaps else HOPELESS

    def _finds_noise(self, alone: Trial, first: list[tuple[Candidate, float]]) -> bool:
        """Tell whether a local part finds little but noise, and narrow features do better."""
        found = alone.found
        if self.local.required or found is None or found.noise < self._loud():
            return False
        clearly = CLEARLY if self.scaled else 1.0
        return self._of_mean(alone) > clearly * self.search.of_mean(first[0][1], 2)

    def _loud(self) -> float:
        """Return the noise with which there is little for neighbours to tell."""
        return LOUD_TABLE if self.scaled else LOUD

    def _alone(
        self,
        trials: Trials,
        metric: Any,
        like: Found | None = None,
        first: list[tuple[Candidate, float]] | None = None,
    ) -> _Contender:
        """Try the local part alone; with the first features known, until it finds but noise."""
        phase("finding a local part")
        # With several splits a look at one kernel costs more than the others.
        hopeless = None
        if first is not None and not self.gaps:
            hopeless = partial(self._finds_noise, first=first)
        given = self.local.kernel, self.local.noise
        trial = trials.alone(*given, self.gaps, like, hopeless, self._loud())
        return self._recorded(_Contender(trial, metric))

    def _polished(self, locals_: list[_Contender]) -> _Contender:
        """Polish the best of some local parts, in its place, and return it.

        Not parameters of fewer rows: with all rows they would climb back to those they beat.
        """
        place = min(range(len(locals_)), key=lambda i: _error(locals_[i]))
        best = locals_[place]
        free = self.local.kernel is None and not best.trial.sparse
        if free and self.deadline.allows("a polished local part"):
            trials = self.trials.mapped(best.metric)
            polished = replace(best, trial=trials.polished(best.trial, self.local.noise))
            locals_[place] = best = self._recorded(polished)
        return best

    def _split(self, local: _Contender) -> _Contender | None:
        """Return a local part with what is long of its kernel in features; None: it stays.

        Of places, not of tables, whose columns are many. It is taken unless it is worse beyond
        chance: held-out rows between others do not ask for what it is better at.
        """
        if self.scaled or self.local.kernel is not None or not self.local.n_features:
            return None
        if not self._has_time("a local part of two ranges", local):
            return None
        found = self.trials.mapped(local.metric).split(local.trial, self.local.n_features)
        if found is None or preferred(found, local.trial):
            return None
        return self._recorded(replace(local, trial=found, name="split"))

    def _stretched(self, alone: _Contender) -> Stretcher | None:
        """Stretch the columns of a table where the targets are steep, as the local part sees it."""
        found, pilot = alone.trial.found, self.search.pilot
        if not self.scaled or found is None or found.noise > LOUD:
            return None
        scales = getattr(found.kernel, "length_scale", 1.0)
        if np.ndim(scales) != 1:
            return None
        groups = column_groups(pilot.rows)
        single = np.flatnonzero(np.bincount(groups)[groups] == 1)
        training = np.flatnonzero(pilot.folds < 2)
        rows, targets = pilot.rows[training], pilot.targets[training]
        return Stretcher(scales, single.tolist()).fit(rows, targets, pilot.weights[training])

    def _of_mean(self, trial: Trial) -> float:
        """Return the error of a trial in units of that of the mean.

        In these units errors on different rows can be compared: with heavy tails, a few rows make
        all of the error. Of gaps those of the first split count, which the pilot holds out: some
        are several times as hard as others.
        """
        losses = trial.losses[: len(self.trials.splits[0].queries)]
        return float(losses.mean()) / self.trials.spread()

    def _searched(self, scouts: list[tuple[Candidate, float]], metric: Any) -> _Contender:
        """Finish the search for features, and judge the best like the others."""
        search = self.search
        metric, scouts = search.in_metric(metric, scouts)
        best = search.refine(*search.on_maps(scouts))
        features = search.fitted(best)
        trials = self.trials.mapped(metric)
        found = _Contender(trials.of_features(features), metric, features, best.map, best)
        return self._recorded(found)

    def _beside(self, local: _Contender, features: _Contender | None) -> list[_Contender]:
        """Try features beside the local part: those found, and a few of long range.

        Those found are tried only where they do better than a local part that finds more than
        noise: wide ones take long, and where they do worse, few of long range leave as much to it.
        A shorter range is not tried where a longer one does not help.
        """
        found, own = [], local.metric is not None
        assert local.trial.found is not None
        quiet = local.trial.found.noise < LOUD
        if features is not None and quiet and _same_columns_but_better(features, local):
            assert features.candidate is not None
            width = min(self.n_components, JOINT_COLUMNS)
            map_ = self.search.fitted_in(features.candidate, width, local.metric)
            joint = self._joint(local, map_, features.name, features.candidate)
            found.append(self._recorded(joint))
        rows = self.trials.mapped(local.metric).rows
        name = scout_for(rows.shape[1], LONG_COLUMNS)
        long = [Candidate(LONG_FAMILY, width, name, metric=own) for width in LONG_WIDTHS]
        # A rotation leaves no single columns.
        single = local.metric is None or isinstance(local.metric, Stretcher)
        if single and len(self.search.plain_scales.columns) >= MANY_COLUMNS:
            long = [replace(long[0], map="additive"), long[0]]

        def tried(candidate: Candidate) -> _Contender:
            map_ = self.search.fitted_in(candidate, LONG_COLUMNS, local.metric)
            return self._joint(local, map_, candidate.map, candidate)

        # Side by side where there are threads: a climb is too short to share.
        for contender in ordered_map(tried, long):
            found.append(self._recorded(contender))
            if _error(contender) > _error(local) and contender.name == name:
                break
        return found

    def _joint(
        self, local: _Contender, map_: Any, name: str, origin: Candidate | None
    ) -> _Contender:
        """Try a fitted feature map beside the local part."""
        assert local.trial.found is not None
        n_columns = len(map_.get_feature_names_out())
        trials = self.trials.mapped(local.metric)
        trial = trials.beside(map_.transform, n_columns, local.trial.found)
        return _Contender(trial, local.metric, map_, name, origin)

    def _final(self, contenders: list[_Contender]) -> _Contender:
        """Return the best contender; each replaces a simpler one only beyond chance."""
        best = contenders[0]
        for other in contenders[1:]:
            if preferred(best.trial, other.trial):
                best = other
        return best

    def _build(self, best: _Contender) -> Recipe:
        steps: list[tuple[str, Any]] = [] if self.step is None else [("scale", self.step)]
        if best.metric is not None:
            name = "stretch" if isinstance(best.metric, Stretcher) else "metric"
            steps.append((name, best.metric))
        columns = Pipeline(list(steps)) if steps else None
        features = None
        if best.features is not None:
            features = Pipeline([*steps, ("features", best.features)])
        assert best.line is not None
        best.line["chosen"] = True
        found, records = best.trial.found, self.search.records + left_out(self.deadline.left_out)
        n_neighbors = self.n_neighbors
        far_reaching = self.trials.mapped(best.metric).rows.shape[1] > FEW_COLUMNS
        if far_reaching and not (self.gaps or self.local.required):
            n_neighbors = max(n_neighbors, MANY_NEIGHBORS)
        if found is None:
            return Recipe(features, records=tuple(records))
        part = replace(self.local, n_neighbors=n_neighbors, n_far=self.n_far, found=found)
        if not self.local.required:
            part = replace(part, fit_neighbors=FIT_NEIGHBORS)
        return Recipe(features, columns, part, records=tuple(records))

    def _recorded(self, contender: _Contender) -> _Contender:
        """Note a trial of the last round in the table of what was tried."""
        trial, map_ = contender.trial, contender.features
        low = None if trial.found is None else trial.found.low
        n_columns = 0 if map_ is None else len(map_.get_feature_names_out())
        line = record(
            6,
            contender.candidate,
            metric=contender.metric is not None,
            features=contender.name,
            columns=n_columns if low is None else low.n_columns,
            local="none" if trial.found is None else _words(trial.found),
            error=trial.error,
            seconds=trial.seconds,
        )
        self.search.records.append(line)
        if self.verbose:
            print(self.search.records[-1])
        return replace(contender, line=line)


def _error(contender: _Contender) -> float:
    return contender.trial.error


def _same_columns_but_better(features: _Contender, local: _Contender) -> bool:
    return features.metric is local.metric and _error(features) < _error(local)


def _words(found: Found) -> str:
    """Describe a local part in a few words."""
    kernel = found.kernel
    name = type(kernel).__name__.lower()
    nu = getattr(kernel, "nu", None)
    return f"{name} {nu:g}, noise {found.noise:.2g}" if nu else f"{name}, noise {found.noise:.2g}"
