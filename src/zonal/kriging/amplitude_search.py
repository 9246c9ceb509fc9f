r"""How the standard deviation varies with place, by evidence.

It is asked after a fit that is the same everywhere, whose parameters stay.

With weights that stay, whitened targets of amplitude s are :math:`\tilde e = W (y - \mu)/s`, so
that the log evidence as a function of c is

.. math:: -\frac{N}{2} \log Q(c) - \sum_i m_i h_i^\top c, \qquad
    Q = \min_\beta \|\tilde e - \tilde Z \beta\|^2 + \|\beta\|^2/\tau,

with m observations at a place. Its Fisher information is about
:math:`F = 2 \sum_i m_i h_i h_i^\top` (the mean of h belongs to σ), so that steps with F climb it.
The coefficients have a prior of the precision :math:`P = \lambda r^2`, with r the eigenvalue of the
Laplacian of each function: log s is a thin-plate spline, smooth where there are no rows. λ is that
of the largest evidence by Laplace's approximation,

.. math:: \log p(y \mid c) - \tfrac12 c^\top P c + \tfrac12 \log|P| - \tfrac12 \log|F + P| .
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._typing import FloatArray
from .amplitude import Amplitude, surface_of
from .locations import Locations, Repeated
from .numerics import SMALLEST
from .process import LocalProcess
from .search import Found
from .whitening import Whitening

__all__ = ["best_amplitude", "with_amplitude"]


def with_amplitude(
    locations: Locations,
    found: Found,
    n_neighbors: int,
    *,
    in_time: bool = False,
    verbose: bool = False,
    n_rows: int = 10_000,
) -> Found:
    """Let the standard deviation vary with place if the evidence gains more than λ costs.

    Parameters
    ----------
    locations : Locations
        Rows, and targets that are about zero.
    found : Found
        Parameters that are the same everywhere, and stay.
    n_neighbors : int
    in_time : bool
        Whether the last column is a time.
    n_rows : int
        How many of the first rows tell it: s is smooth.
    """
    if found.amplitude is not None:
        return found
    amplitude, _ = best_amplitude(
        locations.head(n_rows), found, n_neighbors, in_time=in_time, verbose=verbose
    )
    return found if amplitude is None else replace(found, amplitude=amplitude)


def best_amplitude(
    head: Locations,
    found: Found,
    n_neighbors: int,
    *,
    in_time: bool = False,
    verbose: bool = False,
) -> tuple[Amplitude | None, float]:
    """Return s, or None where the evidence gains less than λ costs, and what it gains beyond.

    The parameters are those of `with_amplitude`, but that all rows count.
    """
    surface = surface_of(head.rows, in_time)
    if surface is None:
        return None, 0.0
    process = LocalProcess(
        head.rows, head.weight, found.kernel, found.noise, min(n_neighbors, len(head)),
        low=found.low,
    )  # fmt: skip
    evidence = _Evidence.of(head, process, found.ratio, surface.at(head.rows))
    coef, gain = _best(evidence, surface.roughness)
    price = 0.5 * math.log(evidence.n_observations)  # Schwarz's, of λ
    if verbose:
        print(f"an amplitude that varies with place: {gain:.2f}, at the price of {price:.2f}")
    if gain <= price:
        return None, 0.0
    return Amplitude(surface, coef, float(-evidence.center @ coef)), gain - price


@dataclass(frozen=True)
class _Evidence:
    """The log evidence of rows as a function of c.

    Attributes
    ----------
    whitening : Whitening
        Of unit amplitude.
    targets : ndarray of shape (n, t)
        y - μ.
    whitened : ndarray of shape (n, D)
        Features.
    ridge : tuple
        The factor of their products plus 1/τ.
    functions : ndarray of shape (n, K)
        h, about their mean over observations.
    center : ndarray of shape (K,)
        That mean.
    repeated : Repeated
        With sums of squares over the noise.
    """

    whitening: Whitening
    targets: FloatArray
    whitened: FloatArray
    ridge: tuple[FloatArray, bool]
    functions: FloatArray
    center: FloatArray
    repeated: Repeated

    @classmethod
    def of(
        cls, locations: Locations, process: LocalProcess, ratio: float, functions: FloatArray
    ) -> "_Evidence":
        """Whiten features once; μ is that of the fit that is the same everywhere."""
        rows = np.arange(len(locations), dtype=np.int32)
        with process.kept_features():
            whitening = process.whitening(rows)
            known = process.own_features(rows)
        whitened = whitening.apply(known)
        gram = whitened.T @ whitened + np.eye(known.shape[1]) / ratio
        factor = cho_factor(gram) if len(gram) else (gram, False)
        one = whitening.apply(np.ones((len(locations), 1)))
        left = _less(one, whitened, factor)
        mean = left.T @ whitening.apply(locations.targets) / (left.T @ one)
        repeated = locations.repeated
        if process.noise > 0:
            repeated = repeated._replace(within=repeated.within / process.noise)
        else:  # repeated rows are their mean
            repeated = Repeated.nothing(*locations.targets.shape)
        counts = 1 + repeated.more
        center = counts @ functions / counts.sum()
        return cls(
            whitening, locations.targets - mean, whitened, factor, functions - center, center,
            repeated,
        )  # fmt: skip

    @property
    def n_observations(self) -> float:
        """N."""
        return float(len(self.targets) + self.repeated.more.sum())

    def information(self) -> FloatArray:
        """F: [K, K]."""
        counts = 2 * self.targets.shape[1] * (1 + self.repeated.more)
        return np.asarray(self.functions.T @ (counts[:, None] * self.functions))

    def at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return the log evidence, less what does not depend on c, and its gradient [K]."""
        own = np.exp(np.clip(self.functions @ coef, -50, 50))  # a step too long is taken back
        targets = self.targets / own[:, None]
        white = self.whitening.apply(targets)
        left = _less(white, self.whitened, self.ridge)
        within = self.repeated.within / own[:, None] ** 2
        total = self.n_observations
        squares = np.maximum((white * left).sum(axis=0) + within.sum(axis=0), SMALLEST)
        value = -0.5 * total * float(np.log(squares / total).sum())
        slopes = targets * self._transposed(left) + within
        return value, np.asarray(total * (self.functions.T @ (slopes / squares)).sum(axis=1))

    def _transposed(self, columns: FloatArray) -> FloatArray:
        """Return Wᵀ times columns [n, t]."""
        given = self.whitening
        over = columns / np.sqrt(given.variance)[:, None]
        used = given.neighbors >= 0
        where = given.neighbors[used]
        pulled = [
            np.bincount(where, (given.weights * column[:, None])[used], len(columns))
            for column in over.T
        ]
        return np.asarray(over - np.column_stack(pulled))


