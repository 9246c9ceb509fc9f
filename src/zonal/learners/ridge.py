"""Kernel ridge regression on explicit features, in one pass over the data."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, is_classifier

from .._typing import Array, FloatArray
from ..calibration.intervals import Calibration
from ..features.columns.table.encoding import SplitTable
from ..model.recipe import Recipe
from ..model.ridge_path import check_alphas
from ..moments.folds import Splits
from ..rows import Block, Source, blockwise
from ..rows.survey import Survey
from .errors import known_errors
from .features import is_automatic
from .folds import check_alpha, count_folds, path_cost, plan_folds, splits_rows
from .model_learner import ModelLearner
from .neighbor_kriging import NeighborKriging
from .targets import check_numbers

__all__ = ["KernelRidge"]


class KernelRidge(RegressorMixin, ModelLearner):
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
        columns and Gegenbauer features of a Gaussian kernel, with the length scales of largest
        evidence near the median bandwidth.
    alpha : float or "cv", default="cv"
        The regularisation α, the paper's λ. ``"cv"``: the one with the smallest mean squared
        error in cross-validation, used unchanged on all rows (the paper's protocol).
    alphas : array-like, optional
        The values to try, by default 30 from 5e-16 to 1 times trace(ZᵀZ)/D: as far down as sums in
        float64 allow. `zonal.AlphaWarning` says so where the error still falls at their end.
    cv : int, splitter or iterable of (train, test), default=2
        An integer assigns folds by a fixed hash of the row number, whatever the chunks; fewer than
        300 rows are left out one by one instead, so that their order does not matter. Splitters
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
    encoder : "auto", transformer or None, default="auto"
        What makes rows of numbers of frames with words, dates or gaps, before everything else.
        ``"auto"``: a `TableEncoder` for such frames if ``features="auto"``, else none. One that is
        given, such as a `TableEncoder` or a `SphereEncoder`, is used for all rows. None: frames go
        to the features as they are.
    target : "auto" or None, default="auto"
        The scale on which targets are learnt. None: as they are. ``"auto"``: with a `TableEncoder`
        and ``features="auto"``, roots or logarithms of one target that is never negative and
        skewed, where likelihood and squared error on held-out rows are both clearly in favour
        (``target_`` tells; predictions are back on the scale of y, with Duan's smearing).
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
    encoder_ : transformer
        The fitted encoder, of a table that needed one or where one is given; the features see its
        columns.
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
        self.features = features
        self.alpha = alpha
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.local = local
        self.encoder = encoder
        self.target = target
        self.budget = budget
        self.metric = metric
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        checkpoint: Any = None,
        noise_variance: Any = None,
        extra_noise: bool = True,
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
            Weights w_i, relative precisions: the noise of a row has the variance σ²/w_i, where the
            weights have the mean one over the rows that count, so that constant weights change
            nothing. Rows that agree in X and y are one row with the sum of their weights.
            (Not so in `partial_fit`, in streams that are not held in memory and with a splitter as
            `cv`, where nobody looks for them.) A given α, as in scikit-learn's Ridge, is relative
            to the weights as they are: a row of weight 2 counts as two rows.
        groups : array-like of shape (n_samples,), optional
            A label of each row for the splitter `cv`, such as scikit-learn's GroupKFold; rows of
            one group stay together. With an integer `cv`: so many folds of whole groups.
        checkpoint : path-like or Checkpoint, optional
            A file for the sums of the rows seen so far, from which a fit that was killed goes on.
        noise_variance : array-like of shape (n_samples,), optional
            The variance of each observation's own error, in the units of y squared. The noise of
            a row has this variance plus a common part, which the evidence finds
            (``extra_noise_``). True: the third part of a stream's blocks has them. Where α is
            found by cross-validation they are relative precisions 1/(v + s).
        extra_noise : bool, default=True
            Whether there is that common part.

        Returns
        -------
        self
        """
        groups = None if groups is None else np.asarray(groups)
        weight, errors = known_errors(X, sample_weight, noise_variance, extra_noise)
        return self._fit(X, y, weight, checkpoint, groups=groups, errors=errors)

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
            mean is this model (`zonal.model.ridge_posterior` has the formula).

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
        std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Only if `return_std`.
        """
        return self._predicted(X, return_std)

    @blockwise
    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, noise_variance: Any = None
    ) -> tuple[Array, Array]:
        r"""Predict intervals that hold new observations with a given probability.

        .. math:: \hat y(x) + s(x)\, q_{a/2}, \quad \hat y(x) + s(x)\, q_{1 - a/2}, \qquad
            a = 1 - \text{coverage},

        with s(x) the model's own standard deviation of an observation, noise included, and q the
        quantiles of (y - ŷ)/s at rows that are left out of the fit (conformal prediction), so that
        the level holds where the model is wrong too. The rows are left out one by one, or with a
        splitter as `cv` as it says: with blocks the intervals are for gaps.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or a Dask array or frame, or a stream of blocks.
        coverage : float, default=0.9
            The share of observations that the intervals hold.
        noise_variance : float or array-like of shape (n_samples,), optional
            The variance of each new observation's own error, which is added to the common noise;
            by default the noise is that of a typical row of the fit.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples,) or (n_samples, n_targets)

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-3, 3, (1200, 1))
        >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(1200)
        >>> model = zonal.KernelRidge(budget=64, random_state=0).fit(X[:1000], y[:1000])
        >>> lower, upper = model.predict_interval(X[1000:], coverage=0.9)
        >>> bool(0.84 < np.mean((lower < y[1000:]) & (y[1000:] < upper)) < 0.96)
        True
        """
        return self._interval(X, coverage, noise_variance)

    @blockwise
    def predict_quantiles(
        self, X: Any, q: npt.ArrayLike = (0.05, 0.5, 0.95), *, noise_variance: Any = None
    ) -> Array:
        """Predict quantiles of new observations, calibrated like `predict_interval`.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or a Dask array or frame, or a stream of blocks.
        q : float or array-like of shape (n_quantiles,)
            Levels between 0 and 1.
        noise_variance : float or array-like of shape (n_samples,), optional
            As in `predict_interval`.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles) or (n_samples, n_targets, n_quantiles)
            Without the last axis if `q` is a number.
        """
        return self._quantiles(X, q, noise_variance)

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = None, *, noise: bool = False
    ) -> Array:
        """Draw functions from the posterior, jointly at all rows of X.

        As `GaussianProcess.sample_y`, whose documentation tells how.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows, of any kind that `predict` takes but Dask and streams.
        n_samples : int, default=1
            The number of draws.
        random_state : int, RandomState instance or None, default=None
            The seed: the same one gives the same fields. None: others each time.
        noise : bool, default=False
            Whether to add the noise of observations.

        Returns
        -------
        ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)
        """
        return self._drawn(X, n_samples, random_state, noise)

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
        return self._each(self._model.gradient(self._check_rows(X, reset=False)))

    @property
    def coef_(self) -> FloatArray:
        """Coefficients β of the features."""
        return np.asarray(self._each(self._solution.coef.T[None])[0])

    @property
    def intercept_(self) -> Any:
        """Intercept β₀."""
        return self._each(self._solution.intercept)

    @property
    def alpha_(self) -> float:
        """The regularisation used."""
        return float(self._solution.alpha)

    @property
    def cv_results_(self) -> dict[str, Array]:
        """Alphas with their cross-validated errors (empty for a given alpha)."""
        results: dict[str, Array] = self._solution.cv_results
        return results

    @property
    def calibration_(self) -> Calibration:
        """What intervals are calibrated by: scores of rows that are left out of the fit."""
        calibration: Calibration = self._solution.calibration
        return calibration

    @property
    def target_(self) -> Any:
        """The scale of the targets, where it is another than their own."""
        scale = self._model.cells.scale
        if scale is None:
            raise AttributeError("The targets are learnt as they are.")
        return scale

    def _check_parameters(self) -> None:
        if not (self.target is None or self.target == "auto"):
            raise ValueError(f"target={self.target!r} must be 'auto' or None.")
        check_alpha(self.alpha)
        super()._check_parameters()

    def _shrinkage(self) -> Recipe:
        alpha = self.alpha if isinstance(self.alpha, str) else float(self.alpha)
        return Recipe(
            alpha=alpha, alphas=check_alphas(self.alphas), fit_intercept=self.fit_intercept
        )

    def _splits_rows(self, groups: Any) -> bool:
        return splits_rows(self.alpha, self.cv, groups)

    def _n_folds(self) -> int:
        return count_folds(self.alpha, self.cv, None)

    def _folds(
        self, survey: Survey, raw: Block | None, groups: Any
    ) -> tuple[int, Splits | None, SplitTable | None]:
        encoder = self._cells_.encoder
        return plan_folds(self.alpha, self.cv, groups, survey, raw, encoder, is_classifier(self))

    def _solve_cost(self, n_sums: int) -> float:
        return path_cost(self.alpha, n_sums)

    def _check_y(self, y: Any) -> Array:
        return check_numbers(y, type(self).__name__)

    def _read(self, block: Block, survey: Survey, source: Source | None) -> dict[str, Any]:
        known = super()._read(block, survey, source)
        known_scale = self._errors_ is not None  # errors are on the scale of y
        if self.target == "auto" and is_automatic(self.features) and not known_scale:
            self._cells_ = self._cells_.with_scale(block, survey.sample.numbers)
        return known

    def _tuned(self, recipe: Recipe, survey: Survey, plan: Splits | None) -> Recipe:
        if not recipe.records:  # rows too few to choose by
            return self._with_length_scales(recipe, survey)
        chosen = [record["error"] for record in recipe.records if record["chosen"]]
        if chosen:
            # The error of what was chosen, not that of the pilot's regression; the pilot's rows
            # are random ones, those of a splitter are not.
            error = chosen[-1] ** 0.5 * float(np.std(survey.sample.y))
            self._cells_ = self._cells_.with_deviation(error, least=plan is None)
        return recipe

    def _local_view(self, part: Any) -> NeighborKriging:
        return NeighborKriging.of(part, self._cells_.single)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
