"""Kernel ridge regression whose gradients tell the metric."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...._typing import Array, FloatArray
from ....kernels import Kernel
from ....moments.ridge import Eigen
from ....rows.threads import map_rows
from ...landmarks import whitening
from ..numerics import ALPHAS, MAX_BLOCK, MAX_WIDTH
from .distinct_sample import DistinctSample

__all__ = ["Design", "Regression"]


@dataclass(frozen=True)
class Design:
    """Functions of landmarks at the rows of a sample, for any targets.

    Attributes
    ----------
    landmarks : ndarray of shape (m, d)
    share : ndarray of shape (n_train,)
        The weights of the training rows over their sum.
    values : ndarray of shape (n_train, k)
        The functions at the training rows about their mean, times the roots of `share`.
    eigen : Eigen
        Of the sums of their products.
    rotated : ndarray of shape (n_held_out, k)
        The functions at the held-out rows, in the eigenvectors.
    turned : ndarray of shape (m, k)
        From coefficients of the eigenvectors to those of the kernel at the landmarks.
    """

    landmarks: FloatArray
    share: FloatArray
    values: FloatArray
    eigen: Eigen
    rotated: FloatArray
    turned: FloatArray

    @classmethod
    def of(cls, kernel: Kernel, sample: DistinctSample, landmarks: Array) -> "Design":
        """Evaluate the kernel between rows and landmarks of these numbers."""
        centers = sample.rows[landmarks]
        _, whiten = whitening(kernel, centers)

        def block(rows: FloatArray, out: FloatArray) -> None:
            np.matmul(kernel(rows, centers), whiten, out=out)

        shape = (len(sample.rows), whiten.shape[1])
        Z = map_rows(block, sample.rows, np.empty(shape), 4 * len(centers))
        n = sample.n_train
        share = sample.weights[:n] / sample.weights[:n].sum()
        Z -= share @ Z[:n]
        Z[:n] *= np.sqrt(share)[:, None]
        eigen = Eigen.of(Z[:n].T @ Z[:n])
        vectors = eigen.vectors
        return cls(centers, share, Z[:n], eigen, Z[n:] @ vectors, whiten @ vectors)

    def path(self, targets: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield coefficients of the eigenvectors and held-out errors, the strongest alpha first."""
        n = len(self.share)
        Y = targets - self.share @ targets[:n]
        rhs = self.eigen.vectors.T @ (self.values.T @ (np.sqrt(self.share)[:, None] * Y[:n]))
        mean_value = float(np.square(self.values).sum()) / self.values.shape[1]
        for alpha in mean_value * ALPHAS:
            beta = self.eigen.shrink(alpha)[:, None] * rhs
            yield beta, Y[n:] - self.rotated @ beta


@dataclass(frozen=True)
class Regression:
    """Kernel ridge regression on landmarks, with the alpha that is best on the held-out rows.

    Attributes
    ----------
    kernel : Kernel
    rows, weights : ndarrays of shapes (n_train, d) and (n_train,)
        What it was fitted to; the weights add up to one.
    landmarks : ndarray of shape (m, d)
    coef : ndarray of shape (m, t)
        f(x) = Σ_j coef_j k(x, landmark_j) + constant.
    losses : ndarray of shape (n_held_out,)
        Squared errors on the held-out rows, summed over targets.
    """

    kernel: Kernel
    rows: FloatArray
    weights: FloatArray
    landmarks: FloatArray
    coef: FloatArray
    losses: FloatArray

    @classmethod
    def fit(cls, kernel: Kernel, sample: DistinctSample, landmarks: Array) -> "Regression":
        """Fit to the training rows of a sample, with landmarks of these numbers."""
        design, weights = Design.of(kernel, sample, landmarks), sample.weights[sample.n_train :]
        best, coef, losses = np.inf, np.empty(0), np.empty(0)
        # From the strongest on, to which ties go.
        for beta, errors in design.path(sample.targets):
            squares = np.square(errors).sum(axis=1)
            if (total := float(weights @ squares)) < best:
                best, coef, losses = total, beta, squares
        rows = sample.rows[: sample.n_train]
        return cls(kernel, rows, design.share, design.landmarks, design.turned @ coef, losses)

    def gradients(self) -> Iterator[FloatArray]:
        """Yield gradients at the training rows times the roots of their weights: [b, d]."""
        dim = self.rows.shape[1]
        n_targets = max(1, MAX_WIDTH // dim)
        for first in range(0, self.coef.shape[1], n_targets):
            coef = self.coef[:, first : first + n_targets]
            n_rows = max(1, MAX_BLOCK // (dim * coef.shape[1]))
            for start in range(0, len(self.rows), n_rows):
                part = slice(start, start + n_rows)
                found = self.kernel.contract_gradient(self.rows[part], self.landmarks, coef)
                yield (found * np.sqrt(self.weights[part])[:, None, None]).reshape(-1, dim)
