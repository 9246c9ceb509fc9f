"""Neighbours by correlation, where the kernel is not a function of one distance.

A sum of terms has no metric: rows of the same place may tell most of one term, rows of the same
time most of another. Each term has a metric, in which trees find candidates, and the kernel itself
ranks what they find: rows at one place, or at one time, are no ties that chance decides.
"""

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from .._typing import Array, FloatArray
from ..kernels import Kernel, Periodic, Product, SpaceTime, Sum
from .compiled_differences import fast_differences
from .covariance import terms_of
from .low import length_scale_of
from .neighbors import N_SPARSER, SPARSER, Indices, Nearest, append_new, earlier_neighbors

__all__ = ["CorrelatedRows", "metric_points"]

# Candidates of each term, for every neighbour.
CANDIDATES = 2
# What time counts in the metric of a term that does not depend on it: enough to tell rows of one
# place apart.
LITTLE = 1e-3
BLOCK = 1024
# Of the neighbours of a prediction, which are among every fourth row, every sixteenth, and so on.
FAR_SHARE = 0.25


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
        place = metric_points(kernel.space, numbers[:, :-1])
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
        self._fewer: dict[int, CorrelatedRows] = {}
        self._terms = [one for _, one in terms_of(kernel)]
        times = [one.time for one in self._terms if isinstance(one, SpaceTime)]
        self._time = next((time for time in times if time is not None), None)

    @cached_property
    def _points(self) -> list[FloatArray]:
        return list(self._metrics(self.rows))

    @cached_property
    def _nearest(self) -> list[Nearest]:
        return [Nearest(points) for points in self._points]

    def _metrics(self, rows: Array) -> Iterable[FloatArray]:
        return (metric_points(term, rows, self._time) for term in self._terms)

    def query(self, queries: Array, n_neighbors: int) -> Indices:
        """Return the rows that are most correlated with queries, the most first: [q, m]."""
        most = min(CANDIDATES * n_neighbors, len(self.rows))
        found = [
            nearest.query(points, most)
            for nearest, points in zip(self._nearest, self._metrics(queries), strict=True)
        ]
        return self._ranked(np.asarray(queries, np.float64), found, n_neighbors)

    def near_and_far(self, queries: Array, n_neighbors: int) -> Indices:
        """Return the same, but for a fourth of them, which are the best of ever fewer rows.

        The most correlated rows are often copies of each other: times of one place, places of one
        time. In blocks of climate_berkeley 32 of them have an error of 3.93, with 8 of sparser rows
        among them 3.76, as 96 have.
        """
        if n_neighbors >= len(self.rows):
            return self.query(queries, n_neighbors)
        n_far = int(FAR_SHARE * n_neighbors)
        out = np.full((len(queries), n_neighbors), -1, np.int32)
        n_near = n_neighbors - n_far
        out[:, :n_near] = self.query(queries, n_near)
        counts = (out >= 0).sum(axis=1)
        ends = np.linspace(n_near, n_neighbors, N_SPARSER + 1).astype(int)[1:]
        for level, end in enumerate(ends, start=1):
            sparser = self._sparser(len(self.rows) // SPARSER**level)
            if sparser is not None:
                append_new(sparser.query(queries, min(end, len(sparser.rows))), out, counts, end)
        return out

    def _sparser(self, n_rows: int) -> "CorrelatedRows | None":
        if n_rows < 1:
            return None
        if n_rows not in self._fewer:
            self._fewer[n_rows] = CorrelatedRows(self.kernel, self.rows[:n_rows])
        return self._fewer[n_rows]

    def earlier(self, n_neighbors: int, numbers: Indices | None = None) -> Indices:
        """Return the most correlated of earlier rows: [s, m], -1 where there are fewer."""
        most = min(CANDIDATES * n_neighbors, max(len(self.rows) - 1, 1))
        found = [earlier_neighbors(points, most, numbers) for points in self._points]
        queries = self.rows if numbers is None else self.rows[numbers]
        return self._ranked(queries, found, n_neighbors)

    def among(self, others: Indices, queries: FloatArray, n_neighbors: int) -> Indices:
        """Return the most correlated of some rows, by their numbers."""
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
        """Return the candidates of the largest covariance, -1 at the end."""
        known = candidates >= 0
        delta = queries[:, None, :] - self.rows[np.maximum(candidates, 0)]
        values = np.where(known, fast_differences(self.kernel, delta), -np.inf)
        # By row number among equals, so that the order of the candidates does not matter.
        order = np.argsort(-values, axis=1, kind="stable")[:, :n_best]
        best = np.take_along_axis(candidates, order, axis=1)
        return np.where(np.take_along_axis(known, order, axis=1), best, -1).astype(np.int32)
