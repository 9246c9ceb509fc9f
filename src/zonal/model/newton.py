r"""The mode of the posterior on features: Newton's method, a pass over the rows for each step.

The mode minimises :math:`L(\beta) + \tfrac{\alpha}{2}\|\beta\|^2` with L half the deviance and a
constant that is free. With the constant eliminated (S is G about the weighted mean of z, b the
slope of the quadratic model at β = 0) a step goes to :math:`\beta = (S + \alpha I)^{-1} b`.

*α by evidence.* Laplace's approximation of the log evidence, with β ~ N(0, φ/α) and a constant of
flat prior, is

.. math::

    \sum w \log p(y \mid \hat f) - \frac{\alpha}{2\varphi} \|\hat\beta\|^2
    - \tfrac12 \log\left|I + S/\alpha\right| + \tfrac12 \log\frac{2\pi\varphi}{G_{00}} .

For the quadratic model of a pass it is a function of α in closed form, so that each pass finds
mode and α together.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._typing import FloatArray
from ..likelihoods import Likelihood
from ..moments.ridge import Eigen, solve_ridge
from .laplace_alpha import AlphaSearch
from .newton_sums import Expansion, NewtonSums, Spread

__all__ = ["Mode", "find_mode"]

# A step that promises less a row (in half the deviance) is the last one. Newton's method is
# quadratic: what is left after it is the square of that.
SMALL_GAIN = 1e-10
# The same where the curvature is a bound, and steps gain by a factor only.
SMALL_LINEAR_GAIN = 1e-7
# The same until the likelihood's own parameters are looked at.
ROUGH_GAIN = 1e-4
# They have settled where a step promised less of the log evidence: a seventh of their standard
# error, and Newton's method is quadratic. No step is longer; beyond the limits another likelihood
# begins, such as Poisson's.
CLOSE, LONGEST, LIMITS = 1e-2, 1.5, (1e-6, 1e8)
MOST_PASSES = 100


@dataclass(frozen=True)
class Mode:
    """What was found.

    Attributes
    ----------
    coef : ndarray of shape (D,)
        β.
    intercept : float
        β₀ of f = zᵀβ + β₀ + offset.
    alpha : float
    likelihood : Likelihood
        With all its parameters.
    spread : Spread
        The posterior of the coefficients over φ.
    log_evidence : float
        Laplace's.
    n_passes, n_rows : int
    weight, loss : float
        Σ w and L.
    """

    coef: FloatArray
    intercept: float
    alpha: float
    likelihood: Likelihood
    spread: Spread
    log_evidence: float
    n_passes: int
    n_rows: int
    weight: float
    loss: float


@dataclass(frozen=True)
class _System:
    """The quadratic model of a pass, with the constant eliminated."""

    sums: NewtonSums
    coef: FloatArray
    constant: float

    @cached_property
    def matrix(self) -> FloatArray:
        """S."""
        return np.asarray(self.sums.gram[:-1, :-1] - np.outer(self.sums.gram[:-1, -1], self.pull))

    @cached_property
    def eigen(self) -> Eigen:
        """The eigendecomposition of S, which serves all α; found once."""
        return Eigen.of(self.matrix, self.sums.precision)

    @property
    def pull(self) -> FloatArray:
        """By how much the constant falls for each coefficient."""
        return np.asarray(self.sums.gram[:-1, -1] / self.sums.gram[-1, -1])

    @property
    def slope(self) -> FloatArray:
        """The slope of the likelihood in the coefficients, the constant eliminated."""
        return np.asarray(self.sums.slope[:-1] - self.pull * self.sums.slope[-1])

    def best_alpha(self, dispersion: float, search: AlphaSearch) -> float:
        """Return the α of the largest evidence of the quadratic model."""
        eigen = self.eigen
        # Vᵀb, for the slope b at zero coefficients.
        turned = eigen.vectors.T @ self.slope + eigen.values * (eigen.vectors.T @ self.coef)
        return search.next(eigen.values, turned**2 / dispersion)

    def step(self, alpha: float) -> tuple[FloatArray, float, float]:
        """Return the next coefficients and constant, and what the objective may gain by them."""
        slope = self.slope - alpha * self.coef
        precision = self.sums.precision
        moved = solve_ridge(self.matrix, slope[:, None], alpha, precision)[:, 0]
        own = self.sums.slope[-1]
        constant = own / self.sums.gram[-1, -1] - float(self.pull @ moved)
        promised = float(slope @ moved) + float(own**2 / self.sums.gram[-1, -1])
        return self.coef + moved, self.constant + constant, promised / 2

    def spread(self, alpha: float, shift: FloatArray) -> Spread:
        """Return the posterior of the coefficients over φ."""
        root = self.eigen.vectors * np.sqrt(self.eigen.shrink(alpha))
        return Spread(root, shift + self.pull, 1 / float(self.sums.gram[-1, -1]))

    def log_evidence(self, alpha: float, dispersion: float) -> float:
        """Return Laplace's log evidence at the coefficients of the pass; -∞ for α = 0."""
        if alpha == 0:
            return -np.inf
        penalty = alpha / dispersion * float(self.coef @ self.coef)
        log_det = float(np.log1p(self.eigen.values / alpha).sum())
        constant = float(np.log(2 * np.pi * dispersion / self.sums.gram[-1, -1]))
        return self.sums.log_density - 0.5 * (penalty + log_det - constant)


