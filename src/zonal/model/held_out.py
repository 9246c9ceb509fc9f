r"""Rows that are held out at several distances from those that are known.

A row that is left out alone has other rows beside it: its error is that of interpolation. What a
model knows in a hole is told by rows inside balls that are emptied of all rows, here around
centres drawn from the rows, of the k nearest rows each with :math:`k = n^{1/4}, n^{1/2}, n^{3/4}`:
between the spacing of the rows and the extent of the data, whatever their density and the number
of columns. On the sphere (unit vectors) balls are caps. Beside a column such as time there are two
more kinds of holes: places whose rows of all times are held out, and both ends of the series.

Rows that will be asked may be known. Then the balls are as large as the holes these lie in, and
held-out rows have weights such that their distances to the known rows are distributed like those
of the queries (nearest-neighbour distance matching, Milà et al. 2022).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from .._typing import FloatArray

__all__ = ["HeldOut", "hold_out", "matched_weights", "nearest_distance", "time_like"]

# Rows of balls: these powers of the number of rows.
POWERS = (0.25, 0.5, 0.75)
# At most this share of the rows is held out at once, so that holes are far from each other.
SHARE = 0.2
# So many balls at most, and so many rows of them are asked.
MOST_BALLS, ASKED = 100, 1_500
# Radii of balls for queries: with these shares of the queries at most a third as far from the rows,
# for the mean depth of a disc is a third of its radius.
MATCHED = (0.5, 0.9)
# Distances are matched in so many classes with as many queries in each.
CLASSES = 10
# A column is like time if so many rows share a value, in the mean.
ROWS_A_TIME = 10


@dataclass(frozen=True)
class HeldOut:
    """Rows that are held out together.

    Attributes
    ----------
    kind : {"rows", "balls", "places", "ends"}
        Scattered rows, balls, all times of places, or the ends of a series.
    train : ndarray of shape (n,), bool
        The rows that stay known.
    test : ndarray of shape (s,), int
        Those that are asked: all others or a sample of them, increasing.
    distance : ndarray of shape (s,)
        From each of these to the nearest row that stays.
    """

    kind: str
    train: npt.NDArray[np.bool_]
    test: npt.NDArray[np.intp]
    distance: FloatArray


def hold_out(
    points: FloatArray,
    queries: FloatArray | None = None,
    *,
    time: int | None = None,
    scattered: bool = True,
    n_test: int = ASKED,
    seed: int = 0,
) -> list[HeldOut]:
    """Hold out rows at several distances from the others.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Rows in units in which distances mean something, such as columns divided by length scales.
    queries : ndarray of shape (q, d), optional
        Rows that will be asked, in the same units: balls get the size of the holes they lie in.
    time : int, optional
        The column that is like time (see `time_like`).
    scattered : bool, default=True
        Whether to hold out random rows too, first of all.
    n_test : int
        The most rows that are asked in each part.
    seed : int
        Of the centres. Whoever wants the same rows in any order of storage passes them in one.

    Returns
    -------
    list of HeldOut
        Parts from near to far. Fewer than three rows have none.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.model.held_out import hold_out
    >>> points = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> parts = hold_out(points)
    >>> [part.kind for part in parts]
    ['rows', 'balls', 'balls', 'balls']
    >>> [round(float(part.distance.max()), 2) for part in parts]
    [0.04, 0.05, 0.11, 0.25]
    """
    points = np.asarray(points, np.float64)
    n_rows = len(points)
    if n_rows < 3:
        return []
    rng = np.random.default_rng(seed)
    sets = [("rows", _scattered(n_rows, rng))] if scattered else []
    if queries is not None and len(queries):
        depth = np.quantile(nearest_distance(points, queries), MATCHED)
        for radius in np.unique(3 * depth[depth > 0]):
            sets.append(("balls", _balls(points, rng, radius=radius)))
    else:
        for power in POWERS:
            sets.append(("balls", _balls(points, rng, count=round(n_rows**power))))
    if time is not None:
        sets += _beside_time(points, time, rng)
    parts = []
    for kind, out in sets:
        if out.all() or not out.any():
            continue
        every = np.flatnonzero(out)
        test = np.sort(rng.permutation(every)[:n_test])
        parts.append(HeldOut(kind, ~out, test, nearest_distance(points[~out], points[test])))
    return parts


def nearest_distance(points: FloatArray, queries: FloatArray) -> FloatArray:
    """Return the distance of queries [q, d] to the nearest of points [n, d]: [q]."""
    return np.asarray(cKDTree(points).query(queries)[0])


def time_like(rows: npt.ArrayLike, groups: npt.NDArray[np.intp]) -> int | None:
    """Return the column that is like time: the last one whose values many rows share.

    It must have a length scale of its own, and stand beside the two columns of a place at least.
    The two columns of a flat map are none, and neither are those of a point on a sphere. A single
    column is one in any case: a series.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    groups : ndarray of shape (d,)
        The group of each column, as of `zonal.kriging.units.column_groups`.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.model.held_out import time_like
    >>> place = np.random.default_rng(0).uniform(size=(50, 2))
    >>> rows = np.vstack([np.column_stack([place, np.full(50, t)]) for t in range(20)])
    >>> time_like(rows, np.arange(3))
    2
    """
    table = np.asarray(rows)
    if table.shape[1] == 1:
        return 0
    if table.shape[1] < 3:
        return None
    for column in range(table.shape[1])[::-1]:
        alone = np.count_nonzero(groups == groups[column]) == 1
        n_values = len(np.unique(table[:, column]))
        if alone and 1 < n_values <= len(table) / ROWS_A_TIME:
            return column
    return None


def matched_weights(distance: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return weights of held-out rows with which their distances are distributed like others.

    Distances are put into classes with as many of the wanted ones in each. A class without a
    held-out row joins the next nearer one.

    Parameters
    ----------
    distance : ndarray of shape (s,)
        From held-out rows to the nearest known row.
    wanted : ndarray of shape (q,)
        The same of queries.

    Returns
    -------
    ndarray of shape (s,)
        Of mean one.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.model.held_out import matched_weights
    >>> weight = matched_weights(np.array([0.1, 0.1, 0.1, 5.0]), np.array([0.1, 5.0]))
    >>> weight.round(2)
    array([0.67, 0.67, 0.67, 2.  ])
    """
    edges = np.unique(np.quantile(wanted, np.linspace(0, 1, CLASSES + 1)[1:-1], method="lower"))
    mine, theirs = (np.searchsorted(edges, part) for part in (distance, wanted))
    have = np.bincount(mine, minlength=len(edges) + 1)
    share = np.bincount(theirs, minlength=len(edges) + 1) / len(wanted)
    for k in range(len(edges), 0, -1):
        if not have[k]:
            share[k - 1] += share[k]
            share[k] = 0.0
    occupied = np.flatnonzero(have)
    if occupied[0]:  # nothing is so near: the nearest there are stand for it
        share[occupied[0]] += share[: occupied[0]].sum()
    weight = share[mine] / have[mine]
    return np.asarray(weight * (len(weight) / weight.sum()))


