"""Radial functions that are Mercer's eigenfunctions, at any radius."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..._loaded import MOST, check_array, check_kind, check_number
from ..._typing import FloatArray
from ...engines.interpolation import interpolate, interpolate_derivative
from .recent import recently

__all__ = ["ModeFunctions", "OptimalRadial"]

# Grids of radii for interpolation: until it is this accurate, or this long. (On the line a kernel
# may need hundreds of functions that oscillate, and quadrature costs nothing. Rough kernels are
# never known to many digits, and dear.)
GRID, GRID_TOL = 129, 1e-8
MAX_GRID, MAX_GRID_ROUGH, MAX_GRID_LINE = 513, 257, 4097
# A table with a larger error than that, relative to the largest value, is not used.
RELIABLE = 1e-3
# New rows may lie a little outside of the radii that were seen: the table reaches this much beyond.
MARGIN = 0.1
# Rows of k_ℓ(r, ·) for all degrees that are held at once.
BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class ModeFunctions:
    """Radial functions h_m, each belonging to a degree: radii [n] to values [n, n_modes].

    Between the smallest and the largest radius that they were made for they are interpolated in a
    table; beyond, the Nyström extension is evaluated itself.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    dim : int
        d.
    degrees : ndarray of shape (n_modes,)
        ℓ of every function.
    nodes : ndarray of shape (n_nodes,)
        The radii of the eigenproblem.
    weights : ndarray of shape (n_modes, n_nodes)
        What k_ℓ(r, nodes) is multiplied with.
    low, high : float
        The ends of the table; one radius, if they agree.
    table : ndarray of shape (n_grid, n_modes)
        Values at equally spaced radii.
    """

    kernel: Any
    dim: int
    degrees: npt.NDArray[np.int64]
    nodes: FloatArray
    weights: FloatArray
    low: float
    high: float
    table: FloatArray

    @classmethod
    def make(
        cls,
        kernel: Any,
        dim: int,
        degrees: npt.NDArray[np.int64],
        nodes: FloatArray,
        weights: FloatArray,
        low: float,
        high: float,
    ) -> Self:
        """Make functions with a table that is as fine as they need."""

        def values(radii: FloatArray) -> FloatArray:
            return extension(kernel.degree_kernels, dim, degrees, nodes, weights, radii)

        if low == high or not len(degrees):  # nothing to interpolate
            return cls(kernel, dim, degrees, nodes, weights, low, high, values(np.array([low])))
        margin = MARGIN * (high - low)
        low, high = max(low - margin, 0.0), high + margin
        rough = any(term.slow for term in kernel.terms())
        longest = MAX_GRID_LINE if dim == 1 else MAX_GRID_ROUGH if rough else MAX_GRID

        def tabulated() -> tuple[FloatArray, ...]:
            least = float(np.quantile(nodes, 0.75))
            end, table = _reliable_table(values, low, high, longest, least)
            return np.array(end), table

        arrays = (part.tobytes() for part in (degrees, nodes, weights))
        end, table = recently(tabulated, kernel, "table", dim, low, high, *arrays)
        return cls(kernel, dim, degrees, nodes, weights, low, float(end), table.copy())

    def _check_loaded(self) -> None:
        """Raise ValueError unless the arrays are of the same modes, and loops over them end."""
        check_number(self, "dim", 1, 1 << 31)
        n_modes = len(check_array(self, "degrees", "i", (None,), 0, MOST))
        n_nodes = len(check_array(self, "nodes", "f", (None,)))
        check_array(self, "weights", "f", (n_modes, n_nodes))
        check_array(self, "table", "f", (None, n_modes))

    def __call__(self, radii: FloatArray) -> FloatArray:
        """Return values at radii."""
        radii = np.asarray(radii, dtype=np.float64)
        inside = self._tabulated(radii)
        if inside.all():
            return self._inside(radii)
        out = np.empty((len(radii), len(self.degrees)))
        out[inside] = self._inside(radii[inside])
        modes = self.dim, self.degrees, self.nodes, self.weights
        out[~inside] = extension(self.kernel.degree_kernels, *modes, radii[~inside])
        return out

    def derivative(self, radii: FloatArray) -> FloatArray:
        """Return derivatives of what is computed: [n, n_modes] (zero if there is one radius)."""
        radii = np.asarray(radii, dtype=np.float64)
        inside = self._tabulated(radii)
        out = np.zeros((len(radii), len(self.degrees)))
        if len(self.table) > 1:
            out[inside] = interpolate_derivative(radii[inside], self.low, self.high, self.table)
        if not inside.all():
            slopes = self.kernel.degree_slopes
            modes = self.dim, self.degrees, self.nodes, self.weights
            out[~inside] = extension(slopes, *modes, radii[~inside])
        return out

    def _tabulated(self, radii: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell which radii lie within the table."""
        slack = 1e-6 * self.high
        return np.asarray((radii >= self.low - slack) & (radii <= self.high + slack))

    def _inside(self, radii: FloatArray) -> FloatArray:
        if len(self.table) == 1:
            return np.repeat(self.table, len(radii), axis=0)
        return interpolate(radii, self.low, self.high, self.table)


