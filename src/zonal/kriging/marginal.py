r"""The log evidence of whitened columns, and its derivatives with respect to what is not white.

The model is y = μ + zᵀβ + u + ε with β of variance τσ² and (u, ε) whitened: with
:math:`A = \tilde Z^\top \tilde Z + I/\tau` and

.. math:: Q = \min_{\mu, \beta} \|\tilde y - \mu \tilde 1 - \tilde Z \beta\|^2 + \|\beta\|^2/\tau,

the scale is :math:`\sigma^2 = (Q + S/\eta)/N` and

.. math::

    -2 \log p(y) = N \log(2 \pi \sigma^2) + N + \sum_i \log v_i + \log|\tau A|
    + \sum_i \Big[\log W_i - \sum_k \log w_{ik} + (m_i - 1) \log \eta\Big],

where S and the last sum belong to repeated rows (see `locations`), and N is the number of
observations, Σm. Without noise repeated rows are their mean. Each target has its own μ, β and σ²;
the log evidences add up.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, qr
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dtrtri

from .._typing import FloatArray
from .locations import Repeated
from .numerics import RATIOS, SMALLEST

__all__ = ["Marginal", "Observed", "best_ratio", "marginal"]


@dataclass(frozen=True)
class Observed:
    """What the evidence needs besides whitened columns.

    Attributes
    ----------
    total : float
        N, the number of observations.
    repeats : float
        Σ(m - 1) of the locations where observations differ.
    log_determinant : float
        Σ log v, and Σ(log W - Σ log w) of those locations.
    within : ndarray of shape (t,)
        ΣS.
    noise : float
        η.
    """

    total: float
    repeats: float
    log_determinant: float
    within: FloatArray
    noise: float

    @classmethod
    def of(cls, variance: FloatArray, repeated: Repeated, noise: float) -> "Observed":
        """Sum over locations, of which v [n] is known."""
        n_rows, log_variance = float(len(variance)), float(np.log(variance).sum())
        within = repeated.within.sum(axis=0)
        if noise == 0:
            return cls(n_rows, 0.0, log_variance, np.zeros_like(within), noise)
        more, log_weight = float(repeated.more.sum()), float(repeated.log_weight.sum())
        return cls(n_rows + more, more, log_variance + log_weight, within, noise)

    def squares(self) -> FloatArray:
        """S/η, what repeated rows add to Q."""
        return self.within / self.noise if self.noise > 0 else self.within

    def log_constant(self) -> float:
        """All of -2 log p that depends neither on the targets nor on the scale."""
        return self.log_determinant + (self.repeats * math.log(self.noise) if self.noise else 0.0)

    def by_log_noise(self, scale: FloatArray) -> float:
        """The derivative of the log evidence with respect to log η in terms of repeated rows."""
        return float(0.5 * (self.squares() / scale - self.repeats).sum())


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
    mean_variance : float
        The variance of μ over σ².
    mean_pull : ndarray of shape (D,)
        A⁻¹Z̃ᵀ1̃: by how much β falls when μ rises.
    root : ndarray of shape (D, D)
        R, upper triangular, with R Rᵀ = A⁻¹.
    by_log_noise, by_log_ratio : float
        Derivatives with respect to log η (of what repeated rows add) and log τ.
    """

    log_evidence: float
    mean: FloatArray
    coef: FloatArray
    scale: FloatArray
    mean_variance: float
    mean_pull: FloatArray
    root: FloatArray
    by_log_noise: float
    by_log_ratio: float

    @property
    def covariance(self) -> FloatArray:
        """The covariance of β given μ over σ², A⁻¹: [D, D]."""
        return np.asarray(self.root @ self.root.T)

    def times(self, share: float) -> "Marginal":
        """Return the log evidence of so many times as many rows; nothing else changes."""
        return replace(self, log_evidence=share * self.log_evidence)

    def variance(self, features: FloatArray, rest: FloatArray) -> FloatArray:
        """Variance over σ² of c μ + ζᵀβ, for rows ζ [q, D] and c [q]: shape (q,)."""
        shift = (rest - features @ self.mean_pull) ** 2 * self.mean_variance
        if not features.shape[1]:
            return np.asarray(shift)
        # Half the work of a product with the whole covariance.
        turned = dtrmm(1.0, self.root, features.T, trans_a=True)
        return np.asarray(shift + np.einsum("ji,ji->i", turned, turned))


