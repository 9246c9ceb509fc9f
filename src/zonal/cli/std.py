r"""Standard deviations of ridge predictions, from the moments that the model keeps.

Ridge regression with regularisation α is the posterior mean of a Gaussian process with noise σ² and
kernel (σ²/α) k, so that

.. math::

    \operatorname{var} f(x) = \sigma^2 \left(\tfrac1n + \bar z^\top (S + \alpha I)^{-1} \bar z
    + \tfrac1\alpha \max(0, k(x,x) - \|z\|^2)\right),
    \qquad \sigma^2 = \frac{\mathrm{RSS}}{n - 1 - \operatorname{tr} S (S + \alpha I)^{-1}},

with z̄ and S about the mean of the features.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .._typing import Array
from ..features import KernelFeatures
from ..moments.path import merge
from ..moments.solve import Eigen
from .models import encoding

__all__ = ["with_std"]

# Rows whose features are held at a time.
BLOCK_ROWS = 4096


def with_std(model: Any, X: Array) -> tuple[Array, Array]:
    """Predict rows, with the standard deviation of the latent function.

    Parameters
    ----------
    model : Pipeline
        What `zonal fit` has made. The learner must be a regression with one target.
    X : ndarray of shape (n, d)
        Rows.
    """
    encode = encoding(model) or (lambda rows: rows)
    return model.predict(X), _std_of(model[-1])(encode(X))


@lru_cache(maxsize=1)
def _std_of(learner: Any) -> Callable[[Array], Array]:
    """Return a function that gives the standard deviation at encoded rows."""
    moments = merge(learner.moments_)
    width = moments.n_features
    products = moments.products()
    eigen = Eigen.of(products[:width, :width], moments.precision)
    alpha = learner.alpha_
    shrink = eigen.shrink(alpha)
    coef = learner.coef_
    residual = products[width, width] - coef @ (2 * products[:width, width])
    residual += coef @ products[:width, :width] @ coef
    freedom = moments.weight - 1 - np.sum(eigen.values * shrink)
    noise = max(float(residual), 0.0) / max(float(freedom), 1.0)
    factor = eigen.vectors * np.sqrt(shrink)
    mean = moments.mean()[:width]

    def block(rows: Array) -> Array:
        Z = np.asarray(learner.features_.transform(rows))
        variance = np.square((Z - mean) @ factor).sum(axis=1) + 1 / moments.weight
        if alpha > 0:
            variance += _left_out(learner.features_, rows, Z) / alpha
        return np.asarray(np.sqrt(noise * variance))

    def std(rows: Array) -> Array:
        starts = range(0, len(rows), BLOCK_ROWS)
        return np.concatenate([block(rows[start : start + BLOCK_ROWS]) for start in starts])

    return std


def _left_out(features: Any, rows: Array, Z: Array) -> Array:
    """Return max(0, k(x,x) - ‖z‖²), the prior variance that the features do not carry."""
    if hasattr(features, "steps"):
        rows, features = features[:-1].transform(rows), features[-1]
    if not isinstance(features, KernelFeatures):
        return np.zeros(len(Z))
    return np.maximum(features.kernel_diag(rows) - np.square(Z).sum(axis=1), 0)
