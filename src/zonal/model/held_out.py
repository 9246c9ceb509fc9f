r"""Rows that are held out at several distances from those that are known.

A row that is left out alone has other rows beside it: its error is that of interpolation. What a
model knows in a hole is told by rows inside balls that are emptied of all rows, here around
centres drawn from the rows, of the k nearest rows each, :math:`k = n^{0.25}, n^{0.45}, n^{0.65}`:
between the spacing of the rows and the extent of the data, whatever their density and the number
of columns. On the sphere (unit vectors) balls are caps. Beside a column such as time all but the
smallest balls are of places, whose rows of all times are held out: a ball of rows ends in time too,
and its rows have others of the same place near them. Both ends of the series are holes as well, and
those of its middle as if it were all.

Rows that will be asked may be known. Then the balls are as large as the holes these lie in, and
held-out rows have weights such that their distances to the known rows are distributed like those
of the queries (nearest-neighbour distance matching, Milà et al. 2022).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from .._typing import FloatArray

__all__ = [
    "LEAST_HOLES",
    "HeldOut",
    "hold_out",
    "matched_weights",
    "nearest_distance",
    "time_like",
]

#: The hole that each row lies in; KNOWN: none; UNKNOWN: none, and it is not known either.
Holes = npt.NDArray[np.intp]
KNOWN, UNKNOWN = -1, -2
#: A kind of holes, and what draws them.
Draws = tuple[str, Sequence[Callable[[], Holes]]]

# Rows of balls: these powers of the number of rows. Of 50,000 rows in two columns: balls 4, 13 and
# 38 spacings across, with 100, 100 and 9 of them in a fifth of the rows.
POWERS = (0.25, 0.45, 0.65)
# At most this share of the rows is held out at once, so that holes are far from each other.
SHARE = 0.2
# So many balls at most, and so many rows of them are asked: 90 % intervals that hold in so many
# independent rows are known to within 3 %.
MOST_BALLS, ASKED = 100, 1_000
# Balls for queries: with these shares of the queries at most a third of the radius from the rows,
# for the mean depth of a disc is a third of its radius.
MATCHED = (0.5, 0.9)
# Distances are matched in so many classes with as many queries in each.
CLASSES = 10
# Regions at the ends of a series, each of which counts as a hole.
REGIONS = 20
# How many ends are asked, each from a middle of the series that is shorter: at one end all places
# may err together, and two ends are two draws. A straight line through the last weeks had an error
# of 8 °C at these by chance, and one of 60 °C beyond the last day.
TURNS = 3
# A series of no more times does not go on.
FEW_TIMES = 12
#: Holes of each size that tell of a new one: with fewer, 90 % of a new one are beyond all scores.
LEAST_HOLES = 9
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
        Those that are asked, increasing: all others or a sample of them, and beside a shorter
        series its ends.
    distance : ndarray of shape (s,)
        From each of these to the nearest row that stays.
    hole : ndarray of shape (s,), int
        The number of the hole each of these lies in: errors in one hole go together.
    """

    kind: str
    train: npt.NDArray[np.bool_]
    test: npt.NDArray[np.intp]
    distance: FloatArray
    hole: npt.NDArray[np.intp]


