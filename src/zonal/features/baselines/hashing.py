"""Weighted locality-sensitive hashing: sparse features of Laplace-like kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import njit

from ..._loaded import check_array, check_number
from ..._typing import Array
from ..._validation import check_choice, check_count, is_sparse
from ...kernels import Matern, as_kernel
from ...rows.dispatch import blockwise
from ..base import KernelFeatures
from ..training_sample import TrainingSample
from .hash_kernel import BUCKETS, HashKernel

__all__ = ["HashingFeatures"]

# Columns that each hash function has by default.
COLUMNS = 16
ROOT_3 = np.sqrt(3.0)


class HashingFeatures(KernelFeatures):
    r"""Features by weighted locality-sensitive hashing (Zandieh et al., 2020).

    Each of m hash functions lays a random grid over the space, with widths :math:`w_l` of the
    cells and an offset in every column. A row has one entry for each: in the column that its cell
    hashes to, with a random sign of the cell, and the weight

    .. math::

        \pm \frac{1}{\sqrt m} \prod_l f\Big(\frac{x_l - c_l}{w_l}\Big)

    for c the middle of the cell. Rows have inner products where they share cells, which they do
    the more often, the closer they are: :math:`\mathbb{E}[Z Z^\top] = K`, for the kernel of
    `HashKernel`.

    Parameters
    ----------
    kernel : Laplacian, Matern or str, default="laplacian"
        The length scale of the kernel, one or one for each column. Cells are products of
        intervals, and so is the kernel: exp(-Σ|x_l - y_l|/ℓ_l) for boxes, *not* that of the
        Euclidean distance. ``kernel_`` is what the features estimate.
    n_components : int, default=1024
        The width D of the output.
    n_hashes : int or "auto", default="auto"
        m, the non-zero entries of a row; D/16 by default. The variance is about 1/m + 1/D.
    bucket : {"box", "tent"}, default="box"
        f, constant or falling to zero at the border of a cell. With a tent the features are
        continuous and the kernel is smooth at zero, with twice the length scale.
    sparse_output : bool, default=True
        Whether `transform` returns a CSR matrix. Learners ask for dense blocks by themselves.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Attributes
    ----------
    kernel_ : HashKernel
        The kernel that the features estimate.
    widths_, offsets_ : ndarrays of shape (m, n_features)
        The grids.
    n_features_in_ : int
        d.

    Notes
    -----
    Nothing but a median length scale is learnt from data. In d columns two rows share all cells
    with the probability k(x, y), so that the kernel must not be too narrow for the dimension.
    Sparse rows are filled, a block at a time.

    References
    ----------
    A. Zandieh, N. Nouri, A. Velingker, M. Kapralov and I. Razenshteyn, "Scaling up Kernel Ridge
    Regression via Locality Sensitive Hashing", AISTATS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).uniform(size=(200, 3))
    >>> features = zonal.HashingFeatures(zonal.Laplacian(2.0), 16384, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> Z.nnz // 200
    1024
    >>> bool(abs((Z @ Z.T).toarray() - features.kernel_(X)).mean() < 0.02)
    True
    """

    def __init__(
        self,
        kernel: Any = "laplacian",
        n_components: int = 1024,
        *,
        n_hashes: int | str = "auto",
        bucket: str = "box",
        sparse_output: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.n_hashes = n_hashes
        self.bucket = bucket
        self.sparse_output = sparse_output
        self.random_state = random_state

    def _resolve_kernel(self, sample: TrainingSample) -> None:
        name = type(self).__name__
        check_choice("bucket", self.bucket, tuple(BUCKETS), name)
        if isinstance(self.kernel, HashKernel):
            self.kernel_: Any = self.kernel
            return
        kernel = as_kernel(self.kernel).resolve(sample.rows, sample.weights)
        kernel.check()
        if not isinstance(kernel, Matern):
            raise ValueError(
                f"kernel={kernel!r} of {name} must be a Laplacian or Matern kernel, whose length "
                "scale is used: for others use FourierFeatures or NystroemFeatures."
            )
        self.kernel_ = HashKernel(kernel.length_scale, self.bucket)

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        name, n_components = type(self).__name__, int(self.n_components)
        n_hashes = max(1, n_components // COLUMNS)
        if self.n_hashes != "auto":
            n_hashes = check_count("n_hashes", self.n_hashes, name, extra=', or "auto"')
            if n_hashes > n_components:
                raise ValueError(
                    f"n_hashes={n_hashes} of {name} exceeds n_components={n_components}: each "
                    "hash function needs a column."
                )
        rng = np.random.default_rng(seed)
        shape = n_hashes, self.n_features_in_
        scale = np.broadcast_to(np.asarray(self.kernel_.length_scale, np.float64), shape[1])
        self.widths_ = rng.gamma(BUCKETS[self.kernel_.bucket], size=shape) * scale
        self.offsets_ = rng.uniform(size=shape)  # in units of the widths
        self._salts = rng.integers(1 << 63, size=n_hashes, dtype=np.uint64)
        return n_components

    def _check_loaded(self) -> None:
        if not hasattr(self, "_salts"):
            return
        n_hashes = len(check_array(self, "_salts", "u", (None,)))
        shape = n_hashes, check_number(self, "n_features_in_", 1, 1 << 31)
        check_array(self, "widths_", "f", shape)
        check_array(self, "offsets_", "f", shape)
        # Numbers of columns are int32.
        check_number(self, "_n_features_out", max(n_hashes, 1), np.iinfo(np.int32).max)

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return self.n_columns + 2 * len(self._salts)

    def _entries(self, rows: Any) -> tuple[Array, Array]:
        """Return the columns and values of the entries of some rows: [b, m]."""
        dense = np.asarray(rows.toarray() if is_sparse(rows) else rows, np.float64)
        dim = self.widths_.shape[1]
        if dense.shape[1] != dim:  # or compiled code would read beyond the end
            raise ValueError(f"Rows of shape {dense.shape} must have {dim} columns.")
        shape = len(dense), len(self._salts)
        columns, values = np.empty(shape, np.int32), np.empty(shape)
        hash_cells(
            np.ascontiguousarray(dense),
            1 / self.widths_,
            self.offsets_,
            self._salts,
            self.n_columns // len(self._salts),
            self.kernel_.bucket == "tent",
            columns,
            values,
        )
        return columns, values

    @blockwise
    def transform(self, X: Any) -> Any:
        """Return the features of rows.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows; float32 stays float32.

        Returns
        -------
        CSR matrix of shape (n_samples, n_components), or ndarray if not `sparse_output`
        """
        if not self.sparse_output:
            return super().transform(X)
        X = self._valid(X)
        columns, values = self._entries(X)
        starts = np.arange(0, columns.size + 1, columns.shape[1])
        parts = values.ravel().astype(X.dtype), columns.ravel(), starts
        return sp.csr_matrix(parts, shape=(X.shape[0], self.n_columns))

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills the features of a block, dense."""

        def block(rows: Any, out: Array) -> None:
            columns, values = self._entries(rows)
            out[:] = 0
            np.put_along_axis(out, columns.astype(np.intp), values.astype(out.dtype), axis=1)

        return block


@njit(nogil=True, cache=True)
def hash_cells(rows, rates, offsets, salts, n_buckets, tent, columns, values):  # type: ignore[no-untyped-def]
    """Fill the column and the value of every row for every hash function.

    rows [n, d], rates 1/w [m, d], offsets [m, d], salts [m]: IN. columns, values [n, m]: OUT.
    """
    n_hashes = len(salts)
    amplitude = 1 / np.sqrt(n_hashes)
    for row in range(len(rows)):
        for h in range(n_hashes):
            state, weight = salts[h], amplitude
            for k in range(rows.shape[1]):
                place = rows[row, k] * rates[h, k] + offsets[h, k]
                cell = np.floor(place)
                if tent:
                    weight *= ROOT_3 * (1 - abs(2 * (place - cell) - 1))
                # The finaliser of SplitMix64, of the hash so far and the cell in this column.
                state = state ^ np.uint64(np.int64(cell))
                state = state + np.uint64(0x9E3779B97F4A7C15)
                state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                state = state ^ (state >> np.uint64(31))
            columns[row, h] = h * n_buckets + np.int32(
                (state >> np.uint64(1)) % np.uint64(n_buckets)
            )
            values[row, h] = weight if state & np.uint64(1) else -weight
