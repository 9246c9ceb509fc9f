r"""Kernel ridge regression by conjugate gradients: all columns of targets, each with its α.

An intercept is one more system for every α: with u = A⁻¹ y and v = A⁻¹ 1, the coefficients are
u - b v for the b that makes the residuals sum to zero. Targets lose their mean first, which leaves
little to b.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..kernels import Kernel
from .conjugate_gradients import Solved, State, Watch, solve
from .forecast import Forecast, forecast
from .low_rank import ShiftedLowRank
from .report import SolverReport
from .systems import AllRows, Centers

__all__ = ["SMALL", "CenterSums", "Found", "Settings", "solve_centers", "solve_rows"]

#: Up to this many rows everything is in double precision and nothing is forecast: it is fast.
SMALL = 2048


@dataclass(frozen=True)
class Settings:
    """What the solution of any system needs to know.

    Attributes
    ----------
    tol : float
    max_iter : int
    fit_intercept : bool
    seed : int
    start : State or None
        Where to begin.
    watch : callable or None
        Called with the state and the residuals after each iteration.
    """

    tol: float
    max_iter: int
    fit_intercept: bool = False
    seed: int = 0
    start: State | None = None
    watch: Watch | None = None


@dataclass(frozen=True)
class Found:
    """A solution.

    Attributes
    ----------
    coef : ndarray of shape (n, p)
        Of the kernel at the rows, or at the centres.
    intercept : ndarray of shape (p,)
    report : SolverReport
    state : State
        Of all systems (the intercepts' too), from which another solution can begin.
    """

    coef: FloatArray
    intercept: FloatArray
    report: SolverReport
    state: State


def solve_rows(
    product: Callable[[bool], Any],
    Y: FloatArray,
    alphas: FloatArray,
    weights: FloatArray | None,
    features: Callable[[], Any] | None,
    settings: Settings,
) -> Found:
    """Solve (K + α W⁻¹) a + b = y for all columns.

    Parameters
    ----------
    product : callable
        ``product(precise)`` returns what multiplies by K.
    Y : ndarray of shape (n, p)
    alphas : ndarray of shape (p,)
    weights : ndarray of shape (n,) or None
    features : callable or None
        Returns the features Z [n, D] of the preconditioner.
    settings : Settings
    """
    start = time.perf_counter()
    root = None if weights is None else np.sqrt(weights)[:, None]
    means = np.average(Y, axis=0, weights=weights) if settings.fit_intercept else 0.0
    targets, ridges = _with_ones(Y - means, alphas, settings.fit_intercept)
    low_rank = None if features is None else _low_rank(features(), root, float(alphas.min()))
    spent = time.perf_counter() - start
    system = AllRows(product, ridges, root, low_rank)
    small = len(Y) <= SMALL
    expected = None if small else forecast(system, len(Y), settings.seed)

    found = solve(
        system,
        system.weighted(targets),
        tol=settings.tol,
        max_iterations=settings.max_iter,
        start=settings.start,
        precise=small,
        watch=settings.watch,
    )
    raw = system.weighted(found.state.solution)
    rank = 0 if low_rank is None else len(low_rank.squares)
    report = _report(found, expected, settings, rank, start, spent)
    if not settings.fit_intercept:
        return Found(raw, np.zeros(Y.shape[1]), report, found.state)
    sums = raw.sum(axis=0)
    ones = Y.shape[1] + np.unique(alphas, return_inverse=True)[1]
    intercept = sums[: Y.shape[1]] / sums[ones]
    coef = raw[:, : Y.shape[1]] - intercept * raw[:, ones]
    return Found(coef, means + intercept, report, found.state)


@dataclass(frozen=True)
class CenterSums:
    """What the rows give to the right-hand side of the centres' system.

    Attributes
    ----------
    cross : ndarray of shape (M, t + 1)
        K_nMᵀ W (Y, 1).
    totals : ndarray of shape (t + 1,)
        1ᵀ W (Y, 1): the last is the total weight.
    """

    cross: FloatArray
    totals: FloatArray

    def __add__(self, other: "CenterSums") -> "CenterSums":
        """Add the sums over other rows."""
        return CenterSums(self.cross + other.cross, self.totals + other.totals)


def solve_centers(
    gram: Callable[[FloatArray, bool], FloatArray],
    sums: CenterSums,
    kernel: Kernel,
    centers: Any,
    alphas: FloatArray,
    preconditioned: bool,
    settings: Settings,
) -> Found:
    """Solve Falkon's system for all targets.

    Parameters
    ----------
    gram : callable
        ``gram(V, precise)`` returns K_nMᵀ W K_nM V.
    sums : CenterSums
    kernel : Kernel
    centers : ndarray or CSR matrix of shape (M, d)
    alphas : ndarray of shape (t,)
    preconditioned : bool
    settings : Settings
    """
    start = time.perf_counter()
    n_targets = len(alphas)
    cross, ones, total = sums.cross[:, :-1], sums.cross[:, -1:], float(sums.totals[-1])
    distinct, which = np.unique(alphas, return_inverse=True)
    ridges, means = alphas, np.zeros(n_targets)
    if settings.fit_intercept:
        means = sums.totals[:-1] / total
        cross = np.hstack([cross - ones * means, np.repeat(ones, len(distinct), axis=1)])
        ridges = np.concatenate([alphas, distinct])
    system = Centers(gram, kernel, centers, ridges, total, preconditioned)
    spent = time.perf_counter() - start
    found = solve(
        system,
        system.adjoint(cross),
        tol=settings.tol,
        max_iterations=settings.max_iter,
        start=settings.start,
        precise=total <= SMALL,
        watch=settings.watch,
    )
    raw = system.coefficients(found.state.solution)
    report = _report(found, None, settings, centers.shape[0] * preconditioned, start, spent)
    if not settings.fit_intercept:
        return Found(raw, means, report, found.state)
    # 1ᵀ W (1 - K v) and 1ᵀ W (y - K u), less what the residuals of the systems make of them: the
    # errors of u and v count only by their product.
    u, v = slice(0, n_targets), n_targets + which
    ones_solved = found.state.solution[:, v]
    rest = np.einsum("np,np->p", ones_solved, found.left[:, u])
    rest_of_ones = np.einsum("np,np->p", ones_solved, found.left[:, v])
    above = -(ones[:, 0] @ raw[:, u]) - rest
    intercept = above / (total - ones[:, 0] @ raw[:, v] - rest_of_ones)
    coef = raw[:, u] - intercept * raw[:, v]
    return Found(coef, means + intercept, report, found.state)


def _with_ones(
    Y: FloatArray, alphas: FloatArray, fit_intercept: bool
) -> tuple[FloatArray, FloatArray]:
    """Return targets and alphas with the systems of the intercept, one for each α."""
    if not fit_intercept:
        return Y, alphas
    distinct = np.unique(alphas)
    ones = np.ones((len(Y), len(distinct)))
    return np.hstack([Y, ones]), np.concatenate([alphas, distinct])


def _low_rank(Z: Any, root: FloatArray | None, alpha: float) -> ShiftedLowRank:
    if root is not None:
        Z = Z * root.astype(Z.dtype)
    return ShiftedLowRank(Z, alpha)


def _report(
    found: Solved,
    expected: Forecast | None,
    settings: Settings,
    rank: int,
    start: float,
    spent: float,
) -> SolverReport:
    worst = float(found.residuals.max(initial=0.0))
    return SolverReport(
        converged=worst <= settings.tol,
        n_iterations=found.n_iterations,
        predicted_iterations=None if expected is None else expected.iterations(settings.tol),
        spectral_error=None if expected is None else expected.spectral_error,
        condition=None if expected is None else expected.condition,
        residual=worst,
        tol=settings.tol,
        n_systems=len(found.residuals),
        rank=rank,
        seconds=time.perf_counter() - start,
        preconditioner_seconds=spent,
        history=tuple(found.history),
    )
