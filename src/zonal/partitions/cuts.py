"""Cells of about equal counts: a tree of cuts at medians of a sample."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._loaded import check_number
from .._typing import FloatArray

__all__ = ["Cuts"]


@dataclass(frozen=True)
class Cuts:
    """A complete binary tree; the children of node i are 2i + 1 and 2i + 2.

    Attributes
    ----------
    column : ndarray of shape (2^depth - 1,), int
        The column that each node cuts.
    value : ndarray of shape (2^depth - 1,)
        Where: points from here on are to the right.
    depth : int
        There are 2^depth cells.
    """

    column: npt.NDArray[np.int64]
    value: FloatArray
    depth: int

    @classmethod
    def of(cls, points: FloatArray, n_cells: int) -> "Cuts":
        """Cut the widest column of each node at its median, until there are so many cells.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            A sample, in units in which columns can be compared.
        n_cells : int
            At least so many; the next power of two.

        Examples
        --------
        >>> import numpy as np
        >>> from zonal.partitions.cuts import Cuts
        >>> points = np.random.default_rng(0).random((1024, 2))
        >>> np.bincount(Cuts.of(points, 4).cell_of(points)).tolist()
        [256, 256, 256, 256]
        """
        depth = max(0, n_cells - 1).bit_length()
        n_nodes = 2**depth - 1
        column, value = np.zeros(n_nodes, np.int64), np.zeros(n_nodes)
        members = {0: np.arange(len(points))}
        for node in range(n_nodes):
            own = members.pop(node)
            part = points[own]
            if len(own):
                column[node] = np.argmax(np.ptp(part, axis=0))
                value[node] = np.median(part[:, column[node]])
            right = part[:, column[node]] >= value[node]
            members[2 * node + 1], members[2 * node + 2] = own[~right], own[right]
        return cls(column, value, depth)

    def _check_loaded(self) -> None:
        """Raise ValueError unless the depth is one that a fit makes."""
        check_number(self, "depth", 0, 32)

    def __len__(self) -> int:
        return 2**self.depth

    def cell_of(self, points: FloatArray) -> npt.NDArray[np.int64]:
        """Return the cell of each point: [n]."""
        node = np.zeros(len(points), np.int64)
        every = np.arange(len(points))
        for _ in range(self.depth):
            right = points[every, self.column[node]] >= self.value[node]
            node = 2 * node + 1 + right
        return node - (len(self) - 1)
