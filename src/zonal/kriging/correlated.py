"""Neighbours by correlation, where the kernel is not a function of one distance.

A sum of terms has no metric: rows of the same place may tell most of one term, rows of the same
time most of another. Each term has a metric, in which trees find candidates, and the terms rank
what they find: rows at one place, or at one time, are no ties that chance decides.

In the ranking a term counts as much as its own nearest rows leave unknown of it. A large and smooth
one, as the season of a latitude, has most of the covariance, and yet any few rows tell it.
"""

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from .._typing import Array, FloatArray
from ..kernels import Kernel, Periodic, Product, SpaceTime, Sum
from .compiled_differences import fast_differences
from .covariance import terms_of
from .effort import FEW_NEIGHBORS, JUDGED
from .low import length_scale_of
from .neighbors import Indices, Nearest, earlier_neighbors
from .numerics import BLOCK, CANDIDATES, LEAST_NOISE, LITTLE, PER_NEIGHBOR

__all__ = ["CorrelatedRows", "metric_points", "unexplained"]


def metric_points(kernel: Kernel, rows: Array, other: Kernel | None = None) -> FloatArray:
    """Return points whose distances are those of a kernel's term, in units of its scales: [n, e].

    Parameters
    ----------
    kernel : Kernel
        One term.
    rows : ndarray of shape (n, d)
    other : Kernel, optional
        The kernel of time of another term, where this one does not depend on time.
    """
    numbers = np.asarray(rows, np.float64)
    if isinstance(kernel, SpaceTime):
        place = metric_points(kernel.space, kernel.moved_back(numbers))
        if kernel.time is not None:
            return np.hstack([place, metric_points(kernel.time, numbers[:, -1:])])
        if other is None:
            return place
        return np.hstack([place, LITTLE * metric_points(other, numbers[:, -1:])])
    if isinstance(kernel, Periodic):
        return kernel.embed(numbers) / float(kernel.length_scale)
    if isinstance(kernel, Product):
        return np.hstack([metric_points(part, numbers) for part in (kernel.k1, kernel.k2)])
    if isinstance(kernel, Sum):
        return metric_points(kernel.k1, numbers)
    return numbers / np.asarray(length_scale_of(kernel), np.float64)


class CorrelatedRows:
    """Rows among which neighbours are found by correlation.

    Parameters
    ----------
    kernel : Kernel
        With `of_differences`.
    rows : ndarray of shape (n, d)
        In random order.
    """

    def __init__(self, kernel: Kernel, rows: Array) -> None:
        self.kernel = kernel
        self.rows = np.asarray(rows, np.float64)
        self._terms = [one for _, one in terms_of(kernel)]
        times = [one.time for one in self._terms if isinstance(one, SpaceTime)]
        self._time = next((time for time in times if time is not None), None)

    @cached_property
    def _ranking(self) -> Kernel:
        """The kernel that ranks candidates: each term counts as much as is not known of it."""
        terms = zip(terms_of(self.kernel), self._points, strict=True)
        parts = [one * (weight * unexplained(one, self.rows, points))
                 for (weight, one), points in terms]  # fmt: skip
        ranking: Kernel = parts[0]
        for part in parts[1:]:
            ranking = ranking + part
        return ranking

    @cached_property
    def _points(self) -> list[FloatArray]:
        return list(self._metrics(self.rows))

    @cached_property
    def _nearest(self) -> list[Nearest]:
        return [Nearest(points) for points in self._points]

    def _metrics(self, rows: Array) -> Iterable[FloatArray]:
        return (metric_points(term, rows, self._time) for term in self._terms)

    def query(self, queries: Array, n_neighbors: int) -> Indices:
        """Return the rows that tell most of queries, the first the most: [q, m]."""
        most = min(PER_NEIGHBOR * n_neighbors, len(self.rows))
        found = [
            nearest.query(points, most)
            for nearest, points in zip(self._nearest, self._metrics(queries), strict=True)
        ]
        return self._ranked(np.asarray(queries, np.float64), found, n_neighbors)

    def earlier(self, n_neighbors: int, numbers: Indices | None = None) -> Indices:
        """Return those of earlier rows that tell most: [s, m], -1 where there are fewer."""
        most = min(PER_NEIGHBOR * n_neighbors, max(len(self.rows) - 1, 1))
        found = [earlier_neighbors(points, most, numbers) for points in self._points]
        queries = self.rows if numbers is None else self.rows[numbers]
        return self._ranked(queries, found, n_neighbors)

    def among(self, others: Indices, queries: FloatArray, n_neighbors: int) -> Indices:
        """Return those of some rows, given by their numbers, that tell most."""
        found = CorrelatedRows(self.kernel, self.rows[others]).query(queries, n_neighbors)
        return np.where(found >= 0, others[np.maximum(found, 0)], -1).astype(np.int32)

    def _ranked(self, queries: FloatArray, found: list[Indices], n_neighbors: int) -> Indices:
        if len(found) == 1 and not isinstance(self.kernel, SpaceTime):
            return found[0][:, :n_neighbors]
        candidates = np.sort(np.hstack(found), axis=1)
        candidates[:, 1:][candidates[:, 1:] == candidates[:, :-1]] = -1
        out = np.empty((len(queries), min(n_neighbors, candidates.shape[1])), np.int32)
        for start in range(0, len(queries), BLOCK):
            part = slice(start, start + BLOCK)
            out[part] = self._best(queries[part], candidates[part], out.shape[1])
        return out

    def _best(self, queries: FloatArray, candidates: Indices, n_best: int) -> Indices:
        """Return the candidates that rank highest, -1 at the end."""
        known = candidates >= 0
        delta = queries[:, None, :] - self.rows[np.maximum(candidates, 0)]
        values = np.where(known, fast_differences(self._ranking, delta), -np.inf)
        # By row number among equals, so that the order of the candidates does not matter.
        order = np.argsort(-values, axis=1, kind="stable")[:, :n_best]
        best = np.take_along_axis(candidates, order, axis=1)
        return np.where(np.take_along_axis(known, order, axis=1), best, -1).astype(np.int32)


def unexplained(term: Kernel, rows: FloatArray, points: FloatArray) -> float:
    """Return the share of a term's variance that its nearest rows leave, at other points of it.

    Parameters
    ----------
    term : Kernel
        With `of_differences`, one at zero.
    rows : ndarray of shape (n, d)
        In random order.
    points : ndarray of shape (n, e)
        The same in the metric of the term.
    """
    # With the covariances themselves climate_berkeley had .60 near the rows instead of .14, and
    # 9.17 in blocks instead of 8.80 (splits of training rows).
    some = points[:CANDIDATES]
    # What stays at a place is known there: other places tell how much is left of it.
    first = np.sort(np.unique(some.round(9), axis=0, return_index=True)[1])
    if len(first) < 2:
        return 1.0
    asked = first[: JUDGED // 10]
    near = Nearest(some[first]).query(some[asked], min(FEW_NEIGHBORS // 2 + 1, len(first)))[:, 1:]
    local = np.concatenate([rows[first][near], rows[asked][:, None, :]], axis=1)
    values = fast_differences(term, local[:, :, None, :] - local[:, None, :, :])
    inner, cross = values[:, :-1, :-1] + LEAST_NOISE * np.eye(near.shape[1]), values[:, :-1, -1]
    known = (cross * np.linalg.solve(inner, cross[:, :, None])[:, :, 0]).sum(axis=1)
    return float(np.clip(np.mean(1 - known), LEAST_NOISE, 1.0))
