"""Kernel k-means on explicit features."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from .._typing import Array, FloatArray
from .._validation import check_count
from ..rows import sample_rows
from ..rows.dispatch import blockwise
from ..rows.kinds import is_dask, is_many
from ..rows.progress import progress
from .base import Learner, _rows

if TYPE_CHECKING:  # slow to import: it takes half of scikit-learn along
    from sklearn.cluster import KMeans

__all__ = ["KernelKMeans"]

# Features of more than this many bytes are not held at once but computed anew in every round.
HELD_BYTES = 1 << 29


class KernelKMeans(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, Learner):
    r"""Kernel k-means: k-means on explicit features.

    .. math:: \min \sum_{i=1}^{k} \sum_{x_j \in C_i} \|z(x_j) - \mu_i\|^2

    scikit-learn's KMeans (k-means++ start, Lloyd's rounds) where the features fit into 512 MB;
    beyond that it is run on a sample of 10,000 rows, and Lloyd's rounds over all rows follow, in
    which the features are computed block by block and never held.

    Parameters
    ----------
    features : transformer or "auto", default="auto"
        As in `KernelRidge`.
    n_clusters : int, default=8
        The number of clusters k.
    n_init : int or "auto", default="auto"
        The number of starts, as in scikit-learn's KMeans.
    max_iter : int, default=300
        The largest number of rounds.
    tol : float, default=1e-4
        Stop when the centres move by less than this, relative to the features' variance.
    budget, random_state, verbose
        As in `KernelRidge`; `random_state` also seeds the start.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, D)
        Centres in feature space.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row (after `partial_fit`: of the last chunk).
    inertia_ : float
        The sum of squared kernel distances to the nearest centre.
    objective_ : float
        The paper's objective: the average of them.
    n_iter_ : int
        The number of rounds (after `partial_fit`: of chunks).

    Examples
    --------
    Two rings, which no straight line separates:

    >>> import numpy as np
    >>> import zonal
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([0.2 * ring, 3 * ring])
    >>> features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), n_components=64, random_state=0)
    >>> model = zonal.KernelKMeans(features, n_clusters=2, random_state=0).fit(X)
    >>> len(set(model.labels_[:100].tolist()))
    1
    """

    def __init__(
        self,
        features: Any = "auto",
        n_clusters: int = 8,
        *,
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        budget: int = 1024,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster rows [n_samples, n_features]; y is ignored.

        Of Dask collections and streams of blocks, whose features are never held, the start is
        k-means||; Lloyd's rounds follow on the cluster or block by block.
        """
        check_count("n_clusters", self.n_clusters, type(self).__name__)
        self._reset()
        if is_many(X):
            from ..streaming.clusters import fit_clusters

            fit_clusters(self, X)
            return self
        X = self._check_rows(X, reset=True)
        n_rows = _num_samples(X)
        self._check_rows_suffice(n_rows)
        self.features_ = self._fit_features(X, None, None)
        self._start(X, np.empty((n_rows, 0)))
        held = n_rows * self.n_columns_ * 8 <= HELD_BYTES
        chosen = X if held else _safe_indexing(X, sample_rows(n_rows))
        start = self._begin(self._map(chosen, lambda Z: Z, "KernelKMeans: rows"))
        if held:
            self.labels_, self.inertia_ = start.labels_, float(start.inertia_)
            self.n_iter_ = start.n_iter_
        else:
            self._lloyd(lambda: self._sums(X), n_rows)
            parts = [
                _nearest(self._transform(_rows(X, rows)), self.cluster_centers_)
                for rows in self._slices(X)
            ]
            self.labels_ = np.concatenate([labels for labels, _ in parts])
            self.inertia_ = float(sum(distances.sum(dtype=np.float64) for _, distances in parts))
        self.objective_ = self.inertia_ / n_rows
        self._done = True
        return self

    def _check_rows_suffice(self, n_rows: int) -> None:
        if n_rows < self.n_clusters:
            raise ValueError(
                f"n_samples={n_rows} should be >= n_clusters={self.n_clusters}: pass more rows or "
                "ask for fewer clusters."
            )

    def _begin(self, Z: Array, sample_weight: Array | None = None) -> "KMeans":
        """scikit-learn's KMeans of features that are held at once; its centres are a start."""
        from sklearn.cluster import KMeans

        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        start = KMeans(
            self.n_clusters,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=int(seed),
            copy_x=False,
        ).fit(Z, sample_weight=sample_weight)
        self.cluster_centers_ = start.cluster_centers_
        return start

    def _sums(self, X: Any) -> "ClusterSums":
        """What a round needs to know of rows, given the centres."""
        total = ClusterSums(np.zeros(self.cluster_centers_.shape), np.zeros(self.n_clusters), 0.0)
        for rows in self._slices(X):
            Z = self._transform(_rows(X, rows))
            labels, _ = _nearest(Z, self.cluster_centers_)
            members = csr_array(
                (np.ones(len(Z), Z.dtype), (labels, np.arange(len(Z)))),
                shape=(self.n_clusters, len(Z)),
            )
            counts = np.bincount(labels, minlength=self.n_clusters).astype(np.float64)
            squares = float(np.square(Z).sum(dtype=np.float64))
            total = total.plus(ClusterSums(members @ Z, counts, squares))
        return total

    def _lloyd(self, sums_of_rows: "Callable[[], ClusterSums]", n_rows: int) -> None:
        """Lloyd's rounds over rows that are summed elsewhere, from the centres at hand."""
        rounds = progress(list(range(self.max_iter)), self.verbose, "KernelKMeans: rounds")
        for number in rounds:
            sums, counts, squares = sums_of_rows()
            # A cluster that has lost all rows keeps its centre.
            means = sums / np.maximum(counts, 1)[:, None]
            centers = np.where(counts[:, None] > 0, means, self.cluster_centers_)
            moved = float(np.square(centers - self.cluster_centers_).sum())
            mean = sums.sum(axis=0) / n_rows
            variance = (squares / n_rows - mean @ mean) / self.n_columns_
            self.cluster_centers_ = centers.astype(self.cluster_centers_.dtype)
            self.n_iter_ = number + 1
            if moved <= self.tol * variance:
                break
        else:
            warnings.warn(
                f"The centres still moved after max_iter={self.max_iter} rounds: raise max_iter or "
                "tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a chunk of rows, whose features are held at once (MiniBatchKMeans).

        The first chunk decides the features; after `fit`, the stream starts from its centres.
        """
        check_count("n_clusters", self.n_clusters, type(self).__name__)
        first = not self.__sklearn_is_fitted__()
        if first:
            self._reset()
        X = self._check_rows(X, reset=first)
        if first:
            self.features_ = self._fit_features(X, None, None)
            self._start(X, np.empty((_num_samples(X), 0)))
        if not hasattr(self, "_stream"):
            from sklearn.cluster import MiniBatchKMeans

            seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            start = "k-means++" if first else self.cluster_centers_
            self._stream = MiniBatchKMeans(
                self.n_clusters, init=start, n_init=1, random_state=int(seed)
            )
            self.n_iter_ = 0
        Z = self._map(X, lambda Z: Z)
        self._stream.partial_fit(Z)
        self.cluster_centers_ = self._stream.cluster_centers_
        self.labels_, distances = _nearest(Z, self.cluster_centers_)
        self.inertia_ = float(distances.sum(dtype=np.float64))
        self.objective_ = self.inertia_ / len(Z)
        self.n_iter_ += 1
        self._done = True
        return self

    @blockwise
    def predict(self, X: Any) -> Array:
        """The nearest cluster of rows: [n_samples]."""
        self._check_fitted()
        X = self._check_rows(X, reset=False)
        return self._map(X, lambda Z: _nearest(Z, self.cluster_centers_)[0])

    @blockwise
    def transform(self, X: Any) -> Array:
        """Kernel distances of rows to the centres: [n_samples, n_clusters]."""
        self._check_fitted()
        X = self._check_rows(X, reset=False)
        centers = self.cluster_centers_
        return self._map(X, lambda Z: euclidean_distances(Z, centers.astype(Z.dtype)))

    def __getstate__(self) -> dict[str, Any]:
        """Everything but lazy labels, which hold the rows and the model itself."""
        state: dict[str, Any] = dict(super().__getstate__())
        if is_dask(state.get("labels_")):
            del state["labels_"]
        return state

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


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
        """Those of both."""
        return ClusterSums(
            self.sums + other.sums, self.counts + other.counts, self.squares + other.squares
        )


def _nearest(Z: Array, centers: Array) -> tuple[Array, Array]:
    """The nearest centre of each row, and the squared distance to it."""
    distances = euclidean_distances(Z, centers.astype(Z.dtype), squared=True)
    labels = distances.argmin(axis=1).astype(np.int32)
    return labels, distances[np.arange(len(Z)), labels]
