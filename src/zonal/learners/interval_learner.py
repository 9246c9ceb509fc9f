"""Regressors whose predictions come with intervals and quantiles."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array
from ..calibration.intervals import Calibration
from ..calibration.quantiles import check_levels
from ..calibration.scores import check_coverage
from ..rows import blockwise

__all__ = ["IntervalLearner"]


class IntervalLearner:
    """Base class of regressors with `predict_interval` and `predict_quantiles`.

    A subclass defines what an observation is, by the model, and how it is calibrated:
    ``_observations(X)`` returns means and standard deviations, ``calibration_`` a `Calibration`.
    """

    _single_: bool

    @property
    def calibration_(self) -> Calibration:
        """What turns the model's own standard deviations into intervals that hold."""
        raise NotImplementedError

    def _observations(self, X: Any) -> tuple[Array, Array]:
        """Return means and standard deviations of observations at rows: [n, n_targets]."""
        raise NotImplementedError

    @blockwise
    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
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
        lower, upper = self._quantiles(X, [missed / 2, 1 - missed / 2])
        return (lower[:, 0], upper[:, 0]) if self._single_ else (lower, upper)

    @blockwise
    def predict_quantiles(self, X: Any, q: npt.ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """Predict quantiles of new observations, calibrated like `predict_interval`.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or a Dask array or frame, or a stream of blocks.
        q : float or array-like of shape (n_quantiles,)
            Levels between 0 and 1.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles) or (n_samples, n_targets, n_quantiles)
            Without the last axis if `q` is a number.
        """
        found = np.moveaxis(self._quantiles(X, check_levels(q)), 0, -1)
        found = found[:, 0] if self._single_ else found
        return found[..., 0] if np.ndim(q) == 0 else found

    def _quantiles(self, X: Any, levels: npt.ArrayLike) -> Array:
        calibration = self.calibration_  # before the rows, which may be no good
        return calibration.at(*self._observations(X), levels)