def _reliable_table(
    values: Callable[[FloatArray], FloatArray], low: float, high: float, longest: int, least: float
) -> tuple[float, FloatArray]:
    """Return the end of a table that can be relied upon, and the table.

    A few rows far from all others would stretch it until the functions are lost between its
    points. Then it is cut, though not below `least`: beyond its end nothing is interpolated.
    """
    whole, error = _table(values, low, high, longest)
    table, end = whole, high
    while error > RELIABLE and low + (end - low) / 2 > least:
        end = low + (end - low) / 2
        table, error = _table(values, low, end, longest)
    return (end, table) if error <= RELIABLE else (high, whole)


def _table(
    values: Callable[[FloatArray], FloatArray], low: float, high: float, longest: int
) -> tuple[FloatArray, float]:
    """Return values at equally spaced radii, and the error of interpolation at half as many."""
    table, error = values(np.linspace(low, high, GRID)), np.inf
    while len(table) < longest and error > GRID_TOL:
        finer = np.linspace(low, high, 2 * len(table) - 1)
        between = values(finer[1::2])
        largest = max(float(np.abs(table).max()), 1e-300)
        error = float(np.abs(interpolate(finer[1::2], low, high, table) - between).max()) / largest
        merged = np.empty((len(finer), table.shape[1]))
        merged[::2], merged[1::2] = table, between
        table = merged
    return table, error


def extension(
    degree_kernels: Callable[[int, int, FloatArray, FloatArray], FloatArray],
    dim: int,
    degrees: npt.NDArray[np.int64],
    nodes: FloatArray,
    weights: FloatArray,
    radii: FloatArray,
) -> FloatArray:
    """Return the Nyström extension Σ_j k_ℓ(r, r_j) weights_j of functions: [n, n_modes].

    With `degree_slopes` of a kernel in the place of its `degree_kernels`, their derivatives.
    """
    out = np.empty((len(radii), len(degrees)))
    if not len(degrees):
        return out
    max_degree = int(degrees.max())
    members = [np.flatnonzero(degrees == ell) for ell in range(max_degree + 1)]
    step = max(1, BLOCK // ((max_degree + 1) * len(nodes)))
    for start in range(0, len(radii), step):
        rows = slice(start, start + step)
        values = degree_kernels(dim, max_degree, radii[rows], nodes)
        for ell, modes in enumerate(members):
            out[rows, modes] = values[ell] @ weights[modes].T
    return out


@dataclass(frozen=True, eq=False)
class OptimalRadial:
    """The best radial functions: radii [n] to [n, max_degree + 1, n_radial].

    Attributes
    ----------
    functions : ModeFunctions
        Those that are not zero.
    places : ndarray of shape (n_modes, 2)
        Degree and radial index of each.
    shape : tuple of int
        (max_degree + 1, n_radial).
    """

    functions: ModeFunctions
    places: npt.NDArray[np.int64]
    shape: tuple[int, int]

    def _check_loaded(self) -> None:
        functions = check_kind(self, "functions", ModeFunctions)
        check_array(self, "places", "i", (len(functions.degrees), 2), 0, MOST)

    def __call__(self, radii: FloatArray) -> FloatArray:
        """Return values at radii."""
        out = np.zeros((len(radii), *self.shape))
        out[:, self.places[:, 0], self.places[:, 1]] = self.functions(radii)
        return out

    def derivative(self, radii: FloatArray) -> FloatArray:
        """Return derivatives, of the same shape."""
        out = np.zeros((len(radii), *self.shape))
        out[:, self.places[:, 0], self.places[:, 1]] = self.functions.derivative(radii)
        return out
