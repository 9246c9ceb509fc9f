"""Gaussian processes: Bayesian linear regression on explicit features."""

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._typing import Array, FloatArray
from .._validation import is_sparse
from ..moments import Moments
from ..rows import blockwise
from ..rows.survey import Survey
from .calibrated import CalibratedRegressor
from .evidence import Evidence
from .length_scales import tune_length_scales
from .local_learner import LocalLearner
from .local_solution import LocalSolution
from .ridge_posterior import RidgePosterior
from .sampled_sums import moments_of
from .targets import check_numbers

__all__ = ["GaussianProcess"]


class GaussianProcess(CalibratedRegressor, RegressorMixin, LocalLearner):
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
        standardised columns where that pays (`zonal.learners.length_scales`).
    noise : float or "evidence", default="evidence"
        ``"evidence"``: as above. A number: the variance σ² of the observations' noise; then all of
        the prior is given, with zero mean and a = 1. Standardise y for it: a warning tells where
        the model explains less than a constant.
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
        self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None
    ) -> Self:
        """Fit to rows [n_samples, n_features] and targets [n_samples] or [n_samples, n_targets].

        Weights, Dask collections, streams of blocks and checkpoints as in `KernelRidge`.
        """
        return self._fit(X, y, sample_weight, checkpoint)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data."""
        return self._partial_fit(X, y, sample_weight)

    def _check_y(self, y: Any) -> Array:
        return check_numbers(y, type(self).__name__)

    def _learn(self, survey: Survey) -> None:
        self._single_ = survey.sample.y.ndim == 1
        super()._learn(survey)
        sample = survey.sample
        if self._is_local_ or not self._is_automatic() or is_sparse(sample.X):
            return
        if self.noise == "evidence":
            Y = self._targets(sample.y, _num_samples(sample.X)).astype(np.float64)
            self.features_ = tune_length_scales(self.features_, sample.X, Y, sample.weight)
            self._start_sums(sample.X, Y)

    def _may_be_local(self) -> bool:
        automatic = isinstance(self.local, str)
        return super()._may_be_local() and not (automatic and not isinstance(self.noise, str))

    def _solve(self, sums: Any) -> Any:
        if self._is_local_:
            return super()._solve(sums)
        moments = Moments.merged(moments_of(sums))
        if self.noise == "evidence":
            evidence = Evidence(moments, constant=True)
            alpha = evidence.best_alpha()
            return evidence.posterior(alpha, evidence.noise(alpha), self._left_out(sums))
        evidence, noise = Evidence(moments, constant=False), float(self.noise)
        found = evidence.posterior(noise, np.full(moments.n_targets, noise), 0.0)
        _warn_if_useless(moments, found, noise)
        return found

    def _solve_cost(self) -> float:
        return 0.8  # one eigendecomposition

    def _posterior(self) -> RidgePosterior:
        posterior: RidgePosterior = self._solution
        return posterior

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
        posterior = self._solution
        std: Array | None
        if isinstance(posterior, LocalSolution):
            mean, std = self._predict_local(X, return_std)
        else:
            X = self._check_rows(X, reset=False)
            if return_std:
                mean, variance, _ = posterior.predict(self._space, X)
                std = np.sqrt(variance)
            else:
                mean, std = self._space.map(X, posterior.mean), None
        parts = [part[:, 0] if self._single_ else part for part in (mean, std) if part is not None]
        return tuple(parts) if return_std else parts[0]

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
        gradient = self._gradient(X, np.atleast_2d(self.coef_).T)
        return gradient[:, 0] if self._single_ else gradient

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draws of the latent function at rows.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_rows, n_features)
            Rows.
        n_samples : int, default=1
            The number of draws.
        random_state : int, RandomState instance or None, default=0
            The seed.

        Returns
        -------
        ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)
            Their variance is that of `predict`; the part that the features leave out is drawn
            independently for each row.
        """
        posterior = self._solution
        if isinstance(posterior, LocalSolution):
            raise NotImplementedError(
                "The model has a local part, of which no draws are made: fit with local=None, or "
                "use the standard deviations of predict."
            )
        X = self._check_rows(X, reset=False)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        width, n_targets = posterior.solution.coef.shape
        shape = (n_targets, n_samples)
        scale = np.sqrt(posterior.noise)[:, None]
        own = posterior.factor @ rng.standard_normal((width, n_targets * n_samples))
        weights = own.reshape(width, *shape) * scale
        # The constant is known from the mean of all rows.
        level = np.sqrt(posterior.constant) * scale * rng.standard_normal(shape)

        def values(Z: Array) -> Array:
            centred = Z - posterior.middle.astype(Z.dtype)
            drawn = centred @ weights.reshape(width, -1).astype(Z.dtype)
            return np.column_stack([posterior.mean(Z), drawn, np.square(Z).sum(axis=1)])

        found = self._space.map(X, values)
        mean, drawn = found[:, :n_targets, None], found[:, n_targets:-1].reshape(-1, *shape)
        missing = self._space.residual_variance(X, found[:, -1]) - posterior.left_out
        rest = np.sqrt(np.maximum(missing, 0)[:, None] * posterior.amplitude)[:, :, None]
        sample = mean + drawn + level + rest * rng.standard_normal(drawn.shape)
        sample = sample.astype(found.dtype)
        return sample[:, 0] if self._single_ else sample

    def _check_parameters(self) -> None:
        if isinstance(self.noise, str):
            valid = self.noise == "evidence"
        else:
            valid = isinstance(self.noise, Real) and 0 < float(self.noise) < np.inf
        if not valid:
            raise ValueError(
                f"noise={self.noise!r} must be 'evidence' or a positive number, the variance of "
                "the observations' noise."
            )
        super()._check_parameters()

    @property
    def noise_(self) -> Any:
        """The variance σ² of the noise."""
        solution = self._solution
        if isinstance(solution, LocalSolution):
            return self._each(solution.found.noise * solution.joint.found.scale)
        return self._each(solution.noise)

    @property
    def amplitude_(self) -> Any:
        """The variance of the coefficients, or of the process of the local part."""
        solution = self._solution
        if isinstance(solution, LocalSolution):
            return self._each(solution.joint.found.scale)
        return self._each(solution.amplitude)

    @property
    def log_evidence_(self) -> float:
        """The log evidence at that noise."""
        solution = self._solution
        if isinstance(solution, LocalSolution):
            return float(solution.joint.found.log_evidence)
        return float(solution.log_evidence)

    @property
    def intercept_(self) -> Any:
        """The prediction where all features are zero."""
        return self._each(self._linear().intercept)

    @property
    def coef_(self) -> FloatArray:
        """The posterior mean of the weights."""
        coef: FloatArray = self._linear().coef.T
        return coef[0] if self._single_ else coef

    def _linear(self) -> Any:
        """Return what has the coefficients."""
        solution = self._solution
        return solution if isinstance(solution, LocalSolution) else solution.solution

    def _each(self, values: FloatArray) -> Any:
        """Return a number for one target, else those of all."""
        return float(values[0]) if self._single_ else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _warn_if_useless(moments: Moments, found: RidgePosterior, noise: float) -> None:
    """Warn if a prior that was given fits the targets worse than a constant."""
    width = moments.n_features
    products = moments.products(np.zeros_like(moments.shift))
    gram, cross = products[:width, :width], products[:width, width:]
    coef = found.solution.coef
    left = np.diag(products)[width:] - np.sum(coef * (2 * cross - gram @ coef), axis=0)
    if (left > moments.squares()[width:] * (1 + 1e-6)).any():
        warnings.warn(
            f"GaussianProcess(noise={noise:g}) explains less of y than a constant: its prior has "
            'the mean zero and the amplitude one. Standardise y, or use noise="evidence", which '
            "finds both.",
            UserWarning,
            stacklevel=6,
        )
