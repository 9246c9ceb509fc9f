"""What `KernelGLM` answers: means, deviations, quantiles and densities of responses.

Functions that the class takes as its own, as those of `answers`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._typing import Array, FloatArray
from ..calibration.quantiles import check_levels
from ..calibration.scores import check_coverage
from ..likelihoods import Observed
from ..model.newton_sums import unpacked
from ..rows import blockwise
from ..rows.kinds import is_many
from .glm_targets import null_mean, pack, predicted_parts

__all__ = [
    "log_density",
    "predict",
    "predict_interval",
    "predict_quantiles",
    "predict_std",
    "score",
]


@blockwise
def predict(
    self: Any, X: Any, offset: Any = None, exposure: Any = None, trials: Any = None
) -> Array:
    """Predict the mean of the response, averaged over what is not known of f.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
        Rows; or a Dask array or frame, or a stream of blocks.
    offset, exposure, trials : float or array-like of shape (n_samples,), optional
        As in `fit`; by default zero, one and one.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    mean, variance, count = _latent(self, X, offset, exposure, trials)
    found = count * self.likelihood_.average(mean, variance)
    return np.asarray(found, self._cells_.dtype(X))


@blockwise
def predict_std(
    self: Any, X: Any, offset: Any = None, exposure: Any = None, trials: Any = None
) -> Array:
    """Predict the standard deviation of new observations: [n_samples].

    Parameters
    ----------
    X, offset, exposure, trials
        As in `predict`.
    """
    found = self.likelihood_.deviation(*_latent(self, X, offset, exposure, trials))
    return np.asarray(found, self._cells_.dtype(X))


@blockwise
def predict_quantiles(
    self: Any,
    X: Any,
    q: npt.ArrayLike = (0.05, 0.5, 0.95),
    offset: Any = None,
    exposure: Any = None,
    trials: Any = None,
) -> Array:
    """Predict quantiles of new observations, whole numbers of counts.

    Those of the mixture of p(y | f) over what is not known of f.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
        Rows.
    q : float or array-like of shape (n_quantiles,)
        Levels between 0 and 1.
    offset, exposure, trials : float or array-like of shape (n_samples,), optional
        As in `fit`.

    Returns
    -------
    ndarray of shape (n_samples, n_quantiles)
        Without the last axis if `q` is a number.
    """
    levels = check_levels(q)
    mean, variance, count = _latent(self, X, offset, exposure, trials)
    found = self.likelihood_.quantiles(mean, variance, levels, count)
    found = found.astype(self._cells_.dtype(X), copy=False)
    return found[:, 0] if np.ndim(q) == 0 else found


@blockwise
def predict_interval(
    self: Any,
    X: Any,
    coverage: float = 0.9,
    offset: Any = None,
    exposure: Any = None,
    trials: Any = None,
) -> tuple[Array, Array]:
    """Predict intervals that hold new observations with at least a given probability.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
        Rows.
    coverage : float, default=0.9
        The share of observations that the intervals hold; of counts it may be more, for a
        whole number is in or out.
    offset, exposure, trials : float or array-like of shape (n_samples,), optional
        As in `fit`.

    Returns
    -------
    lower, upper : ndarrays of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (1500, 1))
    >>> y = rng.poisson(5 * np.exp(np.sin(X[:, 0])))
    >>> model = zonal.KernelGLM(budget=64, random_state=0).fit(X[:1000], y[:1000])
    >>> lower, upper = model.predict_interval(X[1000:])
    >>> bool(0.88 < np.mean((lower <= y[1000:]) & (y[1000:] <= upper)) < 0.97)
    True
    """
    missed = 1 - check_coverage(coverage)
    levels = [missed / 2, 1 - missed / 2]
    found = self.predict_quantiles(X, levels, offset, exposure, trials)
    return found[:, 0], found[:, 1]


def score(
    self: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
    trials: Any = None,
) -> float:
    r"""Return the share of the deviance explained, as `sklearn.metrics.d2_tweedie_score`.

    .. math:: D^2 = 1 - \frac{\sum w\, d(y, \hat\mu)}{\sum w\, d(y, \bar\mu)},

    with μ̄ the mean of these responses (in proportion to their exposures).
    """
    likelihood = self.likelihood_
    _check_lengths(X, y)
    observed, shift = unpacked(pack(likelihood, column_or_1d(y), offset, exposure, trials))
    likelihood.check(observed.y)
    weight = np.ones(len(shift)) if sample_weight is None else np.asarray(sample_weight, float)
    found = likelihood.link(np.asarray(self.predict(X, shift), np.float64))
    null = null_mean(likelihood, observed, shift, weight)
    left = weight @ likelihood.half_deviance(observed, found)
    total = weight @ likelihood.half_deviance(observed, null)
    return float(1 - left / total) if total > 0 else float(left <= 0)


def log_density(
    self: Any, X: Any, y: Any, offset: Any = None, exposure: Any = None, trials: Any = None
) -> FloatArray:
    """Return the predictive log density of observations, log ∫ p(y | f) p(f | data) df: [n].

    Its mean over rows that were not fitted is the log score, by which likelihoods compare.
    """
    _check_lengths(X, y)
    mean, variance, count = _latent(self, X, offset, exposure, trials)
    observed = Observed.of(column_or_1d(y), count)
    self.likelihood_.check(observed.y)
    return self.likelihood_.log_predictive(observed, mean, variance)


def _check_lengths(X: Any, y: Any) -> None:
    """Raise ValueError unless there is a response for each row, where rows are here."""
    if not is_many(X):
        check_consistent_length(X, y)


def _latent(
    self: Any, X: Any, offset: Any, exposure: Any, trials: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return means and variances of f at rows, and the numbers of trials."""
    solution = self._solution  # or an error that there is none
    rows = self._cells_.rows(self._check_rows(X, reset=False))
    mean, variance = solution.latent(rows)
    shift, count = predicted_parts(self.likelihood_, len(mean), offset, exposure, trials)
    return mean + shift, variance, count
