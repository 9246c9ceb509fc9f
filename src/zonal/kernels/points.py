"""Rows as points: checks, inner products and angles."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

from .._typing import Array, FloatArray
from .._validation import canonical, check_values, is_plain, row_norms

__all__ = ["as_rows", "check_columns", "cosines", "dots", "inverse_norms"]


def as_rows(X: Any) -> Any:
    """Return X as a two-dimensional float array or CSR matrix, finite and not empty."""
    if is_plain(X):
        return X
    check_values(X, "X")
    return canonical(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]))


def dots(rows: Any, others: Any) -> Array:
    """Return inner products, dense: [n_rows, n_others] (`others` may be None: the same rows)."""
    right = rows if others is None else others
    return np.asarray(safe_sparse_dot(rows, right.T, dense_output=True))


def cosines(rows: Any, others: Any) -> Array:
    """Return cosines of the angles between rows, in float64; zero where a row has norm zero.

    Functions of the angle lose half of the digits near 1, which float32 does not have to spare.
    """
    norm_x = row_norms(rows)
    norm_y = norm_x if others is None else row_norms(others)
    inverse_x, inverse_y = (
        np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0) for norm in (norm_x, norm_y)
    )
    cos = dots(
        rows.astype(np.float64, copy=False),
        None if others is None else others.astype(np.float64, copy=False),
    )
    cos = cos * inverse_x[:, None] * inverse_y
    np.clip(cos, -1, 1, out=cos)
    if others is None:  # arccos would turn a rounding error of 1e-16 into one of 1e-8
        np.fill_diagonal(cos, (norm_x > 0).astype(cos.dtype))
    return cos


def check_columns(rows: Any, others: Any) -> None:
    """Raise ValueError if two sets of rows differ in their number of columns."""
    if rows.shape[1] != others.shape[1]:
        raise ValueError(
            f"X has {rows.shape[1]} columns and Y has {others.shape[1]}; they must have the "
            "same number."
        )


def inverse_norms(norms: FloatArray, dtype: npt.DTypeLike) -> Array:
    """Return 1 / norm, zero for zero, and no infinity where a float32 cannot hold the inverse."""
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return np.minimum(inverse, float(np.finfo(dtype).max)).astype(dtype)
