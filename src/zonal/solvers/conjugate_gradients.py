r"""Conjugate gradients for many systems at once, in two precisions.

A pass over the kernel costs nearly the same for one vector as for a dozen, so that all columns
take their steps together. Products in the iterations may be of single precision; the residual that
decides is found again in double precision, and a system that is not solved by then goes on from
there (iterative refinement). So the result has the accuracy that is asked for, at the price of
one or two products in double precision.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray

__all__ = ["Solved", "State", "System", "Watch", "solve"]

# What one round of iterations may gain before the residual is found again: about what products of
# single precision are good for, and enough for the usual tolerance of 1e-4 to take one round.
ROUND = 5e-5
# The rounds aim below the tolerance, so that a residual in double precision is below it too.
MARGIN = 0.8
# A round that leaves more than this of the residual met its limits.
STALLED = 0.5

Columns = npt.NDArray[np.intp]


@dataclass
class State:
    """Where iterations are, and all that is needed to go on from there.

    Attributes
    ----------
    solution : ndarray of shape (n, p)
    direction : ndarray of shape (n, p)
        Of the next step; zero in the beginning.
    """

    solution: FloatArray
    direction: FloatArray


#: Called after every step with the state and the residuals, relative to the targets.
Watch = Callable[[State, FloatArray], None]


class System(Protocol):
    """Symmetric positive definite systems A_c x_c = b_c that share their products."""

    def product(self, vectors: FloatArray, columns: Columns, precise: bool) -> FloatArray:
        """Return A_c v_c for the systems of these numbers: [n, p]."""

    def precondition(self, vectors: FloatArray, columns: Columns) -> FloatArray:
        """Return approximations of A_c⁻¹ v_c: [n, p]."""

    def sizes(self, residuals: FloatArray, preconditioned: FloatArray) -> FloatArray:
        """Return norms of residuals r_c, for which approximations of A_c⁻¹ r_c are known: [p]."""


@dataclass
class Solved:
    """What `solve` has found.

    Attributes
    ----------
    state : State
        With the solution.
    left : ndarray of shape (n, p)
        b - A x, in double precision.
    residuals : ndarray of shape (p,)
        ‖b - A x‖ / ‖b‖ (zero for b = 0).
    n_iterations : int
        Products with A in the iterations.
    n_precise : int
        Products in double precision besides, for residuals.
    history : list of float
        The largest residual after each iteration.
    """

    state: State
    left: FloatArray
    residuals: FloatArray
    n_iterations: int = 0
    n_precise: int = 0
    history: list[float] = field(default_factory=list)


def solve(
    system: System,
    targets: FloatArray,
    *,
    tol: float,
    max_iterations: int,
    start: State | None = None,
    precise: bool = False,
    watch: Watch | None = None,
) -> Solved:
    """Solve A_c x_c = b_c for all columns of the targets.

    Parameters
    ----------
    system : System
    targets : ndarray of shape (n, p)
        B.
    tol : float
        Where to stop: ‖b - A x‖ ≤ tol ‖b‖ in every column, in double precision and in the
        system's own norm.
    max_iterations : int
        The largest number of products in iterations.
    start : State, optional
        Where to begin; the solution zero by default.
    precise : bool, default=False
        Whether iterations use double precision from the beginning.
    watch : callable, optional
    """
    everything = np.arange(targets.shape[1])
    sizes = _sizes(system, targets, everything)
    unit = np.where(sizes > 0, sizes, 1.0)
    state = State(np.zeros_like(targets), np.zeros_like(targets))
    found = Solved(state, targets.copy(), (sizes > 0).astype(np.float64))
    if start is not None:
        found.state = State(start.solution.copy(), start.direction.copy())
        found.left -= system.product(start.solution, everything, True)
        found.residuals = _sizes(system, found.left, everything) / unit
    while found.n_iterations < max_iterations:
        columns = np.flatnonzero(found.residuals > tol)
        if not len(columns):
            break
        before = found.residuals[columns]
        goals = np.maximum(MARGIN * tol, ROUND * before) * unit[columns]
        _iterate(system, columns, goals, unit, found, max_iterations, precise, watch)
        image = system.product(found.state.solution[:, columns], columns, True)
        found.n_precise += 1
        left = found.left[:, columns] = targets[:, columns] - image
        found.residuals[columns] = _sizes(system, left, columns) / unit[columns]
        open_ = found.residuals[columns] > tol
        if (found.residuals[columns] > STALLED * before)[open_].any():
            if precise:  # rounding of double precision: there is nothing more to gain
                break
            precise = True
    return found


def _iterate(
    system: System,
    columns: Columns,
    goals: FloatArray,
    unit: FloatArray,
    found: Solved,
    max_iterations: int,
    precise: bool,
    watch: Watch | None,
) -> None:
    """Take steps in some columns until each residual is below its goal."""
    state = found.state
    R, P = found.left[:, columns], state.direction[:, columns]
    Z = system.precondition(R, columns)
    P = np.where(P.any(axis=0), P, Z)
    product = _dots(R, Z)
    while len(columns) and found.n_iterations < max_iterations:
        image = system.product(P, columns, precise)
        curvature = _dots(P, image)
        # Rounding can leave no descent where a column is solved as far as this precision goes.
        step = np.divide(_dots(R, P), curvature, out=np.zeros_like(product), where=curvature > 0)
        state.solution[:, columns] += step * P
        R = R - step * image
        Z = system.precondition(R, columns)
        previous, product = product, _dots(R, Z)
        P = Z + product / previous * P
        state.direction[:, columns] = P
        sizes = system.sizes(R, Z)
        found.n_iterations += 1
        found.residuals[columns] = sizes / unit[columns]
        found.history.append(float(found.residuals.max()))
        if watch is not None:
            watch(state, found.residuals)
        going = (sizes > goals) & (step > 0)
        columns, goals, product = columns[going], goals[going], product[going]
        R, P = R[:, going], P[:, going]


def _sizes(system: System, residuals: FloatArray, columns: Columns) -> FloatArray:
    return system.sizes(residuals, system.precondition(residuals, columns))


def _dots(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("np,np->p", left, right))
