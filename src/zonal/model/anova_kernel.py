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
from functools import cached_property
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
from ..kernels.levels import Levels, level_distances, level_slopes
from ..rows import Block, sample_rows

__all__ = ["Latent", "Linearised", "Pseudo", "anova_kernel", "kernel_evidence", "plain_kernel"]

#: Rows of a trial and of the search, landmarks of a trial and of the first climb, those of the
#: second climb, and steps of each. Few rows and landmarks prefer kernels that are too smooth: with
#: 3,000 rows and 192 landmarks the log loss of 1,024 landmarks on validation rows is .453 instead
#: of .426 on connect4, .507 instead of .490 on late flights; and with 192, hourly counts of
#: bicycles (others than those reported) have a log score of -4.535 instead of -4.480.
TRIAL_ROWS, SEARCH_ROWS, LANDMARKS, MOST_LANDMARKS, STEPS = 3_000, 6_000, 192, 400, 8
#: Where the climb begins, in standard deviations of a column; and the columns of an interaction
#: there, at most. On validation rows of magic half the length has .299 instead of .294.
LENGTH, COLUMNS = 3.5, 10
#: Columns of so many values have levels, each with a number of its own, by which three of them may
#: have any distances from each other: of validation rows of connect4 (empty, mine, yours), on 1,024
#: landmarks, the log loss is .453 instead of .513. Where more values are levels it is .583 instead
#: of .571 with 12 on those of diamonds' cuts, .512 instead of .507 on those of late flights.
MOST_LEVELS = 3
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

    def pseudo(self, space: FeatureSpace, rows: Block) -> Pseudo:
        """Fit to rows in memory, and say what the fit says of them."""


@dataclass(frozen=True)
class Shape:
    """Which columns count as numbers, and which have levels.

    Attributes
    ----------
    n_columns : int
        d.
    numbers : ndarray of shape (c,)
        The others.
    levels : Levels
    """

    n_columns: int
    numbers: npt.NDArray[np.intp]
    levels: Levels

    @classmethod
    def of(cls, rows: Array) -> "Shape":
        """Tell it from rows."""
        levels, d = Levels.found(rows, MOST_LEVELS), rows.shape[1]
        return cls(d, np.setdiff1d(np.arange(d), levels.column), levels)

    def start(self) -> FloatArray:
        """Return logarithms of the parameters with which all columns count alike: [2 c + L]."""
        d = self.n_columns
        own = np.full(len(self.levels), 1 / d)
        length = np.full(len(self.numbers), LENGTH)
        weight = np.full(len(self.numbers), min(1.0, COLUMNS / d))
        return np.log(np.concatenate([length, weight, own]))

    def split(self, logs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ℓ and θ of the columns that are numbers, and u of the levels."""
        c = len(self.numbers)
        return tuple(np.split(np.exp(logs), [c, 2 * c]))  # type: ignore[return-value]

    def kernel(self, logs: FloatArray) -> Anova:
        """Return the kernel of logarithms of its parameters."""
        length, weight, counts = self.split(logs)
        lengths, weights = np.ones(self.n_columns), np.zeros(self.n_columns)
        lengths[self.numbers], weights[self.numbers] = length, weight
        if not len(self.levels):
            return Anova(lengths, weights)
        known = np.column_stack([self.levels.column, self.levels.value, counts])
        return Anova(lengths, weights, known)


def plain_kernel(rows: Array) -> Anova:
    """Return the kernel from which a climb begins: all columns of unit variance alike."""
    shape = Shape.of(rows)
    return shape.kernel(shape.start())


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

    shape = Shape.of(few.X)
    best = shape.start()
    for n_landmarks in (LANDMARKS, MOST_LANDMARKS):
        space, found = fitted(shape.kernel(best), n_landmarks)
        logs = _climbed(shape, best, found, space, few.X)
        if fitted(shape.kernel(logs), n_landmarks)[1].loss < found.loss:
            best = logs
    return shape.kernel(best)


@dataclass(frozen=True)
class Linearised:
    """Rows whose latent functions are known by pseudo-targets.

    Attributes
    ----------
    shape : Shape
    rows, landmarks : ndarrays of shapes (n, d) and (m, d)
    targets : ndarray of shape (n, t)
        Of each latent function.
    precision : ndarray of shape (n,)
        h.
    n_latent : int
        How many are free.
    """

    shape: Shape
    rows: FloatArray
    landmarks: FloatArray
    targets: FloatArray
    precision: FloatArray
    n_latent: int

    @cached_property
    def parts(self) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Rows and landmarks: columns that are numbers, about a middle, and indicators."""
        numbers, levels = self.shape.numbers, self.shape.levels
        middle = self.landmarks[:, numbers].mean(axis=0)
        first, second = (
            (own[:, numbers] - middle, levels.indicators(own))
            for own in (self.rows, self.landmarks)
        )
        return first, second


def _climbed(
    shape: Shape, before: FloatArray, found: Pseudo, space: FeatureSpace, rows: FloatArray
) -> FloatArray:
    """Return the kernel of the largest evidence near one, with the curvatures of its fit."""
    landmarks = np.asarray(space.features.landmarks_, np.float64)
    known = Linearised(shape, rows, landmarks, found.targets, found.precision, found.n_latent)
    start = np.append(before, np.log(found.variance))

    def objective(logs: FloatArray) -> tuple[float, FloatArray]:
        value, slope = kernel_evidence(known, logs)
        prior = (logs - start) / SPREAD**2
        return 0.5 * float(prior @ (logs - start)) - value, prior - slope

    bounds = np.column_stack([start - FURTHEST, start + FURTHEST])
    # No step of the search may leave the range of the compiled loops.
    reach = np.abs(known.parts[0][0]).max(axis=0, initial=0.0) * np.sqrt(3) / LARGEST
    lengths = slice(len(shape.numbers))
    bounds[lengths, 0] = np.log(np.maximum(np.exp(bounds[lengths, 0]), reach))
    best = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds.tolist(),
        options={"maxiter": STEPS},
    )
    return np.asarray(best.x[:-1])


