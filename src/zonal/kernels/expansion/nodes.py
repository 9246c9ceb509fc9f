r"""The nodes of Mercer's eigenproblem: of the radii, or of pairs of a radius and a time.

A function that oscillates i times needs more than i nodes. So nodes are found for functions, and
functions at nodes: each kind of nodes says which finer ones the functions ask for.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from ..._typing import FloatArray
from .distribution import Distribution
from .leading import Chosen
from .mercer import MercerModes

__all__ = ["PairNodes", "RadiusNodes"]

# Radii of the eigenproblem, at least.
MIN_NODES = 32
# Radii and times of pairs at first, and what the eigenproblems of all degrees may hold, 128 MB.
FIRST_PAIRS = 8, 16
MOST_NUMBERS = 1 << 24
# Pairs in all: as many as radii on the line, where there are two degrees.
MOST_PAIRS = 2048
# Mean squared difference of neighbouring values, over the mean square, of a wave that has three
# nodes for each of its zeros.
ROUGH = (math.pi / 3) ** 2
# Functions with a smaller share of the kernel do not ask for nodes: in single precision they are
# rounding.
SINGLE = float(np.finfo(np.float32).eps) ** 2
# What the ends of the range have of the mass, so that functions know of them.
AT_ENDS = 1e-4


@dataclass(frozen=True)
class RadiusNodes:
    """Nodes of the distribution of the radii.

    Attributes
    ----------
    radii, weights : ndarrays of shape (n,)
        ‖x‖ of the rows, and their weights.
    low, high : float
        The range that the functions are for.
    uniform : bool
        Whether the radii count as uniform on that range, whatever those of the rows are.
    most, n_nodes : int
        How many there may be, and are (where there is more than one).
    """

    radii: FloatArray
    weights: FloatArray
    low: float
    high: float
    uniform: bool
    most: int
    n_nodes: int = MIN_NODES

    @property
    def distribution(self) -> Distribution:
        """The nodes and their weights."""
        if self.low == self.high:
            return Distribution.point(self.low)
        if self.uniform:
            radii = Distribution.interval(self.low, self.high, self.n_nodes)
        else:
            radii = Distribution.sample(self.radii, self.weights, self.n_nodes)
        return radii.with_ends(self.low, self.high)

    def finer(self, modes: MercerModes, chosen: Chosen) -> Self | None:
        """Return nodes that the chosen functions need, or None if these are enough."""
        used = 1 + chosen[1].max(initial=0)
        if 3 * used <= self.n_nodes or self.n_nodes >= self.most or self.low == self.high:
            return None
        return replace(self, n_nodes=min(4 * self.n_nodes, self.most))


@dataclass(frozen=True)
class PairNodes:
    """Nodes of the joint distribution of the radii and the times of rows.

    They are products of nodes of both, weighted by the rows that are near; those without rows are
    left out. Few different radii or times are nodes themselves.

    Attributes
    ----------
    pairs : ndarray of shape (n, 2)
        ‖x‖ and the time of each row.
    weights : ndarray of shape (n,)
        The weights of the rows.
    low, high : ndarrays of shape (2,)
        The range of both that the functions are for.
    uniform : bool
        Whether the radii count as uniform on their range, whatever those of the rows are.
    shape : (int, int)
        The number of radii and of times, where there are more values than that.
    """

    pairs: FloatArray
    weights: FloatArray
    low: FloatArray
    high: FloatArray
    uniform: bool
    shape: tuple[int, int] = FIRST_PAIRS

    @property
    def distribution(self) -> Distribution:
        """The nodes and their weights."""
        axes, mass = self._product
        kept = mass > 0
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        return Distribution(grid[kept], mass[kept])

    def finer(self, modes: MercerModes, chosen: Chosen) -> Self | None:
        """Return nodes that the chosen functions need, or None if these are enough."""
        mass, (degrees, indices, _) = self._product[1], chosen
        known = modes.values[degrees, indices] > SINGLE * modes.trace
        values = np.zeros((known.sum(), *mass.shape))
        values[:, mass > 0] = modes.at_nodes(degrees[known], indices[known])
        rough = []
        for axis in range(2):
            shared = np.minimum(np.delete(mass, 0, axis), np.delete(mass, -1, axis))
            steps = np.square(np.diff(values, axis=axis + 1)) * shared
            whole = self._is_whole(axis)
            rough.append(0.0 if whole else float(steps.sum(axis=(1, 2)).max(initial=0.0)))
        axis = int(np.argmax(rough))
        n_radii, n_times = self.shape
        finer = replace(self, shape=(n_radii, 2 * n_times) if axis else (2 * n_radii, n_times))
        n_nodes = finer.distribution.weights.size
        room = n_nodes <= MOST_PAIRS and (modes.max_degree + 1) * n_nodes**2 <= MOST_NUMBERS
        return finer if rough[axis] > ROUGH and room else None

    @cached_property
    def _product(self) -> tuple[list[FloatArray], FloatArray]:
        """Return the nodes of both axes, and the mass of each of their pairs."""
        (radii, near), (times, then) = self._axis(0), self._axis(1)
        return [radii, times], (near * self.weights) @ then.T / self.weights.sum()

    def _is_whole(self, axis: int) -> bool:
        """Tell whether all values of an axis are nodes, so that no finer ones tell more."""
        if axis == 0 and self.uniform:
            return self.low[0] == self.high[0]
        return len(np.unique(self.pairs[:, axis])) <= self.shape[axis]

    def _axis(self, axis: int) -> tuple[FloatArray, FloatArray]:
        """Return nodes of one axis, and what each has of every row: [k] and [k, n]."""
        low, high, most = self.low[axis], self.high[axis], self.shape[axis]
        if low == high:
            return np.array([low]), np.ones((1, len(self.pairs)))
        if axis == 0 and self.uniform:
            interval = Distribution.interval(low, high, most)
            nodes, shares = interval.nodes, np.repeat(interval.weights[:, None], len(self.pairs), 1)
        else:
            nodes, shares = _bins(self.pairs[:, axis], self.weights, most)
        if nodes[0] <= low and nodes[-1] >= high:
            return nodes, shares
        ends = np.full((1, shares.shape[1]), AT_ENDS)
        return (
            np.concatenate([[low], nodes, [high]]),
            np.concatenate([ends, (1 - 2 * AT_ENDS) * shares, ends]),
        )


def _bins(values: FloatArray, weights: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return the means of bins of equal mass, and what each bin has of every value.

    Equal values are split alike, so that neither their order counts nor whether a row of weight two
    is two rows. Few different values are bins of their own.
    """
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) <= most:
        return distinct, (np.arange(len(distinct))[:, None] == place).astype(np.float64)
    mass = np.bincount(place, weights)
    ends = np.cumsum(mass)
    edges = np.linspace(0.0, ends[-1], most + 1)[:, None]
    overlap = np.maximum(np.minimum(ends, edges[1:]) - np.maximum(ends - mass, edges[:-1]), 0.0)
    nodes = overlap @ distinct / overlap.sum(axis=1)
    return nodes, (overlap / overlap.sum(axis=0))[:, place]
