"""Products with a kernel matrix whose rows are shared among the threads of a Dask cluster."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..kernels import Kernel
from ..rows.cluster import explained
from ..rows.threads import one_thread
from .products import KernelProduct

__all__ = ["DaskProduct"]

# Blocks of rows for each thread of the cluster, so that a slow one does not keep the others.
BLOCKS = 4


class DaskProduct:
    """The matrix of a kernel of some rows, known by its products, block of rows by block.

    Every worker gets all rows once and the vectors for each product, and returns some rows of the
    product.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray or CSR matrix of shape (n, d)
    n_threads : int
        Threads of the cluster.
    dtype : {float32, float64}
    """

    def __init__(
        self, kernel: Kernel, rows: Any, n_threads: int, dtype: npt.DTypeLike = np.float32
    ) -> None:
        import dask

        # With centres given, no block relies on another: there is no symmetry to use.
        product = KernelProduct(kernel, rows, rows, dtype)
        self._held = dask.delayed(product, pure=False, traverse=False).persist()
        edges = np.linspace(0, rows.shape[0], BLOCKS * n_threads + 1).astype(int)
        self._parts = [slice(int(a), int(b)) for a, b in itertools.pairwise(edges) if a < b]

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        """Return K V."""
        import dask

        shared = dask.delayed(vectors, pure=False, traverse=False)
        step = dask.delayed(_strip, pure=False)
        with explained():
            parts = dask.compute(*(step(self._held, part, shared) for part in self._parts))
        return np.concatenate(parts)


def _strip(product: KernelProduct, part: slice, vectors: FloatArray) -> FloatArray:
    with one_thread():
        return product.strip(part, vectors)
