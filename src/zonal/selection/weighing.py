r"""Weights of candidates that may change with the distance to the nearest rows.

Three distances stand for all: that of rows which are held out alone, one deep in holes, and one
between. A row counts for each by its share in linear interpolation (`hats`), and each of the three
counts alike: losses are over the mean loss of the first candidate there. Where it is known what
will be asked, rows count as queries at their distances do.

The answers that are tried, from simple to less so, are one candidate alone, a mean with constant
weights, and one whose weights change with the distance. A less simple one is taken if it is better
beyond chance, by its losses and in the holes, which are the unit: rows in one hole err together.
Weights are judged in holes that did not find them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..calibration.distance import GROUPS
from ..calibration.variance import LEAST_GAIN
from ..model.distance_weights import DistanceWeights, hats
from ..model.held_out import matched_weights
from .distances import Distances
from .weights import DEVIATIONS, LEAST_WEIGHT, simplex_weights

__all__ = ["Verdict", "verdict"]

# Distances that have weights of their own.
NODES = ("near", "between", "far")
# What is deep in holes: all but a tenth of the rows there is nearer to others.
DEEP = 0.9


@dataclass(frozen=True)
class Verdict:
    """What held-out rows at several distances say of candidates.

    Attributes
    ----------
    errors : ndarray of shape (n_candidates, k)
        Squared errors near, between and far, over those of the mean.
    chosen : tuple of int
        The candidates that are left.
    weighing : DistanceWeights
        Of these; constant weights have one node.
    """

    errors: FloatArray
    chosen: tuple[int, ...]
    weighing: DistanceWeights


def verdict(held: Distances, predicted: FloatArray, blend: bool = True) -> Verdict:
    """Weigh candidates by what they have said of held-out rows.

    Parameters
    ----------
    held : Distances
    predicted : ndarray of shape (n_candidates, n, t)
        The simplest candidate first.
    blend : bool
        Whether more than one may be left.
    """
    truth, distance, holes = held.truth, held.distance, held.holes
    nodes = _nodes(distance, held.is_alone)
    here = hats(distance, nodes)
    shares = _told(here, held.is_alone)
    losses = np.square(truth[None] - predicted).mean(axis=2)
    rows = held.weight * np.ones(len(truth))
    if held.wanted is None:
        count, weight = (rows * _balanced(one * rows, shares) for one in (1.0, losses[0]))
    else:
        count = weight = rows * matched_weights(distance, held.wanted)

    def is_better(new: FloatArray, old: FloatArray) -> bool:
        gain = 1 - (weight @ new) / (weight @ old) if weight @ old > 0 else 0.0
        return bool(gain > LEAST_GAIN and _sure(new, old, count, holes))

    alone = 0
    for number in range(1, len(predicted)):
        if is_better(losses[number], losses[alone]):
            alone = number
    best, found = losses[alone], np.eye(len(predicted))[alone][None]
    mean = np.square(truth).mean(axis=1)
    errors = (losses @ shares) / np.maximum(mean @ shares, np.finfo(float).tiny)
    # Whoever errs more than the mean of all rows somewhere has no weight there, whatever cancels:
    # a straight line beyond the last day is wrong without bound.
    sound = ((errors < 1) | (errors == errors.min(axis=0))).T
    everywhere = np.ones((len(truth), 1))
    forms = ((everywhere, everywhere), (shares, here)) if blend and len(predicted) > 1 else ()
    for told, used in forms:
        allowed = sound.all(axis=0)[None] if told is everywhere else sound
        if not allowed.any(axis=1).all():
            continue
        unseen = _unseen(predicted, truth, weight, told, used, holes, allowed)
        if is_better(unseen, best):
            best, found = unseen, _pruned(predicted, truth, weight, told, allowed)
    counts = found.any(axis=0)
    counts[0] |= len(found) > 1  # distances are in its units
    chosen = np.flatnonzero(counts)
    own = here if len(found) > 1 else everywhere
    weighing = DistanceWeights(
        nodes if len(found) > 1 else nodes[:1],
        found[:, chosen],
        _spread(predicted[chosen], truth, found[:, chosen], own),
    )
    return Verdict(errors, tuple(chosen.tolist()), weighing)


def _nodes(distance: FloatArray, alone: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the logarithms of the distances that have weights of their own."""
    logs = np.log(np.maximum(distance, np.finfo(float).tiny))
    first = float(np.median(logs[alone])) if alone.any() else float(logs.min())
    last = float(np.quantile(logs[~alone], DEEP)) if not alone.all() else first
    return np.linspace(first, last, len(NODES)) if last > first else np.array([first])


