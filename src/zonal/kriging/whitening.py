r"""Whitened columns: differences of each row to what the earlier rows near it predict.

Vecchia's approximation conditions row i on at most m earlier rows near it. With the weights b and
the variances v of `weights` (v includes the noise of row i), the rows of

.. math:: \tilde V_i = \frac{V_i - \sum_j b_{ij} V_j}{\sqrt{v_i}}

are independent with variance one times the scale if V was drawn from the process, so generalized
least squares with any columns V is ordinary least squares with Ṽ.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from .._typing import Array, FloatArray
from ..rows.threads import ordered_map
from .neighborhood import count_neighbors
from .neighbors import Indices
from .numerics import BLOCK, TILE

__all__ = ["Whitening", "spatial_order", "subtract_neighbors", "subtract_transposed"]


@dataclass(frozen=True)
class Whitening:
    """The sparse factor of the inverse covariance, ready to be applied to columns.

    Attributes
    ----------
    rows : ndarray of shape (s,)
        Row numbers: those of all rows, or of some.
    neighbors : ndarray of shape (s, m)
        Earlier rows, -1 for none.
    weights : ndarray of shape (s, m)
        b, zero for none.
    variance : ndarray of shape (s,)
        v, the noise of row i included.
    """

    rows: Indices
    neighbors: Indices
    weights: FloatArray
    variance: FloatArray

    def __len__(self) -> int:
        return len(self.variance)

    def part(self, chosen: npt.NDArray[np.bool_]) -> "Whitening":
        """Return some of the rows."""
        return Whitening(
            self.rows[chosen], self.neighbors[chosen], self.weights[chosen], self.variance[chosen]
        )

    def apply(self, columns: Array) -> Array:
        """Whiten columns, given for all rows, on all cores.

        Parameters
        ----------
        columns : ndarray of shape (n, t)
            Float32 stays float32.

        Returns
        -------
        ndarray of shape (s, t)
        """
        columns = np.ascontiguousarray(columns)
        out = np.empty((len(self), columns.shape[1]), columns.dtype)

        def run(start: int) -> None:
            part = slice(start, start + BLOCK)
            _whiten(
                columns, self.rows[part], self.neighbors[part], self.weights[part],
                self.variance[part], out[part],
            )  # fmt: skip

        for _ in ordered_map(run, range(0, len(self), BLOCK)):
            pass
        return out

    def blocks(self, size: int, points: FloatArray | None = None) -> Iterator["Block"]:
        """Cut the rows into blocks, each with the rows that it needs.

        So that columns too many to hold can be made and whitened block by block. Rows of a block
        should lie near each other, so that they share their neighbours: pass points, of few
        columns, to have them ordered along the first of these.

        Parameters
        ----------
        size : int
            Rows in a block.
        points : ndarray of shape (n, d), optional
            Where the rows are.
        """
        order = np.arange(len(self)) if points is None else spatial_order(points[self.rows])
        for start in range(0, len(self), size):
            part = order[start : start + size]
            members = np.column_stack([self.rows[part], self.neighbors[part]])
            support, where = np.unique(members, return_inverse=True)
            lost = int(support[0] < 0)  # -1, for none
            local: Indices = (where.reshape(members.shape) - lost).astype(np.int32)
            yield Block(
                self.rows[part], support[lost:], local[:, 0], local[:, 1:],
                self.weights[part], self.variance[part],
            )  # fmt: skip


@dataclass(frozen=True)
class Block:
    """Some rows of a `Whitening`, and the rows they need.

    Attributes
    ----------
    rows : ndarray of shape (b,)
        Row numbers of the block.
    support : ndarray of shape (s,)
        Row numbers of the block and of all its neighbours, increasing.
    """

    rows: Indices
    support: Indices
    own: Indices
    neighbors: Indices
    weights: FloatArray
    variance: FloatArray

    def apply(self, columns: Array) -> Array:
        """Whiten columns [s, t] of the support: [b, t] for the rows of the block."""
        columns = np.ascontiguousarray(columns)
        out = np.empty((len(self.rows), columns.shape[1]), columns.dtype)
        _whiten(columns, self.own, self.neighbors, self.weights, self.variance, out)
        return out


def spatial_order(points: FloatArray, bits: int = 10) -> npt.NDArray[np.intp]:
    """An order in which rows that are close in space are mostly close: along Morton's curve.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The first three columns count.
    """
    part = np.asarray(points, np.float64)[:, :3]
    if not len(part):
        return np.arange(0)
    low, width = part.min(axis=0), np.ptp(part, axis=0)
    cells = (part - low) / np.where(width > 0, width, 1.0) * (2**bits - 1)
    keys = np.zeros(len(part), np.int64)
    for bit in range(bits):
        for column in range(part.shape[1]):
            digit = (cells[:, column].astype(np.int64) >> bit) & 1
            keys |= digit << (bit * part.shape[1] + column)
    return np.argsort(keys, kind="stable")


def _whiten(
    columns: Array,
    own: Indices,
    neighbors: Indices,
    weights: FloatArray,
    variance: FloatArray,
    out: Array,
) -> None:
    """IN: columns [s, t] and, for each row of the block, where it and its neighbours are. OUT."""
    np.take(columns, own, axis=0, out=out, mode="clip")  # "raise" would fill a copy first
    subtract_neighbors(columns, neighbors, weights, out)
    out /= np.sqrt(variance).astype(out.dtype)[:, None]


@njit(nogil=True, cache=True, fastmath=True)
def subtract_neighbors(columns, neighbors, weights, out):  # type: ignore[no-untyped-def]
    """IN: columns [s, t]; neighbours [b, m], -1 at the end for none, and weights. OUT: [b, t]."""
    one = columns.dtype.type
    for first in range(0, columns.shape[1], TILE):
        near, width = columns[:, first : first + TILE], min(TILE, columns.shape[1] - first)
        for i in range(len(neighbors)):
            target, m = out[i, first : first + width], count_neighbors(neighbors[i])
            even = m - m % 4
            for j in range(0, even, 4):  # four at a time: the target is loaded and stored once
                a, b = near[neighbors[i, j]], near[neighbors[i, j + 1]]
                c, d = near[neighbors[i, j + 2]], near[neighbors[i, j + 3]]
                p, q = one(weights[i, j]), one(weights[i, j + 1])
                r, s = one(weights[i, j + 2]), one(weights[i, j + 3])
                for k in range(width):
                    target[k] -= p * a[k] + q * b[k] + r * c[k] + s * d[k]
            for j in range(even, m):
                a, p = near[neighbors[i, j]], one(weights[i, j])
                for k in range(width):
                    target[k] -= p * a[k]


@njit(nogil=True, cache=True, fastmath=True)
def subtract_transposed(columns, neighbors, weights, out):  # type: ignore[no-untyped-def]
    """IN: columns [s, t]; neighbours [s, m], -1 at the end for none, and weights. OUT: [n, t].

    The transpose of what `subtract_neighbors` does.
    """
    for i in range(len(neighbors)):
        for j in range(count_neighbors(neighbors[i])):
            for k in range(columns.shape[1]):
                out[neighbors[i, j], k] -= weights[i, j] * columns[i, k]
