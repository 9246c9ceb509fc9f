r"""Errors of ridge regressions on rows that are left out one by one, without a second fit.

With the rows times the roots of their weights, about the weighted mean, let :math:`K = Z Z^\top` on
the complement of what the constant fits have the eigenvectors Q and eigenvalues μ. Without row i
the ridge regression with regularisation α misses it by

.. math::

    \sqrt{w_i}\, e_i = \frac{[G y]_i}{G_{ii}}, \qquad G = Q (\mu + \alpha)^{-1} Q^\top,

the residual over one minus the leverage, both over α, so that nothing cancels where features
interpolate.
"""

import numpy as np
from scipy.linalg import qr

from .._typing import Array, FloatArray

__all__ = ["left_out_errors"]


def left_out_errors(
    features: Array, targets: Array, weight: FloatArray, alphas: FloatArray, fit_intercept: bool
) -> FloatArray:
    """Return the squared errors at rows that are left out, averaged over targets.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        Of a few hundred rows: it takes n³ operations.
    targets : ndarray of shape (n, t)
    weight : ndarray of shape (n,)
        All positive.
    alphas : ndarray of shape (m,)
    fit_intercept : bool

    Returns
    -------
    ndarray of shape (n, m)
    """
    root = np.sqrt(weight)[:, None]
    Z, Y = np.asarray(features, np.float64), np.asarray(targets, np.float64)
    if fit_intercept:
        Z, Y = (part - np.average(part, axis=0, weights=weight) for part in (Z, Y))
    rows = root * Z
    # An orthonormal basis of what a constant leaves.
    basis = qr(root)[0][:, 1:] if fit_intercept else np.eye(len(Z))
    inner = basis.T @ rows
    # All left singular vectors, those of no column included.
    left, singular, _ = np.linalg.svd(inner, full_matrices=inner.shape[1] < len(inner))
    vectors, values = basis @ left, np.zeros(len(inner))
    values[: len(singular)] = singular**2
    rounding = (len(inner) * np.finfo(np.float64).eps) ** 2 * values.max(initial=0.0)
    projected = vectors.T @ (root * Y)
    errors = np.empty((len(Z), len(alphas)))
    for number, alpha in enumerate(alphas):
        inverse = 1 / (values + max(alpha, rounding, np.finfo(np.float64).tiny))
        missed = vectors @ (inverse[:, None] * projected)
        missed /= (vectors**2 @ inverse)[:, None] * root
        errors[:, number] = np.square(missed).mean(axis=1)
    return errors
