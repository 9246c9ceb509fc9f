"""Rows of a matrix as compiled loops like them: one after the other in one array."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from .._typing import Array

__all__ = ["flat_rows"]


@contextmanager
def flat_rows(out: Array, dtype: npt.DTypeLike) -> Iterator[tuple[Array, int]]:
    """Yield a matrix to be filled as one array of a given type, and the distance of its rows.

    Row r is ``flat[r * pitch : r * pitch + n_columns]``. The type of a matrix that is a part of
    a wider one does not say that the numbers of a row are neighbours, and then loops over them
    are not vectorised: up to 4 times slower. Any other matrix is filled at the end, from a copy.

    Parameters
    ----------
    out : ndarray of shape (n_rows, n_columns)
        The matrix.
    dtype : dtype
        The type of the numbers that are written.

    Yields
    ------
    flat : ndarray
        From the first number of the matrix to its last one.
    pitch : int

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.engines.layout import flat_rows
    >>> wide = np.zeros((2, 5))
    >>> with flat_rows(wide[:, 1:4], np.float64) as (flat, pitch):
    ...     flat[:3], flat[pitch : pitch + 3] = 1, 2
    >>> wide.astype(int)
    array([[0, 1, 1, 1, 0],
           [0, 2, 2, 2, 0]])
    """
    n_rows, n_columns = out.shape
    pitch, rest = divmod(out.strides[0], out.itemsize)
    direct = out.dtype == dtype and out.strides[1] == out.itemsize
    if not (direct and rest == 0 and pitch >= n_columns):
        copy = np.empty(out.shape, dtype)
        yield copy.reshape(-1), n_columns
        out[:] = copy
        return
    size = (n_rows - 1) * pitch + n_columns if out.size else 0
    yield as_strided(out, (size,), (out.itemsize,)), pitch
