"""Products with a kernel matrix whose tiles are shared among the threads of a Dask cluster."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..kernels import Kernel
from ..rows.cluster import explained
from ..rows.dask import active_client
from ..rows.threads import one_thread
from .products import KernelProduct

__all__ = ["DaskProduct", "precisions_on_cluster"]

# Shares of the tiles for each thread of the cluster, so that a slow one does not keep the others.
SHARES = 4
# Shares that one task adds up.
TOGETHER = 8


class DaskProduct:
    """The symmetric matrix of a kernel of some rows, known by its products, tiles by tiles.

    Every worker gets all rows once and the vectors for each product, and makes its share of the
    tiles of one triangle. What they give is added up on the cluster.

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

        product = KernelProduct(kernel, rows, dtype=dtype)
        with explained():
            self._held = dask.delayed(product, pure=False, traverse=False).persist()
        self._n_shares = SHARES * n_threads

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        """Return K V."""
        import dask

        shared = dask.delayed(vectors, pure=False, traverse=False)
        share, add = dask.delayed(_share, pure=False), dask.delayed(sum, pure=False)
        parts = [share(self._held, i, self._n_shares, shared) for i in range(self._n_shares)]
        while len(parts) > 1:
            parts = [add(parts[i : i + TOGETHER]) for i in range(0, len(parts), TOGETHER)]
        with explained():
            return np.asarray(parts[0].compute())


def precisions_on_cluster(kernel: Kernel, rows: Any) -> Callable[[bool], DaskProduct]:
    """Return what makes products on the cluster in both precisions, each when first asked for."""
    made: dict[bool, DaskProduct] = {}

    def product(precise: bool) -> DaskProduct:
        if precise not in made:
            client = active_client()
            n_threads = 1 if client is None else sum(client.nthreads().values())
            dtype = np.float64 if precise else np.float32
            made[precise] = DaskProduct(kernel, rows, n_threads, dtype)
        return made[precise]

    return product


def _share(product: KernelProduct, number: int, n_shares: int, vectors: FloatArray) -> FloatArray:
    with one_thread():
        return product.share(number, n_shares, vectors)
