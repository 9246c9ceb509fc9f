"""The exact kernel matrix of many rows, known by its products and its trace."""

from typing import Any

import numpy as np

from ..kernels import Kernel
from ..solvers.products import KernelProduct

__all__ = ["KernelRows"]


class KernelRows(KernelProduct):
    """The kernel matrix K [n, n] of rows, in double precision.

    Float32 kernel values would do for many purposes, but sums of n of them do not: λ may be far
    below ‖K‖.

    Parameters
    ----------
    kernel : Kernel
        With all parameters resolved.
    rows : ndarray or CSR matrix of shape (n, d)
    """

    def __init__(self, kernel: Kernel, rows: Any) -> None:
        super().__init__(kernel, rows, dtype=np.float64)
        self.kernel = kernel
        self.rows = rows

    @property
    def n_rows(self) -> int:
        """The number n of rows."""
        return self.shape[0]

    def trace(self) -> float:
        """Return Tr K, from the diagonal."""
        return float(self.kernel.diag(self.rows).sum(dtype=np.float64))
