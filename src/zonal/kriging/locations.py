r"""Distinct rows in a fixed random order, each with what was observed there.

Rows that repeat a location are averaged with their weights. Of m observations with noise variances
η/w_k each, with W the sum of their weights and S the weighted sum of squares about the mean ȳ,

.. math::

    \log p(y_1, \dots, y_m \mid u) = \log \mathcal N(\bar y;\, u, \eta / W)
    + \tfrac12 \Big(\sum_k \log w_k - \log W\Big)
    - \tfrac{m - 1}{2} \log(2 \pi \eta) - \frac{S}{2 \eta},

so that nothing is lost. Where S = 0 all but the first term are left out: rows that agree in
everything are copies of one observation, which has the sum of their weights (see
`zonal.rows.copies`).
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..rows import row_hash
from ..rows.copies import content_hash
from .numerics import ROUNDING

__all__ = ["Locations", "Repeated", "locate"]


class Repeated(NamedTuple):
    """What is observed at a location beyond the mean of the targets there.

    Attributes
    ----------
    within : ndarray of shape (n, t)
        S, the weighted sum of squares about the mean.
    more : ndarray of shape (n,)
        m - 1, the number of observations beyond the first.
    log_weight : ndarray of shape (n,)
        log W - Σ log w_k, zero for a single observation.
    """

    within: FloatArray
    more: FloatArray
    log_weight: FloatArray

    @classmethod
    def nothing(cls, n_rows: int, n_targets: int) -> "Repeated":
        """Return single observations."""
        return cls(np.zeros((n_rows, n_targets)), np.zeros(n_rows), np.zeros(n_rows))

    def part(self, chosen: Any) -> "Repeated":
        """Return that of some locations, by their numbers or a slice."""
        return Repeated(*(values[chosen] for values in self))

    def over(self, amplitude: FloatArray) -> "Repeated":
        """Return that of observations whose noise is larger by a factor at each location: [n]."""
        return Repeated(
            self.within / amplitude[:, None] ** 2,
            self.more,
            self.log_weight + 2 * self.more * np.log(amplitude),
        )


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
    repeated : Repeated
        What several observations there tell beyond their mean.
    index : ndarray of shape (n_samples,)
        The location of each row given, -1 for rows of weight zero.
    """

    rows: Array
    targets: FloatArray
    weight: FloatArray
    repeated: Repeated
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
            self.repeated.part(numbers),
            place[self.index],
        )

    def moved(self, rows: Array) -> "Locations":
        """The same, observed elsewhere: warped rows [n, d] in the order of these."""
        return replace(self, rows=rows)

    def over(self, amplitude: FloatArray) -> "Locations":
        """The same of targets, about zero, and noise that are smaller by a factor at each: [n]."""
        targets = self.targets / amplitude[:, None]
        return replace(self, targets=targets, repeated=self.repeated.over(amplitude))

    def head(self, n_rows: int) -> "Locations":
        """The first locations, which are a random sample."""
        return Locations(
            self.rows[:n_rows],
            self.targets[:n_rows],
            self.weight[:n_rows],
            self.repeated.part(slice(n_rows)),
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
    hashes = content_hash(X[used], seed)
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
    repeated = Repeated.nothing(len(starts), targets.shape[1])
    if len(starts) < len(rows):
        repeated = _repeated(targets, weights, mean, total, group)
    else:
        mean = targets
    index = np.full(len(X), -1, np.intp)
    index[order] = group
    return Locations(rows[starts], mean, total, repeated, index)


def _repeated(
    targets: FloatArray,
    weights: FloatArray,
    mean: FloatArray,
    total: FloatArray,
    group: npt.NDArray[np.intp],
) -> Repeated:
    """Return what rows of the same group, each a location, tell beyond their mean."""
    n_places = len(total)
    squares = weights[:, None] * (targets - mean[group]) ** 2
    within: FloatArray = np.column_stack(
        [np.bincount(group, column, n_places).astype(np.float64) for column in squares.T]
    )
    within[within <= ROUNDING * total[:, None] * mean**2] = 0.0
    several = within.any(axis=1)
    more = np.where(several, np.bincount(group, minlength=n_places) - 1.0, 0.0)
    log_weight = np.log(total) - np.bincount(group, np.log(weights), n_places)
    return Repeated(within, more, np.where(several, log_weight, 0.0))


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
