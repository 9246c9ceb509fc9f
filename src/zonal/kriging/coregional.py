r"""Several fields at once: linear coregionalisation, each observation a row of its own.

With a kernel k that all targets share,

.. math::

    \mathrm{Cov}(y_a(x), y_b(x')) = B_{ab}\, k(x, x') + E_{ab}\, [x = x'],

where B is the covariance of the fields and E that of what they have at a place alone: noise, which
may have something in common (a float that is displaced is wrong at all depths). A row with gaps is
fewer observations. An observation is conditioned on the nearest of each target, twice as many of
its own: what a neighbouring target has at a place tells something only beside what it has around
that place.

A prediction of target a is of the field and of what the other targets tell of E at that place, the
projection u_a of e_a on the others. With Q the inverse of E and D the diagonal of Q,

.. math::

    u = e - D^{-1} Q e, \qquad \mathrm{Cov}(u, e) = E - D^{-1}, \qquad
    \mathrm{Cov}(u) = E - 2 D^{-1} + D^{-1} Q D^{-1} .

Such a latent value is a row too: that of target a has the number a + t where an observation has a.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import njit

from .._loaded import check_array
from .._typing import Array, FloatArray
from ..kernels import Kernel
from ..rows.threads import ordered_map
from .covariance import covariances
from .low import LandmarkLow, Low
from .neighborhood import back, count_neighbors, factor, pair_squares
from .neighbors import Indices, Nearest, packed, prefix_neighbors
from .numerics import BLOCK
from .pairs import subtract_products
from .process import LocalProcess
from .whitening import Whitening, spatial_order

__all__ = ["CoregionalProcess", "stacked"]


def stacked(rows: Array, n_targets: int, latent: bool = False) -> FloatArray:
    """Return rows for each target in turn, with its number in a last column: [n t, d + 1].

    The numbers are those of observations, or of latent values.
    """
    numbers = np.tile(np.arange(n_targets, dtype=np.float64), len(rows)) + latent * n_targets
    return np.column_stack([np.repeat(np.asarray(rows, np.float64), n_targets, axis=0), numbers])


class CoregionalProcess(LocalProcess):
    """Observations of several targets, each known by the nearest ones of all targets.

    Parameters
    ----------
    rows : ndarray of shape (n, d + 1)
        Places, and in the last column the number of the target, in random order; from t on, of
        latent values.
    kernel : Kernel
        k, with a compiled form.
    fields, places : ndarrays of shape (t, t)
        B and E.
    n_neighbors : int
        The number of observations that a prediction uses: as many of each target, and twice as
        many of its own.
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
        super().__init__(rows[:, :-1], np.ones(len(rows)), kernel, 1.0, n_neighbors, low)
        if self._covariance is None:
            raise ValueError(
                f"kernel={kernel!r} has no compiled form, which several targets need: use Matern "
                "with ν = 1/2, 3/2 or 5/2, Gaussian, Laplacian, RationalQuadratic or sums of them."
            )
        self.rows = rows
        self.fields, self.places = fields, places
        self.targets = rows[:, -1].astype(np.int32)
        self.covariances = np.tile(fields, (2, 2)), with_latent(places)  # of both kinds of rows
        self.nugget = np.diag(self.covariances[1])[self.targets]
        self._root = np.linalg.cholesky(fields + 1e-12 * np.trace(fields) * np.eye(len(fields)))
        self._trees: dict[int, Nearest] = {}

    @property
    def n_targets(self) -> int:
        """The number t of targets."""
        return len(self.fields)

    @property
    def projected(self) -> FloatArray:
        """The variances p of the projections u: [t]."""
        return np.diag(self.covariances[1])[self.n_targets :]

    def observed_at(self, rows: Array, weight: FloatArray | None = None) -> "CoregionalProcess":
        """Return the same process, observed at other rows."""
        return CoregionalProcess(
            rows, self.kernel, self.fields, self.places, self.n_neighbors, self.low
        )

    def features(self, rows: Array) -> FloatArray:
        """Return features [n, t + t D] of stacked rows: a level for each target, and z for each.

        Their coefficients have the variance one: those of targets are correlated by the root of B.
        """
        root = self._root[rows[:, -1].astype(np.int32) % self.n_targets]  # [n, t]
        levels = 3.0 * root
        if self.low is None:
            return levels
        z = self.low.features(rows[:, :-1])
        both = (root[:, :, None] * z[:, None, :]).reshape(len(rows), -1)
        return np.hstack([levels, both])

    @contextmanager
    def kept_features(self) -> Iterator[None]:
        """Keep nothing."""
        yield

    def keeping(self) -> "CoregionalProcess":
        """Return the process, which keeps nothing."""
        return self

    def part(self, numbers: Any) -> "CoregionalProcess":
        """Return the process with fewer known rows."""
        return self.observed_at(self.rows[numbers])

    def carried(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return zᵀβ at stacked rows for coefficients β [t + t D, 1]: [n, 1]."""
        return np.asarray(self.features(rows) @ coef)

    def _counts(self, target: int, n_neighbors: int) -> list[int]:
        """Return how many neighbours of each target one has: [t]."""
        others = n_neighbors // (self.n_targets + 1)
        counts = [others] * self.n_targets
        counts[target] = n_neighbors - others * (self.n_targets - 1)
        return counts

    def _members(self, target: int) -> Indices:
        """Return the numbers of the rows of a target."""
        return np.flatnonzero(self.targets % self.n_targets == target).astype(np.int32)

    def earlier(self, rows: Indices | None = None, n_neighbors: int | None = None) -> Indices:
        """Return the earlier neighbours of rows, as in `whitening`: [s, m]."""
        own = np.arange(len(self.rows), dtype=np.int32) if rows is None else rows
        points, members = self.points, [self._members(b) for b in range(self.n_targets)]

        def found(asking: Indices, target: int, count: int) -> Indices:
            known, limits = members[target], np.searchsorted(members[target], own[asking])
            if not len(known):
                return np.full((len(asking), count), -1, np.int32)
            here = points[own[asking]]
            return prefix_neighbors(points[known], here, limits.astype(np.int32), count)

        targets = self.targets[own] % self.n_targets
        return self._of_each(targets, n_neighbors or self.n_neighbors, members, found)

    def near(self, queries: Array) -> Indices:
        """Return the neighbours of stacked rows: [n_queries, m]."""
        points = self._located(queries[:, :-1])
        members = [self._members(b) for b in range(self.n_targets)]

        def found(asking: Indices, target: int, count: int) -> Indices:
            if not len(members[target]):
                return np.full((len(asking), count), -1, np.int32)
            if target not in self._trees:
                self._trees[target] = Nearest(self.points[members[target]])
            tree = self._trees[target]
            order = spatial_order(points[asking])
            out = np.full((len(asking), count), -1, np.int32)
            most = min(count, len(tree))
            out[order, :most] = tree.query(points[asking][order], most)
            return out

        targets = queries[:, -1].astype(np.int32) % self.n_targets
        return self._of_each(targets, self.n_neighbors, members, found)

    def _of_each(
        self,
        targets: Indices,
        n_neighbors: int,
        members: list[Indices],
        found: Callable[[Indices, int, int], Indices],
    ) -> Indices:
        """Return the nearest rows of every target for rows of given targets: [n, m]."""
        out = np.full((len(targets), n_neighbors), -1, np.int32)
        for own in np.unique(targets):
            asking, start = np.flatnonzero(targets == own).astype(np.int32), 0
            for other, count in enumerate(self._counts(int(own), n_neighbors)):
                if count:
                    near = found(asking, other, count)
                    known = members[other] if len(members[other]) else np.zeros(1, np.int32)
                    out[asking, start : start + count] = np.where(near >= 0, known[near], -1)
                start += count
        return packed(out)

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
        weights, variance = self._krige(self.rows[own], self.points[own], neighbors)
        return Whitening(own, neighbors, weights, variance)

    def at(
        self,
        queries: Array,
        neighbors: Indices | None = None,
        features: FloatArray | None = None,
    ) -> tuple[Indices, FloatArray, FloatArray]:
        """Neighbours, weights and conditional variances of latent values at stacked rows."""
        points = self._located(queries[:, :-1])
        if neighbors is None:
            neighbors = self.near(queries)
        latent = queries.copy()
        latent[:, -1] = queries[:, -1] % self.n_targets + self.n_targets
        return neighbors, *self._krige(latent, points, neighbors)

    def _krige(
        self, queries: Array, points: FloatArray, neighbors: Indices
    ) -> tuple[FloatArray, FloatArray]:
        """Solve for all queries, be they observations or latent values."""
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
                *self.covariances, found, rest,
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
        if not np.isin(numbers, np.arange(2 * n_targets)).all():
            raise ValueError("Observations are of targets that there are not.")
        names = ("rows", "kernel", "fields", "places", "n_neighbors", "low")
        CoregionalProcess.__init__(self, *(self.__dict__[name] for name in names))


def with_latent(places: FloatArray) -> FloatArray:
    """Return the covariance of e and u, where e has the covariance E: [2 t, 2 t]."""
    t = len(places)
    places = places + 1e-12 * np.trace(places) * np.eye(t)  # targets may be equal
    precision = np.linalg.inv(places)
    own = np.diag(1 / np.diag(precision))
    projected = places - 2 * own + own @ precision @ own
    return np.block([[places, places - own], [places - own, projected]])


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
                if squares[first + b] == 0.0 and one != other:  # at one place
                    values[first + b] += places[one, other]
            first += a
        for j in range(m):
            diagonal[j] *= fields[targets[members[j]], targets[members[j]]]
        diagonal[m] = diagonal[m] * fields[own, own] + places[own, own]
        diagonal[m + 1] = prior * fields[own, own]
        variance[q] = factor(values, diagonal, nugget, members, upper)
        for j in range(m):
            weights[q, j] = upper[j, m]
        back(upper, m, weights[q])
