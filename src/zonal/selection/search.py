"""Successive halving: many kernels cheaply, the best of them at full width."""

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from .._deadline import Deadline
from .._typing import FloatArray
from .._validation import is_sparse
from ..features.columns import LearnedMetric
from ..kernels import TruncationWarning
from ..kernels.bandwidth import median_distance
from ..rows.progress import phase
from ..rows.threads import ordered_map
from .candidates import COMPOSITE, FAMILIES, WIDTHS, Candidate, Scales, maps_for, scout_for
from .pilot import Pilot
from .records import left_out, record
from .structure import prepare
from .sums import SUMS, Columns

__all__ = ["MIN_ROWS", "Search", "select_features"]

#: With fewer rows there is nothing to choose by: the default is used.
MIN_ROWS = 300
# Above this many columns neither distances nor gradients say much; the metric is not tried.
MAX_METRIC_COLUMNS = 1000
# The first rounds of the metric bring nearly all that it brings, and so do few landmarks and rows:
# it is as good for what is then fitted in it, in a fifth of the time.
METRIC_ROUNDS, METRIC_COLUMNS, METRIC_ROWS = 2, 512, 4_000
# From this round on candidates have their full width, and their errors those of all rows.
FULL_WIDTH = 3
# How many kernels survive the first and the second round.
SURVIVORS, NOISY_SURVIVORS = (8, 3), (4, 1)
# The kernel whose length scale is found first in a learned metric, which is learnt with it.
METRIC_FAMILY = "matern 3/2"
# Training rows of the pilot for each column of a trial, at least.
ROWS_A_COLUMN = 4
# With fewer rows in the pilot, landmarks tell kernels apart as well as harmonics, and cost less.
MANY, LANDMARKS = 3_000, "nystroem, uniform"
# In much noise errors of which one is at most this many times the other are alike, and the simplest
# model wins: a sum of functions of the columns.
ALIKE = 1.005
# Where a sum is the best, kernels of all columns have a chance with at most so many times its
# error.
BEHIND = 1.05
# How often the best length scale moves by a factor of √2 while that helps.
STEPS = 3


def select_features(
    X: Any,
    targets: FloatArray,
    weights: FloatArray,
    *,
    n_components: int,
    n_rows: int,
    y: Any = None,
    scaled: bool = False,
    seed: int = 0,
    verbose: bool = False,
    metric: bool = True,
    deadline: Deadline | None = None,
    held_out: npt.NDArray[np.bool_] | None = None,
) -> tuple[Pipeline, list[dict[str, Any]]]:
    """Find the features with the smallest error on a pilot sample, and fit them to it.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n, d)
        The pilot.
    targets : ndarray of shape (n, t)
        What is predicted: numbers, or indicators of classes.
    weights : ndarray of shape (n,)
        Weights of the rows.
    n_components : int
        The width D of the features.
    n_rows : int
        The number of rows of the whole data.
    y : array-like of shape (n,), optional
        The targets as they were given, for the learned metric.
    scaled : bool
        Whether the columns are on a common scale already.
    seed : int
        The seed of whatever is random.
    verbose : bool
        Whether every trial is printed.
    metric : bool
        Whether a learned metric is tried.
    deadline : Deadline, optional
        How long it may take.
    held_out : ndarray of bool, of shape (n,), optional
        The rows that errors are measured on, by default a third.

    Returns
    -------
    features : Pipeline
        Scaling, the learned metric if it was chosen, the feature map; fitted to the pilot.
    records : list of dict
        What was tried, in this order.
    """
    with config_context(transform_output="default"):
        step, rows, sphere = prepare(X, weights, scaled)
        pilot = Pilot(rows, unit_variance(targets), weights, n_rows, held_out)
        search = Search(pilot, sphere, n_components, seed, verbose, metric, deadline)
        best, learned = search.best_features(targets if y is None else y)
        steps = [] if step is None else [("scale", step)]
        if learned is not None:
            steps.append(("metric", learned))
        steps.append(("features", search.fitted(best)))
        search.mark(best)
        return Pipeline(steps), search.records + left_out(search.deadline.left_out)


def unit_variance(targets: FloatArray) -> FloatArray:
    """Return targets of unit variance, whatever their units; constant ones stay."""
    spread = targets.std(axis=0)
    return np.asarray(targets / np.where(spread > 0, spread, 1.0))


