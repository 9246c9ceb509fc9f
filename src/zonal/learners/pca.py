"""Kernel principal components from the second moments of explicit features."""

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _num_samples, check_array

from .._typing import Array, FloatArray
from .._validation import check_count
from ..moments.moments import Moments
from ..rows.dispatch import blockwise
from ..rows.kinds import is_many
from .base import Learner

__all__ = ["KernelPCA"]


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Learner):
    """Kernel principal component analysis on explicit features, in one pass.

    The eigenvectors of the centred second moment of the features; as the features' products
    approach the kernel, the components approach those of scikit-learn's ``KernelPCA``.

    Parameters
    ----------
    features : transformer or "auto", default="auto"
        As in `KernelRidge`.
    n_components : int, default=2
        The number of components.
    budget, random_state, verbose
        As in `KernelRidge`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, D)
        Orthonormal directions in feature space; the largest entry of each is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix: n times the variance of each component.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Shares of the total variance in feature space.
    mean_ : ndarray of shape (D,)
        The mean of the features.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> zonal.KernelPCA(n_components=2, budget=64, random_state=0).fit_transform(X).shape
    (200, 2)
    """

    def __init__(
        self,
        features: Any = "auto",
        n_components: int = 2,
        *,
        budget: int = 1024,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None) -> Self:
        """Find the components of rows [n_samples, n_features]; y is ignored.

        Dask collections, streams of blocks and checkpoints as in `KernelRidge`.
        """
        if checkpoint is not None or is_many(X):
            return self._fit_blocks(X, None, None, checkpoint)
        self._reset()
        self.partial_fit(X)
        self._solve()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data."""
        check_count("n_components", self.n_components, type(self).__name__)
        first = not self.__sklearn_is_fitted__()
        X = self._check_rows(X, reset=first)
        nothing = np.empty((_num_samples(X), 0))
        if first:
            self.features_ = self._fit_features(X, None, None)
            self.moments_ = [Moments(self._start(X, nothing), 0)]
            if self.n_components > self.n_columns_:
                raise ValueError(
                    f"n_components={self.n_components} exceeds the {self.n_columns_} features."
                )
        self._accumulate(X, nothing, None, None, self.moments_)
        self._components: tuple[FloatArray, FloatArray, FloatArray, float] | None = None
        self._done = True
        return self

    @blockwise
    def transform(self, X: Any) -> Array:
        """Coordinates of rows: [n_samples, n_components]."""
        self._check_fitted()
        X = self._check_rows(X, reset=False)
        components, mean = self.components_, self.mean_

        def project(Z: Array) -> Array:
            return (Z - mean.astype(Z.dtype)) @ components.T.astype(Z.dtype)

        return self._map(X, project)

    def inverse_transform(self, X: Any) -> Array:
        """Points of feature space from coordinates: [n_samples, D]."""
        coordinates = check_array(X, dtype=[np.float64, np.float32])
        if coordinates.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {coordinates.shape[1]} columns; coordinates of {len(self.components_)} "
                "components are needed."
            )
        return coordinates @ self.components_.astype(coordinates.dtype) + self.mean_.astype(
            coordinates.dtype
        )

    def _solve(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Components, eigenvalues, mean and total variance (times n), found when needed."""
        self._check_fitted()
        if self._components is None:
            moments = self.moments_[0]
            scatter = moments.products()
            top = (len(scatter) - self.n_components, len(scatter) - 1)
            values, vectors = eigh(scatter, subset_by_index=top)
            values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
            largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
            vectors = vectors * np.where(largest < 0, -1, 1)
            self._components = vectors.T, values, moments.mean(), float(np.trace(scatter))
        return self._components

    @property
    def components_(self) -> FloatArray:
        """Orthonormal directions in feature space."""
        return self._solve()[0]

    @property
    def eigenvalues_(self) -> FloatArray:
        """Eigenvalues of the centred kernel matrix."""
        return self._solve()[1]

    @property
    def mean_(self) -> FloatArray:
        """The mean of the features."""
        return self._solve()[2]

    @property
    def explained_variance_ratio_(self) -> FloatArray:
        """Shares of the total variance."""
        _, values, _, total = self._solve()
        return values / total if total > 0 else np.zeros_like(values)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
