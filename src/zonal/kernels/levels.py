r"""Columns of few values, each of which is a level of its own, as a word is.

With what each level counts, u ≥ 0, rows are as far from each other as their levels differ:

.. math:: D(x, y) = \sum_{j: x_j \ne y_j} u_j(x_j) + u_j(y_j)
    = \sum_l u_l\, (a_l(x) - a_l(y))^2,

a the indicators of the levels: squared Euclidean distances of scaled indicators, so that
:math:`e^{-D}` is positive definite.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray

__all__ = ["Levels", "level_distances", "level_slopes"]


@dataclass(frozen=True)
class Levels:
    """The levels of columns.

    Attributes
    ----------
    column : ndarray of shape (L,)
        The column of each level, not decreasing.
    value : ndarray of shape (L,)
        Its value there, increasing within a column.
    """

    column: npt.NDArray[np.intp]
    value: FloatArray

    @classmethod
    def found(cls, rows: Array, most: int) -> Self:
        """Find the levels of the columns that have at most so many, two at least."""
        columns, values = [np.empty(0, np.intp)], [np.empty(0)]
        for j in range(rows.shape[1]):
            own = np.unique(rows[: most + 1, j])
            if len(own) <= most:  # else there is no need to sort all
                own = np.unique(rows[:, j])
            if 2 <= len(own) <= most:
                columns.append(np.full(len(own), j, np.intp))
                values.append(own.astype(np.float64))
        return cls(np.concatenate(columns), np.concatenate(values))

    def __len__(self) -> int:
        """Return the number of levels of all columns together."""
        return len(self.value)

    def indicators(self, rows: Array) -> Array:
        """Tell the level of each column of rows, the one next to its value: [n, L] of 0 and 1."""
        out = np.zeros((len(rows), len(self)), rows.dtype)
        for column in np.unique(self.column):
            mine = np.flatnonzero(self.column == column)
            own = self.value[mine]
            level = np.searchsorted((own[1:] + own[:-1]) / 2, rows[:, column])
            out[np.arange(len(rows)), mine[level]] = 1
        return out


def level_distances(left: Array, right: Array, counts: Array) -> Array:
    """Return D of indicators [n, L] and [m, L]: [n, m].

    Parameters
    ----------
    left, right : ndarrays of shapes (n, L) and (m, L)
    counts : ndarray of shape (L,)
        u.
    """
    counts = counts.astype(left.dtype)
    both = (left * (2 * counts)) @ right.T
    np.subtract((left @ counts)[:, None], both, out=both)
    both += right @ counts
    return np.asarray(np.maximum(both, 0, out=both))


def level_slopes(left: FloatArray, right: FloatArray, factors: FloatArray) -> FloatArray:
    """Return sums over pairs of derivatives of D by u, each times a factor [n, m]: [L]."""
    crossed = np.einsum("nl,nl->l", left, factors @ right)
    return np.asarray(factors.sum(axis=1) @ left + factors.sum(axis=0) @ right - 2 * crossed)