def _scattered(n_rows: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Hold out a tenth of the rows."""
    out = np.zeros(n_rows, bool)
    out[rng.permutation(n_rows)[: max(n_rows // 10, 1)]] = True
    return out


def _balls(
    points: FloatArray,
    rng: np.random.Generator,
    count: int | None = None,
    radius: float | None = None,
) -> npt.NDArray[np.bool_]:
    """Hold out balls of a radius or so many rows, apart from each other."""
    tree, most = cKDTree(points), SHARE * len(points)
    out = np.zeros(len(points), bool)
    centers: list[FloatArray] = []
    radii: list[float] = []
    tried = rng.permutation(len(points))[: 3 * MOST_BALLS]
    for center in _places(points, tried):
        if count is not None:
            size = float(tree.query(center, [min(count, len(points))])[0][0])
        else:
            assert radius is not None
            size = float(radius)
        if centers:
            gap = np.linalg.norm(np.array(centers) - center, axis=1)
            if (gap <= 2 * np.maximum(size, radii)).any():
                continue
        inside = tree.query_ball_point(center, size)
        if centers and out.sum() + len(inside) > most:
            break
        out[inside] = True
        centers.append(center)
        radii.append(size)
        if len(centers) == MOST_BALLS:
            break
    return out


def _places(points: FloatArray, numbers: npt.NDArray[np.intp]) -> Iterator[FloatArray]:
    for number in numbers:
        yield points[number]


def _beside_time(
    points: FloatArray, time: int, rng: np.random.Generator
) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    """Hold out all times of places in balls, and the ends of the series."""
    sets = []
    if points.shape[1] > 1:
        place = np.delete(points, time, axis=1)
        known, index = np.unique(place, axis=0, return_inverse=True)
        if len(known) > 10:
            for power in (0.25, 0.6):
                out = _balls(known, rng, count=round(len(known) ** power))
                sets.append(("places", out[index.ravel()]))
    moments, index = np.unique(points[:, time], return_inverse=True)
    length = round(len(moments) * SHARE / 2)
    if length:
        sets.append(("ends", (index < length) | (index >= len(moments) - length)))
    return sets
