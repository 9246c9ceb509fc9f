r"""Several fields at once: linear coregionalisation, each observation a row of its own.

With a kernel k that all targets share,

.. math::

    \mathrm{Cov}(y_a(x), y_b(x')) = B_{ab}\, k(x, x') + E_{ab}\, [x = x'],

where B is the covariance of the fields and E that of what they have at a place alone: noise, which
may have something in common (a float that is displaced is wrong at all depths). A row with gaps is
fewer observations. An observation is conditioned on those near it, whatever their target, those at
its own place first.

A prediction of target a is of the field and of what the other targets tell of E at that place: the
projection of e_a on the others, of the variance :math:`p_a = E_{a,-a} E_{-a,-a}^{-1} E_{-a,a}`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import njit

from .._loaded import check_array
from .._typing import Array, FloatArray
from ..engines.correlation import FARTHEST
from ..kernels import Kernel
from ..rows.threads import ordered_map
from .covariance import covariances
from .low import LandmarkLow, Low
from .neighborhood import back, count_neighbors, factor, pair_squares
from .neighbors import Indices, Nearest, earlier_neighbors
from .pairs import subtract_products
from .process import LocalProcess
from .whitening import Whitening, spatial_order

__all__ = ["CoregionalProcess", "stacked"]

BLOCK = 512
# How far targets without correlation are from each other where neighbours are looked for, in mean
# distances between places, over √2. Within so many there are 50 observations of the same target,
# so that unrelated ones are no neighbours.
APART = 4.0


def stacked(rows: Array, n_targets: int) -> FloatArray:
    """Return rows for each target in turn, with its number in a last column: [n t, d + 1]."""
    numbers = np.tile(np.arange(n_targets, dtype=np.float64), len(rows))
    return np.column_stack([np.repeat(np.asarray(rows, np.float64), n_targets, axis=0), numbers])


class CoregionalProcess(LocalProcess):
    """Observations of several targets, each known by the nearest ones of all targets.

    Parameters
    ----------
    rows : ndarray of shape (n, d + 1)
        Places, and in the last column the number of the target, in random order.
    kernel : Kernel
        k, with a compiled form.
    fields, places : ndarrays of shape (t, t)
        B and E.
    n_neighbors : int
        The number of observations that a prediction uses.
    low : Low, optional
        Features that carry the low degrees of the kernel, for each target.
    """

    def __init__(
        self,
        rows: FloatArray,
        kernel: Kernel,
        fields: FloatArray,
        places: FloatArray,
        n_neighbors: int,
        low: Low | None = None,
    ) -> None:
        super().__init__(rows[:, :-1], np.ones(len(rows)), kernel, 1.0, n_neighbors, 0, low)
        if self._covariance is None:
            raise ValueError(
                f"kernel={kernel!r} has no compiled form, which several targets need: use Matern "
                "with ν = 1/2, 3/2 or 5/2, Gaussian, Laplacian, RationalQuadratic or sums of them."
            )
        self.rows = rows
        self.fields, self.places = fields, places
        self.targets = rows[:, -1].astype(np.int32)
        self.nugget = np.diag(places)[self.targets]
        self.projected = _projected(places)
        self._root = np.linalg.cholesky(fields + 1e-12 * np.trace(fields) * np.eye(len(fields)))

    def observed_at(self, rows: Array, weight: FloatArray | None = None) -> "CoregionalProcess":
        """Return the same process, observed at other rows."""
        return CoregionalProcess(
            rows, self.kernel, self.fields, self.places, self.n_neighbors, self.low
        )

    def features(self, rows: Array) -> FloatArray:
        """Return features [n, t + t D] of stacked rows: a level for each target, and z for each.

        Their coefficients have the variance one: those of targets are correlated by the root of B.
        """
        root = self._root[rows[:, -1].astype(np.int32)]  # [n, t]
        levels = 3.0 * root
        if self.low is None:
            return levels
        z = self.low.features(rows[:, :-1])
        both = (root[:, :, None] * z[:, None, :]).reshape(len(rows), -1)
        return np.hstack([levels, both])

    @contextmanager
    def kept_features(self, n_rows: int) -> Iterator[None]:
        """Keep nothing."""
        yield

    def carried(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return zᵀβ at stacked rows for coefficients β [t + t D, 1]: [n, 1]."""
        return np.asarray(self.features(rows) @ coef)

    @property
    def _search_points(self) -> FloatArray:
        """Points among which neighbours are looked for: [n, d + 1]."""
        return self._with_targets(self.points, self.targets)

    def _with_targets(self, points: FloatArray, targets: Any) -> FloatArray:
        """Append coordinates of targets, which are √(2 - 2|ρ|) apart in units of `APART`."""
        widths = np.ptp(self.points, axis=0)
        widths = widths[widths > 0]
        n_places = max(len(self.points) / len(self.fields), 1.0)
        spacing = 1.0  # all at one place
        if len(widths):
            spacing = float(np.exp(np.log(widths).mean())) * n_places ** (-1 / len(widths))
        root = np.sqrt(np.diag(self.fields))
        values, vectors = np.linalg.eigh(np.abs(self.fields) / np.outer(root, root))
        units = vectors * np.sqrt(np.maximum(values, 0))
        units -= units[0]  # one target alone, or equal ones, are at zero
        where = APART * spacing * units[np.asarray(targets, np.int64)]
        return np.ascontiguousarray(np.column_stack([points, where]))

    def earlier(self, rows: Indices | None = None, n_neighbors: int | None = None) -> Indices:
        """Return the earlier neighbours of rows, as in `whitening`: [s, m]."""
        most = min(n_neighbors or self.n_neighbors, max(len(self.rows) - 1, 1))
        return earlier_neighbors(self._search_points, most, rows)

    def whitening(
        self,
        rows: Indices | None = None,
        n_neighbors: int | None = None,
        neighbors: Indices | None = None,
    ) -> Whitening:
        """The whitening of observations, each by earlier ones."""
        own = np.arange(len(self.rows), dtype=np.int32) if rows is None else rows
        if neighbors is None:
            neighbors = self.earlier(rows, n_neighbors)
        weights, variance = self._krige(
            self.rows[own], self.points[own], neighbors, np.zeros(len(self.fields))
        )
        return Whitening(own, neighbors, weights, variance + self.nugget[own])

    def at(
        self, queries: Array, neighbors: Indices | None = None
    ) -> tuple[Indices, FloatArray, FloatArray]:
        """Neighbours, weights and conditional variances at other stacked rows."""
        points = np.clip(self._located(queries[:, :-1]), -FARTHEST, FARTHEST)
        if neighbors is None:
            asked = self._with_targets(points, queries[:, -1])
            order = spatial_order(points)
            m = min(self.n_neighbors, len(self.rows))
            neighbors = np.empty((len(queries), m), np.int32)
            neighbors[order] = self._index().query(asked[order], m)
        return neighbors, *self._krige(queries, points, neighbors, self.projected)

    def _index(self) -> Nearest:
        if self._nearest is None:
            self._nearest = Nearest(self._search_points)
        return self._nearest

    def _krige(
        self, queries: Array, points: FloatArray, neighbors: Indices, projected: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Solve for all queries, whose own part of E has the variance `projected`."""
        covariance = self._covariance
        assert covariance is not None
        if neighbors.max(initial=-1) >= len(self.rows):
            raise ValueError("Neighbours are beyond the observations.")
        targets = queries[:, -1].astype(np.int32)
        weights, variance = np.zeros(neighbors.shape), np.empty(len(queries))
        order = spatial_order(points)

        def run(start: int) -> None:
            part = order[start : start + BLOCK]
            support, where = np.unique(neighbors[part], return_inverse=True)
            lost = int(len(support) > 0 and support[0] < 0)  # -1, for none
            near = support[lost:]
            local = (where.reshape(neighbors[part].shape) - lost).astype(np.int32)
            known = asked = np.empty((0, 0))
            if isinstance(self.low, LandmarkLow):
                known = self.low.features(self.rows[near, :-1])
                asked = self.low.features(queries[part, :-1])
            found, rest = np.zeros(local.shape), np.empty(len(part))
            _coregional_weights(
                covariance.terms, covariance.series, covariance.theta, covariance.prior,
                np.ascontiguousarray(self.points[near]), self.targets[near], self.nugget[near],
                known, np.ascontiguousarray(points[part]), targets[part], asked, local,
                self.fields, self.places, projected, found, rest,
            )  # fmt: skip
            weights[part], variance[part] = found, rest

        for _ in ordered_map(run, range(0, len(queries), BLOCK)):
            pass
        return weights, variance

    def __getstate__(self) -> dict[str, Any]:
        """Return the rows and the parameters; the rest is found again."""
        names = ("rows", "kernel", "fields", "places", "n_neighbors", "low")
        return {name: self.__dict__[name] for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over rows and parameters."""
        self.__dict__.update(state)
        self._check_loaded()

    def _check_loaded(self) -> None:
        n_targets = len(check_array(self, "fields", "f", (None, None)))
        check_array(self, "fields", "f", (n_targets, n_targets))
        check_array(self, "places", "f", (n_targets, n_targets))
        numbers = check_array(self, "rows", "f", (None, None))[:, -1]
        if not np.isin(numbers, np.arange(n_targets)).all():
            raise ValueError("Observations are of targets that there are not.")
        names = ("rows", "kernel", "fields", "places", "n_neighbors", "low")
        CoregionalProcess.__init__(self, *(self.__dict__[name] for name in names))


def _projected(places: FloatArray) -> FloatArray:
    """p_a, what the other targets tell of each target's part of E: [t]."""
    t = len(places)
    found = np.zeros(t)
    for a in range(t):
        others = [b for b in range(t) if b != a]
        if others:
            inner = places[np.ix_(others, others)]
            found[a] = places[a, others] @ np.linalg.pinv(inner) @ places[others, a]
    return np.asarray(np.clip(found, 0, np.diag(places)))


@njit(nogil=True, cache=True)
def _coregional_weights(  # type: ignore[no-untyped-def]
    terms,
    series,
    theta,
    prior,
    points,
    targets,
    nugget,
    z,
    queries,
    asked,
    z_queries,
    neighbors,
    fields,
    places,
    projected,
    weights,
    variance,
):
    """IN: all but the last two, for a block of queries. OUT: weights and variances."""
    most, d = neighbors.shape[1], points.shape[1]
    n_pairs, n_low = most * (most + 1) // 2, z.shape[1]
    local, scratch, work = np.empty((d, most + 1)), np.empty(n_pairs), np.empty((2, n_pairs))
    squares, values, upper = np.empty(n_pairs), np.empty(n_pairs), np.empty((most + 1, most + 1))
    low, diagonal = np.empty((most + 1, n_low), z.dtype), np.empty(most + 2)
    for q in range(len(queries)):
        m = count_neighbors(neighbors[q])
        members, n_pairs = neighbors[q, :m], m * (m + 1) // 2
        pair_squares(points, queries[q], members, local, squares)
        covariances(terms, series, theta, squares[:n_pairs], local, scratch, work, values)
        diagonal[:] = prior
        if n_low:
            subtract_products(z, z_queries[q], members, low, values, diagonal)
        first, own = 0, asked[q]
        for a in range(1, m + 1):
            one = targets[members[a]] if a < m else own
            for b in range(a):
                other = targets[members[b]]
                values[first + b] *= fields[one, other]
                if squares[first + b] == 0.0:  # at one place
                    if one != other:
                        values[first + b] += places[one, other]
                    elif a == m:
                        values[first + b] += projected[own]
            first += a
        for j in range(m):
            diagonal[j] *= fields[targets[members[j]], targets[members[j]]]
        diagonal[m] = diagonal[m] * fields[own, own] + projected[own]
        diagonal[m + 1] = prior * fields[own, own]
        variance[q] = factor(values, diagonal, nugget, members, upper)
        for j in range(m):
            weights[q, j] = upper[j, m]
        back(upper, m, weights[q])
