"""Features by successive halving: many kernels on few columns and rows, ever fewer on more.

Each round compares candidates by ridge regression on a share of a pilot (see `pilot`): an eighth of
its training rows and of the columns, then a fourth, a half, and all. The better half of them goes
on, and others join the best: sums of functions of single columns, the same kernels in a learned
metric, and at last length scales next to its own and other maps.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._deadline import Deadline
from .._validation import is_sparse
from ..features.columns import LearnedMetric
from ..kernels import TruncationWarning
from ..model.recipe import MIN_ROWS
from ..rows.progress import phase
from ..rows.threads import ordered_map
from .candidates import LANDMARKS, Kernelized, Scales, flat_list, maps_for, scout_for
from .pilot import Pilot
from .records import Log
from .rows import Rows
from .sums import SUMS, Columns

__all__ = ["FeatureSearch", "Ranked"]

#: Above this many columns neither distances nor gradients say much; the metric is not tried.
MAX_METRIC_COLUMNS = 1000

Ranked = list[tuple[Kernelized, float]]


class FeatureSearch:
    """The rounds of features on one pilot.

    Parameters
    ----------
    rows : Rows
    n_components : int
        The width D of what is chosen.
    seed : int
    log : Log
        Takes a line for each trial.
    metric : bool
        Whether a learned metric is tried.
    deadline : Deadline
    """

    def __init__(
        self,
        rows: Rows,
        n_components: int,
        seed: int,
        log: Log,
        metric: bool = True,
        deadline: Deadline | None = None,
    ) -> None:
        self.rows, self.n_components, self.seed, self.log = rows, n_components, seed, log
        self.metric, self.deadline = metric, deadline or Deadline()
        self.n_training = int(np.count_nonzero(rows.pilot.folds < 2))
        # With fewer than four rows a column, more columns tell no more of kernels.
        self.width = min(n_components, max(self.n_training // 4, 16))
        self._views: list[tuple[Any, tuple[Pilot, Scales, Any]]] = []
        self._metric: LearnedMetric | None = None
        self._asked = False

    def rounds(self) -> Iterator[tuple[Ranked, int]]:
        """Yield what an eighth, a fourth and a half of the pilot say, and the number of columns."""
        rows, sphere = self.rows.pilot.rows, self.rows.sphere
        scout = LANDMARKS if is_sparse(rows) else scout_for(rows.shape[1], self._columns(1 / 8))
        single = 1 < len(Columns.of(rows)) <= self._columns(1 / 8)
        left = flat_list(scout, single, sphere is not None and rows.shape[1] > 3)
        for number, share in enumerate((1 / 8, 1 / 4, 1 / 2), start=1):
            found = self._compared(left, number, share)
            yield found, self._columns(share)
            left = [candidate for candidate, _ in found[: (len(found) + 1) // 2]]
            left += self._joining(found[0][0], number)
            left = list(dict.fromkeys(left))

    def best(self) -> tuple[Kernelized, Any]:
        """Go through all rounds, then over all maps; return the best, and its metric if any."""
        *_, (found, _) = self.rounds()
        # Length scales next to the best join as long as they are better.
        ranked = self._compared([c for c, _ in found[:2]], 4, 1.0)
        while True:
            best, tried = ranked[0][0], {candidate for candidate, _ in ranked}
            near = [] if best.map in SUMS else [c for c in best.neighbours() if c not in tried]
            ranked = sorted(ranked + self._compared(near, 4, 1.0), key=_loss)
            if ranked[0][0] == best:
                break
        if best.map not in SUMS and best.map != "product":
            pilot = self._in(best)[0]
            others = [best.on(m) for m in maps_for(pilot.rows, self.n_components) if m != best.map]
            ranked = sorted(ranked + self._compared(others, 4, 1.0), key=_loss)
        best = ranked[0][0]
        if best.map == LANDMARKS:
            # Leverage scores cost as much as all others: only once.
            recursive = self._compared([best.on("nystroem")], 4, 1.0)
            best = sorted(ranked[:1] + recursive, key=_loss)[0][0]
        return best, self.metric_of(best)

    def _joining(self, best: Kernelized, number: int) -> list[Kernelized]:
        """Return what joins the better half after a round."""
        if best.map == "product":
            return []
        # A narrow kernel needs many columns to be of use: it gets a second chance.
        found = [] if best.map in SUMS else [replace(best, width=best.width / 2)]
        if number == 2 and self.learn_metric() is not None:
            inside = replace(best, map=LANDMARKS, metric=True)
            found.append(inside)
            found += [replace(inside, family="matern 3/2", width=w) for w in (2.0, 1.0, 0.5)]
        return found

    def metric_of(self, candidate: Kernelized) -> LearnedMetric | None:
        """Return the metric of a candidate, if it has one."""
        return self.learn_metric() if candidate.metric else None

    def learn_metric(self) -> LearnedMetric | None:
        """Learn a metric from half of the pilot's training rows, once; None where it is no use."""
        if not self._asked:
            self._asked, self._metric = True, self._learnt()
        return self._metric

    def _learnt(self) -> LearnedMetric | None:
        pilot, dim = self.rows.pilot, self.rows.pilot.rows.shape[1]
        only_sphere = self.rows.sphere is not None and dim == 3
        if not self.metric or is_sparse(pilot.rows) or only_sphere:
            return None
        if not 2 <= dim <= MAX_METRIC_COLUMNS or not self.deadline.allows("a learned metric"):
            return None
        phase("learning a metric")
        # The first rounds bring nearly all that it brings, and so do few landmarks and rows.
        metric = LearnedMetric(
            n_iterations=2,
            n_components=max(self.n_training // 16, MIN_ROWS),
            max_rows=max(self.n_training // 2, MIN_ROWS),
            random_state=self.seed,
        )
        # Not from the rows that candidates are scored on, which it would flatter.
        training = np.flatnonzero(pilot.folds < 2)
        metric.fit(
            pilot.rows[training],
            _safe_indexing(self.rows.pilot_y, training),
            sample_weight=pilot.weights[training],
        )
        return metric if metric.best_iteration_ > 0 else None

    def _columns(self, share: float) -> int:
        """Return the columns of a round: at least as many as the rows have, where there are few."""
        few = int(self.width * (share if share == 1 else share / 2))
        return max(few, min(self.rows.dim, self.width // 2), 16)

    def fitted(self, candidate: Kernelized, metric: Any, n_components: int | None = None) -> Any:
        """Return the map of a candidate, fitted to the pilot in the columns of a step."""
        pilot, scales, sphere = self._view(metric)
        width = n_components or self.n_components
        features = candidate.features(width, scales, sphere, pilot.rows.shape[1], self.seed)
        with _quiet():
            return features.fit(pilot.rows, sample_weight=pilot.weights)

    def _in(self, candidate: Kernelized) -> tuple[Pilot, Scales, Any]:
        """Return the pilot as a candidate sees it, its distances and its sphere."""
        return self._view(self.metric_of(candidate))

    def _view(self, metric: Any) -> tuple[Pilot, Scales, Any]:
        """Return the pilot in the columns of a step; once."""
        for known, view in self._views:
            if known is metric:
                return view
        pilot, sphere = self.rows.pilot, self.rows.sphere
        if metric is not None:
            pilot, sphere = pilot.with_rows(metric.transform(pilot.rows)), None
        view = pilot, Scales.of(pilot.rows, pilot.weights, sphere), sphere
        self._views.append((metric, view))
        return view

    def _compared(self, candidates: Sequence[Kernelized], round_: int, share: float) -> Ranked:
        """Return candidates with their losses in units of that of the mean, the best first."""
        phase(f"comparing kernels and maps, round {round_}")
        width = self._columns(share)
        unit = self.rows.pilot.spread() or 1.0
        parts = {c.metric: self._in(c) for c in candidates}
        few = {metric: view[0].share(share) for metric, view in parts.items()}

        def trial(candidate: Kernelized) -> tuple[Kernelized, float, float]:
            start = time.perf_counter()
            pilot, (_, scales, sphere) = few[candidate.metric], parts[candidate.metric]
            features = candidate.features(width, scales, sphere, pilot.rows.shape[1], self.seed)
            # At full width, losses are those of all rows.
            loss = pilot.error(features, extrapolate=share == 1) / unit
            return candidate, loss, time.perf_counter() - start

        ranked: Ranked = []
        with _quiet():
            # Side by side, each on one thread: most of a trial has no use for more.
            timely = self.deadline.while_time(candidates, f"all of round {round_}")
            for candidate, loss, seconds in ordered_map(trial, timely):
                ranked.append((candidate, loss))
                self.log.add(
                    round_,
                    candidate.map,
                    rows=few[candidate.metric].rows.shape[0],
                    columns=width,
                    loss=loss,
                    seconds=seconds,
                    **candidate.words(),
                )
        return sorted(ranked, key=_loss)


@contextmanager
def _quiet() -> Iterator[None]:
    """Candidates that are of no use need no warning: their loss tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def _loss(result: tuple[Kernelized, float]) -> float:
    return result[1]