def hold_out(
    points: FloatArray,
    wanted: FloatArray | None = None,
    *,
    time: int | None = None,
    scattered: bool = True,
    n_test: int = ASKED,
    least_holes: int = 1,
    seed: int = 0,
) -> list[HeldOut]:
    """Hold out rows at several distances from the others.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Rows in units in which distances mean something, such as columns divided by length scales,
        in random order.
    wanted : ndarray of shape (q,), optional
        The distances from rows that will be asked to the nearest of these (`nearest_distance`):
        balls get the size of the holes they lie in.
    time : int, optional
        The column that is like time (see `time_like`).
    scattered : bool, default=True
        Whether to hold out the last tenth of the rows too, first of all.
    n_test : int
        The most rows that are asked of each size of holes.
    least_holes : int
        How many holes of each size are wanted. Where there is no room for them at once, several
        parts have holes of that size.
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
    [0.03, 0.05, 0.12, 0.15]
    """
    points = np.asarray(points, np.float64)
    n_rows = len(points)
    if n_rows < 3:
        return []
    rng = np.random.default_rng(seed)
    draws: list[Draws] = []
    if scattered:
        draws.append(("rows", [partial(_scattered, n_rows)]))
    if wanted is None:
        powers = POWERS if time is None or points.shape[1] == 1 else POWERS[:1]
        counts = [round(n_rows**power) for power in powers]
        draws += [("balls", [partial(_balls, points, rng, count=count)]) for count in counts]
    else:
        radii = [size for size in np.unique(3 * np.quantile(wanted, MATCHED)) if size]
        draws += [("balls", [partial(_balls, points, rng, radius=size)]) for size in radii]
    if time is not None:
        draws += _beside_time(points, time, rng)
    parts = []
    for kind, each in draws:
        sets = [holes for draw in each for holes in _several(draw, least_holes)]
        parts += [_part(points, kind, one, max(n_test // len(sets), 1), rng) for one in sets]
    return parts


def _several(draw: Callable[[], Holes], least: int) -> list[Holes]:
    """Draw holes until there are so many, or as many draws; none where nothing stays known."""
    sets: list[Holes] = []
    n_holes = 0
    while n_holes < least and len(sets) < least:
        holes = draw()
        if not ((holes == KNOWN).any() and (holes >= 0).any()):
            break
        sets.append(holes)
        n_holes += len(np.unique(holes[holes >= 0]))
    return sets


def _part(
    points: FloatArray, kind: str, holes: Holes, n_test: int, rng: np.random.Generator
) -> HeldOut:
    known = holes == KNOWN
    test = np.sort(rng.permutation(np.flatnonzero(holes >= 0))[:n_test])
    distance = nearest_distance(points[known], points[test])
    return HeldOut(kind, known, test, distance, holes[test])


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


def _scattered(n_rows: int) -> Holes:
    """Return the hole of each row, -1 for none: a tenth of the rows, each its own.

    The last ones, for the order is random: a fit that is known by the first rows stays as it is.
    """
    holes = np.full(n_rows, KNOWN)
    n_out = max(n_rows // 10, 1)
    holes[-n_out:] = np.arange(n_out)
    return holes


def _balls(
    points: FloatArray,
    rng: np.random.Generator,
    count: int | None = None,
    radius: float = 0.0,
) -> Holes:
    """Return the hole of each row: balls of so many rows or of a radius, apart from each other."""
    tree, left = cKDTree(points), SHARE * len(points)
    holes = np.full(len(points), KNOWN)
    centers = points[rng.permutation(len(points))[: 3 * MOST_BALLS]]
    radii = np.full(len(centers), radius)
    if count is not None:
        radii = np.asarray(tree.query(centers, [min(count, len(points))])[0])[:, 0]
    taken: list[int] = []
    for number, center in enumerate(centers):
        gaps = np.linalg.norm(centers[taken] - center, axis=1)
        if (gaps <= 2 * np.maximum(radii[number], radii[taken])).any():
            continue
        inside = tree.query_ball_point(center, radii[number])
        if (taken and len(inside) > left) or len(taken) == MOST_BALLS:
            break
        holes[inside] = len(taken)
        taken.append(number)
        left -= len(inside)
    return holes


def _beside_time(points: FloatArray, time: int, rng: np.random.Generator) -> list[Draws]:
    """Return what draws holes of all times of places in balls, and both ends of the series."""
    moments, index = np.unique(points[:, time], return_inverse=True)
    # Of few times, such as the months of a year, one at an end is no forecast: rows beside it in
    # time are as near as those beside rows between, and err a hundred times as much.
    length = round(len(moments) * SHARE / 2) if len(moments) > FEW_TIMES else 0
    last = len(moments) - 1 - index
    end, depth = (last < index).astype(int), np.minimum(index, last) // max(length, 1)
    turns = range(TURNS) if length else ()
    if points.shape[1] == 1:
        return [("ends", [partial(_ends, end, depth, turn) for turn in turns])]
    place = np.delete(points, time, axis=1)
    places, index = np.unique(place, axis=0, return_inverse=True)

    def emptied(count: int) -> Holes:
        return _balls(places, rng, count=count)[index.ravel()]

    def regions(turn: int) -> Holes:
        # At an end, errors far apart in space are draws of their own: regions count as holes.
        centers = places[rng.permutation(len(places))[:REGIONS]]
        region = cKDTree(centers).query(place)[1]
        return _ends(2 * region + end, depth, turn)

    counts = [round(len(places) ** power) for power in POWERS]
    return [
        *(("places", [partial(emptied, count)]) for count in counts),
        ("ends", [partial(regions, turn) for turn in turns]),
    ]


def _ends(hole: Holes, depth: npt.NDArray[np.intp], turn: int) -> Holes:
    """Return holes beside the middle of a series, of which so many lengths are cut at each end."""
    return np.where(depth > turn, KNOWN, np.where(depth == turn, hole, UNKNOWN))
