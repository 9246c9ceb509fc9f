"""Values of a kernel between rows and centres, a tile at a time, in float32 or float64.

A tile is made where it is used, while it is in the cache: matrices of kernel values are never
held. Kernels of the distance that compiled code knows (`zonal.engines.correlation`) take a
fraction of the time of the others, which give their own matrices.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array
from .._validation import is_sparse
from ..engines.correlation import Correlation
from ..engines.distances import DIRECT_COLUMNS
from ..engines.tiles import apply_double, apply_single, from_products, square_distances
from ..kernels import Kernel
from ..kernels.compiled import of_kernel
from ..rows.buffers import Scratch

__all__ = ["KernelTiles"]

# Rows of values that stay in the second-level cache from distances to exponentials.
SLAB = 64


class KernelTiles:
    """The matrix [n, m] of a kernel between rows and centres, which is never whole.

    Parameters
    ----------
    kernel : Kernel
        With all parameters resolved to numbers.
    rows : ndarray or CSR matrix of shape (n, d)
    centers : ndarray or CSR matrix of shape (m, d), optional
        By default the rows themselves.
    dtype : {float32, float64}
        The precision of the values. Rows are centred before they are rounded to it, where the
        kernel does not mind.
    """

    def __init__(
        self, kernel: Kernel, rows: Any, centers: Any = None, dtype: npt.DTypeLike = np.float32
    ) -> None:
        self.dtype = np.dtype(dtype)
        self._kernel = kernel
        same = centers is None
        centers = rows if same else centers
        self.shape = (int(rows.shape[0]), int(centers.shape[0]))
        dense = not (is_sparse(rows) or is_sparse(centers))
        self._compiled: Correlation | None = of_kernel(kernel) if dense else None
        if self._compiled is None:
            self._left, self._right = rows, centers
            return
        scale = np.asarray(self._compiled.length_scale, np.float64)
        middle = centers.mean(axis=0, dtype=np.float64)
        self._right = ((centers - middle) / scale).astype(self.dtype)
        self._left = self._right if same else ((rows - middle) / scale).astype(self.dtype)
        self._direct = rows.shape[1] <= DIRECT_COLUMNS
        if self._direct:
            self._columns = np.ascontiguousarray(self._right.T)
        else:
            squares = [np.einsum("ij,ij->i", part, part) for part in (self._left, self._right)]
            self._left_squares, self._right_squares = squares

    def fill(self, i: slice, j: slice, scratch: Scratch) -> Array:
        """Return the values of rows i at centres j, in memory that the next call overwrites."""
        if self._compiled is None:
            return np.asarray(self._kernel(self._left[i], self._right[j]), self.dtype)
        out = scratch.array((i.stop - i.start, j.stop - j.start), self.dtype)
        apply = apply_single if self.dtype == np.float32 else apply_double
        for first in range(0, len(out), SLAB):
            slab = out[first : first + SLAB]
            self._squares(slice(i.start + first, i.start + first + len(slab)), j, slab)
            apply(self._compiled.family, self._compiled.shape, slab)
        return out

    def _squares(self, i: slice, j: slice, out: Array) -> None:
        """Fill squared distances in units of the length scales."""
        if self._direct:
            square_distances(self._left[i], self._columns, j.start, out)
            return
        left, right = self._left[i], self._right[j]
        np.matmul(left, right.T, out=out)
        from_products(left, right, self._left_squares[i], self._right_squares[j], out)
