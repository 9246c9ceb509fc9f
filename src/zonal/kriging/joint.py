r"""Features and the local process together: y = μ + z(x)ᵀβ + u(x) + ε.

β is ridge regression on whitened features, so all that is kept of the rows for it is a matrix of
sums of products, added up block by block. With b the kriging weights of the neighbours of q and
:math:`\zeta = z(q) - \sum_j b_j z_j`, the prediction and its variance are

.. math::

    \mu + z(q)^\top \beta + \sum_j b_j (y_j - \mu - z_j^\top \beta), \qquad
    \sigma^2 (v(q) + \zeta^\top \mathrm{Cov}(\beta)\, \zeta + \dots),

where the dots stand for what the unknown μ adds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import Array, FloatArray
from .locations import Locations
from .marginal import Marginal, Observed, marginal
from .neighbors import Indices
from .process import LocalProcess
from .whitening import Whitening

__all__ = ["Joint", "fit_joint", "whitened_gram"]

Features = Callable[[Array], Array]

BLOCK = 4096


@dataclass(frozen=True)
class Joint:
    """A fitted joint model.

    Attributes
    ----------
    process : LocalProcess
        The local part, with its rows.
    features : callable
        Maps rows [k, d] to features [k, D].
    found : Marginal
        Mean, coefficients, scale, their covariance and the log evidence.
    residual : ndarray of shape (n, t)
        y - μ - zᵀβ at the rows.
    """

    process: LocalProcess
    features: Features
    found: Marginal
    residual: FloatArray

    def predict(self, X: Array, return_std: bool = False) -> tuple[FloatArray, FloatArray | None]:
        """Predict targets [q, t], and standard deviations [q, t] without noise if asked for."""
        mean = np.empty((len(X), self.residual.shape[1]))
        variance = np.empty(len(X))
        for start in range(0, len(X), BLOCK):
            part = slice(start, start + BLOCK)
            mean[part], variance[part] = self._predict_block(X[part], return_std)
        return mean, np.sqrt(variance[:, None] * self.found.scale) if return_std else None

    def _predict_block(self, X: Array, with_variance: bool) -> tuple[FloatArray, FloatArray]:
        neighbors, weights, variance = self.process.at(X)
        own = np.asarray(self.features(X), np.float64)
        mean = self.found.mean + own @ self.found.coef
        mean += np.einsum("ij,ijt->it", weights, self.residual[neighbors])
        if with_variance:
            support, where = np.unique(neighbors, return_inverse=True)
            near = np.asarray(self.features(self.process.rows[support]), np.float64)
            local: Indices = where.reshape(neighbors.shape).astype(np.int32)
            rows = np.arange(len(near), len(near) + len(own), dtype=np.int32)
            contrast = Whitening(rows, local, weights, np.ones(len(own)))
            rest = 1 - weights.sum(axis=1)
            variance = variance + self.found.variance(contrast.apply(np.vstack([near, own])), rest)
        return mean, variance


def whitened_gram(
    whitening: Whitening, locations: Locations, features: Features, points: FloatArray
) -> FloatArray:
    """Sums of products of the whitened constant, targets and features, block by block.

    Parameters
    ----------
    whitening : Whitening
    locations : Locations
        The rows and their targets.
    features : callable
        Maps rows [k, d] to features [k, D]. It is called with the rows of a block and all their
        neighbours: about twice as many rows in all as there are.
    points : ndarray of shape (n, d)
        Where the rows are, for blocks whose rows are close to each other.

    Returns
    -------
    ndarray of shape (1 + t + D, 1 + t + D)
    """
    gram: FloatArray | None = None
    for block in whitening.blocks(BLOCK, points):
        Z = features(locations.rows[block.support])
        columns = [np.ones(len(Z), Z.dtype), locations.targets[block.support].astype(Z.dtype), Z]
        whitened = block.apply(np.column_stack(columns))
        part = (whitened.T @ whitened).astype(np.float64)
        gram = part if gram is None else gram + part
    assert gram is not None
    return gram


def fit_joint(
    locations: Locations,
    features: Features,
    process: LocalProcess,
    ratio: float,
    n_neighbors: int | None = None,
) -> Joint:
    """Solve for β, μ and σ², given the parameters.

    Parameters
    ----------
    locations : Locations
        Rows, and targets that are about zero.
    features : callable
        Maps rows [k, d] to features [k, D].
    process : LocalProcess
        The local part, with the number of neighbours for predictions.
    ratio : float
        τ, the variance of β over that of the process.
    n_neighbors : int, optional
        Neighbours in the fit, by default as many as in predictions.
    """
    whitening = process.whitening(n_neighbors=n_neighbors)
    gram = whitened_gram(whitening, locations, features, process.points)
    observed = Observed(
        whitening.variance, locations.weight, locations.within.sum(axis=0), process.noise
    )
    found = marginal(gram, locations.targets.shape[1], observed, ratio)
    residual = locations.targets - found.mean
    for start in range(0, len(residual), BLOCK):
        part = slice(start, start + BLOCK)
        residual[part] -= features(locations.rows[part]) @ found.coef
    return Joint(process, features, found, residual)
