"""What the theorems ask of their input, checked with messages that say what to do next."""

from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from sklearn.utils import check_array

from .._typing import FloatArray
from .._validation import check_positive
from ..kernels import Kernel, as_kernel
from ..kernels.points import as_rows

__all__ = [
    "EXACT_ROWS",
    "as_kernel_and_rows",
    "check_fraction",
    "check_lam",
    "check_matrix_free",
    "check_radii",
    "kernel_matrix",
    "shifted",
]

# Above this many rows, functions without a choice of method do not form the n × n matrix.
EXACT_ROWS = 4000


def check_lam(lam: Any, owner: str) -> float:
    """Check λ, and return it as a positive float."""
    return check_positive("lam", lam, owner, extra=": it is the ridge that is added to K")


def check_fraction(name: str, value: Any, owner: str) -> float:
    """Check ε or δ, and return it as a float strictly between zero and one."""
    number = check_positive(name, value, owner, extra=" below 1")
    if number >= 1:
        raise ValueError(f"{name}={value!r} of {owner} must lie strictly between 0 and 1.")
    return number


def check_radii(radii: Any, owner: str) -> FloatArray:
    """Check norms of rows, and return them as a float64 vector."""
    norms = np.atleast_1d(np.asarray(radii, dtype=np.float64))
    if norms.ndim != 1 or not norms.size or not (np.isfinite(norms) & (norms >= 0)).all():
        raise ValueError(
            f"radii={radii!r} of {owner} must be norms of rows: finite numbers of at least 0, at "
            "least one of them."
        )
    return norms


def as_kernel_and_rows(kernel: Any, X: Any, owner: str) -> tuple[Kernel, Any]:
    """Return the kernel, with everything learnt from the rows resolved, and the rows."""
    if X is None:
        raise ValueError(
            f"{owner} was given the kernel {kernel!r} but no rows: pass them as X=..., or pass the "
            "kernel matrix instead of the kernel."
        )
    rows = as_rows(X)
    resolved = as_kernel(kernel).resolve(rows)
    resolved.check()
    return resolved, rows


def check_matrix_free(K: Any, owner: str) -> None:
    """Raise ValueError for a matrix where only a kernel spares one."""
    if not isinstance(K, Kernel | str):
        raise ValueError(
            f'method="sampled" of {owner} spares the n × n matrix, so it takes a kernel and X=..., '
            f"not {type(K).__name__}. For a matrix use method='exact'."
        )


def kernel_matrix(K: Any, X: Any, owner: str) -> tuple[FloatArray, FloatArray]:
    """Return the kernel matrix, given or of a kernel and rows, and its eigenvalues, increasing.

    Both in float64; a matrix that is not symmetric or not positive semi-definite is an error, and
    eigenvalues that are negative by rounding only are zero.
    """
    if isinstance(K, Kernel | str):
        kernel, rows = as_kernel_and_rows(K, X, owner)
        given = kernel(rows)
    elif X is not None:
        raise ValueError(
            f"{owner} was given both a matrix K and rows X: X goes with a kernel, so pass either "
            "the matrix alone or a kernel such as zonal.Gaussian() and X."
        )
    else:
        given = check_array(K, dtype=[np.float64, np.float32], input_name="K")
    if given.shape[0] != given.shape[1]:
        raise ValueError(
            f"K has shape {given.shape}; {owner} needs a square kernel matrix, kernel(X)."
        )
    rounding = float(np.finfo(given.dtype).eps)
    matrix = given.astype(np.float64)
    scale, gap = float(np.abs(matrix).max()), float(np.abs(matrix - matrix.T).max())
    if gap > 100 * rounding * scale:
        raise ValueError(
            f"K is not symmetric: entries differ from their mirror images by up to {gap:.3g}, and "
            f"the largest is {scale:.3g}. {owner} needs a kernel matrix, kernel(X)."
        )
    matrix = (matrix + matrix.T) / 2
    values = np.asarray(eigvalsh(matrix))
    if values[0] < -len(values) * rounding * max(scale, values[-1]):
        raise ValueError(
            f"K is not positive semi-definite: its smallest eigenvalue is {values[0]:.3g} and its "
            f"largest {values[-1]:.3g}. {owner} needs the matrix of a positive definite kernel."
        )
    return matrix, np.maximum(values, 0.0)


def shifted(matrix: FloatArray, lam: float) -> FloatArray:
    """Return K + λ I."""
    result = matrix.copy()
    result[np.diag_indices_from(result)] += lam
    return result
