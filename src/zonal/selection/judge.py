"""Candidates scored on rows that are held out of *all* rows, not of the pilot.

Density is what a local part lives on, so its queries are rows of the pilot, but their neighbours
come from all rows that may be known then: all others, or with a splitter its training part.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..features.sums import moments_of_rows, start_of_moments
from ..kriging.joint import NOISE_SHARE, Features, fit_joint
from ..kriging.locations import Locations, locate
from ..kriging.process import LocalProcess
from ..kriging.search import Found
from ..model.split_fits import FIT_NEIGHBORS, places_of_fit
from ..moments.held_out import HeldOut as Errors
from ..moments.ridge import default_alphas, solve
from ..rows import Block
from ..rows.copies import content_hash
from .candidates import Kernelized
from .rows import HeldOut, Rows

__all__ = ["Candidate", "Judge"]


@dataclass(frozen=True)
class Candidate:
    """A model that was scored.

    Attributes
    ----------
    name : str
        The feature map, or what stands in its place.
    predicted : ndarray of shape (n_queries, t)
        What it says of the held-out rows.
    losses : ndarray of shape (n_queries,)
        Squared errors times weights, averaged over targets.
    ends : tuple of int
        Where the losses of each split end.
    columns : transformer or None
        What its columns are made by, from those on a common scale.
    features : transformer or None
        Its fitted feature map.
    found : Found or None
        Kernel and noise of its local part.
    seconds : float
    kernel : Kernelized or None
        The kernel of its features.
    line : dict or None
        Its line in the table of what was tried.
    """

    name: str
    predicted: FloatArray
    losses: FloatArray
    ends: tuple[int, ...]
    columns: Any = None
    features: Any = None
    found: Found | None = None
    seconds: float = 0.0
    kernel: Kernelized | None = None
    line: dict[str, Any] | None = None

    @property
    def loss(self) -> float:
        """The mean of the losses."""
        return float(self.losses.mean())


class Judge:
    """Scores candidates in the columns that a local part sees.

    Parameters
    ----------
    rows : Rows
    n_neighbors : int
        Neighbours in predictions.
    columns : transformer or None
        A step that makes the columns of those on a common scale.
    """

    def __init__(self, rows: Rows, n_neighbors: int, columns: Any = None) -> None:
        self.n_neighbors, self.columns = n_neighbors, columns
        self.targets, self.weights = rows.targets, rows.weights
        self.plain, self._rows = rows.rows, rows
        self.rows = np.asarray(rows.rows if columns is None else columns.transform(rows.rows))
        self.splits = [s if columns is None else s.in_columns(columns) for s in rows.splits]
        self._locations: dict[int | None, Locations] = {}
        self._mean: float | None = None

    def in_columns(self, step: Any) -> "Judge":
        """Return one who scores in other columns."""
        return self if step is self.columns else Judge(self._rows, self.n_neighbors, step)

    def of_mean(self, candidate: Candidate) -> float:
        """Return the loss of a candidate over that of the mean, on the first split.

        In these units losses on different rows can be compared: with heavy tails a few rows make
        all of the loss, and some gaps are several times as hard as others.
        """
        first = self.splits[0]
        if self._mean is None:
            mean = self.targets[first.train].mean(axis=0)
            self._mean = float(self._losses(first, mean).mean()) or 1.0
        return float(candidate.losses[: len(first.queries)].mean()) / self._mean

    def locations(self, split: int | None = 0) -> Locations:
        """Return the distinct training rows of a split, in random order; None: all rows."""
        if split not in self._locations:
            part = None if split is None else self.splits[split]
            rows = self.rows if part is None else self._seen(part)
            train = slice(None) if part is None else part.train
            self._locations[split] = locate(
                rows[train],
                self.targets[train],
                None if self.weights is None else self.weights[train],
                learnt=self.columns is not None,
            )
        return self._locations[split]

    def of_neighbors(
        self,
        found: Found,
        features: Any = None,
        name: str = "none",
        n_splits: int | None = None,
        n_neighbors: int | None = None,
    ) -> Candidate:
        """Score a local part with known parameters, with a fitted map beside it or without."""
        start = time.perf_counter()
        width = 0 if features is None else len(features.get_feature_names_out())
        map_: Features | None = None if features is None else features.transform

        def predicted() -> Iterator[FloatArray]:
            for number, split in enumerate(self.splits[:n_splits]):
                locations, seen = self.locations(number), self._seen(split)[split.queries]
                if found.warp is not None:
                    locations = locations.moved(found.warp.transform(locations.rows))
                    seen = found.warp.transform(seen)
                process = LocalProcess(
                    locations.rows,
                    locations.weight,
                    found.kernel,
                    found.noise,
                    n_neighbors or self.n_neighbors,
                    low=found.low,
                    amplitude=found.amplitude,
                )
                judged = places_of_fit(process, width)
                if found.low is None and not width:
                    # Nothing but the mean comes from them: the first are the farthest apart, and
                    # are neighbours of each other, so that no tree of all rows is needed.
                    judged = np.arange(len(judged), dtype=np.int32)
                joint = fit_joint(
                    locations, process, map_, found.ratio, n_neighbors=FIT_NEIGHBORS, judged=judged
                )
                yield joint.predict(seen, map_)[0]

        scored = self._scored(name, predicted())
        return replace(scored, features=features, found=found, seconds=time.perf_counter() - start)

    def of_features(self, features: Any, name: str) -> Candidate:
        """Score ridge regression on fitted features of the columns, at the best alpha.

        Coefficients come from all rows, or from so many that noise adds at most `NOISE_SHARE` of
        itself to the error: more would tell the same of candidates.
        """
        start = time.perf_counter()

        def predicted() -> Iterator[FloatArray]:
            for split in self.splits:
                train, test = self._moments(features, split)
                alphas = default_alphas(train)
                best = alphas[int(np.argmin(Errors.of(train, test).errors(alphas)))]
                solution = solve(train, float(best), fit_intercept=True)
                queries = self._seen(split)[split.queries]
                Z = FeatureSpace(features, train.n_features).transform(queries)
                yield Z @ solution.coef + solution.intercept

        scored = self._scored(name, predicted())
        return replace(scored, features=features, seconds=time.perf_counter() - start)

    def _scored(self, name: str, predicted: Iterator[FloatArray]) -> Candidate:
        parts = list(predicted)
        known = list(zip(self.splits, parts, strict=False))
        losses = np.concatenate([self._losses(split, part) for split, part in known])
        ends = tuple(np.cumsum([len(part) for part in parts]).tolist())
        return Candidate(name, np.concatenate(parts), losses, ends, self.columns)

    def _seen(self, split: HeldOut) -> Array:
        """Return all rows as they are to a model of the training rows of a split."""
        return self.rows if split.rows is None else split.rows

    def _moments(self, features: Any, split: HeldOut) -> Any:
        """Sum the moments of the training rows and of the queries."""
        rows, width = self._seen(split), len(features.get_feature_names_out())
        train = _some(rows, split.train, math.ceil(width / NOISE_SHARE))
        X, Y = rows[train], self.targets[train]
        shift = start_of_moments(FeatureSpace(features, 0), X, Y)
        space = FeatureSpace(features, len(shift) - Y.shape[1])
        known = Block(X, Y, None if self.weights is None else self.weights[train])
        queries = split.queries
        asked = Block(rows[queries], self.targets[queries], self._weight(split))
        return [moments_of_rows(space, block, None, shift)[0] for block in (known, asked)]

    def _weight(self, split: HeldOut) -> FloatArray | None:
        return None if self.weights is None else self.weights[split.queries]

    def _losses(self, split: HeldOut, predicted: Array) -> FloatArray:
        losses = np.square(self.targets[split.queries] - predicted).mean(axis=1)
        weight = self._weight(split)
        return np.asarray(losses if weight is None else losses * weight / weight.mean())


def _some(rows: Array, chosen: npt.NDArray[np.intp], most: int) -> npt.NDArray[np.intp]:
    """Return at most so many of some rows: which ones, their content decides."""
    if len(chosen) <= most:
        return chosen
    return np.sort(chosen[np.argpartition(content_hash(rows[chosen]), most)[:most]])
