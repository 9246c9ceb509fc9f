"""Gaussian processes: Bayesian linear regression on explicit features."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ..model.recipe import Local, Recipe
from ..moments.folds import Splits
from ..rows.survey import Survey
from . import answers
from .errors import known_errors
from .model_learner import ModelLearner
from .neighbor_kriging import NeighborKriging

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
        then all of the prior is given, with zero mean and a = 1. Standardise y in that case; a
        warning says so if the model explains less than a constant.
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
    alpha_ : float
        σ²/a, the ridge on the coefficients.
    log_evidence_ : float
        log p(y), at the best μ and summed over targets.
    coef_ : ndarray of shape (D,) or (n_targets, D)
        The posterior mean of w.
    intercept_ : float or ndarray of shape (n_targets,)
        The prediction where all features are zero.
    calibration_ : Calibration
        What intervals are calibrated by. The first use finds it, and the model keeps it.
    features_, moments_, encoder_
        As in `KernelRidge`.

    Notes
    -----
    The standard deviation is that of the latent function, as in scikit-learn:
    :math:`z^\top \Sigma z + a \max(0, k(x,x) - \|z\|^2)` with Σ the posterior covariance of w, in
    z about the mean of the rows where there is a constant. The second term is the prior variance
    that the features leave out, so that the variance grows back to the prior's away from the data.
    A noise that is found by evidence already contains what is left out at the rows: only what
    exceeds the largest value there is added. The term needs features of this library, which know
    their kernel; with other transformers it is zero.

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

        Parameters
        ----------
        X, y, sample_weight, checkpoint
            As in `KernelRidge`.
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

    partial_fit = answers.partial_fit
    predict = answers.predict
    predict_interval = answers.predict_interval
    predict_quantiles = answers.predict_quantiles
    gradient = answers.gradient
    sample_y = answers.sample_y
    posterior_sums = answers.posterior_sums

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

    _local_class = NeighborKriging
    _many_targets = True
    _in_parts = True
