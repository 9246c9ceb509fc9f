"""Features alone: many kernels on few columns and rows, the best of them on all.

Each round compares candidates by ridge regression on a pilot (see `pilot`), drops most of them and
gives the others more columns and rows.
"""

import math
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
from .candidates import COMPOSITE, FAMILIES, WIDTHS, Kernelized, Scales, maps_for, scout_for
from .pilot import Pilot
from .records import Log
from .rows import Rows
from .sums import SUMS, Columns

__all__ = ["FeatureSearch"]

#: Above this many columns neither distances nor gradients say much; the metric is not tried.
MAX_METRIC_COLUMNS = 1000
#: Rounds, landmarks and rows of a metric: the first rounds bring nearly all that it brings, and so
#: do few landmarks and rows, in a fifth of the time.
METRIC_ROUNDS, METRIC_COLUMNS, METRIC_ROWS = 2, 512, 4_000
#: How many kernels survive the first and the second round: of features alone, and where a local
#: part stands beside them, which leaves little between kernels.
SURVIVORS, FEWER_SURVIVORS = (8, 3), (4, 2)
#: Training rows of the pilot for each column of a trial, at least: with fewer rows, more columns
#: tell no more of kernels.
ROWS_A_COLUMN = 4
#: With fewer rows in the pilot, landmarks tell kernels apart as well as harmonics, and cost less.
MANY, LANDMARKS = 3_000, "nystroem, uniform"
#: How often the best length scale moves by a factor of √2 while that helps.
STEPS = 3

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
    brief : bool
        Whether fewer candidates and columns are enough, because a local part is tried too.
    """

    def __init__(
        self,
        rows: Rows,
        n_components: int,
        seed: int,
        log: Log,
        metric: bool = True,
        deadline: Deadline | None = None,
        brief: bool = False,
    ) -> None:
        self.rows, self.n_components, self.seed, self.log = rows, n_components, seed, log
        self.metric, self.deadline = metric, deadline or Deadline()
        few = max(int(np.count_nonzero(rows.pilot.folds < 2)) // ROWS_A_COLUMN, 16)
        self.width = min(n_components, few)
        self.survivors, self.brief = SURVIVORS, brief
        if brief:
            self.width, self.survivors = max(self.width // 2, 16), FEWER_SURVIVORS
        self._views: list[tuple[Any, tuple[Pilot, Scales, Any]]] = []

    def best(self) -> tuple[Kernelized, Any]:
        """Go through all rounds; return the best candidate, and its metric if it has one."""
        return self.finished(self.scout(self.glance()), self.learn_metric())

    def glance(self) -> Ranked:
        """Compare all kernels on few columns and half of the pilot, the best first."""
        rows, sphere = self.rows.pilot.rows, self.rows.sphere
        dim, n_pilot = rows.shape[1], rows.shape[0]
        dense = not is_sparse(rows)
        scout = scout_for(dim, self.n_components) if dense and n_pilot >= MANY else LANDMARKS
        first = [Kernelized("matern 3/2", width, scout) for width in WIDTHS]
        found = self._compared(first[:3], 1, self.width // 4, n_pilot // 2)
        if found[0][0] == first[2]:  # narrower ones may be better still
            found = sorted(
                found + self._compared(first[3:], 1, self.width // 4, n_pilot // 2), key=_loss
            )
        about = _about(found[0][0].width)
        others = [
            Kernelized(family, width, scout)
            for family in FAMILIES
            for width in about
            if family != "matern 3/2"
        ]
        if sphere is not None and dim > 3:
            others += [
                Kernelized(family, width, "product", rest_width)
                for family in ("gaussian", "matern 3/2")
                for width in WIDTHS[1:]
                for rest_width in (2.0, 0.7, 0.25)
            ]
        found += self._compared(others, 1, self.width // 4, n_pilot // 2)
        return sorted(found, key=_loss)

    def scout(self, first: Ranked) -> Ranked:
        """Compare the best kernels on more columns and the whole pilot; return the best three.

        Among them are sums of functions of single columns.
        """
        survivors = [candidate for candidate, _ in first[: self.survivors[0]]]
        # A narrow kernel needs many columns to be of use: they get a second chance.
        narrower = [replace(c, width=c.width / 2) for c in survivors[:2]]
        terms = 2, self.width // 2, self.rows.pilot.rows.shape[0]
        found = self._compared(list(dict.fromkeys([*survivors, *narrower])), *terms)
        plain = [candidate for candidate, _ in found if candidate.map not in COMPOSITE]
        if plain and 1 < len(Columns.of(self.rows.pilot.rows)) <= terms[1]:
            found += self._compared([plain[0].on(name) for name in SUMS], *terms)
        return sorted(found, key=_loss)[: self.survivors[1]]

    def finished(self, scouts: Ranked, metric: Any) -> tuple[Kernelized, Any]:
        """Bring the best kernels to full width, in a learned metric if they are better there."""
        if metric is not None:
            inside = self._in_metric(metric, scouts[0][0].family)
            if inside[0][1] < scouts[0][1]:
                scouts = inside
            else:
                metric = None
        ranked = self._on_maps([candidate for candidate, _ in scouts], metric)
        return self._refined(ranked[0], metric), metric

    def learn_metric(self) -> LearnedMetric | None:
        """Learn a metric from the training rows of the pilot; None where it is of no use."""
        pilot, dim = self.rows.pilot, self.rows.pilot.rows.shape[1]
        only_sphere = self.rows.sphere is not None and dim == 3
        if not self.metric or is_sparse(pilot.rows) or only_sphere:
            return None
        if not 2 <= dim <= MAX_METRIC_COLUMNS or not self.deadline.allows("a learned metric"):
            return None
        phase("learning a metric")
        few = int(np.count_nonzero(pilot.folds < 2)) // ROWS_A_COLUMN
        metric = LearnedMetric(
            n_iterations=METRIC_ROUNDS,
            n_components=min(METRIC_COLUMNS, max(few, MIN_ROWS)),
            max_rows=METRIC_ROWS,
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

    def fitted(self, candidate: Kernelized, metric: Any, n_components: int | None = None) -> Any:
        """Return the map of a candidate, fitted to the pilot."""
        pilot, scales, sphere = self._in(metric)
        width = n_components or self.n_components
        features = candidate.features(width, scales, sphere, pilot.rows.shape[1], self.seed)
        with _quiet():
            return features.fit(pilot.rows, sample_weight=pilot.weights)

    def _in(self, metric: Any) -> tuple[Pilot, Scales, Any]:
        """Return the pilot in the columns of a metric, its distances and its sphere; once."""
        for known, view in self._views:
            if known is metric:
                return view
        pilot, sphere = self.rows.pilot, self.rows.sphere
        if metric is not None:
            pilot, sphere = pilot.with_rows(metric.transform(pilot.rows)), None
        view = pilot, Scales.of(pilot.rows, pilot.weights, sphere), sphere
        self._views.append((metric, view))
        return view

    def _in_metric(self, metric: Any, family: str) -> Ranked:
        """Compare length scales, then families, in a learned metric; return the best two."""
        terms = 2, self.width // 2, self.rows.pilot.rows.shape[0]
        start = Kernelized("matern 3/2", WIDTHS[0], LANDMARKS, metric=True)
        found = self._compared(
            [replace(start, width=w) for w in WIDTHS[: 3 if self.brief else 5]], *terms, metric
        )
        best, names = found[0][0], dict.fromkeys((family, "laplacian"))
        others = [replace(best, family=name) for name in names if name != best.family]
        return sorted(found + self._compared(others, *terms, metric), key=_loss)[:2]

    def _on_maps(self, candidates: Sequence[Kernelized], metric: Any) -> Ranked:
        """Compare at full width: the first kernel on every map, the others on the best two."""
        terms = 3, self.width, self.rows.pilot.rows.shape[0]
        ranked = self._compared([c for c in candidates if c.map in COMPOSITE], *terms, metric)
        maps = maps_for(self._in(metric)[0].rows, self.n_components)
        for candidate in candidates:
            if candidate.map not in COMPOSITE:
                tried = self._compared([candidate.on(m) for m in maps], *terms, metric)
                maps = [c.map for c, _ in tried[:2]]
                ranked += tried
        return sorted(ranked, key=_loss)

    def _refined(self, best: tuple[Kernelized, float], metric: Any) -> Kernelized:
        """Walk to a narrower or wider kernel while that helps; then try better landmarks."""
        terms = 4, self.width, self.rows.pilot.rows.shape[0]
        ranked = [best]
        # In a sum the length scale of one part says little.
        for _ in range(0 if best[0].map in SUMS else STEPS):
            start, tried = ranked[0][0], {candidate for candidate, _ in ranked}
            near = [c for c in start.neighbours() if c not in tried]
            ranked = sorted(ranked + self._compared(near, *terms, metric), key=_loss)
            if ranked[0][0] == start:
                break
        if ranked[0][0].map == LANDMARKS:
            # Leverage scores cost as much as all others: only once.
            recursive = self._compared([ranked[0][0].on("nystroem")], *terms, metric)
            ranked = sorted(ranked + recursive, key=_loss)
        return ranked[0][0]

    def _compared(
        self,
        candidates: Sequence[Kernelized],
        round_: int,
        n_components: int,
        n_pilot: int,
        metric: Any = None,
    ) -> Ranked:
        """Return candidates with their losses in units of that of the mean, the best first."""
        phase(f"comparing kernels and maps, round {round_}")
        pilot, scales, sphere = self._in(metric)
        pilot, width = pilot.part(n_pilot), max(n_components, 16)
        unit = pilot.spread() or 1.0

        def trial(candidate: Kernelized) -> tuple[Kernelized, float, float]:
            start = time.perf_counter()
            features = candidate.features(width, scales, sphere, pilot.rows.shape[1], self.seed)
            # From full width on, losses are those of all rows.
            loss = pilot.error(features, extrapolate=round_ > 2) / unit
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
                    rows=pilot.rows.shape[0],
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


def _about(width: float) -> tuple[float, ...]:
    """Return the length scales next to one."""
    nearest = min(range(len(WIDTHS)), key=lambda i: abs(math.log(WIDTHS[i] / width)))
    return WIDTHS[max(nearest - 1, 0) : nearest + 2]


def _loss(result: tuple[Kernelized, float]) -> float:
    return result[1]