class Search:
    """Trials on one pilot, with a record of each."""

    def __init__(
        self,
        pilot: Pilot,
        sphere: Any,
        n_components: int,
        seed: int,
        verbose: bool,
        metric: bool = True,
        deadline: Deadline | None = None,
    ) -> None:
        self.metric, self.deadline = metric, deadline or Deadline()
        self.sphere, self.n_components = sphere, n_components
        self._plain_sphere = sphere
        # More columns than this tell no more of kernels, with as few rows.
        few = max(int(np.count_nonzero(pilot.folds < 2)) // ROWS_A_COLUMN, 16)
        self.width = min(n_components, few)
        self.survivors, self.steps, self.noisy = SURVIVORS, STEPS, False
        self.seed, self.verbose = seed, verbose
        self.records: list[dict[str, Any]] = []
        self._plain = pilot
        self._use(pilot)
        self.plain_scales = self.scales

    def narrow(self) -> None:
        """Look at fewer candidates, with half of the columns: in much noise all are alike."""
        self.width = max(self.width // 2, 16)
        self.survivors, self.steps, self.noisy = NOISY_SURVIVORS, 0, True

    def _use(self, pilot: Pilot) -> None:
        self.pilot = pilot
        self.dim = pilot.rows.shape[1]
        self.scales = Scales(
            median_distance(pilot.rows, pilot.weights), columns=Columns.of(pilot.rows)
        )
        if self.sphere is not None and self.dim > 3:
            rest = np.setdiff1d(np.arange(self.dim), self.sphere)
            places, others = (
                median_distance(pilot.rows[:, columns], pilot.weights)
                for columns in (self.sphere, rest)
            )
            self.scales = replace(self.scales, sphere=places, rest=others)

    def best_features(self, y: Any) -> tuple[Candidate, LearnedMetric | None]:
        """Go through all rounds; return the best candidate, and its metric if it has one."""
        metric, scouts = self.in_metric(self.learn_metric(y), self.scout())
        return self.refine(*self.on_maps(scouts)), metric

    def scout(self) -> list[tuple[Candidate, float]]:
        """Compare kernels on one cheap map, in two rounds; return the best three."""
        return self.second_round(self.first_round())

    def first_round(
        self,
        families: tuple[str, ...] = FAMILIES,
        known: Sequence[tuple[Candidate, float]] = (),
        products: bool = True,
    ) -> list[tuple[Candidate, float]]:
        """Compare kernels on few columns and half of the pilot; return them, the best first.

        Parameters
        ----------
        families : tuple of str
            The families of kernels, by default all.
        known : sequence of (Candidate, float)
            Candidates that were compared before, with their errors; they take part again. New ones
            have the best length scale among these, or the next.
        products : bool
            Whether products of a kernel on a sphere and one of the other columns take part.
        """
        n_pilot = self.pilot.rows.shape[0]
        dense = not is_sparse(self.pilot.rows)
        scout = scout_for(self.dim, self.n_components) if dense and n_pilot >= MANY else LANDMARKS
        plain = [candidate.width for candidate, _ in known if candidate.rest_width is None]
        widths = _about(plain[0]) if plain else WIDTHS
        first = [Candidate(family, width, scout) for family in families for width in widths]
        if products and self.sphere is not None and self.dim > 3:
            first += [
                Candidate(family, width, "product", rest_width)
                for family in ("gaussian", "matern 3/2")
                if family in families
                for width in WIDTHS[1:]
                for rest_width in (2.0, 0.7, 0.25)
            ]
        quarter = max(self.width // 4, 16)
        tried = {candidate for candidate, _ in known}
        new = self._best([c for c in first if c not in tried], 1, quarter, n_pilot // 2)
        return sorted([*known, *new], key=_error)

    def second_round(self, first: list[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
        """Compare the best kernels on more columns and the whole pilot; return the best three."""
        survivors = first[: self.survivors[0]]
        # A narrow kernel needs many columns to be of use: they get a second chance.
        narrower = {replace(c, width=c.width / 2) for c, _ in survivors[:2]}
        second = list(dict.fromkeys([c for c, _ in survivors] + sorted(narrower, key=repr)))
        half = max(self.width // 2, 16)
        n_pilot = self.pilot.rows.shape[0]
        found = self._best(second, 2, half, n_pilot)
        plain = [candidate for candidate, _ in found if candidate.map not in COMPOSITE]
        if plain and 1 < len(self.scales.columns) <= half:
            found += self._best([plain[0].on(name) for name in SUMS], 2, half, n_pilot)
        found.sort(key=_error)
        if self.noisy:
            alike = [pair for pair in found if pair[1] <= ALIKE * found[0][1]]
            found.sort(key=lambda pair: pair not in alike or pair[0].map != "additive")
        best, error = found[0]
        rivals = [pair for pair in found if pair[0].map not in SUMS and pair[1] <= BEHIND * error]
        if best.map in SUMS:
            found = [found[0], *rivals]
        return found[: self.survivors[1]]

    def of_mean(self, error: float, share: int = 1) -> float:
        """Return an error on the pilot, or on a share of it, in units of that of the mean."""
        return error / self.pilot.part(self.pilot.rows.shape[0] // share).spread()

    def on_maps(self, survivors: list[tuple[Candidate, float]]) -> tuple[Candidate, float]:
        """Try the best kernels on every map, at full width; return the best of all."""
        return self._on_maps([candidate for candidate, _ in survivors])[0]

    def refine(self, best: Candidate, error: float) -> Candidate:
        """Walk to a narrower or wider kernel while that helps; then try better landmarks."""
        n_pilot = self.pilot.rows.shape[0]
        ranked = [(best, error)]
        # In a sum the length scale of one part says little.
        for _ in range(0 if best.map in SUMS else self.steps):
            start, tried = ranked[0][0], {candidate for candidate, _ in ranked}
            near = [c for c in start.neighbours() if c not in tried]
            ranked = sorted(ranked + self._best(near, 4, self.width, n_pilot), key=_error)
            if ranked[0][0] == start:
                break
        best = ranked[0][0]
        if (
            self.steps and best.map == "nystroem, uniform"
        ):  # leverage scores cost as much as all others: only once
            recursive = self._best([best.on("nystroem")], 5, self.width, n_pilot)
            ranked = sorted(ranked + recursive, key=_error)
        return ranked[0][0]

    def _on_maps(self, candidates: list[Candidate]) -> list[tuple[Candidate, float]]:
        """The first candidate on every map, the others on the best two of them."""
        n_pilot = self.pilot.rows.shape[0]
        plain = [c for c in candidates if c.map not in COMPOSITE]
        whole = [c for c in candidates if c.map in COMPOSITE]
        ranked = self._best(whole, 3, self.width, n_pilot)
        maps = maps_for(self.pilot.rows, self.n_components)
        for candidate in plain:
            tried = self._best([candidate.on(m) for m in maps], 3, self.width, n_pilot)
            maps = [c.map for c, _ in tried[:2]]
            ranked += tried
        return sorted(ranked, key=_error)

    def learn_metric(self, y: Any) -> LearnedMetric | None:
        """Learn a metric from the training rows of the pilot; None where it is of no use."""
        rows, sphere = self.pilot.rows, self.sphere
        only_sphere = sphere is not None and self.dim == 3
        if not self.metric or is_sparse(rows) or only_sphere:
            return None
        if not 2 <= self.dim <= MAX_METRIC_COLUMNS or not self.deadline.allows("a learned metric"):
            return None
        phase("learning a metric")
        start = time.perf_counter()
        metric = LearnedMetric(
            n_iterations=METRIC_ROUNDS,
            n_components=min(METRIC_COLUMNS, max(self.n_components, MIN_ROWS)),
            max_rows=METRIC_ROWS,
            random_state=self.seed,
        )
        # Not from the rows that errors are measured on, which it would flatter.
        training = np.flatnonzero(self.pilot.folds < 2)
        metric.fit(
            rows[training],
            _safe_indexing(y, training),
            sample_weight=self.pilot.weights[training],
        )
        if self.verbose:
            print(f"learned metric: {time.perf_counter() - start:.2f} s")
        return metric if metric.best_iteration_ > 0 else None

    def in_metric(
        self, metric: LearnedMetric | None, scouts: list[tuple[Candidate, float]]
    ) -> tuple[LearnedMetric | None, list[tuple[Candidate, float]]]:
        """Compare kernels in a learned metric with the best in plain columns; stay where it wins.

        On the terms of the second round, so that only the winning columns go on to full width.
        """
        if metric is None:
            return None, scouts
        plain, sphere = self.pilot, self.sphere
        self.sphere = None
        self._use(plain.with_rows(metric.transform(plain.rows)))
        terms = 2, max(self.width // 2, 16), plain.rows.shape[0]
        start = Candidate(METRIC_FAMILY, WIDTHS[0], "nystroem, uniform", metric=True)
        found = self._best([replace(start, width=width) for width in WIDTHS[:5]], *terms)
        families = dict.fromkeys((scouts[0][0].family, "laplacian"))
        others = [replace(found[0][0], family=name) for name in families if name != METRIC_FAMILY]
        found = sorted(found + self._best(others, *terms), key=_error)[
            : max(self.survivors[1] - 1, 1)
        ]
        if found[0][1] < scouts[0][1]:
            return metric, found
        self.sphere = sphere
        self._use(plain)
        return None, scouts

    def fitted(self, candidate: Candidate) -> Any:
        """The map of the chosen candidate, fitted to the pilot."""
        features = self._features(candidate, self.n_components)
        with _quiet():
            return features.fit(self.pilot.rows, sample_weight=self.pilot.weights)

    def fitted_in(self, candidate: Candidate, n_components: int, metric: Any) -> Any:
        """Fit a candidate's map of another width to the pilot, in a metric or in plain columns."""
        rows, weights, scales = self._plain.rows, self._plain.weights, self.plain_scales
        if metric is not None:
            rows = metric.transform(rows)
            scales = Scales(median_distance(rows, weights), columns=Columns.of(rows))
        sphere = self._plain_sphere if metric is None else None
        features = candidate.features(n_components, scales, sphere, rows.shape[1], self.seed)
        with _quiet():
            return features.fit(rows, sample_weight=weights)

    def _features(self, candidate: Candidate, n_components: int) -> Any:
        return candidate.features(n_components, self.scales, self.sphere, self.dim, self.seed)

    def _best(
        self, candidates: list[Candidate], round_: int, n_components: int, n_pilot: int
    ) -> list[tuple[Candidate, float]]:
        """Candidates with their errors, the best first."""
        phase(f"comparing kernels and maps, round {round_}")
        pilot = self.pilot.part(n_pilot)

        def trial(candidate: Candidate) -> tuple[Candidate, float, float]:
            start = time.perf_counter()
            features = self._features(candidate, n_components)
            error = pilot.error(features, extrapolate=round_ >= FULL_WIDTH)
            return candidate, error, time.perf_counter() - start

        results = []
        with _quiet():
            # Side by side, each on one thread: most of a trial has no use for more.
            timely = self.deadline.while_time(candidates, f"all of round {round_}")
            for candidate, error, seconds in ordered_map(trial, timely):
                results.append((candidate, error))
                self._record(round_, candidate, n_components, error, seconds)
        return sorted(results, key=_error)

    def _record(
        self,
        round_: int,
        candidate: Candidate,
        n_components: int,
        error: float,
        seconds: float,
    ) -> None:
        line = record(
            round_,
            candidate,
            metric=candidate.metric,
            features=candidate.map,
            columns=n_components,
            error=error,
            seconds=seconds,
        )
        self.records.append(line)
        if self.verbose:
            rest = f" x {candidate.rest_width:.3g}" if candidate.rest_width else ""
            name = f"{candidate.family} {candidate.width:.3g}{rest}, {candidate.map}"
            metric = ", learned metric" if candidate.metric else ""
            print(f"round {round_}: {name}{metric}: error {error:.4g}, {seconds:.2f} s")

    def mark(self, candidate: Candidate) -> None:
        """Note the candidate that was chosen in its last trial."""
        key = (candidate.family, candidate.width, candidate.rest_width, candidate.map)
        for line in reversed(self.records):
            names = ("kernel", "width", "rest_width", "features")
            if key == tuple(line[name] for name in names) and line["metric"] == candidate.metric:
                line["chosen"] = True
                return


@contextmanager
def _quiet() -> Iterator[None]:
    """Candidates that are of no use need no warning: their error tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def _about(width: float) -> tuple[float, ...]:
    """Return the length scales next to one."""
    nearest = min(range(len(WIDTHS)), key=lambda i: abs(math.log(WIDTHS[i] / width)))
    return WIDTHS[max(nearest - 1, 0) : nearest + 2]


def _error(result: tuple[Candidate, float]) -> float:
    return result[1]
