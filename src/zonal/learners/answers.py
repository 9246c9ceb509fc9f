"""Methods that `KernelRidge`, `GaussianProcess` and `NeighborKriging` share.

They are functions that a class takes as its own (``predict = answers.predict``): one text for all,
and no further base class. Each asks the fitted model of a `ModelLearner`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._typing import Array
from .._validation import check_count
from ..calibration.quantiles import check_levels
from ..calibration.scores import check_coverage
from ..rows import blockwise
from .errors import variances

__all__ = [
    "gradient",
    "partial_fit",
    "posterior_sums",
    "predict",
    "predict_interval",
    "predict_quantiles",
    "sample_y",
]


def partial_fit(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
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
def predict(self: Any, X: Any, return_std: bool = False) -> Any:
    """Predict targets, and on request the standard deviation of the latent function.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
        Rows of a kind that `fit` takes; or a Dask array or frame, or a stream of blocks.
    return_std : bool, default=False
        Whether to return standard deviations too: those of the mean and the process without
        noise, as in scikit-learn, under the Gaussian process whose posterior mean is this model
        (`zonal.model.ridge_posterior` has the formula).

    Returns
    -------
    mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
    std : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Only if `return_std`.
    """
    found = self._model.at(self._check_rows(X, reset=False), return_std)
    mean = self._each(found.mean)
    return (mean, self._each(found.std)) if return_std else mean


@blockwise
def predict_interval(
    self: Any, X: Any, coverage: float = 0.9, *, noise_variance: Any = None
) -> tuple[Array, Array]:
    r"""Predict intervals that hold new observations with a given probability.

    .. math:: \hat y(x) + s(x)\, q_{a/2}, \quad \hat y(x) + s(x)\, q_{1 - a/2}, \qquad
        a = 1 - \text{coverage},

    with s(x) the model's own standard deviation of an observation, noise included, and q the
    quantiles of (y - ŷ)/s at rows that are left out of the fit (conformal prediction), so that
    the level holds where the model is wrong too. The rows are left out one by one, or with a
    splitter as `cv` as it says: with blocks the intervals are for gaps. On places, with a local
    part, s(x) has a factor that changes with the distance to the nearest row, found from rows
    inside balls that were emptied of all others.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
        Rows of a kind that `fit` takes; or a Dask array or frame, or a stream of blocks.
    coverage : float, default=0.9
        The share of observations that the intervals hold.
    noise_variance : float or array-like of shape (n_samples,), optional
        The variance of each new observation's own error, which is added to the common noise; by
        default the noise is that of a typical row of the fit.

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
    missed = 1 - check_coverage(coverage)
    found = _observed(self, X, noise_variance)
    lower, upper = found.quantiles([missed / 2, 1 - missed / 2])
    return self._each(lower), self._each(upper)


@blockwise
def predict_quantiles(
    self: Any, X: Any, q: npt.ArrayLike = (0.05, 0.5, 0.95), *, noise_variance: Any = None
) -> Array:
    """Predict quantiles of new observations, calibrated like `predict_interval`.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
        Rows of a kind that `fit` takes; or a Dask array or frame, or a stream of blocks.
    q : float or array-like of shape (n_quantiles,)
        Levels between 0 and 1.
    noise_variance : float or array-like of shape (n_samples,), optional
        As in `predict_interval`.

    Returns
    -------
    ndarray of shape (n_samples, n_quantiles) or (n_samples, n_targets, n_quantiles)
        Without the last axis if `q` is a number.
    """
    levels = check_levels(q)
    found = _observed(self, X, noise_variance).quantiles(levels)
    found = self._each(np.moveaxis(found, 0, -1))
    return np.asarray(found[..., 0] if np.ndim(q) == 0 else found)


def gradient(self: Any, X: Any) -> Array:
    r"""Gradients of the prediction, :math:`\nabla f(x) = \sum_c \beta_c \nabla z_c(x)`.

    With respect to the columns of X as they are, in closed form. The features must be a map of
    this library, alone or after linear steps (`Standardizer`, scalers of scikit-learn). A local
    part adds its own gradient, with the neighbours of a row held fixed; at the rows of the fit a
    Matérn kernel of ν = 1/2 has none, and counts as flat.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
        Rows of a kind that `fit` takes.

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
    found: Array = self._each(self._model.gradient(self._check_rows(X, reset=False)))
    return found


def sample_y(
    self: Any, X: Any, n_samples: int = 1, random_state: Any = None, *, noise: bool = False
) -> Array:
    """Draw functions from the posterior, jointly at all rows of X.

    Features draw their coefficients; the local part goes through the rows in a fixed random order,
    each given the rows of the fit near it and the earlier rows of X near it
    (`zonal.kriging.sequential`). All draws share the weights, so that many cost little more than
    one. What features without a local part leave out is independent between rows. Of a weighted
    mean of models each draw is from one of them.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_rows, n_features)
        Rows of a kind that `fit` takes. Their order does not matter, and equal rows have equal
        values.
    n_samples : int, default=1
        The number of draws. The first ones are the same however many there are.
    random_state : int, RandomState instance or None, default=None
        The seed: the same one gives the same fields. None: others each time.
    noise : bool, default=False
        Whether to add the noise of observations; else draws are of the latent function, as the
        standard deviation of `predict` is.

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
    check_count("n_samples", n_samples, "sample_y")
    found, rows = self._model, self._check_rows(X, reset=False)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    drawn: Array = self._each(found.draw(rows, int(n_samples), seed, bool(noise)))
    return drawn


def posterior_sums(self: Any, X: Any, weights: Any) -> tuple[Array, Array]:
    """Return the mean and the covariance of weighted sums over rows, Σ_i w_ir f(x_i).

    By algebra from the joint posterior of the latent function that `sample_y` draws from.

    Parameters
    ----------
    X : {array-like, CSR matrix, frame} of shape (n_rows, n_features)
        Rows of a kind that `fit` takes.
    weights : {array-like, sparse array} of shape (n_rows, n_sums)
        w.

    Returns
    -------
    mean : ndarray of shape (n_sums,) or (n_sums, n_targets)
    covariance : ndarray of shape (n_sums, n_sums) or (n_sums, n_sums, n_targets)

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.linspace(0, 9, 40)[:, None]
    >>> model = zonal.GaussianProcess(budget=64, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> mean, covariance = model.posterior_sums(X, np.full((40, 1), 1 / 40))
    >>> bool(abs(mean[0] - np.sin(X).mean()) < 0.01), covariance.shape
    (True, (1, 1))
    """
    found = self._model
    if found.cells.scale is not None:
        raise ValueError(
            "The targets are learnt on another scale (target_), on which sums are not linear: use "
            "sample_y, or fit with target=None."
        )
    rows = found.cells.rows(self._check_rows(X, reset=False))
    sums = sp.csr_array(weights, dtype=np.float64)
    if sums.shape[0] != _num_samples(rows):
        raise ValueError(
            f"weights has {sums.shape[0]} rows, and X {_num_samples(rows)}: one weight for each "
            "row and sum is needed."
        )
    mean, covariance = found.solved.totals(rows, sums)
    return (mean[:, 0], covariance[..., 0]) if found.cells.single else (mean, covariance)


def _observed(self: Any, X: Any, noise_variance: Any) -> Any:
    """Predict observations at rows, of errors that are given or not."""
    rows, noise = self._check_rows(X, reset=False), None
    if noise_variance is not None:
        noise = variances(noise_variance, _num_samples(rows), type(self).__name__)
    return self._model.observed_at(rows, noise)
