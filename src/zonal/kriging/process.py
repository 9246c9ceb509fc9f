"""A Gaussian process with a kernel and noise, observed at rows: weights anywhere, whitening."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from .._loaded import check_array, check_number
from .._typing import Array, FloatArray
from ..engines.correlation import FARTHEST, scaled
from ..kernels import Kernel
from .amplitude import Amplitude
from .correlated import CorrelatedRows
from .covariance import covariance_of
from .difference_pairs import pair_slopes, pair_weights
from .feature_store import FeatureStore
from .low import LandmarkLow, Low, SphereLow, less
from .neighbors import Indices, Nearest, earlier_neighbors
from .numerics import PART
from .pairs import NO_LOW
from .prediction_slopes import compiled_slopes
from .reference import reference_weights
from .weights import compiled_weights
from .whitening import Whitening, spatial_order

__all__ = ["LocalProcess"]


class LocalProcess:
    """Covariance σ² (k(x, y) + noise/weight · [x is y]), each row known by its m nearest ones.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Distinct rows in random order, as from `locations.locate`.
    weight : ndarray of shape (n,)
        Their weights: the noise variance of a row is noise/weight.
    kernel : Kernel
        With parameters that are numbers.
    noise : float
        The ratio of the noise variance to that of the kernel.
    n_neighbors : int
        m.
    low : Low, optional
        Features that carry the low degrees of the kernel: the process has what they leave.
    amplitude : Amplitude, optional
        s: what features leave of the process, and noise, are those above times s(x).
    own_amplitude : ndarray of shape (n,), optional
        s at the rows, where it is known.
    """

    def __init__(
        self,
        rows: Array,
        weight: FloatArray,
        kernel: Kernel,
        noise: float,
        n_neighbors: int,
        low: Low | None = None,
        amplitude: Amplitude | None = None,
        own_amplitude: FloatArray | None = None,
    ) -> None:
        self.rows = rows
        self.weight = weight
        self.kernel = kernel
        self.noise = noise
        self.n_neighbors = n_neighbors
        self.low = low
        self.amplitude = amplitude
        self._nugget = self.nugget = noise / weight  # the one of unit amplitude
        if amplitude is not None and own_amplitude is None:
            own_amplitude = amplitude.at(rows)
        self._own_amplitude = own_amplitude
        if own_amplitude is not None:
            self.nugget = self._nugget * own_amplitude**2
        known = covariance_of(kernel)
        self._covariance = None if known is None else less(known, low)
        length_scale = 1.0 if self._covariance is None else self._covariance.length_scale
        self._length_scale = length_scale
        self.points = scaled(rows, length_scale)
        # Of a kernel of differences that is not a function of one distance.
        has_metric = known is not None or not kernel.by_differences
        self._correlated = None if has_metric else CorrelatedRows(kernel, rows)
        self._nearest: Nearest | None = None
        self._kept: FeatureStore | None = None
        # Of a part of another process: that one, and where it has the rows.
        self._whole: tuple[LocalProcess, Indices] | None = None

    def features(self, rows: Array) -> FloatArray:
        """Return the features that carry the low degrees at rows: [n, D], D = 0 for none."""
        if self.low is None:
            return np.empty((len(rows), 0))
        return self.low.features(rows)

    def own_features(self, numbers: Indices) -> FloatArray:
        """Return the same at rows of the process, given by their numbers."""
        if self._kept is None:
            return self.features(self.rows[numbers])
        return self._kept.at(numbers)

    def near_features(self, neighbors: Indices) -> tuple[Indices, FloatArray]:
        """Return where neighbours [q, m] are in a table of features, and that."""
        if self._kept is not None and self._whole is None:
            return neighbors, self._kept.table(neighbors)
        near, local = _support(neighbors)
        return local, self.own_features(near)

    def carried(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return zᵀβ at rows for coefficients β [D, t]: [n, t]."""
        if self.low is None:
            return np.zeros((len(rows), coef.shape[1]))
        return self.low.carried(rows, coef)

    def carried_gradient(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return the gradients of zᵀβ at rows: [n, t, d]."""
        if self.low is None:
            return np.zeros((len(rows), coef.shape[1], rows.shape[1]))
        return self.low.contract_gradient(rows, coef)

    @staticmethod
    def _product_slopes(
        amplitude: Amplitude, rows: Array, values: FloatArray, slopes: FloatArray
    ) -> FloatArray:
        """Return the gradients of s f, of values f [n, t] and their gradients: s ∇f + f ∇s."""
        relative = amplitude.log_gradient(rows)[:, None, :]
        own = amplitude.at(rows)[:, None, None]
        return np.asarray(own * (slopes + values[:, :, None] * relative))

    @contextmanager
    def kept_features(self) -> Iterator[None]:
        """Keep features of rows meanwhile, if there is room: they are asked for several times."""
        low, before = self.low, self._kept
        if before is None and isinstance(low, LandmarkLow):
            self._kept = (
                FeatureStore(low, self.rows) if FeatureStore.has_room(low, len(self.rows)) else None
            )
        try:
            yield
        finally:
            self._kept = before

    def keeping(self) -> "LocalProcess":
        """Return the same process, which keeps features of its rows as long as there is room.

        Others, in threads of their own, may use this one meanwhile.
        """
        if self._kept is not None or not isinstance(self.low, LandmarkLow):
            return self
        if not FeatureStore.has_room(self.low, len(self.rows)):
            return self
        if self._correlated is None:
            self._index()  # found once for both
        same = object.__new__(LocalProcess)
        same.__dict__ |= self.__dict__
        same._kept = FeatureStore(self.low, self.rows)
        return same

    def part(self, numbers: Any) -> "LocalProcess":
        """Return the process with fewer known rows, with the features that are kept."""
        own = None if self._own_amplitude is None else self._own_amplitude[numbers]
        fewer = LocalProcess(
            self.rows[numbers], self.weight[numbers], self.kernel, self.noise, self.n_neighbors,
            self.low, self.amplitude, own,
        )  # fmt: skip
        fewer._kept = None if self._kept is None else self._kept.part(numbers)
        whole, places = self._whole or (self, np.arange(len(self.rows), dtype=np.int32))
        fewer._whole = whole, places[numbers]
        return fewer

    @property
    def length_scale(self) -> FloatArray | None:
        """The units of `points`; None where a kernel has no metric, by which rows are near."""
        return None if self._correlated is not None else np.asarray(self._length_scale, np.float64)

    def noise_at(self, rows: Array) -> FloatArray:
        """Return the noise variance over σ² of observations of weight one at rows: [n]."""
        unit = np.full(len(rows), float(self.noise))
        return unit if self.amplitude is None else unit * self.amplitude.at(rows) ** 2

    def observed_at(self, rows: Array, weight: FloatArray) -> "LocalProcess":
        """Return the same process, observed at other rows."""
        return LocalProcess(
            rows, weight, self.kernel, self.noise, self.n_neighbors, self.low, self.amplitude
        )

    @property
    def metric(self) -> tuple[float, ...]:
        """The ratios of the length scales: neighbours are the same where these agree."""
        if self._correlated is not None:  # no other process has its neighbours
            return (float(id(self)),)
        scales = np.broadcast_to(self._length_scale, self.rows.shape[1:]).astype(np.float64)
        return tuple((scales / scales[0]).round(12).tolist())

    def whitening(
        self,
        rows: Indices | None = None,
        n_neighbors: int | None = None,
        neighbors: Indices | None = None,
    ) -> Whitening:
        """The whitening of the rows, each by earlier ones.

        Parameters
        ----------
        rows : ndarray of int32, optional
            Which rows, increasing; by default all. The earlier ones are of all rows.
        n_neighbors : int, optional
            By default m.
        neighbors : ndarray of shape (s, m), optional
            The earlier neighbours of these rows, where a process of the same `metric` found them.
        """
        own = np.arange(len(self.rows), dtype=np.int32) if rows is None else rows
        if neighbors is None:
            neighbors = self.earlier(rows, n_neighbors)
        weights, variance = self._solve_own(own, neighbors)
        return Whitening(own, neighbors, weights, variance + self.nugget[own])

    def earlier(self, rows: Indices | None = None, n_neighbors: int | None = None) -> Indices:
        """Return the earlier neighbours of rows, as in `whitening`: [s, m]."""
        most = min(n_neighbors or self.n_neighbors, max(len(self.rows) - 1, 1))
        if self._correlated is not None:
            return self._correlated.earlier(most, rows)
        return earlier_neighbors(self.points, most, rows)

    def at(
        self,
        queries: Array,
        neighbors: Indices | None = None,
        features: FloatArray | None = None,
    ) -> tuple[Indices, FloatArray, FloatArray]:
        """Neighbours, weights and conditional variances of the process at other points.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, d)
        neighbors : ndarray of shape (n_queries, m), optional
            Where a process of the same `metric` found them.
        features : ndarray of shape (n_queries, D), optional
            Those of `features` there, where they are made already.

        Returns
        -------
        neighbors : ndarray of shape (n_queries, m)
        weights : ndarray of shape (n_queries, m)
            b.
        variance : ndarray of shape (n_queries,)
            v without noise, in units of σ².
        """
        points = self._located(queries)
        if neighbors is None:
            neighbors = self._near(points)
        made = None if features is None else partial(np.take, features, axis=0)
        return neighbors, *self._solve(queries, points, neighbors, made)

    def near(self, queries: Array) -> Indices:
        """Return the neighbours of other points: [n_queries, m]."""
        return self._near(self._located(queries))

    def distance(self, queries: Array, held_out: bool = False) -> FloatArray:
        """Return the distance to the nearest row, in units of the length scales: [n_queries].

        A query that is `held_out` is not its own neighbour, if it is a row of the process.
        """
        return np.asarray(np.linalg.norm(self._beyond_nearest(queries, held_out), axis=1))

    def distance_gradient(self, queries: Array, held_out: bool = False) -> FloatArray:
        """Return the gradient of the distance with respect to queries, 0 at a row: [q, d]."""
        step = self._beyond_nearest(queries, held_out)
        length = np.maximum(np.linalg.norm(step, axis=1, keepdims=True), np.finfo(float).tiny)
        return np.asarray(step / length / self._length_scale)

    def _beyond_nearest(self, queries: Array, held_out: bool) -> FloatArray:
        """Return the steps from the nearest rows to queries, in units of the length scales."""
        points = self._located(queries)
        nearest = self._others(points) if held_out else self._near(points, 1)
        return np.asarray(points - self.points[nearest[:, 0]])

    def gradient(self, queries: Array, residual: FloatArray, held_out: bool = False) -> FloatArray:
        """Gradients of the predictions of residuals [n, t] with respect to queries: [q, t, d].

        The neighbours are held: where they change, the prediction has a small step. A query that is
        `held_out` is not its own neighbour, if it is a row of the process.
        """
        if self._covariance is None and self._correlated is None:
            raise NotImplementedError(
                f"The gradient of a local part with kernel={self.kernel!r} is not known: use "
                "Matern with ν = 1/2, 3/2 or 5/2, Gaussian, Laplacian or RationalQuadratic."
            )
        points = self._located(queries)
        neighbors = self._others(points) if held_out else self._near(points)
        if self.amplitude is None or self._own_amplitude is None:
            return self._unit_gradient(queries, points, neighbors, residual)
        left = residual / self._own_amplitude[:, None]
        slopes = self._unit_gradient(queries, points, neighbors, left)
        weights, _ = self._solve_unit(queries, points, neighbors)
        values = np.einsum("ij,ijt->it", weights, left[neighbors])
        return self._product_slopes(self.amplitude, queries, values, slopes)

    def _unit_gradient(
        self, queries: Array, points: FloatArray, neighbors: Indices, residual: FloatArray
    ) -> FloatArray:
        """Return gradients of the predictions of the process of unit amplitude: [q, t, d]."""
        low = NO_LOW
        if isinstance(self.low, LandmarkLow):
            low = self.low.features(self.rows), self.low.features(queries)
        if self._covariance is None:
            slopes, pulls = pair_slopes(
                self.kernel, self.rows, self._nugget, queries, neighbors, residual, low
            )
        else:
            slopes, pulls = compiled_slopes(
                self._covariance, self.points, self._nugget, points, neighbors, residual, low
            )
            slopes = slopes / self._length_scale
        if isinstance(self.low, LandmarkLow):  # minus the gradient of z(q)ᵀ Σ_j a_j z_j
            carried = np.einsum("qtm,qmk->qtk", pulls, low[0][neighbors])
            slopes = slopes - self.low.gradient(queries, carried)
        return slopes

    def _located(self, queries: Array) -> FloatArray:
        """Return points in units of the length scales, none so far that squares overflow."""
        return np.clip(scaled(queries, self._length_scale), -FARTHEST, FARTHEST)

    def _others(self, points: FloatArray) -> Indices:
        """The nearest rows that are not the point itself: [q, m]."""
        if self._correlated is not None:
            near = self._correlated.query(points, min(self.n_neighbors + 1, len(self.rows)))
        else:
            near = self._near(points, self.n_neighbors + 1)
        itself = (self.points[near[:, 0]] == points).all(axis=1)
        return np.ascontiguousarray(np.where(itself[:, None], near[:, 1:], near[:, :-1]))

    def _near(self, points: FloatArray, n_neighbors: int | None = None) -> Indices:
        """The nearest rows of points in units of the length scales, the nearest first: [q, m]."""
        m = min(n_neighbors or self.n_neighbors, len(self.rows))
        order = spatial_order(points)  # neighbours in space share what is in the cache
        neighbors = np.empty((len(points), m), np.int32)
        if self._correlated is not None:
            neighbors[order] = self._correlated.query(points[order], m)
        else:
            neighbors[order] = self._index().query(points[order], m)
        return neighbors

    def held_out(
        self, rows: Indices, folds: Array | None = None, n_neighbors: int | None = None
    ) -> tuple[Indices, FloatArray, FloatArray]:
        """What `at` returns for rows of the process, without themselves.

        So that the error of a model can be judged where its own rows are, at their full density.

        Parameters
        ----------
        rows : ndarray of shape (q,), int32
            Row numbers.
        folds : ndarray of shape (n,), optional
            A label for each row of the process: neighbours of a row have other labels. By default
            all rows but itself may be neighbours.
        n_neighbors : int, optional
            By default m.
        """
        n_rows = len(self.rows)
        if folds is not None and (folds == folds[0]).all():
            raise ValueError("Rows that are held out need at least one other row, of another fold.")
        most = min(n_neighbors or self.n_neighbors, n_rows - 1)
        if folds is None:
            found = (self._correlated or self._index()).query(self.points[rows], most + 1)
            neighbors = _without(found, rows)
        else:
            neighbors = np.full((len(rows), most), -1, np.int32)
            for label in np.unique(folds[rows]):
                others = np.flatnonzero(folds != label).astype(np.int32)
                mine = np.flatnonzero(folds[rows] == label)
                m = min(most, len(others))
                if self._correlated is not None:
                    neighbors[mine, :m] = self._correlated.among(others, self.points[rows[mine]], m)
                    continue
                found = Nearest(self.points[others]).query(self.points[rows[mine]], m)
                neighbors[mine, :m] = others[found]
        return neighbors, *self._solve_own(rows, neighbors)

    def _index(self) -> Nearest:
        if self._nearest is None:
            self._nearest = Nearest(self.points)
        return self._nearest

    def _solve_own(self, rows: Indices, neighbors: Indices) -> tuple[FloatArray, FloatArray]:
        """Return weights and variances at rows of the process, given by their numbers."""

        def made(part: Indices) -> FloatArray:
            return self.own_features(rows[part])

        return self._solve(self.rows[rows], self.points[rows], neighbors, made)

    def _solve(
        self,
        queries: Array,
        points: FloatArray,
        neighbors: Indices,
        made: Callable[[Any], FloatArray] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return weights and variances, those of unit amplitude times s(q)/s(x) and s(q)².

        `made` returns features of queries, given by their places, where these are known.
        """
        weights, variance = self._solve_unit(queries, points, neighbors, made)
        if self.amplitude is None or self._own_amplitude is None:
            return weights, variance
        own = self.amplitude.at(queries)
        return weights * (own[:, None] / self._own_amplitude[neighbors]), variance * own**2

    def _solve_unit(
        self,
        queries: Array,
        points: FloatArray,
        neighbors: Indices,
        made: Callable[[Any], FloatArray] | None = None,
    ) -> Any:
        if self._covariance is None and self._correlated is None:
            return reference_weights(self._rest, self.rows, self._nugget, queries, neighbors)
        if not isinstance(self.low, LandmarkLow):
            if self._covariance is None:
                return pair_weights(self.kernel, self.rows, self._nugget, queries, neighbors)
            return compiled_weights(self._covariance, self.points, self._nugget, points, neighbors)
        return self._solve_by_parts(self.low, queries, points, neighbors, made)

    def _rest(self, rows: Array) -> FloatArray:
        """The covariances of rows, less what features carry."""
        matrix = np.asarray(self.kernel(rows), np.float64)
        return matrix if self.low is None else matrix - self.low.matrix(rows, rows)

    def _solve_by_parts(
        self,
        low: LandmarkLow,
        queries: Array,
        points: FloatArray,
        neighbors: Indices,
        made: Callable[[Any], FloatArray] | None,
    ) -> tuple[FloatArray, FloatArray]:
        """Solve for queries near each other at a time, whose neighbours' features are in reach."""
        if self._kept is not None and self._whole is not None:
            whole, numbers = self._whole
            places = np.where(neighbors >= 0, numbers[neighbors], -1).astype(np.int32)
            return whole._solve_by_parts(low, queries, points, places, made)
        weights, variance = np.empty(neighbors.shape), np.empty(len(queries))
        order = spatial_order(points)
        for start in range(0, len(order), PART):
            part = order[start : start + PART]
            near: Any = slice(None)  # of all each is gathered where it is used
            if self._kept is None:
                near, local = _support(neighbors[part])
                own = low.features(self.rows[near])
            else:
                local, own = neighbors[part], self._kept.table(neighbors[part])
            features = own, low.features(queries[part]) if made is None else made(part)
            if self._covariance is None:
                weights[part], variance[part] = pair_weights(
                    self.kernel, self.rows[near], self._nugget[near], queries[part], local,
                    low=features,
                )  # fmt: skip
                continue
            weights[part], variance[part] = compiled_weights(
                self._covariance, self.points[near], self._nugget[near], points[part], local,
                low=features,
            )  # fmt: skip
        return weights, variance

    def __getstate__(self) -> dict[str, Any]:
        """Return the rows and the parameters; the rest is found again."""
        names = ("rows", "weight", "kernel", "noise", "n_neighbors", "low", "amplitude")
        state = {name: self.__dict__[name] for name in names}
        if np.all(self.weight == self.weight[0]):  # nearly always: one number travels for all rows
            state["weight"] = self.weight[:1]
        return state

    def _check_loaded(self) -> None:
        n = len(check_array(self, "rows", "f", (None, None)))
        check_array(self, "weight", "f", (max(n, 1),))
        check_number(self, "n_neighbors", 1, 1 << 31)
        if not isinstance(self.low, SphereLow | LandmarkLow | None):
            raise ValueError(f"low={self.low!r} is not of features.")
        if not isinstance(self.amplitude, Amplitude | None):
            raise ValueError(f"amplitude={self.amplitude!r} is not of a process.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        weight = np.broadcast_to(state["weight"], len(state["rows"])).copy()
        known = {name: value for name, value in state.items() if name != "n_far"}  # once 0
        self.__init__(**(known | {"weight": weight}))  # type: ignore[misc]


def _support(neighbors: Indices) -> tuple[Indices, Indices]:
    """Return the rows that are neighbours, and where each neighbour is among them, -1 for none."""
    support, where = np.unique(neighbors, return_inverse=True)
    lost = int(len(support) > 0 and support[0] < 0)
    return support[lost:], (where.reshape(neighbors.shape) - lost).astype(np.int32)


def _without(found: Indices, rows: Indices) -> Indices:
    """Neighbours without the row itself, or without the last one where that is not among them."""
    own = found == rows[:, None]
    own[~own.any(axis=1), -1] = True
    return found[~own].reshape(len(found), -1)
