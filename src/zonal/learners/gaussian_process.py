"""Gaussian processes: Bayesian linear regression on explicit features."""

from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from .._typing import Array, FloatArray
from ..calibration.intervals import Calibration
from ..model.recipe import Local, Recipe
from ..moments.folds import Splits
from ..rows import blockwise
from ..rows.survey import Survey
from .errors import known_errors
from .model_learner import ModelLearner
from .neighbor_kriging import NeighborKriging
from .targets import check_numbers

__all__ = ["GaussianProcess"]


class GaussianProcess(RegressorMixin, ModelLearner):
    r"""Gaussian process regression as Bayesian linear regression on features.

    .. math::

        y = \mu + z^\top w + \varepsilon, \qquad w \sim N(0, a I), \qquad
        \varepsilon \sim N(0, \sigma^2),

    a Gaussian process with kernel a Z Zᵀ ≈ a K and a constant μ of flat prior. μ, the amplitude a
    and the noise σ² are those of largest evidence, so that the units of y do not matter; everything
    follows from the moments, in one pass.

    Parameters
    ----------
    features : transformer or "auto", default="auto"
        As in `KernelRidge`. Those that are chosen, where there is no local part, have the length
        scales of largest evidence near the chosen ones: of the kernel, and of each of up to 16
        standardised columns where that pays (`zonal.model.length_scales`).
    noise : float or "evidence", default="evidence"
        ``"evidence"``: as above. A number: the variance σ² of the noise of a row of mean weight;
        then all of the prior is given, with zero mean and a = 1. Standardise y for it: a warning
        tells where the model explains less than a constant.
    local : "auto", NeighborKriging or None, default="auto"
        The local part, as in `KernelRidge`. With one, all parameters (the noise included) are
        those of largest evidence. ``"auto"`` is none where `noise` is a number.
    encoder, budget, metric, time_limit, random_state, verbose
        As in `KernelRidge`.

    Attributes
    ----------
    noise_ : float or ndarray of shape (n_targets,)
        σ².
    amplitude_ : float or ndarray of shape (n_targets,)
        a; with a local part, the variance of its process.
    log_evidence_ : float
        log p(y), at the best μ and summed over targets.
    coef_ : ndarray of shape (D,) or (n_targets, D)
        The posterior mean of w.
    intercept_ : float or ndarray of shape (n_targets,)
        The prediction where all features are zero.
    calibration_ : Calibration
        What intervals are calibrated by; found when first asked for.
    features_, moments_, encoder_
        As in `KernelRidge`.

    Notes
    -----
    The standard deviation is that of the latent function, as in scikit-learn:
    :math:`z^\top \Sigma z + a \max(0, k(x,x) - \|z\|^2)` with Σ the posterior covariance of w, in
    z about the mean of the rows where there is a constant. The second term is the prior variance
    that the features leave out, so that it grows back to the prior's away from the data. Where the
    noise is by evidence, it has what is left out at the rows in it, and only what exceeds the most
    there is added. The term needs features of this library, which know their kernel; with other
    transformers it is zero.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> y = 273 + np.sin(X[:, 0])
    >>> model = zonal.GaussianProcess(budget=64, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[0.5], [30.0]], return_std=True)
    >>> bool(abs(mean[0] - 273 - np.sin(0.5)) < 0.01), bool(std[0] < 0.05 and std[1] > 0.5)
    (True, True)
    """

    def __init__(
        self,
        features: Any = "auto",
        noise: float | str = "evidence",
        *,
        local: Any = "auto",
        encoder: Any = "auto",
        budget: int = 1024,
        metric: bool = True,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.noise = noise
        self.local = local
        self.encoder = encoder
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
        checkpoint: Any = None,
        noise_variance: Any = None,
        extra_noise: bool = True,
    ) -> Self:
        """Fit to rows [n_samples, n_features] and targets [n_samples] or [n_samples, n_targets].

        Dask collections, streams of blocks and checkpoints as in `KernelRidge`.

        Parameters
        ----------
        X, y, checkpoint
            As in `KernelRidge`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights w_i, relative precisions: the noise of a row has the variance σ²/w_i, where the
            weights have the mean one over the rows that count, so that constant weights change
            nothing. Rows that agree in X and y are one row with the sum of their weights.
            (Not so in `partial_fit` and in streams that are not held in memory.)
        noise_variance : array-like of shape (n_samples,), optional
            The variance of each observation's own error, in the units of y squared. The noise of
            a row has this variance plus a common part, which the evidence finds
            (``extra_noise_``). True: the third part of a stream's blocks has them. A `noise`
            that is a number is the common part.
        extra_noise : bool, default=True
            Whether there is that common part.

        Returns
        -------
        self
        """
        weight, errors = known_errors(X, sample_weight, noise_variance, extra_noise)
        return self._fit(X, y, weight, checkpoint, errors=errors)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data."""
        return self._partial_fit(X, y, sample_weight)

    @blockwise
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Posterior mean, and standard deviation of the latent function, of rows.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows.
        return_std : bool, default=False
            Whether to return standard deviations too.

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
        """Predict intervals that hold new observations with a given probability.

        As `KernelRidge.predict_interval`, calibrated by rows that are left out one by one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, of any kind that `predict` takes.
        coverage : float, default=0.9
            The share of observations that the intervals hold.
        noise_variance : float or array-like of shape (n_samples,), optional
            The variance of each new observation's own error, which is added to the common noise;
            by default the noise is that of a typical row of the fit.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._interval(X, coverage, noise_variance)

    @blockwise
    def predict_quantiles(
        self, X: Any, q: npt.ArrayLike = (0.05, 0.5, 0.95), *, noise_variance: Any = None
    ) -> Array:
        """Predict quantiles of new observations, as `KernelRidge.predict_quantiles`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, of any kind that `predict` takes.
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

    def gradient(self, X: Any) -> Array:
        """Gradients of the posterior mean, as those of `KernelRidge`.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_targets, n_features)
        """
        return self._each(self._model.gradient(self._check_rows(X, reset=False)))

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = None, *, noise: bool = False
    ) -> Array:
        """Draw functions from the posterior, jointly at all rows of X.

        Features draw their coefficients; the local part goes through the rows in a fixed random
        order, each given the rows of the fit near it and the earlier rows of X near it
        (`zonal.kriging.sequential`). All draws share the weights, so that many cost little more
        than one. What features without a local part leave out is independent between rows.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_rows, n_features)
            Rows. Their order does not matter, and equal rows have equal values.
        n_samples : int, default=1
            The number of draws. The first ones are the same however many there are.
        random_state : int, RandomState instance or None, default=None
            The seed: the same one gives the same fields. None: others each time.
        noise : bool, default=False
            Whether to add the noise of observations; else draws are of the latent function, as
            the standard deviation of `predict` is.

        Returns
        -------
        ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> X = np.linspace(0, 9, 40)[:, None]
        >>> model = zonal.GaussianProcess(budget=64, random_state=0).fit(X, np.sin(X[:, 0]))
        >>> draws = model.sample_y([[4.0], [4.1], [30.0]], 500, random_state=0)
        >>> draws.shape
        (3, 500)
        >>> bool(draws[2].std() > 10 * draws[0].std())
        True
        """
        return self._drawn(X, n_samples, random_state, noise)

    @property
    def noise_(self) -> Any:
        """The variance σ² of the noise."""
        return self._each(self._solution.noise)

    @property
    def amplitude_(self) -> Any:
        """The variance of the coefficients, or of the process of the local part."""
        return self._each(self._solution.amplitude)

    @property
    def log_evidence_(self) -> float:
        """The log evidence at that noise."""
        return float(self._solution.log_evidence)

    @property
    def intercept_(self) -> Any:
        """The prediction where all features are zero."""
        return self._each(self._solution.intercept)

    @property
    def coef_(self) -> FloatArray:
        """The posterior mean of the weights."""
        return np.asarray(self._each(self._solution.coef.T[None])[0])

    @property
    def calibration_(self) -> Calibration:
        """What intervals are calibrated by: scores of rows that are left out of the fit."""
        calibration: Calibration = self._solution.calibration
        return calibration

    def _check_parameters(self) -> None:
        if isinstance(self.noise, str):
            valid = self.noise == "evidence"
        else:
            number = isinstance(self.noise, Real) and not isinstance(self.noise, bool)
            valid = number and 0 < float(self.noise) < np.inf
        if not valid:
            raise ValueError(
                f"noise={self.noise!r} must be 'evidence' or a positive number, the variance of "
                "the observations' noise."
            )
        super()._check_parameters()

    def _check_y(self, y: Any) -> Array:
        return check_numbers(y, type(self).__name__)

    def _shrinkage(self) -> Recipe:
        noise = None if isinstance(self.noise, str) else float(self.noise)
        return Recipe(alpha="evidence", noise=noise)

    def _local_part(self) -> Local | None:
        # A noise that is given leaves nothing to a local part that is not asked for.
        unasked = isinstance(self.local, str) and self.features is not None
        return None if unasked and not isinstance(self.noise, str) else super()._local_part()

    def _tuned(self, recipe: Recipe, survey: Survey, plan: Splits | None) -> Recipe:
        given = not isinstance(self.noise, str)
        return recipe if given else self._with_length_scales(recipe, survey)

    def _local_view(self, part: Any) -> NeighborKriging:
        return NeighborKriging.of(part, self._cells_.single)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
