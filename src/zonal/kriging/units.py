"""Units of the columns, in which starts make sense, and columns that share a length scale."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..engines.correlation import Correlation
from .numerics import STARTS
from .sample import Parameters

__all__ = ["Units", "column_groups", "column_variance", "log_noise", "share_of"]


def column_groups(rows: Array) -> npt.NDArray[np.intp]:
    """Columns that share a length scale: those of points on a circle or a sphere.

    Two or three columns side by side whose squares have the same sum in every row are one angle
    or one place on the Earth. All others have a length scale of their own.

    Returns
    -------
    ndarray of shape (d,)
        The number of each column's group.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.units import column_groups
    >>> angle, height = np.linspace(0, 6, 50), np.linspace(2, 3, 50)
    >>> column_groups(np.column_stack([np.cos(angle), np.sin(angle), height]))
    array([0, 0, 1])
    """
    n_columns = rows.shape[1]
    squares = np.asarray(rows, np.float64) ** 2
    varies = np.ptp(rows, axis=0) > 0
    groups, first, number = np.empty(n_columns, np.intp), 0, 0
    while first < n_columns:
        width = 1
        for size in (3, 2):
            part = slice(first, first + size)
            sums = squares[:, part].sum(axis=1)
            together = first + size <= n_columns and varies[part].all()
            if together and np.ptp(sums) <= 1e-5 * sums.max():
                width = size
                break
        groups[first : first + width] = number
        first, number = first + width, number + 1
    return groups


@dataclass(frozen=True)
class Units:
    """Units of the columns.

    Attributes
    ----------
    center, spread : ndarrays of shape (d,)
        Columns become (x - center) / spread.
    groups : ndarray of shape (d,)
        Columns of one number share a length scale.
    n_groups : int
    """

    center: FloatArray
    spread: FloatArray
    groups: npt.NDArray[np.intp]
    n_groups: int

    @classmethod
    def of(cls, rows: Array, given: Correlation | None) -> "Units":
        """Standard deviations, or the length scales where a kernel is given."""
        numbers = np.asarray(rows, np.float64)
        center, n_columns = numbers.mean(axis=0), rows.shape[1]
        if given is not None:
            spread = np.broadcast_to(np.asarray(given.length_scale, float), (n_columns,))
            return cls(center, spread, np.zeros(n_columns, np.intp), 1)
        groups = column_groups(rows)
        counts = np.bincount(groups)
        spread = np.sqrt(np.bincount(groups, column_variance(numbers)) / counts)[groups]
        return cls(center, np.where(spread > 0, spread, 1.0), groups, len(counts))

    def starts(
        self, noise: float | None, given: tuple[tuple[float, float], ...] = STARTS
    ) -> list[Parameters]:
        """Parameters to climb from, with the noise if it is given.

        Parameters
        ----------
        noise : float or None
        given : tuple of (float, float)
            Length scales in units of the distance between two random rows, and noise.
        """
        size = math.sqrt(2 * len(self.groups))
        if noise is None:
            pairs = list(given)
        else:
            pairs = [(share, noise) for share in dict.fromkeys(share for share, _ in given)]
        return [
            Parameters(np.full(self.n_groups, math.log(size * share)), log_noise(start))
            for share, start in pairs
        ]


def column_variance(numbers: FloatArray) -> FloatArray:
    """Return the variances of columns, exactly zero for constant ones.

    The mean of equal numbers may round away from them, and what is left would be a unit.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.units import column_variance
    >>> rows = np.full((3001, 1), 0.1)
    >>> bool(rows.var(axis=0) > 0), column_variance(rows).tolist()
    (True, [0.0])
    """
    return np.where(np.ptp(numbers, axis=0) > 0, numbers.var(axis=0), 0.0)


def share_of(length_scale: Any, rows: Array) -> float:
    """The mean length scale in units of the distance between two random rows.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.units import share_of
    >>> round(share_of([1.0, 4.0], np.array([[-1.0, -4.0], [1.0, 4.0]])), 3)
    0.5
    """
    spread = np.sqrt(column_variance(np.asarray(rows, np.float64)))
    scales = np.broadcast_to(np.asarray(length_scale, np.float64), spread.shape)
    relative = np.log(scales[spread > 0] / spread[spread > 0])
    return float(np.exp(relative.mean()) / math.sqrt(2 * len(spread))) if len(relative) else 1.0


def log_noise(noise: float) -> float:
    """The logarithm, -inf for zero."""
    return math.log(noise) if noise > 0 else -math.inf
