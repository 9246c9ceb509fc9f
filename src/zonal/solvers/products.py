r"""Products with the matrix of a kernel, whose tiles are made, used and forgotten.

Values are of one precision and sums over tiles of another: a float32 tile is multiplied in
float32, and what the tiles give is added up in float64. Where rows and centres are the same, a
tile serves both triangles.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kernels import Kernel
from ..rows.buffers import Scratch
from ..rows.threads import ordered_map, thread_count
from .tiles import KernelTiles

__all__ = ["KernelProduct"]

# Rows and centres of a tile: 1 MB in float32, the second-level cache of a core.
TILE = 512


class KernelProduct:
    """The matrix K [n, m] of a kernel between rows and centres, known by its products.

    Parameters
    ----------
    kernel : Kernel
        With all parameters resolved to numbers.
    rows : ndarray or CSR matrix of shape (n, d)
    centers : ndarray or CSR matrix of shape (m, d), optional
        By default the rows themselves: K is symmetric, and half of it is made.
    dtype : {float32, float64}
        The precision of the values and of products with a tile.
    """

    def __init__(
        self, kernel: Kernel, rows: Any, centers: Any = None, dtype: npt.DTypeLike = np.float32
    ) -> None:
        self._symmetric = centers is None
        self._tiles = KernelTiles(kernel, rows, centers, dtype)
        self.shape = self._tiles.shape

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        """Return K V for V [m, p]: [n, p] in float64."""
        if self._symmetric:
            return self.share(0, 1, vectors)
        scale, V = self._prepared(vectors)
        out = np.zeros((self.shape[0], vectors.shape[1]))
        scratch = Scratch()

        def work(i: slice) -> None:
            for j in _slices(0, self.shape[1]):
                out[i] += self._tiles.fill(i, j, scratch) @ V[j]

        for _ in ordered_map(work, _slices(0, self.shape[0])):
            pass
        return out * scale

    def share(self, number: int, n_shares: int, vectors: FloatArray) -> FloatArray:
        """Return a share of the product K V with a symmetric matrix: [n, p].

        The shares add up to it. Each has every so many-th tile of the upper triangle, from its
        number on, and what the tile's mirror image gives.
        """
        scale, V = self._prepared(vectors)
        parts = list(_slices(0, self.shape[0]))

        def work(i: slice, j: slice, out: FloatArray, scratch: Scratch) -> None:
            tile = self._tiles.fill(i, j, scratch)
            out[i] += tile @ V[j]
            if i != j:
                out[j] += tile.T @ V[i]

        pairs = list(itertools.combinations_with_replacement(parts, 2))[number::n_shares]
        return self._summed(work, pairs, self.shape[0], vectors.shape[1]) * scale

    def transposed(self, vectors: FloatArray) -> FloatArray:
        """Return Kᵀ U for U [n, p]: [m, p]."""
        scale, U = self._prepared(vectors)

        def work(i: slice, j: slice, out: FloatArray, scratch: Scratch) -> None:
            out[j] += self._tiles.fill(i, j, scratch).T @ U[i]

        tiles = list(itertools.product(_slices(0, self.shape[0]), _slices(0, self.shape[1])))
        return self._summed(work, tiles, self.shape[1], vectors.shape[1]) * scale

    def gram(self, vectors: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Return Kᵀ W K V for V [m, p] and weights W = diag(w): [m, p].

        One pass: the rows of K that a few rows give are held until they are used again.
        """
        scale, V = self._prepared(vectors)
        n_centers = self.shape[1]
        whole = slice(0, n_centers)

        def work(i: slice, out: FloatArray, scratch: Scratch) -> None:
            block = self._tiles.fill(i, whole, scratch)
            inner = block @ V
            if weights is not None:
                inner *= weights[i, None].astype(inner.dtype)
            out += block.T @ inner

        step = max(8, TILE * TILE // n_centers)
        strips = [(part,) for part in _slices(0, self.shape[0], step)]
        return self._summed(work, strips, n_centers, vectors.shape[1]) * scale

    def _prepared(self, vectors: FloatArray) -> tuple[FloatArray, Array]:
        """Return the largest entries of the columns, and these over it, in range of float32."""
        scale = np.abs(vectors).max(axis=0)
        scale[scale == 0] = 1
        return scale, np.ascontiguousarray(vectors / scale, self._tiles.dtype)

    def _summed(
        self, work: Callable[..., None], tiles: list[Any], n_rows: int, width: int
    ) -> FloatArray:
        """Add up what tiles give; each thread has a sum of its own, over every n-th tile."""
        n_threads = thread_count()

        def share(first: int) -> FloatArray:
            out, scratch = np.zeros((n_rows, width)), Scratch()
            for tile in tiles[first::n_threads]:
                work(*tile, out, scratch)
            return out

        total, *others = ordered_map(share, range(n_threads))
        for other in others:
            total += other
        return np.asarray(total)


def _slices(start: int, stop: int, step: int = TILE) -> list[slice]:
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]
