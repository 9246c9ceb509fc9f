"""Kernel ridge regression on explicit features, in one pass over the data."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from ..features.columns.time_column import check_time
from ..model.features import is_automatic
from ..model.folds import check_alpha
from ..model.recipe import Recipe
from ..model.times import known_periods, place_time_encoder
from ..moments.folds import Splits
from ..rows import Block, Source
from ..rows.survey import Survey
from . import answers
from .errors import known_errors
from .model_learner import ModelLearner
from .neighbor_kriging import NeighborKriging

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
        An integer assigns folds by a fixed hash of the row number, so chunks do not matter; fewer
        than 300 rows are left out one by one instead, so that their order does not matter.
        Splitters and index pairs work as in scikit-learn, e.g. blocks in space (`BlockKFold`), but
        in `fit` only, which takes ``groups`` for splitters that want them. An encoder then learns
        what it takes from targets again from the training rows of each split.
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
    time : "auto", str, float, sequence of floats or None, default="auto"
        Which column is a time, where ``features="auto"`` and rows are places and times. The
        candidates are then a model of what changes, what stays and what comes back (see
        `NeighborKriging`, parameter `time`) too. ``"auto"``: of a frame with latitude, longitude
        and one more column that one, if it holds dates or is named like a time (time, date, day,
        month, year, hour) and goes on; seasons are guessed from its values. A name: that column
        of a frame, the last one but for latitude and longitude; months alone are a circle, which
        ``time="month"`` says and ``"auto"`` does not try. Numbers: the
        last column of an array, or the recognised one of a frame, with these periods in its own
        units (years for dates), or ``()``. None: no column is.

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
        What intervals are calibrated by. The first use finds it, and the model keeps it.
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

    _blends = True

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
        time: Any = "auto",
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
        self.time = time

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        queries: Any = None,
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
            (`partial_fit`, streams that are not held in memory and a splitter as `cv` do not look
            for such rows.) For intervals, weights that are whole multiples of the least, which
            most rows have, are numbers of copies, and others precisions only if errors agree;
            `noise_variance` is for precisions that are known. A given α, as in scikit-learn's
            Ridge, is relative to the weights as they are: a row of weight 2 counts as two rows.
        groups : array-like of shape (n_samples,), optional
            A label of each row for the splitter `cv`, such as scikit-learn's GroupKFold; rows of
            one group stay together. An integer `cv` makes that number of folds of whole groups.
        queries : array-like or frame of shape (n_queries, n_features), optional
            Rows that will be asked, where they are known, such as the cells of a map without a
            value. A model with a local part on places (up to six columns) then calibrates its
            intervals by held-out rows that are as far from the others as the queries are
            (nearest-neighbour distance matching; `DistanceMatchedKFold` as `cv` does so for all
            models). At most 10,000 of them are looked at; they tell nothing about the targets.
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
        return self._fit(X, y, weight, checkpoint, groups=groups, queries=queries, errors=errors)

    partial_fit = answers.partial_fit
    predict = answers.predict
    predict_interval = answers.predict_interval
    predict_quantiles = answers.predict_quantiles
    gradient = answers.gradient
    sample_y = answers.sample_y
    posterior_sums = answers.posterior_sums

    @property
    def target_(self) -> Any:
        """The scale of the targets, where it is another than their own."""
        scale = self._known(self._cells_).scale
        if scale is None:
            raise AttributeError("The targets are learnt as they are.")
        return scale

    def _check_parameters(self) -> None:
        if not (self.target is None or self.target == "auto"):
            raise ValueError(f"target={self.target!r} must be 'auto' or None.")
        check_alpha(self.alpha)
        check_time(self.time, "KernelRidge")
        super()._check_parameters()

    def _read(self, block: Block, survey: Survey, source: Source | None) -> dict[str, Any]:
        known = super()._read(block, survey, source)
        cells = self._cells_
        if is_automatic(self.features):
            periods = known_periods(block.X, cells.encoder, self.time, "KernelRidge")
            self._cells_ = replace(cells, periods=periods)
        known_scale = self._errors_ is not None  # errors are on the scale of y
        if self.target == "auto" and is_automatic(self.features) and not known_scale:
            self._cells_ = self._cells_.with_scale(block, survey.sample.numbers)
        return known

    def _encoder(self, block: Block) -> Any:
        automatic = isinstance(self.encoder, str) and self.encoder == "auto"
        if not automatic or not is_automatic(self.features) or self.time is None:
            return self.encoder
        return place_time_encoder(block) or self.encoder

    def _tuned(self, recipe: Recipe, survey: Survey, plan: Splits | None) -> Recipe:
        if not recipe.records:  # rows too few to choose by
            return self._with_length_scales(recipe, survey)
        chosen = [record["error"] for record in recipe.records if record["chosen"]]
        if chosen:
            # The error of the chosen model, not that of the pilot's regression. The pilot's rows
            # are random; those of a splitter are not, and may have the larger error.
            error = chosen[-1] ** 0.5 * float(np.std(survey.sample.y))
            self._cells_ = self._cells_.with_deviation(error, least=plan is None)
        return recipe

    _local_class = NeighborKriging
    _many_targets = True
    _in_parts = True
    _varies = True
