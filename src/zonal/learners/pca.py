"""Kernel principal components from the second moments of explicit features."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from .._typing import Array, FloatArray
from .._validation import check_count
from ..features.space import FeatureSpace
from ..model.features import asked_width, fit_features, take_sparse
from ..model.summation import Summation, announce_sums
from ..moments import Moments
from ..moments.components import Components, principal_components
from ..rows import Block, blockwise
from ..rows.survey import Survey
from .base import Learner
from .numerics import EIGENVECTORS

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
        return self._fit(X, None, None, checkpoint)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data."""
        return self._partial_fit(X)

    def _check_parameters(self) -> None:
        check_count("n_components", self.n_components, type(self).__name__)

    def _learn(self, survey: Survey, **options: Any) -> None:
        X, owner = survey.sample.X, type(self).__name__
        width = asked_width(self.features, self.budget)
        announce_sums(owner, survey.n_rows, width, 0, 1, EIGENVECTORS)
        self.features_ = fit_features(
            self.features, X, owner=owner, budget=self.budget, random_state=self.random_state
        )
        self._summation_ = Summation.of(self.features_, X, np.empty((X.shape[0], 0)))
        if self.n_components > self.n_columns_:
            raise ValueError(
                f"n_components={self.n_components} exceeds the {self.n_columns_} features."
            )

    @property
    def n_columns_(self) -> int:
        """The number of features D."""
        return int(self._summation_.n_columns)

    @property
    def moments_(self) -> list[Moments]:
        """The sums over the rows seen; none in a copy `without_sums`."""
        check_is_fitted(self)
        return [] if self._sums_ is None else [self._sums_]

    @property
    def _space(self) -> FeatureSpace:
        return self._summation_.space

    @property
    def _block_rows(self) -> int:
        return self._space.block_rows

    def _sums(self, block: Block) -> Moments:
        rows = Block(block.X, np.empty((len(block), 0)), None, block.start)
        return self._summation_.folds(rows, self._title("rows"))[0]

    def _n_summed(self, sums: Moments) -> int:
        return sums.n_rows

    @blockwise
    def transform(self, X: Any) -> Array:
        """Coordinates of rows: [n_samples, n_components]."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        components, mean = self.components_, self.mean_

        def project(Z: Array) -> Array:
            return (Z - mean.astype(Z.dtype)) @ components.T.astype(Z.dtype)

        return self._space.map(X, project)

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

    def _solve(self, sums: Moments) -> Components:
        return principal_components(sums, self.n_components)

    @property
    def _found(self) -> Components:
        found: Components = self._solution
        return found

    @property
    def components_(self) -> FloatArray:
        """Orthonormal directions in feature space."""
        return self._found.directions

    @property
    def eigenvalues_(self) -> FloatArray:
        """Eigenvalues of the centred kernel matrix."""
        return self._found.eigenvalues

    @property
    def mean_(self) -> FloatArray:
        """The mean of the features."""
        return self._found.mean

    @property
    def explained_variance_ratio_(self) -> FloatArray:
        """Shares of the total variance."""
        values, total = self._found.eigenvalues, self._found.total
        return values / total if total > 0 else np.zeros_like(values)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = take_sparse(self.features)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
