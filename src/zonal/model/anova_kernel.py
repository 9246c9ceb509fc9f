r"""The ANOVA kernel of a likelihood: length scales and weights of the columns by evidence.

About the mode of a fit on landmarks, with curvatures h, pseudo-targets t = f + g/h and the variance
σ² of the latent function, Laplace's evidence of a kernel is about that of kriging t with the noise
1/h. With the kernel matrices P of rows and landmarks and A of landmarks, S = A + PᵀHP and
c = S⁻¹PᵀHt,

.. math::

    E = \tfrac12 \mathrm{tr}\, t^\top H P c
        - \tfrac{K - 1}2 \left(\log\frac{|S|}{|A|} + \sum_i h_i k_{ii}
        - \mathrm{tr}\, A^{-1} P^\top H P\right),

for K - 1 latent functions, a bound from below (Titsias): what landmarks do not see counts as
variance, so that no kernel wins by what they miss. Curvatures are held while E climbs, and the fit
is taken again. They tell little where classes can be told apart, hence the kernel stays the one
whose fit has the least loss of rows that are left out.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from .._typing import Array, FloatArray
from ..engines.anova import LARGEST, anova_matrix, anova_slopes
from ..features.nystroem import NystroemFeatures
from ..features.space import FeatureSpace
from ..kernels import Anova
from ..rows import Block, sample_rows

__all__ = ["Latent", "Linearised", "Pseudo", "anova_kernel", "kernel_evidence", "plain_kernel"]

#: Rows of the search, landmarks of its first climb and of a trial, and steps of a climb.
SEARCH_ROWS, LANDMARKS, STEPS = 3_000, 192, 12
#: Where the climb begins, in standard deviations of a column; and the columns of an interaction
#: there, at most. On validation rows of magic half the length has .299 instead of .294.
LENGTH, COLUMNS = 3.5, 10
# The prior's standard deviation of the logarithm of each parameter, and how far they may go.
SPREAD, FURTHEST = 2.0, 5.0
# What is added to the diagonal of A, for its rounding.
JITTER = 1e-6


@dataclass(frozen=True)
class Pseudo:
    """What a fit on features says of its rows, to second order.

    Attributes
    ----------
    targets : ndarray of shape (n, t)
        f + g/h about the constant, of each latent function.
    precision : ndarray of shape (n,)
        h, positive.
    variance : float
        The prior variance σ² of the latent functions, of a kernel that is one at equal rows.
    n_latent : int
        How many latent functions are free: K - 1 of K classes.
    loss : float
        The mean of minus the log predictive density of rows that are left out.
    """

    targets: FloatArray
    precision: FloatArray
    variance: float
    n_latent: int
    loss: float


class Latent(Protocol):
    """How latent functions are fitted: by the log loss of classes, or by a likelihood."""

    @property
    def landmarks(self) -> int:
        """Landmarks of the second climb: few of them prefer kernels that are too smooth."""

    def pseudo(self, space: FeatureSpace, rows: Block) -> Pseudo:
        """Fit to rows in memory, and say what the fit says of them."""


def plain_kernel(n_columns: int) -> Anova:
    """Return the kernel from which a climb begins: all columns of unit variance alike."""
    weight = min(1.0, COLUMNS / n_columns)
    return Anova(np.full(n_columns, LENGTH), np.full(n_columns, weight))


def landmarks_of(kernel: Anova, rows: Array, n_landmarks: int = LANDMARKS) -> FeatureSpace:
    """Return features of a kernel on a few of the rows."""
    width = min(n_landmarks, len(np.unique(rows, axis=0)))
    features = NystroemFeatures(kernel, width, sampling="uniform", random_state=0).fit(rows)
    return FeatureSpace(features, len(features.get_feature_names_out()))


def anova_kernel(how: Latent, rows: Block) -> Anova:
    """Find the kernel.

    Parameters
    ----------
    how : Latent
    rows : Block
        Columns of about unit variance, with what is observed.

    Examples
    --------
    Of three columns the last tells nothing:

    >>> import numpy as np
    >>> from zonal.model.anova_kernel import anova_kernel
    >>> from zonal.model.log_loss import LogLoss
    >>> from zonal.rows import Block
    >>> X = np.random.default_rng(1).standard_normal((800, 3))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1] > 0
    >>> kernel = anova_kernel(LogLoss.of(y), Block(X, y))
    >>> counted = kernel.weight / kernel.length_scale
    >>> bool(counted[2] < 0.2 * counted[:2].min())
    True
    """
    few = rows.rows(sample_rows(len(rows), SEARCH_ROWS))
    few = replace(few, X=np.asarray(few.X, np.float64))

    def fitted(kernel: Anova, n_landmarks: int) -> tuple[FeatureSpace, Pseudo]:
        space = landmarks_of(kernel, few.X, n_landmarks)
        return space, how.pseudo(space, few)

    best = plain_kernel(few.X.shape[1])
    space, found = fitted(best, LANDMARKS)
    for n_landmarks in (LANDMARKS, how.landmarks):
        if n_landmarks != LANDMARKS:
            space, found = fitted(best, n_landmarks)
        kernel = _climbed(best, found, space, few.X)
        own, told = fitted(kernel, n_landmarks)
        if told.loss < found.loss:
            best, space, found = kernel, own, told
        elif n_landmarks == how.landmarks:  # another climb would end at the same place
            break
    return best


@dataclass(frozen=True)
class Linearised:
    """Rows whose latent functions are known by pseudo-targets.

    Attributes
    ----------
    rows, landmarks : ndarrays of shapes (n, d) and (m, d)
    targets : ndarray of shape (n, t)
        Of each latent function.
    precision : ndarray of shape (n,)
        h.
    n_latent : int
        How many are free.
    """

    rows: FloatArray
    landmarks: FloatArray
    targets: FloatArray
    precision: FloatArray
    n_latent: int


def _climbed(kernel: Anova, found: Pseudo, space: FeatureSpace, rows: FloatArray) -> Anova:
    """Return the kernel of the largest evidence near one, with the curvatures of its fit."""
    landmarks = np.asarray(space.features.landmarks_, np.float64)
    known = Linearised(rows, landmarks, found.targets, found.precision, found.n_latent)
    start = np.log(np.concatenate([kernel.length_scale, kernel.weight, [found.variance]]))

    def objective(logs: FloatArray) -> tuple[float, FloatArray]:
        value, slope = kernel_evidence(known, logs)
        prior = (logs - start) / SPREAD**2
        return 0.5 * float(prior @ (logs - start)) - value, prior - slope

    bounds = np.column_stack([start - FURTHEST, start + FURTHEST])
    # No step of the search may leave the range of the compiled loops.
    reach = np.abs(rows - landmarks.mean(axis=0)).max(axis=0) * np.sqrt(3) / LARGEST
    lengths = slice(rows.shape[1])
    bounds[lengths, 0] = np.log(np.maximum(np.exp(bounds[lengths, 0]), reach))
    best = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds.tolist(),
        options={"maxiter": STEPS},
    )
    length, weight = np.exp(best.x[:-1]).reshape(2, -1)
    return Anova(length, weight)


def kernel_evidence(known: Linearised, logs: FloatArray) -> tuple[float, FloatArray]:
    """Return E and its gradient by the logarithms of lengths, weights and σ² [2 d + 1]."""
    length, weight = np.exp(logs[:-1]).reshape(2, -1)
    variance, h, t = float(np.exp(logs[-1])), known.precision, known.n_latent
    middle, scale = known.landmarks.mean(axis=0), length / np.sqrt(3)
    rows, landmarks = (known.rows - middle) / scale, (known.landmarks - middle) / scale
    P = variance * anova_matrix(rows, landmarks, weight)
    A = variance * anova_matrix(landmarks, landmarks, weight)
    # With A = LLᵀ: V = L⁻¹PᵀH^½, B = I + VVᵀ. Inverses of A and S alone would lose all digits.
    root = np.sqrt(h)[:, None]
    inverse_l = _inverse_factor(A + JITTER * variance * np.eye(len(A)))[0]
    V = (root * P) @ inverse_l.T
    W = V.T @ V
    inverse_b, log_b = _inverse_factor(np.eye(len(A)) + W)
    inverse_b = inverse_b.T @ inverse_b
    b = V.T @ (root * known.targets)
    c = inverse_b @ b
    unseen = variance * h.sum() - float(np.trace(W))
    value = 0.5 * float(np.sum(b * c)) - t / 2 * (log_b + unseen)
    by_b = -0.5 * (t * inverse_b + c @ c.T)
    by_a = inverse_l.T @ (by_b + t / 2 * (np.eye(len(A)) - W)) @ inverse_l
    by_p = V @ (2 * by_b + t * np.eye(len(A))) + (root * known.targets) @ c.T
    by_p = root * (by_p @ inverse_l) * P
    own = by_a * A
    slopes = [
        np.add(*pair)
        for pair in zip(
            anova_slopes(rows, landmarks, weight, by_p),
            anova_slopes(landmarks, landmarks, weight, own),
            strict=True,
        )
    ]
    jitter = JITTER * variance * float(np.trace(by_a))
    by_variance = float(by_p.sum() + own.sum()) + jitter - t / 2 * variance * h.sum()
    return value, np.concatenate([*slopes, [by_variance]])


def _inverse_factor(matrix: FloatArray) -> tuple[npt.NDArray[np.float64], float]:
    """Return L⁻¹ of a positive definite matrix LLᵀ, and the logarithm of its determinant."""
    factor = np.linalg.cholesky(matrix)
    log_det = 2 * float(np.log(np.diag(factor)).sum())
    return np.asarray(solve_triangular(factor, np.eye(len(matrix)), lower=True)), log_det
