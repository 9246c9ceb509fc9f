r"""The log evidence of whitened columns, and its derivatives with respect to the whitening.

The model is y = μ + zᵀβ + u + ε with β of variance τσ² and (u, ε) whitened: with
:math:`A = \tilde Z^\top \tilde Z + I/\tau` and

.. math:: Q = \min_{\mu, \beta} \|\tilde y - \mu \tilde 1 - \tilde Z \beta\|^2 + \|\beta\|^2/\tau,

the scale is :math:`\sigma^2 = (Q + S/\eta)/N` and

.. math::

    -2 \log p(y) = N \log(2 \pi \sigma^2) + N + \sum_i \log v_i + \log|I + \tau \tilde Z^\top \tilde Z|
    + \sum_i [\log W_i + (W_i - 1) \log \eta],

where the last terms belong to repeated rows (see `locations`) and N = ΣW. Each target has its own
μ, β and σ²; the log evidences add up.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._typing import FloatArray

__all__ = ["Marginal", "marginal"]


@dataclass(frozen=True)
class Marginal:
    """The evidence with everything profiled out, and what its derivatives need.

    Attributes
    ----------
    log_evidence : float
    mean : ndarray of shape (t,)
        μ.
    coef : ndarray of shape (D, t)
        β.
    scale : ndarray of shape (t,)
        σ².
    mean_precision : float
        1̃ᵀ1̃ with what the features explain taken out; σ² over it is the variance of μ.
    residual : ndarray of shape (n, t)
        Whitened residuals.
    covariance : ndarray of shape (D, D)
        A⁻¹; σ² times it is the covariance of β given μ.
    by_log_noise : float
        The derivative with respect to log η of what repeated rows add.
    by_log_ratio : float
        The derivative with respect to log τ.
    """

    log_evidence: float
    mean: FloatArray
    coef: FloatArray
    scale: FloatArray
    mean_precision: float
    residual: FloatArray
    covariance: FloatArray
    by_log_noise: float
    by_log_ratio: float


def marginal(
    one: FloatArray,
    targets: FloatArray,
    features: FloatArray,
    variance: FloatArray,
    weight: FloatArray,
    within: FloatArray,
    noise: float,
    ratio: float,
    center: bool = True,
) -> Marginal:
    """Find mean, coefficients, scale and log evidence from whitened columns.

    Parameters
    ----------
    one : ndarray of shape (n,)
        1̃, the whitened constant.
    targets, features : ndarrays of shapes (n, t) and (n, D)
        ỹ and Z̃; D may be zero.
    variance, weight : ndarrays of shape (n,)
        v and W.
    within : ndarray of shape (t,)
        S, summed over locations.
    noise, ratio : float
        η and τ.
    center : bool, default=True
        Whether μ is fitted, or zero.
    """
    n_rows, width = features.shape
    n_targets = targets.shape[1]
    gram, factor = _system(features, ratio)
    covariance = cho_solve((factor, False), np.eye(width)) if width else gram
    mean_precision = float(one @ one) - _explained(features.T @ one, covariance)
    mean = np.zeros(n_targets)
    if center and mean_precision > 0:
        cross = one @ targets - (one @ features) @ (covariance @ (features.T @ targets))
        mean = cross / mean_precision
    centred = targets - np.outer(one, mean)
    coef = covariance @ (features.T @ centred)
    residual = centred - features @ coef
    squares = np.einsum("it,it->t", residual, residual) + (coef**2).sum(axis=0) / ratio
    repeats = noise > 0
    total = float(weight.sum()) if repeats else float(n_rows)
    squares = squares + (within / noise if repeats else 0.0)
    # Constant targets have no scale: anything small keeps the logarithm finite.
    floor = 1e-30 * (1.0 + np.abs(mean)) ** 2
    scale = np.maximum(squares / total, floor)
    log_ratio_det = (
        2 * float(np.log(np.diag(factor)).sum()) + width * math.log(ratio) if width else 0
    )
    value = total * (np.log(2 * math.pi * scale).sum() + n_targets)
    value += n_targets * (np.log(variance).sum() + log_ratio_det)
    by_log_noise = 0.0
    if repeats:
        value += n_targets * (np.log(weight).sum() + (weight - 1).sum() * math.log(noise))
        by_log_noise = -0.5 * (
            n_targets * float((weight - 1).sum()) - (within / noise / scale).sum()
        )
    by_log_ratio = -0.5 * (
        n_targets * (width - np.trace(covariance) / ratio)
        - ((coef**2).sum(axis=0) / ratio / scale).sum()
    )
    return Marginal(
        -0.5 * float(value), mean, coef, scale, mean_precision, residual, covariance,
        float(by_log_noise), float(by_log_ratio),
    )  # fmt: skip


def _system(features: FloatArray, ratio: float) -> tuple[FloatArray, FloatArray]:
    """A and its Cholesky factor."""
    gram = features.T @ features
    gram.flat[:: len(gram) + 1] += 1 / ratio
    if not len(gram):
        return gram, gram
    return gram, cho_factor(gram, check_finite=False)[0]


def _explained(cross: FloatArray, covariance: FloatArray) -> float:
    return float(cross @ covariance @ cross)