def _less(columns: FloatArray, whitened: FloatArray, ridge: tuple[FloatArray, bool]) -> FloatArray:
    """Return what ridge regression on features leaves of whitened columns: [n, t]."""
    if not whitened.shape[1]:
        return columns
    return np.asarray(columns - whitened @ cho_solve(ridge, whitened.T @ columns))


def _best(evidence: _Evidence, roughness: FloatArray) -> tuple[FloatArray, float]:
    """Return c at the best λ, and what the log evidence gains by it."""
    information = evidence.information()
    start = evidence.at(np.zeros(len(roughness)))[0]
    coef = best = np.zeros(len(roughness))
    gain = -math.inf
    # From all but constant to all but free, as long as the evidence grows.
    for shrink in np.geomspace(1e3, 1e-4, 15):
        precision = shrink * roughness**2
        coef, value = _climbed(evidence, information, precision, coef)
        curvature = information + np.diag(precision)
        volume = float(np.log(precision).sum()) - float(np.linalg.slogdet(curvature)[1])
        reached = value - start + 0.5 * volume
        if reached <= gain:
            break
        best, gain = coef, reached
    return best, gain


def _climbed(
    evidence: _Evidence, information: FloatArray, precision: FloatArray, coef: FloatArray
) -> tuple[FloatArray, float]:
    """Climb to the best c of a prior, and return the log evidence less ½ cᵀPc there."""

    def at(coef: FloatArray) -> tuple[float, FloatArray]:
        value, slope = evidence.at(coef)
        return value - 0.5 * float(precision @ coef**2), slope - precision * coef

    factor = cho_factor(information + np.diag(precision))
    value, slope = at(coef)
    length = 1.0
    for _ in range(50):
        step = cho_solve(factor, slope)
        promised = float(step @ slope)  # twice what a quadratic function would gain
        if promised < 0.01:
            break
        reached, there = at(coef + length * step)
        while reached <= value and length > 1e-6:
            length /= 2
            reached, there = at(coef + length * step)
        if reached <= value:
            break
        coef, value, slope = coef + length * step, reached, there
        length = min(1.0, 2 * length)
    return coef, value
