"""Kernel k-means over rows in blocks: k-means|| and Lloyd's rounds."""

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from .._typing import Array, FloatArray
from ..learners.kmeans import ClusterSums, _nearest
from ..rows import LEARN_ROWS, row_hash
from ..rows.block import Block
from ..rows.dispatch import source_of
from ..rows.survey import Sample

__all__ = ["fit_clusters"]

# Rows of a block: features of these are held at once.
BLOCK_ROWS = 1 << 14
# Rounds of k-means||, and candidates of a round in units of the number of clusters.
ROUNDS, OVERSAMPLING = 5, 2


def fit_clusters(learner: Any, X: Any) -> None:
    """Fit `KernelKMeans` to rows in blocks, with a pass over them for every round.

    Parameters
    ----------
    learner : KernelKMeans
    X : Dask collection or stream of blocks that can be walked over again
    """
    source = source_of(X, None, None)
    if source.once:
        raise ValueError(
            "KernelKMeans walks over the rows many times, but X is an iterator, which ends after "
            "one: pass zonal.stream(path), a Dask array or a memory map, or use partial_fit."
        )
    try:
        survey = source.survey()
        learner._check_rows_suffice(survey.n_rows)
        rows = learner._check_rows(survey.sample.X, reset=True)
        learner.features_ = learner._fit_features(rows, None, None)
        learner._start(rows, np.empty((len(survey.sample.numbers), 0)))
        if survey.n_rows <= LEARN_ROWS:
            start = learner._begin(learner._map(rows, lambda Z: Z))
            learner.inertia_, learner.n_iter_ = float(start.inertia_), start.n_iter_
        else:
            learner._begin(*_candidates(learner, source, survey.sample))
            learner._lloyd(
                lambda: source.reduce(_Sums(copy.copy(learner)), ClusterSums.plus, BLOCK_ROWS),
                survey.n_rows,
            )
            learner.inertia_ = source.reduce(_Inertia(copy.copy(learner)), _add, BLOCK_ROWS)
        learner.objective_ = learner.inertia_ / survey.n_rows
        learner._done = True
        learner.labels_ = learner.predict(X)
    except BaseException:
        learner._reset()  # a fit that fails leaves nothing behind
        raise


def _candidates(learner: Any, source: Any, sample: Sample) -> tuple[Array, FloatArray]:
    r"""Candidates for centres, with the numbers of rows that are nearest to them (k-means||).

    B. Bahmani et al., "Scalable k-means++", 2012. In each of a few rounds 2k rows are drawn with
    chances proportional to their squared distances D² from the candidates so far: those with
    the smallest :math:`-\log(u) / D^2` (Efraimidis and Spirakis, 2006), which takes one pass and
    no total. The numbers u are a hash of seed, round and row number, whatever the blocks.
    """
    rng = check_random_state(learner.random_state)
    first = rng.randint(len(sample.numbers))
    found = learner._transform(
        sample.X.iloc[[first]] if hasattr(sample.X, "iloc") else sample.X[[first]]
    )
    for _ in range(ROUNDS):
        draw = _Draw(learner, found, OVERSAMPLING * learner.n_clusters, rng.randint(2**31 - 1))
        found = np.concatenate([found, source.reduce(draw, _Drawn.plus, BLOCK_ROWS).rows])
    # Rows that are drawn twice, or lie on a candidate, would be empty clusters.
    found = np.unique(found, axis=0)
    return found, source.reduce(_Counts(learner, found), _add, BLOCK_ROWS)


class _Drawn(NamedTuple):
    """Rows of features with the smallest keys so far, at most `size` of them."""

    keys: FloatArray
    rows: Array
    size: int

    def plus(self, other: "_Drawn") -> "_Drawn":
        """The smallest keys of both."""
        keys = np.concatenate([self.keys, other.keys])
        order = np.argsort(keys)[: self.size]
        return _Drawn(keys[order], np.concatenate([self.rows, other.rows])[order], self.size)


@dataclass(frozen=True)
class _Draw:
    learner: Any
    found: Array
    size: int
    seed: int

    def __call__(self, block: Block) -> _Drawn:
        if not len(block):
            return _Drawn(np.empty(0), self.found[:0], self.size)
        Z = self.learner._transform(self.learner._check_rows(block.X, reset=False))
        distances = _nearest(Z, self.found)[1].astype(np.float64)
        numbers = np.arange(block.start, block.start + len(Z))
        keys = np.full(len(Z), np.inf)
        np.divide(-np.log(_uniform(numbers, self.seed)), distances, out=keys, where=distances > 0)
        order = np.argsort(keys)[: self.size]
        return _Drawn(keys[order], Z[order], self.size)


@dataclass(frozen=True)
class _Counts:
    learner: Any
    found: Array

    def __call__(self, block: Block) -> FloatArray:
        if not len(block):
            return np.zeros(len(self.found))
        Z = self.learner._transform(self.learner._check_rows(block.X, reset=False))
        counts = np.bincount(_nearest(Z, self.found)[0], minlength=len(self.found))
        return counts.astype(np.float64)


@dataclass(frozen=True)
class _Sums:
    learner: Any

    def __call__(self, block: Block) -> ClusterSums:
        rows = self.learner._check_rows(block.X, reset=False) if len(block) else block.X
        found: ClusterSums = self.learner._sums(rows)
        return found


@dataclass(frozen=True)
class _Inertia:
    learner: Any

    def __call__(self, block: Block) -> float:
        if not len(block):
            return 0.0
        Z = self.learner._transform(self.learner._check_rows(block.X, reset=False))
        return float(_nearest(Z, self.learner.cluster_centers_)[1].sum(dtype=np.float64))


def _uniform(numbers: npt.NDArray[np.int64], seed: int) -> FloatArray:
    """Numbers in (0, 1) from a hash of row numbers and a seed."""
    mixed = row_hash(row_hash(numbers) ^ row_hash([seed + 1]))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54


def _add(left: Any, right: Any) -> Any:
    return left + right