def marginal(
    gram: FloatArray,
    n_targets: int,
    observed: Observed,
    ratio: float = 1.0,
    center: bool = True,
    scale: float | None = None,
) -> Marginal:
    """Find mean, coefficients, scale and log evidence from sums of products of whitened columns.

    Parameters
    ----------
    gram : ndarray of shape (1 + t + D, 1 + t + D)
        Sums of products of the columns 1̃, ỹ and Z̃, in this order. Targets should be about zero
        before they are whitened, for sums of squares cancel.
    n_targets : int
        t.
    observed : Observed
    ratio : float, default=1.0
        τ.
    center : bool, default=True
        Whether μ is fitted, or zero.
    scale : float, optional
        σ² of all targets, where it is given; by default the best.
    """
    width = len(gram) - 1 - n_targets
    y, z = slice(1, 1 + n_targets), slice(1 + n_targets, None)
    root, log_determinant = _inverse_root(gram[z, z], ratio)
    pull = root @ (root.T @ gram[z, 0])
    mean, mean_variance = np.zeros(n_targets), 0.0
    if center:
        precision = float(gram[0, 0] - gram[0, z] @ pull)
        # What is left by rounding of a precision that features take away says nothing of μ.
        least = np.finfo(float).eps * float(gram[0, 0])
        mean_variance = 1 / max(precision, least, float(np.finfo(float).tiny))
        mean = mean_variance * (gram[0, y] - pull @ gram[z, y])
    cross = gram[z, y] - np.outer(gram[z, 0], mean)
    coef = root @ (root.T @ cross)
    centred = np.diag(gram)[y] - mean * (2 * gram[0, y] - gram[0, 0] * mean)
    # Of a difference of sums of squares no less than rounding is known.
    rounding = np.finfo(float).eps * np.diag(gram)[y]
    squares = np.maximum(centred - (cross * coef).sum(axis=0), rounding) + observed.squares()
    # Constant targets have no scale: anything small keeps the logarithm finite.
    best = np.maximum(squares / observed.total, SMALLEST)
    scales = best if scale is None else np.full(n_targets, scale)
    value = observed.total * (np.log(2 * math.pi * scales) + best / scales).sum()
    value += n_targets * (observed.log_constant() + log_determinant)
    explained = width - float((root**2).sum()) / ratio
    by_log_ratio = 0.5 * float(((coef**2).sum(axis=0) / ratio / scales - explained).sum())
    by_log_noise = observed.by_log_noise(scales)
    return Marginal(
        -0.5 * float(value), mean, coef, scales, mean_variance, pull, root, by_log_noise,
        by_log_ratio,
    )  # fmt: skip


def best_ratio(gram: FloatArray, n_targets: int, observed: Observed) -> tuple[float, float]:
    """Return the ratio τ of the largest log evidence, and that, from one eigendecomposition.

    In the eigenvectors of Z̃ᵀZ̃ all that `marginal` solves is diagonal, for every ratio.

    Parameters
    ----------
    gram, n_targets, observed
        As in `marginal`.
    """
    y, z = slice(1, 1 + n_targets), slice(1 + n_targets, None)
    values, vectors = np.linalg.eigh(gram[z, z])
    values, turned = np.maximum(values, 0.0), vectors.T @ gram[z, : 1 + n_targets]
    shrunk = RATIOS[:, None] / (1 + RATIOS[:, None] * values)  # [k, D]
    least = np.finfo(float).eps * float(gram[0, 0])
    precision = np.maximum(gram[0, 0] - shrunk @ turned[:, 0] ** 2, max(least, SMALLEST))
    pulled = gram[0, y] - (shrunk * turned[:, 0]) @ turned[:, 1:]
    left = np.diag(gram)[y] - shrunk @ turned[:, 1:] ** 2 - pulled**2 / precision[:, None]
    squares = np.maximum(left, np.finfo(float).eps * np.diag(gram)[y]) + observed.squares()
    scale = np.maximum(squares / observed.total, SMALLEST)
    loss = observed.total * (np.log(2 * math.pi * scale) + 1).sum(axis=1)
    log_determinant = np.log1p(RATIOS[:, None] * values).sum(axis=1)
    loss += n_targets * (observed.log_constant() + log_determinant)
    best = int(np.argmin(loss))
    return float(RATIOS[best]), -0.5 * float(loss[best])


def _inverse_root(gram: FloatArray, ratio: float) -> tuple[FloatArray, float]:
    """R, upper triangular with R Rᵀ = A⁻¹, and log|τA|, for A = gram + I/τ."""
    if not len(gram):
        return gram, 0.0
    system = ratio * gram
    system.flat[:: len(system) + 1] += 1.0
    try:
        upper = cholesky(system, check_finite=False)
    except np.linalg.LinAlgError:
        # Features so large that rounding of their sums hides the one, which no eigenvalue is below.
        # The most negative shows how large rounding is.
        values, vectors = np.linalg.eigh(system)
        least = max(1.0, -values[0], len(values) * np.finfo(float).eps * values[-1])
        upper = qr(np.sqrt(np.maximum(values, least))[:, None] * vectors.T, mode="r")[0]
        upper *= np.where(np.diag(upper) < 0, -1.0, 1.0)[:, None]
    inverse, _ = dtrtri(upper)
    return math.sqrt(ratio) * inverse, 2 * float(np.log(np.diag(upper)).sum())
