r"""Vecchia's log evidence over the parameters of any sum of kernels of differences.

With K the covariances of a row and its neighbours, the derivative of the evidence with respect to
each entry of K is found once (as in `evidence`); a parameter θ then costs one product with the
slopes of its own term, which come with its values,

.. math:: \frac{\partial \log p}{\partial \theta} = \sum_i \sum_{ab} G_{i,ab}\,
    \frac{\partial K_{i,ab}}{\partial \theta}.

Rows are judged that are spread evenly over the *logarithm* of their number: each is given earlier
rows only, so that early ones have far neighbours and late ones near ones, and parameters have to be
right at all distances. All models are given the same neighbours, so that their evidences can be
compared: a fixed part of them are rows of the same place, of the same time, and so on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from .._typing import FloatArray
from ..kernels import Kernel
from ..rows.threads import ordered_map
from .compiled_differences import differences_and_slopes
from .difference_pairs import NOTHING, no_points, pair_differences
from .locations import Locations
from .marginal import Observed, marginal
from .neighborhood import Factors
from .neighbors import Indices, append_new, earlier_neighbors
from .numerics import BLOCK, LOG_NOISE, LOG_RATIO
from .pairs import Extra
from .weight_gradient import pair_gradient
from .weights import compiled_weights
from .whitening import Whitening

__all__ = ["Judged", "Model", "Term", "judged_numbers"]

Bounds = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Term:
    """One summand of a kernel, with parameters.

    Attributes
    ----------
    kernel_of : callable
        Parameters to the kernel: the first ones of those whose slopes are known, in their order
        (see `compiled_differences.SLOPES`). Length scales are those of a start times a factor.
    values : ndarray of shape (p,)
    bounds : tuple of (float, float)
    log_weight : float
    units : ndarray of shape (p,), optional
        Of the values, in those of the parameters that have slopes; None: the same.
    """

    kernel_of: Callable[[FloatArray], Kernel]
    values: FloatArray
    bounds: Bounds
    log_weight: float = 0.0
    units: FloatArray | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel, of weight one."""
        return self.kernel_of(self.values)


@dataclass(frozen=True)
class Model:
    """A sum of terms, of which the first has the weight one, and noise.

    Attributes
    ----------
    terms : tuple of Term
    log_noise : float
    """

    terms: tuple[Term, ...]
    log_noise: float

    @property
    def kernel(self) -> Kernel:
        """The sum."""
        first, *others = self.terms
        total = first.kernel
        for term in others:
            total = total + float(np.exp(term.log_weight)) * term.kernel
        return total

    def vector(self) -> FloatArray:
        """All parameters: the noise, those of the first term, weight and parameters of others."""
        first, *others = self.terms
        parts = [np.array([self.log_noise]), first.values]
        for term in others:
            parts += [np.array([term.log_weight]), term.values]
        return np.concatenate(parts)

    def at(self, vector: FloatArray) -> "Model":
        """Return the same terms with other parameters."""
        place, terms = 1, []
        for number, term in enumerate(self.terms):
            weight = 0.0
            if number:
                weight, place = float(vector[place]), place + 1
            values = np.array(vector[place : place + len(term.values)])
            terms.append(replace(term, values=values, log_weight=weight))
            place += len(values)
        return Model(tuple(terms), float(vector[0]))

    def bounds(self) -> list[tuple[float, float]]:
        """Where each parameter may go."""
        found = [LOG_NOISE]
        for number, term in enumerate(self.terms):
            found += ([LOG_RATIO] if number else []) + list(term.bounds)
        return found

    def only(self, numbers: Sequence[int]) -> "Model":
        """Return the model with some terms, the first among them."""
        return replace(self, terms=tuple(self.terms[number] for number in numbers))

    def without(self, number: int) -> "Model":
        """Return the model with one term less, which is not the first."""
        return replace(self, terms=(*self.terms[:number], *self.terms[number + 1 :]))


def judged_numbers(n: int, n_rows: int, first: int) -> Indices:
    """Return numbers of rows from the first to the n-th, evenly spread over their logarithms."""
    spread = np.geomspace(first, n, n_rows + 1).astype(int)
    return np.unique(np.minimum(spread, n - 1)).astype(np.int32)


