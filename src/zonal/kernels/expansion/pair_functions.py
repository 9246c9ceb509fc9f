"""Radial functions that depend on a time as well, at any pair of a radius and a time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..._loaded import MOST, check_array, check_number
from ..._typing import FloatArray
from ...engines.interpolation import (
    interpolate,
    interpolate_derivative,
    interpolate_pairs,
    interpolate_pairs_derivative,
)
from .modes import GRID, MARGIN, MAX_GRID_LINE, extension

__all__ = ["PairFunctions"]

# The error of features, found at half as many points on an axis: of smooth functions, 2⁻⁶ of it is
# left.
TOL = 1e-5
# A table with a larger error is not used. Up to this one, kernels of time as rough as exp(-|u|)
# have products Z Zᵀ with the same error, to two digits, as without a table, which takes 100 times
# as long.
LOST = 0.1
# Points of an axis at first where both vary, and numbers of the whole table at most: 32 MB.
FIRST_GRID, MAX_NUMBERS = 17, 1 << 22


@dataclass(frozen=True, eq=False)
class PairFunctions:
    """Functions h_m of a radius and a time, each belonging to a degree: [n, 2] to [n, n_modes].

    As `ModeFunctions`: within the range that they were made for they are interpolated in a table,
    if that can be relied upon; beyond, the Nyström extension is evaluated itself.

    Attributes
    ----------
    kernel : RadialSpaceTime
        The kernel.
    dim : int
        d.
    degrees : ndarray of shape (n_modes,)
        ℓ of every function.
    nodes : ndarray of shape (n_nodes, 2)
        The pairs of the eigenproblem.
    weights : ndarray of shape (n_modes, n_nodes)
        What k_ℓ((r, t), nodes) is multiplied with.
    low, high : ndarrays of shape (2,)
        The ends of the table on both axes.
    table : ndarray of shape (n_radii, n_times, n_modes)
        Values on a grid; one point where the ends agree, none for no table.
    """

    kernel: Any
    dim: int
    degrees: npt.NDArray[np.int64]
    nodes: FloatArray
    weights: FloatArray
    low: FloatArray
    high: FloatArray
    table: FloatArray

    @classmethod
    def make(
        cls,
        kernel: Any,
        dim: int,
        degrees: npt.NDArray[np.int64],
        nodes: FloatArray,
        weights: FloatArray,
        low: FloatArray,
        high: FloatArray,
    ) -> Self:
        """Make functions with a table that is as fine as they need."""

        def values(pairs: FloatArray) -> FloatArray:
            return extension(kernel.degree_kernels, dim, degrees, nodes, weights, pairs)

        margin = MARGIN * (high - low)
        low = np.array([max(low[0] - margin[0], 0.0), low[1] - margin[1]])
        high = high + margin
        table, error = _table(values, low, high)
        if not error <= LOST:
            table = table[:0]
        return cls(kernel, dim, degrees, nodes, weights, low, high, table)

    def _check_loaded(self) -> None:
        """Raise ValueError unless the arrays are of the same modes, and loops over them end."""
        check_number(self, "dim", 1, 1 << 31)
        n_modes = len(check_array(self, "degrees", "i", (None,), 0, MOST))
        n_nodes = len(check_array(self, "nodes", "f", (None, 2)))
        check_array(self, "weights", "f", (n_modes, n_nodes))
        check_array(self, "low", "f", (2,))
        check_array(self, "high", "f", (2,))
        check_array(self, "table", "f", (None, None, n_modes))

    def __call__(self, pairs: FloatArray) -> FloatArray:
        """Return values at pairs."""
        pairs, inside = self._located(pairs)
        out = np.empty((len(pairs), len(self.degrees)))
        out[inside] = self._tabulated(pairs[inside])
        out[~inside] = self._extended(self.kernel.degree_kernels, pairs[~inside])
        return out

    def derivative(self, pairs: FloatArray, axis: int = 0) -> FloatArray:
        """Return derivatives of what is computed by the radius (axis 0) or the time (1).

        Zero by the radius, if there is only one.
        """
        pairs, inside = self._located(pairs)
        if axis == 0 and self.low[0] == self.high[0]:
            return np.zeros((len(pairs), len(self.degrees)))
        out = np.empty((len(pairs), len(self.degrees)))
        out[inside] = self._tabulated(pairs[inside], axis)
        slopes = partial(self.kernel.degree_slopes, axis=axis)
        out[~inside] = self._extended(slopes, pairs[~inside])
        return out

    def _located(self, pairs: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return pairs, those on the one sphere exactly there, and which are in the table."""
        pairs = np.array(pairs, np.float64)
        slack = 1e-6 * self.high[0]
        near = (pairs[:, 0] >= self.low[0] - slack) & (pairs[:, 0] <= self.high[0] + slack)
        pairs[near, 0] = np.clip(pairs[near, 0], self.low[0], self.high[0])
        within = (pairs >= self.low) & (pairs <= self.high)
        return pairs, np.logical_and(within.all(axis=1), self.table.size > 0)

    def _tabulated(self, pairs: FloatArray, by: int | None = None) -> FloatArray:
        """Return values in the table, or derivatives by one axis."""
        if not len(pairs):
            return np.empty((0, len(self.degrees)))
        axes = [axis for axis in range(2) if self.table.shape[axis] > 1]
        if len(axes) == 2:
            if by is None:
                return interpolate_pairs(pairs, self.low, self.high, self.table)
            return interpolate_pairs_derivative(pairs, self.low, self.high, self.table, by)
        table = self.table.reshape(-1, len(self.degrees))
        if not axes or by not in (None, *axes):
            alone = np.zeros_like(table[:1]) if by is not None else table[:1]
            return np.repeat(alone, len(pairs), axis=0)
        (axis,) = axes
        find = interpolate if by is None else interpolate_derivative
        return find(pairs[:, axis], float(self.low[axis]), float(self.high[axis]), table)

    def _extended(self, degree_kernels: Callable[..., FloatArray], pairs: FloatArray) -> FloatArray:
        """Return the Nyström extension, or its derivatives."""
        return extension(degree_kernels, self.dim, self.degrees, self.nodes, self.weights, pairs)


