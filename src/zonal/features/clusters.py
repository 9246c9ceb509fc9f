r"""Clusters in a feature space: what Lloyd's rounds and their start need to know of rows.

The start is k-means|| (B. Bahmani et al., "Scalable k-means++", 2012). In each of a few rounds 2k
rows are drawn with chances proportional to their squared distances D² from the candidates so far:
those with the smallest :math:`-\log(u) / D^2` (Efraimidis and Spirakis, 2006), which takes one pass
and no total. The numbers u are a hash of seed, round and row number, so that blocks do not matter.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import euclidean_distances

from .._typing import Array, FloatArray
from ..rows import Block, row_hash
from ..rows.block import take
from .space import FeatureSpace

__all__ = ["find_candidates", "lloyd_round", "nearest", "sum_of_squares"]

# Rounds of k-means||, and candidates of a round in units of the number of clusters.
ROUNDS, OVERSAMPLING = 5, 2


class ClusterSums(NamedTuple):
    """Sums over rows, given the centres.

    Attributes
    ----------
    sums : ndarray of shape (n_clusters, D)
        Of the features of each cluster's rows.
    counts : ndarray of shape (n_clusters,)
        How many these are.
    squares : float
        The sum of all squared features.
    """

    sums: FloatArray
    counts: FloatArray
    squares: float

    def plus(self, other: "ClusterSums") -> "ClusterSums":
        """Return the sums over the rows of both."""
        return ClusterSums(
            self.sums + other.sums, self.counts + other.counts, self.squares + other.squares
        )


class Drawn(NamedTuple):
    """Rows of features with the smallest keys so far, at most `size` of them."""

    keys: FloatArray
    rows: Array
    size: int

    @classmethod
    def of(cls, Z: Array, start: int, found: Array, size: int, seed: int) -> "Drawn":
        """Draw from rows of features, numbered from `start` on, given the candidates so far."""
        distances = nearest(Z, found)[1].astype(np.float64)
        numbers = np.arange(start, start + len(Z))
        keys = np.full(len(Z), np.inf)
        np.divide(-np.log(_uniform(numbers, seed)), distances, out=keys, where=distances > 0)
        order = np.argsort(keys)[:size]
        return cls(keys[order], Z[order], size)

    def plus(self, other: "Drawn") -> "Drawn":
        """Keep the smallest keys of both."""
        keys = np.concatenate([self.keys, other.keys])
        order = np.argsort(keys)[: self.size]
        return Drawn(keys[order], np.concatenate([self.rows, other.rows])[order], self.size)


def find_candidates(
    walk: Callable[..., Any], space: FeatureSpace, first: Array, n_clusters: int, rng: Any
) -> tuple[Array, FloatArray]:
    """Find candidates for centres, with the numbers of rows nearest to them (k-means||).

    Parameters
    ----------
    walk : callable
        ``walk(function, merge)`` merges what a function makes of the blocks of rows.
    space : FeatureSpace
    first : ndarray of shape (1, D)
        The features of a random row.
    n_clusters : int
    rng : RandomState
    """
    found = first
    for _ in range(ROUNDS):
        seed = rng.randint(2**31 - 1)
        draw = partial(draw_far, space, found, OVERSAMPLING * n_clusters, seed)
        found = np.concatenate([found, walk(draw, Drawn.plus).rows])
    # Rows that are drawn twice, or lie on a candidate, would be empty clusters.
    found = np.unique(found, axis=0)
    return found, walk(partial(count_nearest, space, found), operator.add)


def lloyd_round(
    walk: Callable[..., Any], space: FeatureSpace, centers: Array
) -> tuple[Array, float, float]:
    """Move centres to the means of their rows.

    Returns
    -------
    centers : ndarray of shape (n_clusters, D)
    moved : float
        The sum of squares by which they moved.
    variance : float
        The mean variance of a feature.
    """
    sums, counts, squares = walk(partial(cluster_sums, space, centers), ClusterSums.plus)
    # A cluster that has lost all rows keeps its centre.
    means = sums / np.maximum(counts, 1)[:, None]
    found = np.where(counts[:, None] > 0, means, centers)
    moved = float(np.square(found - centers).sum())
    n_rows = counts.sum()
    mean = sums.sum(axis=0) / n_rows
    variance = float((squares / n_rows - mean @ mean) / centers.shape[1])
    return found.astype(centers.dtype), moved, variance


def cluster_sums(space: FeatureSpace, centers: Array, block: Block) -> ClusterSums:
    """Sum the features of the rows that are nearest to each centre."""
    n_clusters = len(centers)
    total = ClusterSums(np.zeros(centers.shape), np.zeros(n_clusters), 0.0)
    for rows in space.slices(block.X):
        Z = space.transform(take(block.X, rows))
        labels, _ = nearest(Z, centers)
        members = csr_array(
            (np.ones(len(Z), Z.dtype), (labels, np.arange(len(Z)))), shape=(n_clusters, len(Z))
        )
        counts = np.bincount(labels, minlength=n_clusters).astype(np.float64)
        squares = float(np.square(Z).sum(dtype=np.float64))
        total = total.plus(ClusterSums(members @ Z, counts, squares))
    return total


def sum_of_squares(space: FeatureSpace, centers: Array, block: Block) -> float:
    """Return the sum of squared distances of rows from their nearest centres."""
    distances = space.map(block.X, lambda Z: nearest(Z, centers)[1])
    return float(distances.sum(dtype=np.float64))


def draw_far(space: FeatureSpace, found: Array, size: int, seed: int, block: Block) -> Drawn:
    """Draw rows that are far from the candidates so far."""
    return Drawn.of(space.transform(block.X), block.start, found, size, seed)


def count_nearest(space: FeatureSpace, found: Array, block: Block) -> FloatArray:
    """Count the rows that are nearest to each candidate."""
    labels = nearest(space.transform(block.X), found)[0]
    return np.bincount(labels, minlength=len(found)).astype(np.float64)


def nearest(Z: Array, centers: Array) -> tuple[Array, Array]:
    """Return the nearest centre of each row, and the squared distance to it."""
    distances = euclidean_distances(Z, centers.astype(Z.dtype), squared=True)
    labels = distances.argmin(axis=1).astype(np.int32)
    return labels, distances[np.arange(len(Z)), labels]


def _uniform(numbers: npt.NDArray[np.int64], seed: int) -> FloatArray:
    """Return numbers in (0, 1) from a hash of row numbers and a seed."""
    mixed = row_hash(row_hash(numbers) ^ row_hash([seed + 1]))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
