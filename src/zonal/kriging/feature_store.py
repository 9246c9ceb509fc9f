"""Features of the rows of a process, made when they are first asked for and kept meanwhile.

Weights of neighbours, sums over rows and variances ask for the features of the same rows again and
again; from a few hundred landmarks each takes as long as all the rest.
"""

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .low import LandmarkLow
from .neighbors import Indices
from .numerics import KEPT_FEATURES

__all__ = ["FeatureStore"]


class FeatureStore:
    """Features of rows, by their numbers.

    Parameters
    ----------
    low : LandmarkLow
    rows : ndarray of shape (n, d)
    """

    def __init__(self, low: LandmarkLow, rows: Array) -> None:
        self._low, self._rows = low, rows
        self._values = np.empty((len(rows), low.n_columns))
        self._known = np.zeros(len(rows), bool)
        self._numbers: npt.NDArray[np.integer] | None = None

    @staticmethod
    def has_room(low: LandmarkLow, n_rows: int) -> bool:
        """Tell whether features of so many rows may be kept."""
        return n_rows * low.n_columns <= KEPT_FEATURES

    def part(self, numbers: npt.NDArray[np.integer]) -> "FeatureStore":
        """Return the same for some of the rows, numbered anew; what is made is made for both."""
        part = object.__new__(FeatureStore)
        part.__dict__ |= self.__dict__
        part._numbers = numbers if self._numbers is None else self._numbers[numbers]
        return part

    def at(self, numbers: Indices) -> FloatArray:
        """Return the features of rows: [k, D]."""
        asked = numbers if self._numbers is None else self._numbers[numbers]
        self._make(asked[~self._known[asked]])
        return np.asarray(self._values[asked])

    def table(self, neighbors: Indices) -> FloatArray:
        """Return the features of all rows, made where they are neighbours: [n, D].

        Parameters
        ----------
        neighbors : ndarray of shape (q, m)
            Row numbers, -1 for none, of a store that is no part of another.
        """
        asked = np.zeros(len(self._known) + 1, bool)
        asked[neighbors] = True  # that of none comes last
        self._make(np.flatnonzero(asked[:-1] & ~self._known))
        return self._values

    def _make(self, new: npt.NDArray[np.integer]) -> None:
        """Make features; threads that ask at the same time make the same numbers."""
        if len(new):
            self._values[new] = self._low.features(self._rows[new])
            self._known[new] = True
