r"""Deviations that grow with the distance to the nearest rows faster or slower than a model says.

Errors over the model's own deviations, z, should have one distribution at every distance d. Where
they do not, deviations get a factor exp c(log d), with c linear between three distances: that of
rows that are left out alone, where it is zero, one deep in holes, and one between. There

.. math:: c_j = \operatorname{mean}_p \log \frac{Q_p(|z| : \text{rows in holes, near } d_j)}
    {Q_p(|z| : \text{rows left out alone})}, \qquad p = 0.9, 0.95,

each row counting by its hat function, and c_j belongs to the mean log distance of what counts.
Beyond the last distance c stays: what the model says there, the variance of the whole field, has
the factor of the deepest rows that were seen. Errors in one hole go together, so that a c is known
but to a standard error s over holes (the jackknife): a positive one counts
:math:`c^2/(c^2 + s^2)` times, and a negative one, which makes intervals narrower,
:math:`(1 - 4 s^2/c^2)_+` times: nothing within two standard errors.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from .quantiles import MeanQuantiles, ScoreQuantiles

__all__ = ["DistanceScale", "distance_scale", "held_at_distances"]

# Quantiles of absolute scores that are compared: the ends of 90 % and 95 % intervals.
LEVELS = (0.9, 0.95)
# Groups of holes, each of which is left out for the standard error.
GROUPS = 10
# Classes of distances in which coverage is told, in spacings of the rows; none of fewer rows.
EDGES, LEAST_ROWS = (0.0, 1.5, 3.0, 6.0, 12.0, np.inf), 50


@dataclass(frozen=True)
class DistanceScale:
    """The logarithm of a factor of deviations, linear in the logarithm of the distance.

    Attributes
    ----------
    nodes : ndarray of shape (k,)
        Logarithms of distances, increasing; beyond them the factor is that of the last one.
    values : ndarray of shape (k, n_targets)
        Logarithms of factors there.
    """

    nodes: FloatArray
    values: FloatArray

    def at(self, distance: FloatArray) -> FloatArray:
        """Return log factors at distances to the nearest row: [n, n_targets]."""
        x = _log(distance)
        return np.column_stack([np.interp(x, self.nodes, column) for column in self.values.T])


def distance_scale(
    near: FloatArray,
    near_distance: FloatArray,
    far: FloatArray,
    far_distance: FloatArray,
    holes: npt.NDArray[np.intp],
) -> DistanceScale | None:
    """Compare scores in holes with those of rows that are left out alone.

    Parameters
    ----------
    near : ndarray of shape (s, n_targets)
        Scores of rows that are left out alone.
    near_distance : ndarray of shape (s,)
        Their distances to the nearest other row.
    far, far_distance : ndarrays of shape (r, n_targets) and (r,)
        The same of rows in holes.
    holes : ndarray of shape (r,)
        Which hole each of these lies in.

    Returns
    -------
    DistanceScale or None
        None: the model's own deviations hold at all distances, as far as one can tell.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.calibration.distance import distance_scale
    >>> rng = np.random.default_rng(0)
    >>> distance = np.repeat(rng.uniform(1, 10, 200), 5)
    >>> far = distance[:, None] ** 0.5 * rng.standard_normal((1000, 1))
    >>> near = rng.standard_normal((1000, 1))
    >>> found = distance_scale(near, np.ones(1000), far, distance, np.arange(1000) // 5)
    >>> np.exp(found.at(np.array([1.0, 9.0]))).round(1).ravel().tolist()
    [1.0, 2.7]
    """
    first, last = float(np.median(_log(near_distance))), float(np.quantile(_log(far_distance), 0.9))
    if last <= first:
        return None
    nodes, x = np.linspace(first, last, 3), _log(far_distance)
    hats = _hats(x, nodes)
    for number, hat in enumerate(hats.T[1:], start=1):
        if hat.any():
            nodes[number] = np.average(x, weights=hat)
    values = np.zeros((len(nodes), near.shape[1]))
    for target in range(near.shape[1]):
        base = _log_quantiles(np.abs(near[:, target]), np.ones(len(near)))
        for node in (1, 2):
            scores = np.abs(far[:, target])
            values[node, target] = _beyond_chance(scores, hats[:, node], holes, base)
    return DistanceScale(nodes, values) if values.any() else None


def held_at_distances(
    scores: FloatArray,
    distance: FloatArray,
    spacing: float,
    quantiles: ScoreQuantiles | MeanQuantiles,
) -> FloatArray:
    """Return how much 90 % and 95 % intervals hold at several distances.

    Parameters
    ----------
    scores : ndarray of shape (n, n_targets)
        Errors over deviations, of rows that were not seen.
    distance : ndarray of shape (n,)
        Their distances to the nearest known row.
    spacing : float
        The distance of a known row from the next, typically.
    quantiles : ScoreQuantiles or MeanQuantiles
        Those of the intervals.

    Returns
    -------
    ndarray of shape (k, 5)
        The least and the largest distance of a class in spacings, the number of rows, and the
        shares that intervals of 90 % and 95 % hold.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.calibration.distance import held_at_distances
    >>> from zonal.calibration.quantiles import ScoreQuantiles
    >>> scores = np.random.default_rng(0).standard_normal((1000, 1))
    >>> quantiles = ScoreQuantiles.of(scores)
    >>> held_at_distances(scores, np.repeat([1.0, 5.0], 500), 1.0, quantiles)[:, :3]
    array([[  0. ,   1.5, 500. ],
           [  3. ,   6. , 500. ]])
    """
    low90, low95, high95, high90 = quantiles.at([0.05, 0.025, 0.975, 0.95])
    in90 = ((low90 <= scores) & (scores <= high90)).mean(axis=1)
    in95 = ((low95 <= scores) & (scores <= high95)).mean(axis=1)
    found = []
    for least, most in pairwise(EDGES):
        mine = (distance > least * spacing) & (distance <= most * spacing)
        if mine.sum() >= LEAST_ROWS:
            found.append([least, most, mine.sum(), in90[mine].mean(), in95[mine].mean()])
    return np.array(found, np.float64).reshape(-1, 5)


def _hats(x: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return the shares of each node in linear interpolation: [n, k]."""
    return np.column_stack([np.interp(x, nodes, one) for one in np.eye(len(nodes))])


def _beyond_chance(
    scores: FloatArray, weight: FloatArray, holes: npt.NDArray[np.intp], base: FloatArray
) -> float:
    """Return the log ratio of quantiles to others, as far as it is not chance."""
    counted = weight > 0
    scores, weight = scores[counted], weight[counted]
    _, numbers = np.unique(holes[counted], return_inverse=True)
    groups = numbers.ravel() % GROUPS
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups < 2:
        return 0.0
    value = float((_log_quantiles(scores, weight) - base).mean())
    others = [
        float((_log_quantiles(scores[groups != g], weight[groups != g]) - base).mean())
        for g in range(n_groups)
    ]
    square = (n_groups - 1) * float(np.var(others))
    # Training rows of elevation (20,000 rows), holes in six folds: 90 % intervals hold 87 % of the
    # rows at 6 to 12 spacings in this way, 82 % with (1 - s²/c²)₊ and 80 % with no factor; farther
    # away 94, 83 and 81 %. With c itself 99 %, and a larger interval score than with none. On a
    # field whose model is right, intervals made narrower by easy holes held 74 % in others, not 84.
    if value > 0:
        return value**3 / (value**2 + square)
    return value * max(0.0, 1 - 4 * square / value**2) if value else 0.0


def _log_quantiles(scores: FloatArray, weight: FloatArray) -> FloatArray:
    order = np.argsort(scores)
    totals = np.cumsum(weight[order])
    places = np.searchsorted(totals, np.array(LEVELS) * totals[-1])
    found = scores[order][np.minimum(places, len(scores) - 1)]
    return _log(found)


def _log(distance: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(distance, np.finfo(float).tiny)))