class Judged:
    """Rows whose terms of the evidence are summed.

    Parameters
    ----------
    locations : Locations
        All rows, in random order; targets are about zero.
    n_rows : int
        How many are judged.
    n_neighbors : int
        Earlier rows that each is given.
    metrics : sequence of ndarrays of shape (n, e)
        The rows as points: in equal parts, neighbours are the nearest in each.
    """

    def __init__(
        self,
        locations: Locations,
        n_rows: int,
        n_neighbors: int,
        metrics: Sequence[FloatArray],
    ) -> None:
        n = len(locations)
        self.m = min(n_neighbors, n - 1)
        self.numbers = judged_numbers(n, n_rows, self.m)
        self.rows = np.asarray(locations.rows, np.float64)
        targets = locations.targets - locations.targets.mean(axis=0)
        unit = targets.std(axis=0)
        unit[unit == 0] = 1.0
        self.columns = np.column_stack([np.ones(n), targets / unit])
        self.weight = locations.weight
        repeated = locations.repeated
        self.repeated = repeated._replace(within=repeated.within / unit**2).part(self.numbers)
        self.neighbors = self._earlier(metrics)
        # Differences of all pairs stay while the parameters move.
        self._delta = pair_differences(self.rows, self.rows[self.numbers], self.neighbors)

    def __len__(self) -> int:
        return len(self.numbers)

    def _earlier(self, metrics: Sequence[FloatArray]) -> Indices:
        """Return earlier rows that are near in each metric: [s, m]."""
        out = np.full((len(self.numbers), self.m), -1, np.int32)
        counts = np.zeros(len(self.numbers), np.int64)
        ends = np.linspace(0, self.m, len(metrics) + 1).astype(int)[1:]
        for points, end in zip(metrics, ends, strict=True):
            append_new(earlier_neighbors(points, self.m, self.numbers), out, counts, end)
        return out

    def climb(
        self, model: Model, n_iterations: int, free: slice = slice(None)
    ) -> tuple[Model, float]:
        """Climb from a model; return the evidence too.

        Parameters
        ----------
        model : Model
        n_iterations : int
        free : slice
            Which of the parameters move, in the order of `Model.vector`.
        """
        bounds = model.bounds()
        vector = np.clip(model.vector(), *np.transpose(bounds))

        def moved(part: FloatArray) -> Model:
            vector[free] = part
            return model.at(vector)

        def loss(part: FloatArray) -> tuple[float, FloatArray]:
            found, slope = self.evidence(moved(part))
            return -found / len(self), -slope[free] / len(self)

        result = minimize(
            loss, vector[free], jac=True, method="L-BFGS-B", bounds=bounds[free],
            options={"maxiter": n_iterations, "ftol": 1e-6, "gtol": 1e-4, "maxls": 10},
        )  # fmt: skip
        return moved(result.x), -float(result.fun) * len(self)

    def evidence(self, model: Model) -> tuple[float, FloatArray]:
        """Return the log evidence, and its gradient in the order of `Model.vector`."""
        neighbors, n_targets = self.neighbors, self.columns.shape[1] - 1
        parts = [_at(term, self._delta) for term in model.terms]  # each [1 + p, s, pairs]
        weights = np.exp([term.log_weight for term in model.terms])
        pairs = sum(weight * part[0] for weight, part in zip(weights, parts, strict=True))
        prior, noise = float(weights.sum()), float(np.exp(model.log_noise))
        nugget = noise / self.weight
        factors = Factors.room(*neighbors.shape)
        b, variance = compiled_weights(
            NOTHING, no_points(len(self.rows)), nugget, no_points(len(self)), neighbors, factors,
            extra=Extra(np.asarray(pairs), np.full((len(self), self.m + 1), prior)),
        )  # fmt: skip
        own = nugget[self.numbers]
        whitening = Whitening(self.numbers, neighbors, b, variance + own)
        whitened = whitening.apply(self.columns)
        observed = Observed.of(whitening.variance, self.repeated, noise)
        found = marginal(whitened.T @ whitened, n_targets, observed, 1.0)
        # Derivatives with respect to v and b, as in `evidence.gradient`.
        coef = np.vstack([-found.mean, np.eye(n_targets)])
        residual, raw = whitened @ coef, self.columns @ coef
        share = residual / found.scale
        by_variance = ((residual * share).sum(axis=1) - n_targets) / (2 * whitening.variance)
        by_b = np.einsum("st,smt->sm", share, raw[neighbors])
        by_b /= np.sqrt(whitening.variance)[:, None]
        by_pairs, by_diagonal = pair_gradient(factors, neighbors, b, by_variance, by_b)
        by_noise = float((by_diagonal[:, :-1] * nugget[neighbors]).sum() + by_variance @ own)
        by_prior = float(by_diagonal.sum())
        slope = [by_noise + found.by_log_noise]
        for number, (weight, part) in enumerate(zip(weights, parts, strict=True)):
            by_value, *by_values = weight * (part.reshape(len(part), -1) @ by_pairs.ravel())
            slope += [by_value + weight * by_prior] if number else []
            slope += by_values
        return float(found.log_evidence), np.array(slope)


def _at(term: Term, delta: FloatArray) -> FloatArray:
    """Return a term and its slopes at differences [s, q, d], a part at a time: [1 + p, s, q]."""
    n_slopes, kernel = len(term.values), term.kernel
    out = np.empty((1 + n_slopes, *delta.shape[:-1]))

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        out[:, part] = differences_and_slopes(kernel, delta[part], n_slopes)

    for _ in ordered_map(run, range(0, len(delta), BLOCK)):
        pass
    if term.units is not None:
        out[1:] *= term.units[:, None, None]
    return out
