r"""Features and the local process together: y = μ + z(x)ᵀβ + u(x) + ε.

β is ridge regression on whitened features, so all that is kept of the rows for it is a matrix of
sums of products, added up block by block. With b the kriging weights of the neighbours of q and
:math:`\zeta = z(q) - \sum_j b_j z_j`, the prediction and its variance are

.. math::

    \mu + z(q)^\top \beta + \sum_j b_j (y_j - \mu - z_j^\top \beta), \qquad
    \sigma^2 (v(q) + \zeta^\top \mathrm{Cov}(\beta)\, \zeta + \dots),

where the dots stand for what the unknown μ adds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._loaded import check_array, check_kind
from .._typing import Array, FloatArray
from ..rows.threads import ordered_map
from .effort import FIRST_ROWS
from .locations import Locations
from .marginal import Marginal, Observed, marginal
from .neighbors import Indices
from .numerics import BLOCK_NUMBERS, PREDICTED_ROWS, SUMMED_ROWS
from .process import LocalProcess
from .whitening import Block, Whitening, spatial_order, subtract_neighbors

__all__ = [
    "NOISE_SHARE",
    "Features",
    "Joint",
    "carried_by",
    "explained",
    "first_rows",
    "fit_joint",
    "n_first_rows",
    "no_features",
    "whitened_gram",
]

#: Maps rows [k, d] to features [k, D].
Features = Callable[[Array], Array]

#: Noise is averaged over rows: its share of the variance of the features, D η/n, is at most this.
NOISE_SHARE = 0.01


def no_features(rows: Array) -> FloatArray:
    """Return features of no columns, for a process with a constant mean."""
    return np.empty((len(rows), 0))


@dataclass(frozen=True)
class Joint:
    """A fitted joint model; the features themselves are kept elsewhere.

    Attributes
    ----------
    process : LocalProcess
        The local part, with its rows.
    found : Marginal
        Mean, coefficients, scale, their covariance and the log evidence.
    residual : ndarray of shape (n, t)
        y - μ - zᵀβ at the rows.
    """

    process: LocalProcess
    found: Marginal
    residual: FloatArray

    def _check_loaded(self) -> None:
        """Raise ValueError unless there is a residual for each row."""
        n, t = len(check_kind(self, "process", LocalProcess).rows), len(self.found.mean)
        check_array(self, "residual", "f", (n, t))

    def predict(
        self,
        X: Array,
        features: Features | None = None,
        return_std: bool = False,
        neighbors: Indices | None = None,
    ) -> tuple[FloatArray, FloatArray | None]:
        """Predict targets [q, t], and standard deviations [q, t] without noise if asked for.

        Without features, those are used that carry the low degrees of the process, if there are
        any. The neighbours of X [q, m] are found where they are not given.
        """
        features = features or self.process.features
        # Queries near each other share neighbours, whose features weights and variances ask for.
        joint = replace(self, process=self.process.keeping())
        mean = np.empty((len(X), self.residual.shape[1]))
        variance = np.empty(len(X))

        def run(part: Indices) -> None:
            known = None if neighbors is None else neighbors[part]
            mean[part], variance[part] = joint._predict_block(X[part], features, return_std, known)

        _walk(run, X)
        return mean, np.sqrt(variance[:, None] * self.found.scale) if return_std else None

    def _predict_block(
        self, X: Array, features: Features, with_variance: bool, known: Indices | None
    ) -> tuple[FloatArray, FloatArray]:
        own = np.asarray(features(X), np.float64)
        made = None if self.process.low is None else own
        neighbors, weights, variance = self.process.at(X, known, made)
        mean = self.found.mean + own @ self.found.coef
        mean += np.einsum("ij,ijt->it", weights, self.residual[neighbors])
        if with_variance:
            variance = variance + self._variance_of_mean(features, own, neighbors, weights)
        return mean, variance

    def variance_of_mean(
        self, X: Array, features: Features, neighbors: Indices, weights: FloatArray
    ) -> FloatArray:
        """Return what the uncertainty of μ and β adds to the variance at rows, over σ²: [q].

        Parameters
        ----------
        X : ndarray of shape (q, d)
        features : callable
        neighbors, weights : ndarrays of shape (q, m)
            Those of the process at these rows.
        """
        found = np.empty(len(X))

        def run(part: Indices) -> None:
            own = np.asarray(features(X[part]), np.float64)
            found[part] = self._variance_of_mean(features, own, neighbors[part], weights[part])

        _walk(run, X)
        return found

    def _variance_of_mean(
        self, features: Features, own: FloatArray, neighbors: Indices, weights: FloatArray
    ) -> FloatArray:
        """Return the same for rows with features `own`, which are overwritten: [q]."""
        rest = 1 - weights.sum(axis=1)
        if own.shape[1] and neighbors.shape[1]:  # a place may be the only one
            if self.process.low is not None:
                local, near = self.process.near_features(neighbors)
            else:
                support, where = np.unique(neighbors, return_inverse=True)
                near = np.asarray(features(self.process.rows[support]), np.float64)
                local = where.reshape(neighbors.shape).astype(np.int32)
            subtract_neighbors(near, local, weights, own)
        return self.found.variance(own, rest)


def _walk(run: Callable[[Indices], None], X: Array) -> None:
    """Call a function with the numbers of rows near each other, which share their neighbours."""
    order = spatial_order(X) if len(X) > PREDICTED_ROWS else np.arange(len(X))
    blocks = [order[start : start + PREDICTED_ROWS] for start in range(0, len(X), PREDICTED_ROWS)]
    for _ in ordered_map(run, blocks):
        pass


def whitened_gram(
    whitening: Whitening,
    locations: Locations,
    features: Features,
    points: FloatArray,
    own: Callable[[Indices], Array] | None = None,
) -> FloatArray:
    """Return sums of products of the whitened constant, targets and features.

    Parameters
    ----------
    whitening : Whitening
    locations : Locations
        The rows and their targets.
    features : callable
        Maps rows [k, d] to features [k, D]. It is called, in several threads, with the rows of a
        block and all their neighbours: about twice as many rows in all as there are.
    points : ndarray of shape (n, d)
        Where the rows are, for blocks whose rows are close to each other.
    own : callable, optional
        The features of locations, given by their numbers, where these are known.

    Returns
    -------
    ndarray of shape (1 + t + D, 1 + t + D)
    """

    def products(block: Block) -> Array:
        known = features(locations.rows[block.support]) if own is None else own(block.support)
        # In double precision, whatever that of the features: differences of rows that are close to
        # each other are divided by what is left of their variance. Sums of mushroom's features in
        # single precision had eigenvalues down to -7e-9 of the largest, and no label was right.
        Z = np.asarray(known, np.float64)
        columns = [np.ones(len(Z)), locations.targets[block.support], Z]
        whitened = block.apply(np.column_stack(columns))
        return np.asarray(whitened.T @ whitened)

    # Rows that are all summed share their neighbours, but few among many have each its own.
    share = len(whitening) / len(locations)
    rows_a_row = min(2 / share, 1 + whitening.neighbors.shape[1])
    width = 1 + locations.targets.shape[1] + features(locations.rows[:1]).shape[1]
    size = max(1, min(SUMMED_ROWS, int(BLOCK_NUMBERS / (rows_a_row * width))))
    gram: FloatArray | None = None
    # In the order of the blocks, so that the number of threads does not change the sums.
    for part in ordered_map(products, whitening.blocks(size, points)):
        gram = part.astype(np.float64) if gram is None else gram + part
    assert gram is not None
    return gram


def explained(features: Features, rows: Array, coef: FloatArray) -> FloatArray:
    """Return zᵀβ at rows, block by block: [n, t]."""

    def combined(part: Array, coef: FloatArray) -> FloatArray:
        return np.asarray(np.asarray(features(part)) @ coef)

    return _by_blocks(combined, rows, coef)


def _by_blocks(
    carried: Callable[[Array, FloatArray], FloatArray], rows: Array, coef: FloatArray
) -> FloatArray:
    """Return a function of rows and β at all rows: [n, t]."""
    found = np.zeros((len(rows), coef.shape[1]))

    def run(part: slice) -> None:
        found[part] = carried(rows[part], coef)

    slices = [slice(start, start + SUMMED_ROWS) for start in range(0, len(rows), SUMMED_ROWS)]
    for _ in ordered_map(run, slices if len(coef) else []):
        pass
    return found


def fit_joint(
    locations: Locations,
    process: LocalProcess,
    features: Features | None = None,
    ratio: float = 1.0,
    *,
    n_neighbors: int | None = None,
    judged: Indices | None = None,
    neighbors: Indices | None = None,
    scale: float | None = None,
) -> Joint:
    """Solve for β, μ and σ², given the parameters.

    Parameters
    ----------
    locations : Locations
        Rows, and targets that are about zero.
    process : LocalProcess
        The local part, with the number of neighbours for predictions.
    features : callable, optional
        Maps rows [k, d] to features [k, D]; by default those that carry the low degrees of the
        process, if there are any.
    ratio : float
        τ, the variance of β over that of the process.
    n_neighbors : int, optional
        Neighbours in the fit, by default as many as in predictions.
    judged : ndarray of int32, optional
        The rows whose whitened columns are summed, increasing, by default all. Of rows spread over
        the order the log evidence is an estimate of that of all; the first rows have their own.
    neighbors : ndarray of int32, optional
        Their earlier neighbours, where these are known.
    scale : float, optional
        σ², where it is given.
    """
    own = process.own_features if features is None else None
    with process.kept_features():
        whitening = process.whitening(judged, n_neighbors, neighbors)
        made = features or process.features
        gram = whitened_gram(whitening, locations, made, process.points, own)
    found = _marginal(whitening, gram, locations, process, ratio, scale)
    known = carried_by(process, features, locations.rows, found.coef)
    return Joint(process, found, locations.targets - found.mean - known)


def carried_by(
    process: LocalProcess, features: Features | None, rows: Array, coef: FloatArray
) -> FloatArray:
    """Return zᵀβ at rows, of features or of those that a process has itself: [n, t]."""
    if features is None:
        return _by_blocks(process.carried, rows, coef)
    return explained(features, rows, coef)


def first_rows(process: LocalProcess, features: Features | None = None) -> Indices | None:
    """Return the rows from which the coefficients of features are found; None for all.

    The first rows of the order are a random sample, and the farthest apart of all such samples:
    they tell of the long range, and later ones mostly of what is near, which their neighbours
    know.
    """
    n_rows = n_first_rows(process, features)
    return None if n_rows >= len(process.rows) else np.arange(n_rows, dtype=np.int32)


def n_first_rows(process: LocalProcess, features: Features | None = None) -> int:
    """Return how many rows these are, of as many rows as there may be.

    Parameters
    ----------
    process : LocalProcess
    features : callable, optional
        Features beside the process, by default those of its own low degrees. Of rows that are far
        apart the process itself is noise to the former, and not less than the noise proper.
    """
    noise, least = process.noise / float(process.kernel.diag(process.rows[:1])[0]), FIRST_ROWS
    if features is not None:
        noise, least = max(noise, 1.0), 2 * FIRST_ROWS
    n_columns = (features or process.features)(process.rows[:1]).shape[1]
    return max(least, math.ceil(n_columns * noise / NOISE_SHARE))


def _marginal(
    whitening: Whitening,
    gram: FloatArray,
    locations: Locations,
    process: LocalProcess,
    ratio: float,
    scale: float | None,
) -> Marginal:
    """Solve, with the log evidence of all rows where some were whitened."""
    rows = whitening.rows
    repeated = locations.repeated.part(rows)
    if process.amplitude is not None:
        repeated = repeated.over(process.amplitude.at(locations.rows[rows]))
    observed = Observed.of(whitening.variance, repeated, process.noise)
    found = marginal(gram, locations.targets.shape[1], observed, ratio, scale=scale)
    if rows[-1] + 1 == len(rows):  # the first ones
        return found
    return found.times(len(locations) / len(rows))
