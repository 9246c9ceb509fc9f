"""Vecchia's log evidence as a function of the length scales, the noise and the features' share.

The neighbours are held while L-BFGS moves the parameters, and found anew in between.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.optimize import minimize

from .._typing import Array, FloatArray
from ..rows.threads import ordered_map
from .correlation import Correlation
from .locations import Locations
from .marginal import Marginal, Observed, marginal
from .neighbors import Indices, earlier_neighbors
from .weights import compiled_gradient, compiled_weights
from .whitening import Whitening

__all__ = ["Evaluation", "Parameters", "Sample", "evaluate", "gradient", "maximize"]

# Where parameters may go: length scales in units of the columns' standard deviations.
LOG_SCALE = np.log(1e-4), np.log(1e3)
LOG_NOISE = np.log(1e-8), np.log(1e4)
# Neighbours are found anew where the last ones let the evidence of a row grow by more than this.
SMALL_GAIN = 2e-3
BLOCK = 2048
LOG_RATIO = np.log(1e-6), np.log(1e6)


@dataclass(frozen=True)
class Parameters:
    """What the evidence depends on, in logarithms.

    Attributes
    ----------
    log_scales : ndarray of shape (n_groups,)
        Length scales, one for each group of columns.
    log_noise : float
        η, the ratio of the noise to the process; -inf for none.
    log_ratio : float
        τ, the ratio of the variance of the coefficients to the process; of no meaning without
        features.
    """

    log_scales: FloatArray
    log_noise: float
    log_ratio: float = 0.0

    def vector(self) -> FloatArray:
        """All numbers in one array."""
        return np.concatenate([self.log_scales, [self.log_noise, self.log_ratio]])

    @classmethod
    def of_vector(cls, vector: FloatArray) -> "Parameters":
        """The inverse of `vector`."""
        return cls(vector[:-2].copy(), float(vector[-2]), float(vector[-1]))


@dataclass(frozen=True)
class Sample:
    """Rows by which parameters are judged.

    The log evidence is a sum over rows, each given earlier ones. Where `judged` are some of the
    rows only, it is an estimate of the whole: fewer terms, but neighbours as near as among all.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Rows with columns of unit variance, in random order.
    groups : ndarray of shape (d,)
        Columns of one number share a length scale.
    targets, weight, within
        As in `Locations`, with targets of mean zero and variance one.
    judged : ndarray of shape (s,)
        The rows whose terms are summed, increasing.
    features : ndarray of shape (n, D)
        Z; D may be zero.
    center : bool
        Whether a constant mean is fitted.
    """

    points: FloatArray
    groups: npt.NDArray[np.intp]
    targets: FloatArray
    weight: FloatArray
    within: FloatArray
    judged: Indices
    features: FloatArray
    center: bool = True

    @classmethod
    def of(
        cls,
        locations: Locations,
        center: FloatArray,
        spread: FloatArray,
        groups: npt.NDArray[np.intp],
        features: Array | None = None,
    ) -> "Sample":
        """Take locations with columns in units of their spread, and targets of unit variance."""
        points = (np.asarray(locations.rows, np.float64) - center) / spread
        targets = locations.targets - locations.targets.mean(axis=0)
        unit = targets.std(axis=0)
        unit[unit == 0] = 1.0
        empty = np.empty((len(points), 0))
        return cls(
            points,
            groups,
            targets / unit,
            locations.weight,
            locations.within / unit**2,
            np.arange(len(points), dtype=np.int32),
            empty if features is None else np.asarray(features, np.float64),
        )

    def __len__(self) -> int:
        return len(self.judged)

    def thin(self, n_rows: int, n_base: int | None = None) -> "Sample":
        """Judge by fewer rows, evenly spread over the order, with neighbours among fewer."""
        base = min(n_base or len(self.points), len(self.points))
        judged = self.judged[self.judged < base]
        if n_rows < len(judged):
            judged = judged[np.linspace(0, len(judged) - 1, n_rows).astype(np.intp)]
        return replace(
            self,
            points=self.points[:base],
            targets=self.targets[:base],
            weight=self.weight[:base],
            within=self.within[:base],
            judged=judged,
            features=self.features[:base],
        )

    def columns(self) -> FloatArray:
        """The constant, the targets and the features: [n, 1 + t + D]."""
        return np.column_stack([np.ones(len(self.points)), self.targets, self.features])

    def scaled(self, parameters: Parameters) -> FloatArray:
        """The points in units of the length scales."""
        return np.ascontiguousarray(self.points / np.exp(parameters.log_scales)[self.groups])

    def neighbors(self, parameters: Parameters, n_neighbors: int) -> Indices:
        """Earlier neighbours in the metric of the parameters."""
        most = min(n_neighbors, max(len(self.points) - 1, 1))
        return earlier_neighbors(self.scaled(parameters), most, self.judged)


@dataclass(frozen=True)
class Evaluation:
    """The evidence at some parameters, and what its gradient needs.

    Attributes
    ----------
    found : Marginal
    whitening : Whitening
    whitened : ndarray of shape (s, 1 + t + D)
        The constant, the targets and the features, whitened.
    """

    found: Marginal
    whitening: Whitening
    whitened: FloatArray


def evaluate(
    sample: Sample, correlation: Correlation, parameters: Parameters, neighbors: Indices
) -> Evaluation:
    """The evidence and everything profiled out of it."""
    points, noise = sample.scaled(parameters), float(np.exp(parameters.log_noise))
    nugget, judged = noise / sample.weight, sample.judged
    weights, variance = compiled_weights(correlation, points, nugget, points[judged], neighbors)
    whitening = Whitening(judged, neighbors, weights, variance + nugget[judged])
    whitened = whitening.apply(sample.columns())
    observed = Observed.of(whitening.variance, sample.weight[judged], sample.within[judged], noise)
    ratio, n_targets = float(np.exp(parameters.log_ratio)), sample.targets.shape[1]
    found = marginal(whitened.T @ whitened, n_targets, observed, ratio, sample.center)
    return Evaluation(found, whitening, whitened)


def gradient(
    sample: Sample, correlation: Correlation, parameters: Parameters, at: Evaluation
) -> FloatArray:
    r"""The gradient of the log evidence, in the order of `Parameters.vector`.

    Mean, coefficients and scale are at their best, so they count as constants. With r the whitened
    residual and h = A⁻¹z̃, row i has the derivatives

    .. math::

        \frac{\partial}{\partial v} = \frac{r^2/\sigma^2 - 1 + \tilde z^\top h}{2 v}, \qquad
        \frac{\partial}{\partial b_j} = \frac{r\,(y_j - \mu - z_j^\top\beta)/\sigma^2
        + h^\top z_j}{\sqrt v}.
    """
    found, whitening, n_targets = at.found, at.whitening, sample.targets.shape[1]
    coef = np.vstack([-found.mean, np.eye(n_targets), -found.coef])
    residual, raw = at.whitened @ coef, sample.columns() @ coef
    share = residual / found.scale
    by_variance = (residual * share).sum(axis=1) - n_targets
    left, right = share, raw
    if sample.features.shape[1]:
        whitened = at.whitened[:, 1 + n_targets :]
        pulled = whitened @ found.covariance
        by_variance += n_targets * np.einsum("ij,ij->i", whitened, pulled)
        left, right = np.hstack([left, n_targets * pulled]), np.hstack([right, sample.features])
    by_weights = _pair_products(left, right, whitening.neighbors)
    by_weights /= np.sqrt(whitening.variance)[:, None]
    by_columns, by_noise = compiled_gradient(
        correlation,
        sample.scaled(parameters),
        float(np.exp(parameters.log_noise)) / sample.weight,
        sample.judged,
        whitening.neighbors,
        whitening.weights,
        by_variance / (2 * whitening.variance),
        by_weights,
    )
    by_groups = np.bincount(sample.groups, by_columns, minlength=len(parameters.log_scales))
    return np.concatenate([by_groups, [by_noise + found.by_log_noise, found.by_log_ratio]])


def _pair_products(left: FloatArray, right: FloatArray, neighbors: Indices) -> FloatArray:
    """⟨left_i, right_j⟩ for the neighbours j of each row i: [s, m], zero for none."""
    out = np.zeros(neighbors.shape)

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        _pairs(left[part], right, neighbors[part], out[part])

    for _ in ordered_map(run, range(0, len(out), BLOCK)):
        pass
    return out


@njit(nogil=True, cache=True, fastmath=True)
def _pairs(left, right, neighbors, out):  # type: ignore[no-untyped-def]
    """IN: all but the last, for a block of rows. OUT: products for each neighbour."""
    for i in range(len(neighbors)):
        for k in range(neighbors.shape[1]):
            j = neighbors[i, k]
            if j >= 0:
                total = 0.0
                for c in range(left.shape[1]):
                    total += left[i, c] * right[j, c]
                out[i, k] = total


def maximize(
    sample: Sample,
    correlation: Correlation,
    start: Parameters,
    free: npt.NDArray[np.bool_],
    n_neighbors: int,
    n_iterations: int,
    n_searches: int = 1,
) -> tuple[Parameters, float]:
    """Climb from one start, with neighbours found anew now and then.

    Parameters
    ----------
    free : ndarray of shape (n_groups + 2,)
        Which entries of `Parameters.vector` may change.
    n_neighbors : int
        m.
    n_iterations : int
        The most iterations of L-BFGS with the same neighbours.
    n_searches : int, default=1
        How often neighbours are found at most; fewer times where it makes no difference.

    Returns
    -------
    parameters : Parameters
    log_evidence : float
    """
    best, value = start, -np.inf
    for _ in range(n_searches):
        neighbors = sample.neighbors(best, n_neighbors)
        best, value, gain = _climb(sample, correlation, best, free, neighbors, n_iterations)
        if gain < SMALL_GAIN * len(sample):
            break
    return best, value


def _climb(
    sample: Sample,
    correlation: Correlation,
    start: Parameters,
    free: npt.NDArray[np.bool_],
    neighbors: Indices,
    n_iterations: int,
) -> tuple[Parameters, float, float]:
    """Climb with the same neighbours: where to, how high, and from how much lower."""
    whole = start.vector()
    values: list[float] = []

    def loss(vector: FloatArray) -> tuple[float, FloatArray]:
        parameters = Parameters.of_vector(_insert(whole, free, vector))
        at = evaluate(sample, correlation, parameters, neighbors)
        values.append(at.found.log_evidence)
        slope = gradient(sample, correlation, parameters, at)
        return -at.found.log_evidence / len(sample), -slope[free] / len(sample)

    if not free.any():
        loss(whole[free])
        return start, values[0], 0.0
    bounds = [LOG_SCALE] * len(start.log_scales) + [LOG_NOISE, LOG_RATIO]
    result = minimize(
        loss,
        whole[free],
        jac=True,
        method="L-BFGS-B",
        bounds=[bound for bound, is_free in zip(bounds, free, strict=True) if is_free],
        options={"maxiter": n_iterations, "ftol": 1e-6, "gtol": 1e-4, "maxls": 10},
    )
    best = Parameters.of_vector(_insert(whole, free, result.x))
    value = -float(result.fun) * len(sample)
    return best, value, value - values[0]


def _insert(whole: FloatArray, free: npt.NDArray[np.bool_], part: FloatArray) -> FloatArray:
    out = whole.copy()
    out[free] = part
    return out
