r"""Vecchia's log evidence over the parameters of any sum of kernels of differences.

With K the covariances of a row and its neighbours, the derivative of the evidence with respect to
each entry of K is found once (as in `evidence`); a parameter θ then costs one more evaluation of
its own term,

.. math:: \frac{\partial \log p}{\partial \theta} = \sum_i \sum_{ab} G_{i,ab}\,
    \frac{\partial K_{i,ab}}{\partial \theta},

where the last factor is a difference quotient: kernels need no derivatives of their own.

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
from .compiled_differences import fast_differences
from .difference_pairs import pair_differences
from .locations import Locations
from .marginal import Observed, marginal
from .neighbors import Indices, append_new, earlier_neighbors
from .whitening import Whitening

__all__ = ["Judged", "Model", "Term", "judged_numbers"]

Bounds = tuple[tuple[float, float], ...]
# Of a difference quotient, in parameters that are logarithms or shares.
STEP = 1e-6
BLOCK = 128
LOG_NOISE, LOG_WEIGHT = (np.log(1e-7), np.log(1e3)), (np.log(1e-6), np.log(1e6))


@dataclass(frozen=True)
class Term:
    """One summand of a kernel, with parameters.

    Attributes
    ----------
    kernel_of : callable
        Parameters to the kernel.
    values : ndarray of shape (p,)
    bounds : tuple of (float, float)
    log_weight : float
    """

    kernel_of: Callable[[FloatArray], Kernel]
    values: FloatArray
    bounds: Bounds
    log_weight: float = 0.0

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
            found += ([LOG_WEIGHT] if number else []) + list(term.bounds)
        return found

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
        self._pairs = np.tril_indices(self.m + 1, -1)
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

    def climb(self, model: Model, n_iterations: int) -> tuple[Model, float]:
        """Climb from a model; return the evidence too."""

        def loss(vector: FloatArray) -> tuple[float, FloatArray]:
            found, slope = self.evidence(model.at(vector))
            return -found / len(self), -slope / len(self)

        bounds = model.bounds()
        start = np.clip(model.vector(), *np.transpose(bounds))
        result = minimize(
            loss, start, jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": n_iterations, "ftol": 1e-6, "gtol": 1e-4, "maxls": 10},
        )  # fmt: skip
        return model.at(result.x), -float(result.fun) * len(self)

    def evidence(self, model: Model) -> tuple[float, FloatArray]:
        """Return the log evidence, and its gradient in the order of `Model.vector`."""
        delta, neighbors = self._delta, self.neighbors
        values = [_at(term.kernel, delta) for term in model.terms]
        weights = np.exp([term.log_weight for term in model.terms])
        prior, noise = float(weights.sum()), float(np.exp(model.log_noise))
        matrix = self._matrices(np.tensordot(weights, values, axes=1), prior)
        nugget = noise / self.weight
        inner, cross = matrix[:, :-1, :-1], matrix[:, :-1, -1]
        diagonal = np.arange(self.m)
        inner[:, diagonal, diagonal] += nugget[neighbors]
        b: FloatArray = np.linalg.solve(inner, cross[:, :, None])[:, :, 0].astype(np.float64)
        own = nugget[self.numbers]
        variance = np.maximum(prior - (b * cross).sum(axis=1), 1e-12 * prior) + own
        whitening = Whitening(self.numbers, neighbors, b, variance)
        whitened = whitening.apply(self.columns)
        observed = Observed.of(variance, self.repeated, noise)
        n_targets = self.columns.shape[1] - 1
        found = marginal(whitened.T @ whitened, n_targets, observed, 1.0)
        # Derivatives with respect to v and b, as in `evidence.gradient`.
        coef = np.vstack([-found.mean, np.eye(n_targets)])
        residual, raw = whitened @ coef, self.columns @ coef
        share = residual / found.scale
        by_variance = ((residual * share).sum(axis=1) - n_targets) / (2 * variance)
        by_b = np.einsum("st,smt->sm", share, raw[neighbors]) / np.sqrt(variance)[:, None]
        left = np.linalg.solve(inner, by_b[:, :, None])[:, :, 0]
        right = np.append(-b, np.ones((len(b), 1)), axis=1)
        left = np.append(left, np.zeros((len(b), 1)), axis=1) + by_variance[:, None] * right
        by_noise = (left[:, :-1] * right[:, :-1] * nugget[neighbors]).sum() + by_variance @ own
        one, other = self._pairs
        by_pairs = left[:, one] * right[:, other] + left[:, other] * right[:, one]
        by_prior = float((left * right).sum())
        slope = [by_noise + found.by_log_noise]
        for number, term in enumerate(model.terms):
            if number:
                total = float((by_pairs * values[number]).sum()) + by_prior
                slope.append(weights[number] * total)
            for place, (_, upper) in enumerate(term.bounds):
                moved = term.values.copy()
                step = STEP if moved[place] + STEP <= upper else -STEP
                moved[place] += step
                new = _at(term.kernel_of(moved), delta)
                change = float((by_pairs * (new - values[number])).sum()) / step
                slope.append(weights[number] * change)
        return float(found.log_evidence), np.array(slope)

    def _matrices(self, pairs: FloatArray, prior: float) -> FloatArray:
        """Return covariances of each row and its neighbours, the row last: [s, m + 1, m + 1]."""
        out = np.empty((len(pairs), self.m + 1, self.m + 1))
        one, other = self._pairs
        out[:, one, other] = out[:, other, one] = pairs
        diagonal = np.arange(self.m + 1)
        out[:, diagonal, diagonal] = prior
        return out


def _at(kernel: Kernel, delta: FloatArray) -> FloatArray:
    """Return a kernel at differences [s, p, d], a part at a time: [s, p]."""
    out = np.empty(delta.shape[:-1])

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        out[part] = fast_differences(kernel, delta[part])

    for _ in ordered_map(run, range(0, len(delta), BLOCK)):
        pass
    return out
