"""Values of a kernel, or of a user's function that only knows matrices, in blocks of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .._validation import row_norms
from ..kernels import Kernel
from ..rows.threads import block_slices, ordered_map

__all__ = ["KernelFunction", "kernel_diag", "kernel_values", "over_blocks"]

#: Rows and other rows to the matrix of their values.
KernelFunction = Callable[[Any, Any], Array]


def kernel_values(kernel: KernelFunction, rows: Any, others: Any) -> FloatArray:
    """Return the kernel matrix in float64, if the function gave one."""
    matrix = np.array(kernel(rows, others), dtype=np.float64)
    if matrix.shape != (rows.shape[0], others.shape[0]):
        raise ValueError(
            f"kernel={kernel!r} gave an array of shape {matrix.shape} for {rows.shape[0]} and "
            f"{others.shape[0]} rows: it must be vectorised, kernel(X, Y) -> [n_rows_x, n_rows_y]."
        )
    if not np.isfinite(matrix).all():
        raise ValueError(
            f"kernel={kernel!r} gave values that are not finite for rows of norms up to "
            f"{row_norms(rows).max():.3g}: scale the rows down."
        )
    return matrix


def kernel_diag(kernel: KernelFunction, X: Any) -> FloatArray:
    """Return k(x, x) of every row in float64, also for a function that only knows matrices."""
    if isinstance(kernel, Kernel):
        return kernel.diag(X).astype(np.float64)
    diagonal = np.empty(X.shape[0])
    for first in range(0, len(diagonal), 32):
        rows = X[first : first + 32].astype(np.float64)
        diagonal[first : first + 32] = kernel_values(kernel, rows, rows).diagonal()
    return diagonal


def over_blocks(function: Callable[[slice], None], n_rows: int, width: int) -> None:
    """Apply a function to slices of rows, in threads."""
    for _ in ordered_map(function, block_slices(n_rows, width)):
        pass
