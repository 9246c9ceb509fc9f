"""Kernel canonical correlation analysis from joint moments of two views."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from .._typing import Array, FloatArray
from .._validation import check_count, check_positive
from ..features.space import FeatureSpace
from ..model.features import fit_features, take_sparse
from ..moments import Moments
from ..moments.components import CanonicalPairs, canonical_pairs
from ..rows import Block, blockwise
from ..rows.block import take
from ..rows.progress import progress
from ..rows.survey import Survey
from .base import Learner
from .targets import require

__all__ = ["KernelCCA"]


class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Learner):
    r"""Kernel canonical correlation analysis on explicit features, in one pass.

    Directions a, b in the feature spaces of two views X and Y that maximise

    .. math::

        \frac{a^\top C_{xy} b}{\sqrt{a^\top (C_{xx} + \rho_x I) a}\,
        \sqrt{b^\top (C_{yy} + \rho_y I) b}}, \qquad
        \rho = \alpha\, \mathrm{tr}(C) / D,

    one after the other, each uncorrelated with those before it.

    Parameters
    ----------
    features : transformer, pair of transformers or "auto", default="auto"
        The features of both views (each gets its own fitted copy), or one for each.
    n_components : int, default=2
        The number of pairs of directions.
    alpha : float, default=1e-3
        The regularisation, in units of the mean variance of the features: without it, many
        features correlate perfectly with anything.
    budget, random_state, verbose
        As in `KernelRidge`.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components,)
        The (regularised) canonical correlations, in descending order.
    x_weights_, y_weights_ : ndarrays of shape (D, n_components)
        a and b.
    features_ : pair of transformers

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(-2, 2, 500)
    >>> X = np.column_stack([t, rng.standard_normal(500)])
    >>> Y = np.column_stack([t**2, rng.standard_normal(500)])  # not a linear relation
    >>> model = zonal.KernelCCA(n_components=1, budget=64, random_state=0).fit(X, Y)
    >>> bool(model.correlations_[0] > 0.9)
    True
    """

    def __init__(
        self,
        features: Any = "auto",
        n_components: int = 2,
        alpha: float = 1e-3,
        *,
        budget: int = 1024,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.alpha = alpha
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            The first view.
        y : array-like of shape (n_samples, n_other_features) or (n_samples,)
            The second view, Y, unless X yields it.
        checkpoint : path-like or Checkpoint, optional
            As in `KernelRidge`, and so are Dask collections and streams of blocks as X.

        Returns
        -------
        self
        """
        return self._fit(X, y, None, checkpoint)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add a chunk of rows of both views; the first chunk decides the features."""
        return self._partial_fit(X, y)

    def _check_parameters(self) -> None:
        check_count("n_components", self.n_components, type(self).__name__)
        check_positive("alpha", self.alpha, type(self).__name__)

    def _check_y(self, y: Any) -> Array:
        """Return the second view: [n, n_other_features]."""
        require(y, type(self).__name__)
        Y = check_array(
            y, accept_sparse="csr", ensure_2d=False, dtype=[np.float64, np.float32], input_name="Y"
        )
        return Y if Y.ndim == 2 else Y[:, None]

    def _learn(self, survey: Survey, **options: Any) -> None:
        views = survey.sample.X, survey.sample.y
        self._y_columns_ = views[1].shape[1]
        given = {
            "owner": type(self).__name__,
            "budget": self.budget,
            "random_state": self.random_state,
        }
        self.features_ = tuple(
            fit_features(features, view, **given)
            for features, view in zip(self._pair(), views, strict=True)
        )
        means = [
            FeatureSpace(features, 0).mean(view)
            for features, view in zip(self.features_, views, strict=True)
        ]
        self._widths_ = tuple(len(mean) for mean in means)
        self.n_columns_ = sum(self._widths_)
        self._shift_ = np.concatenate(means)
        if self.n_components > min(self._widths_):
            raise ValueError(
                f"n_components={self.n_components} exceeds the {min(self._widths_)} features of a "
                "view."
            )

    def _sums(self, block: Block) -> Moments:
        if block.y.shape[1] != self._y_columns_:
            raise ValueError(
                f"This chunk of Y has {block.y.shape[1]} columns, but the first had "
                f"{self._y_columns_}."
            )
        sums = Moments(self._shift_, 0)
        slices = list(self._space.slices(block.X))
        title = self._title("rows")
        for rows in progress(slices, bool(title), title):
            sums.update(self._joined(take(block.X, rows), take(block.y, rows)))
        return sums

    def _n_summed(self, sums: Moments) -> int:
        return sums.n_rows

    @property
    def moments_(self) -> list[Moments]:
        """The sums over the rows seen; none in a copy `without_sums`."""
        check_is_fitted(self)
        return [] if self._sums_ is None else [self._sums_]

    @property
    def _block_rows(self) -> int:
        return self._space.block_rows

    @blockwise
    def transform(self, X: Any, y: Any = None) -> Any:
        """Canonical variates of X, or of X and Y.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            The first view.
        y : array-like of shape (n_samples, n_other_features), optional
            The second view, Y.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or a pair of them if Y is given
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        width = self._widths_[0]
        mean = self._solution.mean
        first = self._variates(X, 0, self.x_weights_, mean[:width])
        if y is None:
            return first
        Y = self._check_y(y)
        check_consistent_length(X, Y)
        if Y.shape[1] != self._y_columns_:
            raise ValueError(
                f"Y has {Y.shape[1]} columns, but the model was fitted to {self._y_columns_}."
            )
        return first, self._variates(Y, 1, self.y_weights_, mean[width:])

    @property
    def _spaces(self) -> tuple[FeatureSpace, ...]:
        """The feature spaces of the two views."""
        return tuple(map(FeatureSpace, self.features_, self._widths_))

    @property
    def _space(self) -> FeatureSpace:
        """Both views side by side, for the size of blocks."""
        return FeatureSpace(None, self.n_columns_)

    def _variates(self, X: Any, view: int, weights: FloatArray, mean: FloatArray) -> Array:
        def project(Z: Array) -> Array:
            return (Z - mean.astype(Z.dtype)) @ weights.astype(Z.dtype)

        return self._spaces[view].map(X, project)

    def _joined(self, X: Any, Y: Any) -> Array:
        """Return rows (z_x - a, z_y - b, 1)."""
        parts = [space.transform(view) for space, view in zip(self._spaces, (X, Y), strict=True)]
        dtype = np.result_type(*parts)
        rows = np.ones((len(parts[0]), self.n_columns_ + 1), dtype)
        rows[:, :-1] = np.hstack(parts) - self._shift_.astype(dtype)
        return rows

    def _pair(self) -> tuple[Any, Any]:
        if isinstance(self.features, tuple | list):
            if len(self.features) != 2:
                raise ValueError(
                    f"features has {len(self.features)} entries; a pair has one for each view."
                )
            return self.features[0], self.features[1]
        return self.features, self.features

    def _solve(self, sums: Moments) -> CanonicalPairs:
        return canonical_pairs(sums, self._widths_[0], self.alpha, self.n_components)

    @property
    def correlations_(self) -> FloatArray:
        """The canonical correlations."""
        return np.asarray(self._solution.correlations)

    @property
    def x_weights_(self) -> FloatArray:
        """Directions of the first view."""
        return np.asarray(self._solution.first)

    @property
    def y_weights_(self) -> FloatArray:
        """Directions of the second view."""
        return np.asarray(self._solution.second)

    @property
    def _n_features_out(self) -> int:
        return int(self.x_weights_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = take_sparse(self.features)
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
