"""Kernel ridge regression on explicit features, in one pass over the data."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from .._typing import Array, FloatArray
from ..rows import Block, Source, blockwise
from ..rows.survey import Survey
from ..selection.search import MIN_ROWS
from .calibrated import CalibratedRegressor
from .local_solution import LocalSolution
from .ridge_learner import RidgeLearner
from .target_scale import choose_scale
from .targets import check_numbers

__all__ = ["KernelRidge"]


class KernelRidge(CalibratedRegressor, RegressorMixin, RidgeLearner):
    r"""Kernel ridge regression on explicit features.

    .. math::

        \min_{\beta, \beta_0} \sum_i w_i (y_i - z_i^\top \beta - \beta_0)^2 + \alpha \|\beta\|^2

    One pass over the rows, block by block; what is kept is a D × D matrix of moments for each
    fold. The whole path of alphas comes from one eigendecomposition per fold. (Splitters whose
    parts overlap in many ways take a pass for each split.)

    Parameters
    ----------
    features : transformer or "auto", default="auto"
        A feature map of this library or any scikit-learn transformer. ``"auto"``: scales
        the columns and chooses the kernel, its length scale, the feature map and a learned metric
        or none on a pilot of at most 10,000 rows, by the error on a third of them, or on the test
        rows of a splitter as `cv` (see ``selection_``). With fewer than 300 rows: standardised
        columns and Gegenbauer features of a Gaussian kernel with median bandwidth.
    alpha : float or "cv", default="cv"
        The regularisation α, the paper's λ. ``"cv"``: the one with the smallest mean squared
        error in cross-validation, used unchanged on all rows (the paper's protocol).
    alphas : array-like, optional
        The values to try, by default 30 from 5e-16 to 1 times trace(ZᵀZ)/D: as far down as sums in
        float64 allow. `zonal.AlphaWarning` says so where the error still falls at their end.
    cv : int, splitter or iterable of (train, test), default=2
        An integer assigns folds by a fixed hash of the row number, whatever the chunks. Splitters
        and index pairs work as in scikit-learn, e.g. blocks in space (`BlockKFold`); in `fit`
        only, which takes ``groups`` for splitters that want them. Whatever an encoder learns from
        targets is learnt from the training rows of each of their splits.
    fit_intercept : bool, default=True
        Whether β₀ is fitted, or zero (with a local part it is always fitted).
    local : "auto", NeighborKriging or None, default="auto"
        The local part u of y(x) = z(x)ᵀβ + β₀ + u(x) + ε: a Gaussian process known by the nearest
        rows, for what no D features can follow. The model then keeps its rows, and α is a ridge
        on whitened features, by evidence unless it is a number. ``"auto"``: with
        ``features="auto"`` chosen with everything else, by the error on rows that are held out of
        all rows (with a splitter as `cv`: on its test rows); with given features none. A
        `NeighborKriging`: that local part beside the features, in the columns that the feature
        map itself sees (after the other steps of a pipeline). None: no local part.
        ``features=None``: a constant and the local part alone.
    encoder : "auto", TableEncoder or None, default="auto"
        What makes rows of numbers of frames with words, dates or gaps, before everything else.
        ``"auto"``: a `TableEncoder` for such frames if ``features="auto"``, else none. One that is
        given is used for all frames. None: frames go to the features as they are.
    target : "auto" or None, default="auto"
        The scale on which targets are learnt. None: as they are. ``"auto"``: with an encoder and
        ``features="auto"``, roots or logarithms of one target that is never negative and skewed,
        where likelihood and squared error on held-out rows are both clearly in favour (``target_``
        tells; predictions are back on the scale of y, with Duan's smearing).
    budget : int, default=1024
        The number of columns D if ``features="auto"``.
    metric : bool, default=True
        Whether the choice tries a learned metric (`LearnedMetric`).
    time_limit : float, optional
        About how many seconds the fit may take where it chooses: the best found until then is
        fitted, and ``selection_`` tells what there was no time for. The least that gives a model,
        a local part with one kernel, always runs.
    random_state : int, RandomState instance or None, default=None
        The seed of the features, unless they have one of their own.
    verbose : bool, default=False
        Show a progress bar on fits of more than two seconds.

    Attributes
    ----------
    features_ : transformer
        The fitted features. `partial_fit` learns them from its first chunk.
    coef_ : ndarray of shape (D,) or (n_targets, D)
        β.
    intercept_ : float or ndarray of shape (n_targets,)
        β₀.
    alpha_ : float
        The α used.
    cv_results_ : dict
        ``alpha``, ``mean_test_mse``, ``std_test_mse`` and ``split<k>_test_mse``.
    importances_ : dict of str to float
        Shares of the columns in what predictions depend on: of a table that was encoded by
        permutation on held-out rows, of numbers alone by gradients.
    moments_ : list of Moments
        The sums over the rows seen, for each fold; empty with a local part.
    local_ : NeighborKriging or None
        The fitted local part, of what the features leave.
    calibration_ : Calibration
        What intervals are calibrated by; found when first asked for.
    encoder_ : TableEncoder
        The fitted encoder of a table that needed one; the features see its columns.
    target_ : TargetScale
        The scale of the targets, where it is another than their own; ``coef_``, ``alpha_`` and
        errors are on that scale then.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (500, 2))
    >>> y = np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.01 * rng.standard_normal(500)
    >>> model = zonal.KernelRidge(budget=256, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    def __init__(
        self,
        features: Any = "auto",
        alpha: float | str = "cv",
        *,
        alphas: npt.ArrayLike | None = None,
        cv: Any = 2,
        fit_intercept: bool = True,
        local: Any = "auto",
        encoder: Any = "auto",
        target: str | None = "auto",
        budget: int = 1024,
        metric: bool = True,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            features,
            alpha,
            alphas=alphas,
            cv=cv,
            fit_intercept=fit_intercept,
            local=local,
            encoder=encoder,
            budget=budget,
            metric=metric,
            time_limit=time_limit,
            random_state=random_state,
            verbose=verbose,
        )
        self.target = target

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        checkpoint: Any = None,
    ) -> Self:
        """Fit to all rows.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or a Dask array or frame; or blocks (X, y) of rows, from `zonal.stream` or any
            iterator.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, unless X yields them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights w_i; a row of weight 2 counts as two rows.
        groups : array-like of shape (n_samples,), optional
            A label of each row for the splitter `cv`, such as scikit-learn's GroupKFold; rows of
            one group stay together. With an integer `cv`: so many folds of whole groups.
        checkpoint : path-like or Checkpoint, optional
            A file for the sums of the rows seen so far, from which a fit that was killed goes on.

        Returns
        -------
        self
        """
        return self._fit_grouped(X, y, sample_weight, checkpoint, groups)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data.

        Given the features, the result does not depend on how the rows are cut into chunks. The
        coefficients are found when they are next needed.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)

    @blockwise
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets, and on request the standard deviation of the latent function.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or a Dask array or frame, or a stream of blocks.
        return_std : bool, default=False
            Whether to return standard deviations too, under the Gaussian process whose posterior
            mean is this model (`zonal.learners.ridge_posterior` has the formula).

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
        std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Only if `return_std`.
        """
        if return_std and isinstance(self._solution, LocalSolution):
            mean, std = self._predict_local(X, return_std=True)
        else:
            mean, std = self._scores(X), None
            if return_std:
                rows = self._check_rows(X, reset=False)
                std = np.sqrt(self._posterior().predict(self._space, rows)[1])
        if hasattr(self, "target_"):
            std = None if std is None else std * self.target_.slope(mean)
            mean = self.target_.backward(mean)
        parts = [part[:, 0] if self._single_ else part for part in (mean, std) if part is not None]
        return tuple(parts) if return_std else parts[0]

    def gradient(self, X: Any) -> Array:
        r"""Gradients of the prediction, :math:`\nabla f(x) = \sum_c \beta_c \nabla z_c(x)`.

        With respect to the columns of X as they are, in closed form. The features must be a map
        of this library, alone or after linear steps (`Standardizer`, scalers of scikit-learn). A
        local part adds its own gradient, with the neighbours of a row held; at the rows of the fit
        a Matérn kernel of ν = 1/2 has none, and counts as flat.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_targets, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> X = np.linspace(-3, 3, 200)[:, None]
        >>> model = zonal.KernelRidge(budget=64, random_state=0).fit(X, np.sin(X[:, 0]))
        >>> bool(np.abs(model.gradient(X) - np.cos(X)).max() < 0.01)
        True
        """
        gradient = self._gradient(X, self._solution.coef)
        if hasattr(self, "target_"):
            gradient = gradient * self.target_.slope(self._scores(X))[:, :, None]
        return gradient[:, 0] if self._single_ else gradient

    def _quantiles(self, X: Any, levels: npt.ArrayLike) -> Array:
        found = super()._quantiles(X, levels)
        return self.target_.inverse(found) if hasattr(self, "target_") else found

    @property
    def coef_(self) -> FloatArray:
        """Coefficients β of the features."""
        coef = self._solution.coef.T
        return coef[0] if self._single_ else coef

    @property
    def intercept_(self) -> Any:
        """Intercept β₀."""
        intercept = self._solution.intercept
        return float(intercept[0]) if self._single_ else intercept

    def _check_parameters(self) -> None:
        if not (self.target is None or self.target == "auto"):
            raise ValueError(f"target={self.target!r} must be 'auto' or None.")
        super()._check_parameters()

    def _check_y(self, y: Any) -> Array:
        return check_numbers(y, type(self).__name__)

    def _checked(
        self, block: Block, *, first: bool, numbers: Any = None, source: Source | None = None
    ) -> Block:
        block = super()._checked(block, first=first, numbers=numbers, source=source)
        tried = self.target == "auto" and hasattr(self, "encoder_") and self._is_automatic()
        if first and tried and block.y.ndim == 1 and len(block) >= MIN_ROWS:
            scale = choose_scale(block.X, block.y, block.weight)
            if scale is not None:
                self.target_ = scale
        if not hasattr(self, "target_"):
            return block
        return replace(block, y=self.target_.forward(block.y).astype(block.y.dtype))

    def _learn(self, survey: Survey) -> None:
        self._single_ = survey.sample.y.ndim == 1
        super()._learn(survey)
        if hasattr(self, "target_"):
            # The error of what was chosen, not that of the pilot's regression.
            chosen = [record["error"] for record in self._selection_ if record["chosen"]]
            error = chosen[-1] ** 0.5 * float(np.std(survey.sample.y))
            if self._plan_ is None:  # the pilot's rows are random ones, those of a splitter are not
                error = min(error, self.target_.deviation)
            self.target_ = replace(self.target_, deviation=error)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
