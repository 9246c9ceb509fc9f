"""Gaussian processes: Bayesian linear regression on explicit features."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import RegressorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length

from .._typing import Array, FloatArray
from ..features import KernelFeatures
from ..moments.moments import Moments
from ..moments.solve import Eigen
from ..rows.dispatch import blockwise
from ..rows.kinds import is_many
from .base import Learner

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
        # The data's fit is a difference of sums: less noise than their rounding can not be told.
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


class GaussianProcess(RegressorMixin, Learner):
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
        budget: int = 1024,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.noise = noise
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None) -> Self:
        """Fit to rows [n_samples, n_features] and targets [n_samples] or [n_samples, n_targets].

        Dask collections, streams of blocks and checkpoints as in `KernelRidge`.
        """
        if checkpoint is not None or is_many(X):
            return self._fit_blocks(X, y, None, checkpoint)
        self._reset()
        self.partial_fit(X, y)
        self._solved()
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data."""
        self._check_noise()
        first = not self.__sklearn_is_fitted__()
        X = self._check_rows(X, reset=first)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y = check_array(y, ensure_2d=False, dtype=[np.float64, np.float32], input_name="y")
        check_consistent_length(X, y)
        Y = y.reshape(len(y), -1)
        if first:
            self._single = y.ndim == 1
            self.features_ = self._fit_features(X, y, None, Y)
            self.moments_ = [Moments(self._start(X, Y), Y.shape[1])]
        elif Y.shape[1] != self.moments_[0].n_targets:
            raise ValueError(
                f"This chunk has {Y.shape[1]} targets, but the first had "
                f"{self.moments_[0].n_targets}."
            )
        self._accumulate(X, Y, None, None, self.moments_)
        self._posterior: _Posterior | None = None
        self._done = True
        return self

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
        posterior = self._solved()
        X = self._check_rows(X, reset=False)
        n_targets = posterior.mean.shape[1]

        def moments(Z: Array) -> Array:
            mean = Z @ posterior.mean.astype(Z.dtype)
            if not return_std:
                return mean
            spread = np.square(Z @ posterior.factor.astype(Z.dtype)).sum(axis=1)
            return np.column_stack([mean, spread, np.square(Z).sum(axis=1)])

        values = self._map(X, moments)
        mean = values[:, 0] if self._single else values[:, :n_targets]
        if not return_std:
            return mean
        missing = self._missing_variance(X, values[:, -1])
        std = np.sqrt(values[:, -2] + missing)
        return mean, std if self._single else np.repeat(std[:, None], n_targets, axis=1)

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
        gradient = self._gradient(X, self._solved().mean)
        return gradient[:, 0] if self._single else gradient

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
        posterior = self._solved()
        X = self._check_rows(X, reset=False)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        width, n_targets = posterior.mean.shape
        draws = rng.standard_normal((width, n_targets * n_samples))
        weights = np.repeat(posterior.mean, n_samples, axis=1) + posterior.factor @ draws

        def values(Z: Array) -> Array:
            return np.column_stack([Z @ weights.astype(Z.dtype), np.square(Z).sum(axis=1)])

        drawn = self._map(X, values)
        missing = np.sqrt(self._missing_variance(X, drawn[:, -1]))[:, None]
        noise = rng.standard_normal((len(drawn), n_targets * n_samples), dtype=drawn.dtype)
        sample = (drawn[:, :-1] + missing * noise).reshape(len(drawn), n_targets, n_samples)
        return sample[:, 0] if self._single else sample

    def _missing_variance(self, X: Any, squares: Array) -> Array:
        """max(0, k(x,x) - ‖z‖²)."""
        features, rows = self.features_, X
        if isinstance(features, Pipeline):
            rows = features[:-1].transform(X) if len(features) > 1 else X
            features = features[-1]
        if not isinstance(features, KernelFeatures):
            return np.zeros_like(squares)
        return np.maximum(features.kernel_diag(rows) - squares, 0)

    def _solved(self) -> _Posterior:
        """The posterior, found now if chunks were added since it was last found."""
        self._check_fitted()
        if self._posterior is None:
            evidence = _Evidence(self.moments_[0])
            noise = evidence.best_noise() if self.noise == "evidence" else float(self.noise)
            self._posterior = evidence.posterior(noise)
        return self._posterior

    def _check_noise(self) -> None:
        if isinstance(self.noise, str):
            valid = self.noise == "evidence"
        else:
            valid = isinstance(self.noise, Real) and 0 < float(self.noise) < np.inf
        if not valid:
            raise ValueError(
                f"noise={self.noise!r} must be 'evidence' or a positive number, the variance of "
                "the observations' noise."
            )

    @property
    def noise_(self) -> float:
        """The variance σ² of the noise."""
        return self._solved().noise

    @property
    def log_evidence_(self) -> float:
        """The log evidence at that noise."""
        return self._solved().log_evidence

    @property
    def coef_(self) -> FloatArray:
        """The posterior mean of the weights."""
        coef = self._solved().mean.T
        return coef[0] if self._single else coef

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
