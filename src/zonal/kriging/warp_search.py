r"""How places are moved, by evidence.

It is asked after the search for a kernel that is the same everywhere, where that is a sum, of what
features of the longer term leave. Trends belong to these: the temperature of the sea is a function
of the latitude first of all, and one kernel of all of it stretches the latitudes; in blocks of
COADS and elevation drawn from the training rows errors were then up to 9 % larger. Shorter length
scales and a larger standard deviation look alike between near rows, so that an amplitude
(`amplitude_search`) goes first, and the warp is asked of targets over it.
Coefficients of φ, length scales and noise climb the evidence of a sample together, with exact
slopes: with G the derivative with respect to the covariance of each pair of rows (as in
`evidence`), that with respect to a place is

.. math:: \frac{\partial \log p}{\partial x_a} = \sum_b G_{ab} \frac{f'(\rho_{ab})}{\rho_{ab}}
    (x_a - x_b),

and the chain rule does the rest. Coefficients have the prior :math:`c_k \sim N(0, 1/r_k^2)` with r
the eigenvalue of the Laplacian of each function, so that places are stretched by a factor of e in
no more than one of six: without rows nothing moves. The warp is taken if the evidence, prior
included, gains more than Schwarz's price of K parameters.
"""

import math
from dataclasses import replace

import numpy as np
from numba import njit
from scipy.optimize import minimize

from .._typing import FloatArray
from ..engines.correlation import Correlation, slopes
from ..kernels.compiled import of_kernel
from .amplitude import Box, Sphere
from .covariance import terms_of
from .effort import FEW_NEIGHBORS, FIRST_ROWS, JUDGED
from .evidence import by_weights_and_variance, evaluate
from .locations import Locations
from .neighborhood import count_neighbors
from .neighbors import Indices
from .noise import has_signal
from .numerics import LOG_NOISE, LOG_SCALE
from .sample import Parameters, Sample
from .search import Found
from .unexplained import process_of, unexplained
from .units import Units, log_noise
from .warp import Warp, displaced, moves_of, n_moves, placed, radii
from .weight_gradient import pair_gradient

__all__ = ["find_warp"]


def find_warp(
    locations: Locations, found: Found, *, in_time: bool = False, verbose: bool = False
) -> Warp | None:
    """Find how places are moved, if the evidence gains more than the parameters cost.

    Parameters
    ----------
    locations : Locations
        Rows, with targets that are about zero; the first ones tell it.
    found : Found
        Parameters without a warp.
    in_time : bool
        Whether the last column is a time.
    """
    surface = moves_of(locations.rows, in_time)
    (weight, kernel), *longer = terms_of(found.kernel)
    correlation = of_kernel(kernel)
    if surface is None or correlation is None or not has_signal(locations.targets):
        return None
    head = locations.head(FIRST_ROWS)
    if longer:
        process = process_of(head, found, FEW_NEIGHBORS)
        head = replace(head, targets=unexplained(head, process, found.ratio)[1])
    if found.amplitude is not None:
        head = head.over(found.amplitude.at(head.rows))
    if not has_signal(head.targets):
        return None
    evidence = WarpedEvidence(head, surface, correlation)
    coef, gain = evidence.best(found.noise / weight, noise_moves=True)
    if verbose:
        print(f"places that are moved: {gain:.2f} beyond the price of {n_moves(surface)} numbers")
    if gain <= 0:
        return None
    # Rounding of the targets, as in another unit, moves nothing.
    return Warp(surface, coef.round(7))