def find_mode(
    walk: Callable[[Expansion], NewtonSums],
    start: Expansion,
    alpha: float | None,
    unknown: tuple[str, ...] = (),
) -> Mode:
    """Find mode, α and the parameters of the likelihood.

    Parameters
    ----------
    walk : callable
        Sums over all rows.
    start : Expansion
        Where the first pass is.
    alpha : float or None
        None: by evidence.
    unknown : tuple of str
        Parameters of the likelihood that are found by evidence.
    """
    search = _Search(walk, start, alpha, unknown)
    small = SMALL_GAIN if start.likelihood.quadratic else SMALL_LINEAR_GAIN
    search.settle(ROUGH_GAIN if search.unknown else small)
    while not search.settled and search.n_passes < MOST_PASSES:
        search.move_parameters()
        search.settle(ROUGH_GAIN)
    search.settle(small)
    if search.n_passes >= MOST_PASSES:
        warnings.warn(
            f"Newton's method has not converged in {MOST_PASSES} passes over the rows: the mode "
            "is approximate. Responses that a model can separate exactly need a larger alpha.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return search.mode()


class _Search:
    """The state of the search: each of its steps takes one pass or more."""

    def __init__(
        self,
        walk: Callable[[Expansion], NewtonSums],
        start: Expansion,
        alpha: float | None,
        unknown: tuple[str, ...],
    ) -> None:
        self.walk, self.start, self.given = walk, start, alpha
        self.likelihood = start.likelihood
        self.by_loss = self.likelihood.by_loss and bool(unknown)
        self.unknown = () if self.likelihood.by_loss else unknown
        self.settled = not self.unknown
        self.n_passes = 0
        # The first pass is about zero, at latent values that are no function of coefficients.
        self.system = _System(self._pass(None, start.constant), np.zeros(len(start.shift)), 0.0)
        self.alpha, self.search = 0.0, AlphaSearch()
        self._shrink()
        self._go(*self.system.step(self.alpha)[:2], np.inf)

    def _pass(self, coef: FloatArray | None, constant: float) -> NewtonSums:
        """Sum over all rows."""
        asked = coef is not None and self.unknown
        where = replace(
            self.start,
            likelihood=self.likelihood,
            coef=coef,
            constant=constant,
            unknown=self.unknown if asked else (),
            spread=self.system.spread(self.alpha, self.start.shift) if asked else None,
        )
        self.n_passes += 1
        return self.walk(where)

    def _shrink(self) -> None:
        """Find φ and α for the quadratic model at hand."""
        system = self.system
        if self.by_loss and np.any(system.coef):
            self.likelihood = self.likelihood.with_loss(
                self._objective(system) / system.sums.weight
            )
        if self.given is not None:
            self.alpha = self.given
            return
        self.alpha = system.best_alpha(self.likelihood.dispersion, self.search)

    def _objective(self, system: _System) -> float:
        return system.sums.loss + self.alpha / 2 * float(system.coef @ system.coef)

    def _go(self, coef: FloatArray, constant: float, before: float) -> None:
        """Take the pass at new coefficients; halve the step while it makes things worse."""
        old = self.system
        system = _System(self._pass(coef, constant), coef, constant)
        while (
            not self._objective(system) <= before + 1e-9 * (1 + abs(before))
            and self.n_passes < MOST_PASSES
        ):
            coef, constant = (coef + old.coef) / 2, (constant + old.constant) / 2
            system = _System(self._pass(coef, constant), coef, constant)
        self.system = system

    def settle(self, gain: float) -> None:
        """Step until the next step promises no more than that for each unit of weight."""
        fresh = False  # whether φ and α belong to the quadratic model at hand
        while self.n_passes < MOST_PASSES:
            coef, constant, promised = self.system.step(self.alpha)
            # In units of φ: where rows are nearly interpolated, small gains matter.
            weight = self.system.sums.weight * min(self.likelihood.dispersion, 1.0)
            if promised <= max(gain, ROUGH_GAIN) * weight and not fresh:
                self._shrink()
                fresh = True
            elif promised <= gain * weight:
                return
            else:
                self._go(coef, constant, self._objective(self.system))
                fresh = False

    def move_parameters(self) -> None:
        """Move the likelihood's parameters by a step of Newton's method on the log evidence."""
        promised = 0.0
        for name, (slope, curvature) in zip(self.unknown, self.system.sums.shape, strict=True):
            step = -slope / curvature if curvature < 0 else np.sign(slope) * LONGEST
            step = float(np.clip(step, -LONGEST, LONGEST))
            value = float(getattr(self.likelihood, name))
            if LIMITS[0] < value * np.exp(step) < LIMITS[1]:
                promised += abs(slope * step)
                self.likelihood = self.likelihood.moved(name, step)
        self.settled = promised < CLOSE
        coef, constant = self.system.coef, self.system.constant
        self.system = _System(self._pass(coef, constant), coef, constant)

    def mode(self) -> Mode:
        """Return what was found, after the last step, which needs no pass."""
        system, shift = self.system, self.start.shift
        coef, constant, _ = system.step(self.alpha)
        return Mode(
            coef,
            constant - float(shift @ coef),
            self.alpha,
            self.likelihood,
            system.spread(self.alpha, shift),
            system.log_evidence(self.alpha, self.likelihood.dispersion),
            self.n_passes,
            system.sums.n_rows,
            system.sums.weight,
            system.sums.loss,
        )
