"""Gaussian processes: Bayesian linear regression on explicit features."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state

from .._typing import Array, FloatArray
from ..moments import Moments
from ..moments.ridge import Eigen
from ..rows import blockwise
from ..rows.survey import Survey
from .local_learner import LocalLearner
from .local_solution import LocalSolution
from .targets import check_numbers

__all__ = ["GaussianProcess"]


@dataclass(frozen=True)
class _Posterior:
    """Weights N(mean, F Fᵀ) given a noise variance.

    Attributes
    ----------
    mean : ndarray of shape (D, n_targets)
    factor : ndarray of shape (D, D)
        F.
    noise : float
    log_evidence : float
    """

    mean: FloatArray
    factor: FloatArray
    noise: float
    log_evidence: float


class _Evidence:
    """Log evidence and posterior as functions of the noise, from one eigendecomposition."""

    def __init__(self, moments: Moments) -> None:
        width = moments.n_features
        products = moments.products(np.zeros_like(moments.shift))
        eigen = Eigen.of(products[:width, :width], moments.precision)
        # A direction that is rounding was not seen: it keeps its prior.
        seen = eigen.values > eigen.floor
        self.vectors = eigen.vectors
        self.values = np.where(seen, eigen.values, 0.0)
        projected = self.vectors.T @ products[:width, width:]  # Vᵀ Zᵀ y
        self.projected = np.where(seen[:, None], projected, 0.0)
        self.squares = np.diag(products)[width:]
        self.n_rows = moments.weight
        self.precision = moments.precision

    def log_evidence(self, noise: float) -> float:
        r"""Log N(y; 0, Z Zᵀ + σ²I), summed over targets."""
        shrink = self.values + noise
        n_targets = len(self.squares)
        # Directions outside the span of Z have variance σ² each; n - D of them if positive.
        log_det = np.log(shrink / noise).sum() + self.n_rows * np.log(noise)
        fit = (self.squares.sum() - np.sum(self.projected**2 / shrink[:, None])) / noise
        return float(
            -0.5 * (max(fit, 0.0) + n_targets * (log_det + self.n_rows * np.log(2 * np.pi)))
        )

    def best_noise(self) -> float:
        """The noise variance of the largest evidence: a scan, then a local search."""
        scale = self.squares.mean() / self.n_rows
        if scale <= 0:  # targets that are all zero are explained by any small noise
            return 1e-12
        # The data's fit is a difference of sums: less noise than their rounding cannot be told.
        lowest = max(1e-10, self.precision)
        logs = np.log(scale) + np.linspace(np.log(lowest), np.log(10.0), 64)
        best = int(np.argmax([self.log_evidence(np.exp(log)) for log in logs]))
        bounds = logs[max(best - 1, 0)], logs[min(best + 1, len(logs) - 1)]
        found = minimize_scalar(
            lambda log: -self.log_evidence(np.exp(log)), bounds=bounds, method="bounded"
        )
        return float(np.exp(found.x))

    def posterior(self, noise: float) -> _Posterior:
        shrink = self.values + noise
        mean = self.vectors @ (self.projected / shrink[:, None])
        factor = self.vectors * np.sqrt(noise / shrink)
        return _Posterior(mean, factor, noise, self.log_evidence(noise))


class GaussianProcess(RegressorMixin, LocalLearner):
    r"""Gaussian process regression as Bayesian linear regression on features.

    .. math::

        y = z^\top w + \varepsilon, \qquad w \sim N(0, I), \qquad
        \varepsilon \sim N(0, \sigma^2),

    a Gaussian process with kernel Z Zᵀ ≈ K, zero mean and no intercept; the posterior follows from
    the moments, in one pass.

    Parameters
    ----------
    features : transformer or "auto", default="auto"
        As in `KernelRidge`.
    noise : float or "evidence", default="evidence"
        The variance σ² of the observations' noise. ``"evidence"`` maximises the evidence, from the
        moments alone.
    local : "auto", NeighborKriging or None, default="auto"
        The local part, as in `KernelRidge`. With one, all parameters (the noise included) are
        those of largest evidence, and the mean is a constant that is fitted along. ``"auto"`` is
        none where `noise` is a number.
    budget, random_state, verbose
        As in `KernelRidge`.

    Attributes
    ----------
    noise_ : float
        σ².
    log_evidence_ : float
        log p(y), summed over targets.
    coef_ : ndarray of shape (D,) or (n_targets, D)
        The posterior mean of w.
    features_, moments_
        As in `KernelRidge`.

    Notes
    -----
    The standard deviation is that of the latent function, as in scikit-learn:
    :math:`z^\top \Sigma z + \max(0, k(x,x) - \|z\|^2)` with Σ the posterior covariance of w. The
    second term is the prior variance that the features leave out, so that it grows back to the
    prior's away from the data. It needs features of this library, which know their kernel; with
    other transformers it is zero.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> model = zonal.GaussianProcess(budget=64, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[0.5], [30.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(0.5)) < 0.01), bool(std[0] < 0.05 and std[1] > 0.9)
    (True, True)
    """

    def __init__(
        self,
        features: Any = "auto",
        noise: float | str = "evidence",
        *,
        local: Any = "auto",
        budget: int = 1024,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.noise = noise
        self.local = local
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None) -> Self:
        """Fit to rows [n_samples, n_features] and targets [n_samples] or [n_samples, n_targets].

        Dask collections, streams of blocks and checkpoints as in `KernelRidge`.
        """
        return self._fit(X, y, None, checkpoint)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data."""
        return self._partial_fit(X, y)

    def _check_y(self, y: Any) -> Array:
        return check_numbers(y, type(self).__name__)

    def _learn(self, survey: Survey) -> None:
        self._single_ = survey.sample.y.ndim == 1
        super()._learn(survey)

    def _may_be_local(self) -> bool:
        automatic = isinstance(self.local, str)
        return super()._may_be_local() and not (automatic and not isinstance(self.noise, str))

    def _solve(self, sums: Any) -> Any:
        if self._is_local_:
            return super()._solve(sums)
        evidence = _Evidence(sums[0])
        noise = evidence.best_noise() if self.noise == "evidence" else float(self.noise)
        return evidence.posterior(noise)

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
            Only if `return_std`; the same for every target.
        """
        posterior = self._solution
        if isinstance(posterior, LocalSolution):
            parts = self._predict_local(X, return_std)
            found = [part[:, 0] if self._single_ else part for part in parts if part is not None]
            return tuple(found) if return_std else found[0]
        X = self._check_rows(X, reset=False)
        n_targets = posterior.mean.shape[1]

        def moments(Z: Array) -> Array:
            mean = Z @ posterior.mean.astype(Z.dtype)
            if not return_std:
                return mean
            spread = np.square(Z @ posterior.factor.astype(Z.dtype)).sum(axis=1)
            return np.column_stack([mean, spread, np.square(Z).sum(axis=1)])

        values = self._space.map(X, moments)
        mean = values[:, 0] if self._single_ else values[:, :n_targets]
        if not return_std:
            return mean
        missing = self._space.residual_variance(X, values[:, -1])
        std = np.sqrt(values[:, -2] + missing)
        return mean, std if self._single_ else np.repeat(std[:, None], n_targets, axis=1)

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
        width, n_targets = posterior.mean.shape
        draws = rng.standard_normal((width, n_targets * n_samples))
        weights = np.repeat(posterior.mean, n_samples, axis=1) + posterior.factor @ draws

        def values(Z: Array) -> Array:
            return np.column_stack([Z @ weights.astype(Z.dtype), np.square(Z).sum(axis=1)])

        drawn = self._space.map(X, values)
        missing = np.sqrt(self._space.residual_variance(X, drawn[:, -1]))[:, None]
        noise = rng.standard_normal((len(drawn), n_targets * n_samples), dtype=drawn.dtype)
        sample = (drawn[:, :-1] + missing * noise).reshape(len(drawn), n_targets, n_samples)
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
    def noise_(self) -> float:
        """The variance σ² of the noise."""
        solution = self._solution
        if isinstance(solution, LocalSolution):
            return float(solution.found.noise * solution.joint.found.scale.mean())
        return float(solution.noise)

    @property
    def log_evidence_(self) -> float:
        """The log evidence at that noise."""
        solution = self._solution
        if isinstance(solution, LocalSolution):
            return float(solution.joint.found.log_evidence)
        return float(solution.log_evidence)

    @property
    def coef_(self) -> FloatArray:
        """The posterior mean of the weights."""
        solution = self._solution
        coef = (solution.coef if isinstance(solution, LocalSolution) else solution.mean).T
        return coef[0] if self._single_ else coef

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