class WarpedEvidence:
    """The log evidence of some rows as a function of c r, length scales and noise.

    Parameters
    ----------
    locations : Locations
    surface : Sphere or Box
    correlation : Correlation
        With length scales to begin with.
    """

    def __init__(
        self, locations: Locations, surface: Sphere | Box, correlation: Correlation
    ) -> None:
        self.surface = surface
        self.correlation = replace(correlation, length_scale=1.0)
        rows = np.asarray(locations.rows, np.float64)
        scales = np.broadcast_to(np.asarray(correlation.length_scale, float), rows.shape[1:])
        groups = Units.of(rows, None).groups
        self.sample = Sample.of(locations, np.zeros(len(scales)), scales, groups).thin(JUDGED)
        self.rows, self.scales = rows, scales
        self.roughness = np.concatenate([[1.0] * isinstance(surface, Box), _roughness(surface)])
        each = [displaced(surface, rows, one) for one in np.eye(n_moves(surface))]
        self.moves = np.stack(each, axis=1) / self.roughness[:, None]  # [n, K, d]

    def __len__(self) -> int:
        return len(self.sample)

    def start(self, noise: float) -> FloatArray:
        """Return the vector of no warp."""
        n_groups = int(self.sample.groups.max()) + 1
        return np.concatenate([np.zeros(len(self.roughness) + n_groups), [log_noise(noise)]])

    def warped(self, coef: FloatArray) -> Sample:
        """Return the rows in other places."""
        moved = self.rows + np.einsum("nkd,k->nd", self.moves, coef)
        points = placed(self.surface, self.rows, moved) / self.scales
        return replace(self.sample, points=points)

    def climbed(
        self, vector: FloatArray, free: np.ndarray, noise_moves: bool, n_steps: int = 15
    ) -> tuple[FloatArray, float]:
        """Climb from a vector, twice with neighbours found anew; return the evidence with prior."""
        free = free.copy()
        free[-1] = noise_moves and math.isfinite(vector[-1])
        moving = np.flatnonzero(free)
        n_coef = len(self.roughness)
        bounds = [(-4.0, 4.0)] * n_coef + [LOG_SCALE] * (len(vector) - n_coef - 1) + [LOG_NOISE]
        value = -math.inf
        for _ in range(2):
            sample = self.warped(vector[:n_coef])
            parameters = Parameters(vector[n_coef:-1], float(vector[-1]))
            neighbors = sample.neighbors(parameters, FEW_NEIGHBORS)

            def loss(part: FloatArray, whole=vector, neighbors=neighbors):  # type: ignore[no-untyped-def]
                there = whole.copy()
                there[moving] = part
                found, slope = self.at(there, neighbors)
                return -found / len(self), -slope[moving] / len(self)

            found = minimize(
                loss, vector[moving], jac=True, method="L-BFGS-B",
                bounds=[bounds[k] for k in moving],
                options={"maxiter": n_steps, "ftol": 1e-6, "gtol": 1e-4, "maxls": 10},
            )  # fmt: skip
            vector = vector.copy()
            vector[moving] = found.x
            value = -float(found.fun) * len(self)
        return vector, value

    def best(self, noise: float, noise_moves: bool) -> tuple[FloatArray, float]:
        """Return c, and what the evidence gains by it beyond Schwarz's price.

        Parameters
        ----------
        noise : float
            η to begin with.
        noise_moves : bool
            Whether it may change.
        """
        vector, n_coef = self.start(noise), len(self.roughness)
        others = np.arange(len(vector)) >= n_coef
        before = self.climbed(vector, others, noise_moves)[1]
        found, after = self.climbed(vector, np.full(len(vector), True), noise_moves)
        price = 0.5 * n_coef * math.log(len(self))
        return found[:n_coef] / self.roughness, after - before - price

    def at(self, vector: FloatArray, neighbors: Indices) -> tuple[float, FloatArray]:
        """Return the log evidence and its gradient."""
        n_coef, groups = len(self.roughness), self.sample.groups
        coef = vector[:n_coef]
        sample = self.warped(coef)
        parameters = Parameters(vector[n_coef:-1], float(vector[-1]))
        at = evaluate(sample, self.correlation, parameters, neighbors)
        assert at.factors is not None
        by_variance, by_weights = by_weights_and_variance(sample, at)
        by_pairs, by_diagonal = pair_gradient(
            at.factors, neighbors, at.whitening.weights, by_variance, by_weights
        )
        points, factors = sample.scaled(parameters), np.exp(parameters.log_scales)[groups]
        by_places = np.zeros(points.shape)
        _add_places(
            self.correlation.family, self.correlation.shape, points, sample.judged, neighbors,
            *at.factors[:2], by_pairs, by_places,
        )  # fmt: skip
        nugget = math.exp(parameters.log_noise) / sample.weight
        by_noise = float((by_diagonal[:, :-1] * nugget[neighbors] * (neighbors >= 0)).sum())
        by_noise += float(by_variance @ nugget[sample.judged]) + at.found.by_log_noise
        by_scales = -np.bincount(groups, (by_places * points).sum(axis=0))
        by_coef = self._by_coef(coef, by_places / (self.scales * factors)) - coef
        value = at.found.log_evidence - 0.5 * float(coef @ coef)
        return value, np.concatenate([by_coef, by_scales, [by_noise]])

    def _by_coef(self, coef: FloatArray, by_places: FloatArray) -> FloatArray:
        """Pull derivatives with respect to warped rows [n, d] back to c r: [K]."""
        if isinstance(self.surface, Sphere):
            part = slice(self.surface.first, self.surface.first + self.surface.dim)
            moved = self.rows + np.einsum("nkd,k->nd", self.moves, coef)
            length = radii(self.surface, moved)
            unit = moved[:, part] / length
            own = by_places[:, part]
            along = own - (own * unit).sum(axis=1, keepdims=True) * unit
            by_places = by_places.copy()
            by_places[:, part] = along * radii(self.surface, self.rows) / length
        return np.asarray(np.einsum("nkd,nd->k", self.moves, by_places))


def _roughness(surface: Sphere | Box) -> FloatArray:
    """Return how much each function of φ stretches: eigenvalues of the Laplacian."""
    if isinstance(surface, Sphere):
        return surface.roughness[surface.dim :]
    return np.pi**2 * surface.roughness


@njit(nogil=True, cache=True)
def _add_places(  # type: ignore[no-untyped-def]
    family, shape, points, rows, neighbors, squares, values, by_pairs, out
):
    """IN: all but the last. OUT: derivatives with respect to points are added: [n, d]."""
    most, d = neighbors.shape[1], points.shape[1]
    slope, members = np.empty(most * (most + 1) // 2), np.empty(most + 1, np.int64)
    for i in range(len(neighbors)):
        m = count_neighbors(neighbors[i])
        for j in range(m):
            members[j] = neighbors[i, j]
        members[m] = rows[i]
        n_pairs = m * (m + 1) // 2
        slopes(family, shape, squares[i, :n_pairs], values[i], slope)
        first = 0
        for a in range(1, m + 1):
            for b in range(a):
                pull = slope[first + b] * by_pairs[i, first + b]
                for c in range(d):
                    step = pull * (points[members[a], c] - points[members[b], c])
                    out[members[a], c] += step
                    out[members[b], c] -= step
            first += a