def _told(shares: FloatArray, alone: npt.NDArray[np.bool_]) -> FloatArray:
    """Return what rows tell of each node: of the nearest one, rows that were held out one by one.

    Rows in holes err many times as much at the same distance, and would decide there too: on one
    split of climate_berkeley the mean had .55 at random rows, the better candidate .28 alone.
    """
    told = shares.copy()
    if told.shape[1] > 1:
        told[~alone, 1] += told[~alone, 0]
        told[~alone, 0] = 0.0
    return told


def _balanced(losses: FloatArray, shares: FloatArray) -> FloatArray:
    """Return weights of rows with which each node has the same sum of losses: [n]."""
    sums = losses @ shares
    return np.asarray(shares @ np.where(sums > 0, 1 / np.where(sums > 0, sums, 1.0), 0.0))


def _sure(new: FloatArray, old: FloatArray, count: FloatArray, holes: npt.NDArray[np.intp]) -> bool:
    """Tell whether losses are smaller in so many holes that it is no chance.

    Of each hole the gain over the sum of both losses counts, from -1 to 1: one hole may have most
    of all losses, and is one draw.
    """
    mine, theirs, shares = (np.bincount(holes, count * one) for one in (new, old, 1.0))
    used = mine + theirs > 0
    gains = (theirs - mine)[used] / (theirs + mine)[used]
    shares = shares[used] / max(shares[used].sum(), np.finfo(float).tiny)
    mean = shares @ gains
    error = np.sqrt(np.square(shares * (gains - mean)).sum())
    # What one hole alone gains is one standard error already.
    return bool(mean > 2 * DEVIATIONS * error and used.sum() > 1)


def _unseen(
    predicted: FloatArray,
    truth: FloatArray,
    weight: FloatArray,
    told: FloatArray,
    used: FloatArray,
    holes: npt.NDArray[np.intp],
    allowed: npt.NDArray[np.bool_],
) -> FloatArray:
    """Return losses of the weighted mean, in each group of holes by weights from the others.

    What rows tell of the nodes finds the weights; how near they lie, which of these are used.
    """
    out = np.empty(len(truth))
    groups = holes % GROUPS
    for group in np.unique(groups):
        mine = groups == group
        rest = ~mine if not mine.all() else mine
        each = predicted[:, rest], truth[rest], weight[rest], told[rest]
        found = simplex_weights(*each, allowed)
        out[mine] = np.square(truth[mine] - _mean(predicted[:, mine], found, used[mine])).mean(
            axis=1
        )
    return out


def _pruned(
    predicted: FloatArray,
    truth: FloatArray,
    weight: FloatArray,
    shares: FloatArray,
    allowed: npt.NDArray[np.bool_],
) -> FloatArray:
    """Return the weights [k, n_candidates] by all held-out rows, none of them small."""
    left = np.ones(len(predicted), bool)
    while True:
        found = np.zeros((shares.shape[1], len(predicted)))
        found[:, left] = simplex_weights(predicted[left], truth, weight, shares, allowed[:, left])
        some = found.max(axis=0) >= LEAST_WEIGHT
        if (some == left).all():
            break
        left = some
    found[found < LEAST_WEIGHT] = 0.0
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _mean(predicted: FloatArray, weights: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the weighted mean of predictions: [n, t]."""
    return np.asarray(np.einsum("nk,kc,cnt->nt", shares, weights, predicted))


def _spread(
    predicted: FloatArray, truth: FloatArray, weights: FloatArray, shares: FloatArray
) -> FloatArray:
    """Return what nine of ten errors of the mean stay below, over the mean of what theirs do."""
    own = np.abs(truth[None] - predicted).mean(axis=2)
    mean = np.abs(truth - _mean(predicted, weights, shares)).mean(axis=1)
    found = np.ones(len(weights))
    for node, (share, each) in enumerate(zip(shares.T, weights, strict=True)):
        theirs = each @ [_quantile(one, share) for one in own]
        if theirs > 0:
            found[node] = _quantile(mean, share) / theirs
    return found


def _quantile(values: FloatArray, weight: FloatArray, level: float = 0.9) -> float:
    order = np.argsort(values)
    totals = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(totals, level * totals[-1])])
