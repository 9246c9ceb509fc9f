r"""Folds whose test rows are as far from what is known as the rows that will be asked.

Nearest-neighbour distance matching (Milà et al. 2022), with k folds (kNNDM, Linnenbrink et al.
2024): let G be the distribution of the distance from a query to its nearest row, and
:math:`\hat G` that of the distance from a row to the nearest row of another fold. Rows are grouped
into clusters, clusters into folds, and the number of clusters is the one for which

.. math:: W(G, \hat G) = \int |G(r) - \hat G(r)|\, dr

is smallest. Many small clusters are random folds; a few large ones leave large holes.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree
from scipy.stats import wasserstein_distance
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from .._typing import Array, FloatArray
from .._validation import check_count
from ..features.columns.sphere_encoder import SphereEncoder

__all__ = ["DistanceMatchedKFold"]

# Numbers of clusters that are tried, between the number of folds and that of the rows.
TRIED = 12
# Rows and queries whose distances are compared, and by which clusters are found: the distributions
# of 10,000 distances are known to a hundredth of their range.
COMPARED = 10_000


class DistanceMatchedKFold(BaseCrossValidator):
    """K folds in which test rows are as far from training rows as queries are from all rows.

    The error at random test rows is the error of interpolation between them. Where the model will
    be asked elsewhere (the holes of a map, a country without stations), folds of whole blocks tell
    more, if the blocks are of the right size: here the queries decide it.

    Parameters
    ----------
    queries : array-like or frame of shape (n_queries, n_features)
        Rows that will be asked, with the columns of X. Columns that are named latitude and
        longitude are places on the globe; all others are numbers, on the scale they have.
    n_splits : int, default=5
        The number of folds K.
    random_state : int, RandomState instance or None, default=0
        The seed of the clusters.

    References
    ----------
    C. Milà, J. Mateu, E. Pebesma and H. Meyer, "Nearest neighbour distance matching leave-one-out
    cross-validation for map validation", Methods Ecol. Evol. 13 (2022).

    J. Linnenbrink, C. Milà, M. Ludwig and H. Meyer, "kNNDM CV: k-fold nearest-neighbour distance
    matching cross-validation for map accuracy estimation", Geosci. Model Dev. 17 (2024).

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (1000, 2))
    >>> far = rng.uniform(0, 1, (500, 2)) + [1.2, 0.0]  # beside the rows
    >>> cv = zonal.DistanceMatchedKFold(far, n_splits=4)
    >>> gaps = [np.sqrt(((X[test, None] - X[train]) ** 2).sum(2)).min(1) for train, test in
    ...         cv.split(X)]
    >>> bool(np.concatenate(gaps).mean() > 0.1)  # random folds: 0.02
    True
    """

    def __init__(self, queries: Any, n_splits: int = 5, *, random_state: Any = 0) -> None:
        self.queries = queries
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return check_count("n_splits", self.n_splits, "DistanceMatchedKFold", minimum=2)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the row numbers of the training and the test part of each split.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of the queries.
        y, groups : ignored
        """
        folds = self.folds(X)
        for fold in range(self.get_n_splits()):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def folds(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the fold of each row: [n_samples]."""
        n_splits, rows, queries = self.get_n_splits(), _points(X), _points(self.queries)
        if rows.shape[1] != queries.shape[1]:
            raise ValueError(
                f"The queries of DistanceMatchedKFold have {queries.shape[1]} columns, but the "
                f"rows have {rows.shape[1]}: give queries with the columns of X."
            )
        if len(rows) < n_splits:
            raise ValueError(
                f"n_splits={n_splits} of DistanceMatchedKFold needs as many rows; X has "
                f"{len(rows)}."
            )
        rng = check_random_state(self.random_state)
        few = _some(len(queries), rng)
        wanted = np.asarray(cKDTree(rows).query(queries[few])[0])
        kept = _some(len(rows), rng)
        best, folds = np.inf, np.empty(0, np.intp)
        for n_clusters in _numbers(n_splits, len(kept)):
            tried = _folds(rows, kept, n_clusters, n_splits, rng)
            error = wasserstein_distance(wanted, _distances(rows[kept], tried[kept]))
            if error < best:
                best, folds = error, tried
        return folds


def _points(X: Any) -> FloatArray:
    """Return rows as points whose distances count: of the sphere where columns are named so."""
    if not hasattr(X, "columns"):
        rows = np.asarray(X, dtype=np.float64)
        return rows.reshape(len(rows), -1)
    try:
        found = SphereEncoder().fit_transform(X)
    except ValueError:  # no such names, or the numbers under them are not degrees
        found = X
    return np.asarray(found, dtype=np.float64)


def _some(n_rows: int, rng: Any) -> npt.NDArray[np.intp]:
    if n_rows <= COMPARED:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, COMPARED, replace=False))


def _numbers(n_splits: int, n_rows: int) -> list[int]:
    """Return numbers of clusters, from one for each fold to one for each row."""
    steps = np.geomspace(n_splits, max(n_rows, n_splits), TRIED)
    return sorted({int(number) for number in steps.round()})


def _folds(
    rows: FloatArray, kept: npt.NDArray[np.intp], n_clusters: int, n_splits: int, rng: Any
) -> npt.NDArray[np.intp]:
    """Put whole clusters of rows into folds of about one size, the largest first."""
    if n_clusters >= len(kept):
        clusters = np.arange(len(rows))
    else:
        from sklearn.cluster import MiniBatchKMeans  # slow to import

        model = MiniBatchKMeans(n_clusters, n_init=1, random_state=rng.randint(1 << 31))
        clusters = model.fit(rows[kept]).predict(rows)
    sizes = np.bincount(clusters)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.empty(len(sizes), np.intp), np.zeros(n_splits)
    for cluster in order:
        fold_of[cluster] = np.argmin(filled)
        filled[fold_of[cluster]] += sizes[cluster]
    return fold_of[clusters]


def _distances(rows: FloatArray, folds: npt.NDArray[np.intp]) -> FloatArray:
    """Return the distance of each row to the nearest row of another fold."""
    found = np.empty(len(rows))
    for fold in np.unique(folds):
        mine = folds == fold
        if mine.all():
            return np.full(len(rows), np.inf)
        found[mine] = cKDTree(rows[~mine]).query(rows[mine])[0]
    return found
