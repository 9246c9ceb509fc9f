r"""The nearest of some points by products of matrices, for many columns, where trees are slow.

:math:`|x|^2/2 - \langle x, q\rangle` orders points x as their distance from q does. A tile of these
keys is one product, with :math:`|x|^2/2` as one more column; it is read once, against the largest
key among the nearest so far. Sorting every row of keys instead takes two to three times as long.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from .._typing import FloatArray
from ..rows.threads import ordered_map
from .numerics import POINTS, QUERIES

__all__ = ["Scanner"]


class Scanner:
    """Finds nearest points, of all of them or of those before a given one.

    Parameters
    ----------
    points : ndarray of shape (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.scanning import Scanner
    >>> points = np.array([[0.0], [5.0], [2.0], [1.0]])
    >>> Scanner(points).query(np.array([[1.9], [4.0]]), np.array([4, 2]), 2)
    array([[2, 3],
           [1, 0]], dtype=int32)
    """

    def __init__(self, points: FloatArray) -> None:
        self._center = points.mean(axis=0)  # squares of what is far from zero lose digits
        table = np.empty((len(points), points.shape[1] + 1))
        table[:, :-1] = points
        table[:, :-1] -= self._center
        table[:, -1] = 0.5 * np.einsum("ij,ij->i", table[:, :-1], table[:, :-1])
        self._table = table

    def query(
        self, queries: FloatArray, ends: npt.NDArray[np.integer], n_neighbors: int
    ) -> npt.NDArray[np.int32]:
        """Return row numbers of the nearest points, the nearest first: [n_queries, n_neighbors].

        Parameters
        ----------
        queries : ndarray of shape (n_queries, d)
        ends : ndarray of shape (n_queries,)
            Query i looks among the first ``ends[i]`` points; -1 is where these are too few.
        n_neighbors : int
        """
        found = np.full((len(queries), n_neighbors), -1, np.int32)

        def run(start: int) -> None:
            part = slice(start, start + QUERIES)
            self._search(queries[part], ends[part], found[part])

        for _ in ordered_map(run, range(0, len(queries), QUERIES)):
            pass
        return found

    def _search(
        self,
        queries: FloatArray,
        ends: npt.NDArray[np.integer],
        found: npt.NDArray[np.int32],
    ) -> None:
        left = np.ones((len(queries), self._table.shape[1]))
        np.subtract(self._center, queries, out=left[:, :-1])
        least = np.full(found.shape, np.inf)
        for first in range(0, int(ends.max(initial=0)), POINTS):
            keys = left @ self._table[first : first + POINTS].T
            _keep_least(keys, first, ends, found, least)


@njit(nogil=True, cache=True)
def _keep_least(keys, first, ends, found, least):  # type: ignore[no-untyped-def]
    """IN: keys of points from `first` on. IN, OUT: the nearest so far, and their keys."""
    last = found.shape[1] - 1
    for i in range(len(keys)):
        row, names, values = keys[i], found[i], least[i]
        for k in range(min(len(row), ends[i] - first)):
            if row[k] < values[last]:
                place, value = last, row[k]
                while place > 0 and values[place - 1] > value:
                    values[place], names[place] = values[place - 1], names[place - 1]
                    place -= 1
                values[place], names[place] = value, first + k