def _table(
    values: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray
) -> tuple[FloatArray, float]:
    """Return values on a grid that is fine enough, and the error of interpolation before."""

    def on_grid(axes: list[FloatArray]) -> FloatArray:
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        return values(grid.reshape(-1, 2)).reshape(*grid.shape[:2], -1)

    live = [axis for axis in range(2) if low[axis] < high[axis]]
    first = FIRST_GRID if len(live) == 2 else GRID
    axes = [np.linspace(low[k], high[k], first if k in live else 1) for k in range(2)]
    table, errors = on_grid(axes), dict.fromkeys(live, np.inf)
    while max(errors.values(), default=0.0) > TOL:
        axis = max(errors, key=errors.__getitem__)
        finer = np.linspace(low[axis], high[axis], 2 * len(axes[axis]) - 1)
        if len(finer) > MAX_GRID_LINE or 2 * table.size > MAX_NUMBERS:
            break
        known = np.moveaxis(table, axis, 0)
        axes[axis] = finer[1::2]
        between = np.moveaxis(on_grid(axes), axis, 0)
        axes[axis] = finer
        flat = known.reshape(len(known), -1)
        ends = float(low[axis]), float(high[axis])
        guess = interpolate(finer[1::2], *ends, flat).reshape(between.shape)
        errors[axis] = _largest(guess - between) / max(_largest(known), 1e-300)
        merged = np.empty((len(finer), *known.shape[1:]))
        merged[::2], merged[1::2] = known, between
        table = np.moveaxis(merged, 0, axis)
    return np.ascontiguousarray(table), max(errors.values(), default=0.0)


def _largest(values: FloatArray) -> float:
    """Return the largest norm of all functions at one point: of features, whatever directions."""
    return float(np.sqrt(np.square(values).sum(axis=-1).max()))
