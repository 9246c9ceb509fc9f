"""Kernel k-means on explicit features."""

import operator
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._typing import Array, FloatArray
from .._validation import check_count
from ..features.clusters import find_candidates, lloyd_round, nearest, sum_of_squares
from ..features.space import FeatureSpace
from ..model.features import fit_features, take_sparse
from ..persistence.checkpoint import Run
from ..rows import LEARN_ROWS, Source, blockwise, sample_rows
from ..rows.block import take
from ..rows.kinds import is_dask
from ..rows.progress import progress
from ..rows.survey import Survey
from .base import Learner
from .numerics import BLOCK_ROWS, HELD_BYTES

if TYPE_CHECKING:  # slow to import: it takes half of scikit-learn along
    from sklearn.cluster import KMeans

__all__ = ["KernelKMeans"]


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

    _block_rows = BLOCK_ROWS
    cluster_centers_: Array
    labels_: Any
    # scikit-learn's MiniBatchKMeans, once chunks were added.
    _stream_: Any = None

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

        The features of Dask collections and streams of blocks are never held: k-means|| finds the
        start, and Lloyd's rounds follow on the cluster or block by block.
        """
        self._fit(X)
        if self.labels_ is None:
            self.labels_ = self.predict(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a chunk of rows, whose features are held at once (MiniBatchKMeans).

        The first chunk decides the features; after `fit`, the stream starts from its centres.
        """
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        if first:
            self._reset()
        rows = self._check_rows(X, reset=first)
        if first:
            self._learn_features(rows)
        if self._stream_ is None:
            from sklearn.cluster import MiniBatchKMeans

            start = "k-means++" if first else self.cluster_centers_
            self._stream_ = MiniBatchKMeans(
                self.n_clusters, init=start, n_init=1, random_state=self._draw_seed()
            )
            self.n_iter_ = 0
        Z = self._space.map(rows, lambda Z: Z)
        self._stream_.partial_fit(Z)
        self.cluster_centers_ = self._stream_.cluster_centers_
        self.labels_, distances = nearest(Z, self.cluster_centers_)
        self.inertia_ = float(distances.sum(dtype=np.float64))
        self.objective_ = self.inertia_ / len(Z)
        self.n_iter_ += 1
        return self

    def _check_parameters(self) -> None:
        check_count("n_clusters", self.n_clusters, type(self).__name__)

    def _begin(self, source: Source, **options: Any) -> tuple[Source, Any]:
        if source.once:
            raise ValueError(
                "KernelKMeans walks over the rows many times, but X is an iterator, which ends "
                "after one: pass zonal.stream(path), a Dask array or a memory map, or use "
                "partial_fit."
            )
        return super()._begin(source, **options)

    def _learn(self, survey: Survey, **options: Any) -> Survey:
        if survey.n_rows < self.n_clusters:
            raise ValueError(
                f"n_samples={survey.n_rows} should be >= n_clusters={self.n_clusters}: pass more "
                "rows or ask for fewer clusters."
            )
        self._learn_features(survey.sample.X)
        return survey

    def _learn_features(self, rows: Any) -> None:
        self.features_ = fit_features(
            self.features,
            rows,
            owner=type(self).__name__,
            budget=self.budget,
            random_state=self.random_state,
        )
        self.n_columns_ = len(FeatureSpace(self.features_, 0).mean(rows))

    @property
    def _space(self) -> FeatureSpace:
        check_is_fitted(self, "n_columns_")
        return FeatureSpace(self.features_, self.n_columns_)

    def _reduce(self, source: Source, resume: Run | None, learnt: Survey) -> None:
        """Find the centres: at once if all features fit into memory, else round by round."""
        survey = learnt
        rows = survey.sample.X
        if self._can_hold(survey):
            start = self._start(self._space.map(rows, lambda Z: Z, self._title("rows")))
            self.inertia_, self.n_iter_ = float(start.inertia_), start.n_iter_
            self.labels_ = start.labels_ if survey.whole else None
        else:
            self.labels_, walk = None, partial(self._walk, source)
            if survey.whole:
                chosen = _safe_indexing(rows, sample_rows(survey.n_rows))
                self._start(self._space.map(chosen, lambda Z: Z, self._title("rows")))
            else:
                self._start(*self._candidates(walk, rows))
            self._lloyd(walk)
            squares = partial(sum_of_squares, self._space, self.cluster_centers_)
            self.inertia_ = walk(squares, operator.add)
        self.objective_ = self.inertia_ / survey.n_rows

    def _can_hold(self, survey: Survey) -> bool:
        """Tell whether the features of all rows are held at once."""
        if not survey.whole:
            return survey.n_rows <= LEARN_ROWS
        return survey.n_rows * self.n_columns_ * 8 <= HELD_BYTES

    def _start(self, Z: Array, sample_weight: Array | None = None) -> "KMeans":
        """Run scikit-learn's KMeans on features that are held at once; take over its centres."""
        from sklearn.cluster import KMeans

        start = KMeans(
            self.n_clusters,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self._draw_seed(),
            copy_x=False,
        ).fit(Z, sample_weight=sample_weight)
        self.cluster_centers_ = start.cluster_centers_
        return start

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _candidates(self, walk: Callable[..., Any], rows: Any) -> tuple[Array, FloatArray]:
        """Find candidates for centres, with the numbers of rows nearest to them (k-means||)."""
        rng = check_random_state(self.random_state)
        first = self._space.transform(take(rows, [rng.randint(_num_samples(rows))]))
        return find_candidates(walk, self._space, first, self.n_clusters, rng)

    def _lloyd(self, walk: Callable[..., Any]) -> None:
        """Run Lloyd's rounds over all rows, from the centres at hand."""
        rounds = list(range(self.max_iter))
        for number in progress(rounds, self.verbose, self._title("rounds")):
            found = lloyd_round(walk, self._space, self.cluster_centers_)
            self.cluster_centers_, moved, variance = found
            self.n_iter_ = number + 1
            if moved <= self.tol * variance:
                return
        warnings.warn(
            f"The centres still moved after max_iter={self.max_iter} rounds: raise max_iter or "
            "tol.",
            ConvergenceWarning,
            stacklevel=4,
        )

    @blockwise
    def predict(self, X: Any) -> Array:
        """The nearest cluster of rows: [n_samples]."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        return self._space.map(X, lambda Z: nearest(Z, self.cluster_centers_)[0])

    @blockwise
    def transform(self, X: Any) -> Array:
        """Kernel distances of rows to the centres: [n_samples, n_clusters]."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        centers = self.cluster_centers_
        return self._space.map(X, lambda Z: euclidean_distances(Z, centers.astype(Z.dtype)))

    def without_sums(self) -> Self:
        """Return the model itself: it keeps no sums."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` or `partial_fit` has come to its end."""
        return "objective_" in vars(self)

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
        tags.input_tags.sparse = take_sparse(self.features)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
