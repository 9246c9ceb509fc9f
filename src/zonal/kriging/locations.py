r"""Distinct rows in a fixed random order, each with what was observed there.

Rows that repeat a location are averaged with their weights. With W the sum of the weights there
and S the weighted sum of squares about the mean ȳ, observations with noise variance η each have

.. math::

    \log p(y_1, \dots \mid u) = \log \mathcal N(\bar y;\, u, \eta / W) - \tfrac12 \log W
    - \tfrac{W - 1}{2} \log(2 \pi \eta) - \frac{S}{2 \eta},

so that nothing is lost. Where S = 0 all but the first term are left out: rows that agree in
everything are copies or weights, not proof that there is no noise, which is what the density would
take them for. So a row of weight 2 and the row twice are the same: one observation of variance η/2.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..rows import row_hash

__all__ = ["Locations", "locate"]

# What is left of equal numbers when their mean is subtracted, squared.
ROUNDING = 1e-28


@dataclass(frozen=True)
class Locations:
    """Distinct rows and the means of their targets.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        In an order that depends on their content and the seed only.
    targets : ndarray of shape (n, t)
        Weighted means ȳ.
    weight : ndarray of shape (n,)
        W, the sum of the weights at each location.
    within : ndarray of shape (n, t)
        S, the sum of squares about the mean.
    index : ndarray of shape (n_samples,)
        The location of each row given, -1 for rows of weight zero.
    """

    rows: Array
    targets: FloatArray
    weight: FloatArray
    within: FloatArray
    index: npt.NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, numbers: npt.NDArray[np.integer]) -> "Locations":
        """Some locations, given by their numbers, which must increase."""
        place = np.full(len(self) + 1, -1, np.intp)
        place[numbers] = np.arange(len(numbers))
        return Locations(
            self.rows[numbers],
            self.targets[numbers],
            self.weight[numbers],
            self.within[numbers],
            place[self.index],
        )

    def head(self, n_rows: int) -> "Locations":
        """The first locations, which are a random sample."""
        return Locations(
            self.rows[:n_rows],
            self.targets[:n_rows],
            self.weight[:n_rows],
            self.within[:n_rows],
            np.where(self.index < n_rows, self.index, -1),
        )


def locate(
    X: Array,
    Y: Array,
    weight: FloatArray | None = None,
    seed: int = 0,
    learnt: bool = False,
) -> Locations:
    """Merge rows that are equal, and order them by a hash of their content.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    Y : ndarray of shape (n, t)
        Targets.
    weight : ndarray of shape (n,), optional
        Rows of weight zero are left out.
    seed : int, default=0
        Another one gives another order.
    learnt : bool, default=False
        Whether the columns were learnt from targets. Then rounding of these, as in another unit,
        is in all rows and would make another hash: it is that of their ranks along a line.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.locations import locate
    >>> found = locate(np.array([[1.0], [2.0], [1.0]]), np.array([[3.0], [0.0], [5.0]]))
    >>> sorted(zip(found.rows[:, 0].tolist(), found.targets[:, 0].tolist()))
    [(1.0, 4.0), (2.0, 0.0)]
    """
    weights = np.ones(len(X)) if weight is None else np.asarray(weight, np.float64)
    used = np.flatnonzero(weights > 0)
    hashes = _content_hash(X[used], seed)
    if learnt:
        hashes = _rank_hash(X[used], hashes, seed)
    order = used[np.argsort(hashes, kind="stable")]
    rows, weights = X[order], weights[order]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    group = np.cumsum(first) - 1
    targets = np.asarray(Y, np.float64)[order]
    total = np.add.reduceat(weights, starts)
    mean = np.add.reduceat(weights[:, None] * targets, starts, axis=0) / total[:, None]
    if len(starts) < len(rows):
        squares = weights[:, None] * (targets - mean[group]) ** 2
        within = np.add.reduceat(squares, starts, axis=0)
        within[within <= ROUNDING * total[:, None] * mean**2] = 0.0
    else:
        mean, within = targets, np.zeros_like(targets)
    index = np.full(len(X), -1, np.intp)
    index[order] = group
    return Locations(rows[starts], mean, total, within, index)


def _content_hash(X: Array, seed: int) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row's numbers, the same for float32 and float64."""
    hashes = np.full(len(X), seed, np.uint64)
    for column in X.T:
        bits = (np.asarray(column, np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
        hashes = row_hash(hashes + bits)
    return hashes


def _rank_hash(X: Array, content: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row's rank along a line, which a little rounding does not change.

    Equal rows, of the same hash of their content, have the same rank. The line is in no special
    direction, so that hardly any others do.
    """
    direction = 1.0 + row_hash(np.arange(1, X.shape[1] + 1)) / 2.0**64
    along = np.zeros(len(X))
    for step, column in zip(direction, X.T, strict=True):  # a product may round equal rows apart
        along += step * np.asarray(column, np.float64)
    order = np.lexsort((content, along))
    rank = np.zeros(len(X), np.uint64)
    rank[1:] = np.cumsum(content[order][1:] != content[order][:-1])
    hashes = np.empty_like(content)
    hashes[order] = row_hash(rank + np.uint64(seed))
    return hashes