def kernel_evidence(known: Linearised, logs: FloatArray) -> tuple[float, FloatArray]:
    """Return E and its gradient by the logarithms of ℓ, θ, u and σ² [2 c + L + 1]."""
    length, weight, counts = known.shape.split(logs[:-1])
    variance, h, t = float(np.exp(logs[-1])), known.precision, known.n_latent
    scale = length / np.sqrt(3)
    (rows, own_levels), (landmarks, their_levels) = (
        (numbers / scale, levels) for numbers, levels in known.parts
    )

    def values(left: FloatArray, indicators: FloatArray) -> FloatArray:
        if not len(weight):
            out = np.full((len(left), len(landmarks)), variance)
        else:
            out = variance * anova_matrix(left, landmarks, weight)
        if len(counts):
            out *= np.exp(-level_distances(indicators, their_levels, counts))
        return out

    def slopes_of(left: FloatArray, indicators: FloatArray, factors: FloatArray) -> FloatArray:
        by_levels = -counts * level_slopes(indicators, their_levels, factors)
        if not len(weight):
            return by_levels
        return np.concatenate([*anova_slopes(left, landmarks, weight, factors), by_levels])

    P, A = values(rows, own_levels), values(landmarks, their_levels)
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
    by_p = V @ ((2 * by_b + t * np.eye(len(A))) @ inverse_l)
    by_p += (root * known.targets) @ (c.T @ inverse_l)
    by_p *= root * P
    own = by_a * A
    slopes = slopes_of(rows, own_levels, by_p) + slopes_of(landmarks, their_levels, own)
    jitter = JITTER * variance * float(np.trace(by_a))
    by_variance = float(by_p.sum() + own.sum()) + jitter - t / 2 * variance * h.sum()
    return value, np.append(slopes, by_variance)


def _inverse_factor(matrix: FloatArray) -> tuple[npt.NDArray[np.float64], float]:
    """Return L⁻¹ of a positive definite matrix LLᵀ, and the logarithm of its determinant."""
    factor = np.linalg.cholesky(matrix)
    log_det = 2 * float(np.log(np.diag(factor)).sum())
    return np.asarray(solve_triangular(factor, np.eye(len(matrix)), lower=True)), log_det
