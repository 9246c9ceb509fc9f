"""Checks of parameters and rows, with messages that say what to do next."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import Array, FloatArray

__all__ = [
    "canonical",
    "check_choice",
    "check_count",
    "check_positive",
    "is_sparse",
    "norms_agree",
    "row_norms",
]


def check_positive(name: str, value: Any, owner: str, extra: str = "") -> float:
    """Return `value` as a float if it is a finite number above zero."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 0 < float(value) < float("inf"):
        return float(value)
    raise ValueError(f"{name}={value!r} of {owner} must be a positive finite number{extra}.")


def check_count(name: str, value: Any, owner: str, minimum: int = 1, extra: str = "") -> int:
    """Return `value` as an int if it is a whole number of at least `minimum`."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and int(value) >= minimum:
        return int(value)
    raise ValueError(
        f"{name}={value!r} of {owner} must be a whole number of at least {minimum}{extra}."
    )


def check_choice(name: str, value: Any, choices: tuple[str, ...], owner: str) -> str:
    """Return `value` if it is one of the choices."""
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(f"{name}={value!r} of {owner} is not one of {', '.join(map(repr, choices))}.")


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sp.issparse(X))


def row_norms(X: Any) -> FloatArray:
    """Euclidean norms of the rows of an array or CSR matrix, summed in float64."""
    if sp.issparse(X):
        return _sparse_row_norms(X)
    dense: Array = X
    norms = np.sqrt(np.einsum("ij,ij->i", dense, dense, dtype=np.float64))
    huge = ~np.isfinite(norms)
    if huge.any():  # the squares overflow, the norms need not
        norms[huge] = [math.hypot(*row) for row in dense[huge].tolist()]
    return norms


def canonical(X: Any) -> Any:
    """X, with duplicate entries of a sparse matrix summed."""
    matrix: Any = X
    if sp.issparse(X) and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _sparse_row_norms(X: Any) -> FloatArray:
    squares = X.data.astype(np.float64) ** 2
    # reduceat has no notion of an empty row, and cumulative sums would cancel.
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.sqrt(np.bincount(rows, squares, minlength=X.shape[0]))


def norms_agree(norms: FloatArray, rtol: float = 1e-6) -> bool:
    """Whether at least two rows lie on one sphere around the origin."""
    return len(norms) >= 2 and bool(np.ptp(norms) <= rtol * norms.max())
