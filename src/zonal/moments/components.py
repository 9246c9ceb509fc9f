"""Directions of a feature space from second moments: principal and canonical ones."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular, svd

from .._typing import FloatArray
from .moments import Moments

__all__ = ["CanonicalPairs", "Components", "canonical_pairs", "principal_components"]


class Components(NamedTuple):
    """Principal components in feature space.

    Attributes
    ----------
    directions : ndarray of shape (n_components, D)
    eigenvalues : ndarray of shape (n_components,)
    mean : ndarray of shape (D,)
    total : float
        The sum of all eigenvalues.
    """

    directions: FloatArray
    eigenvalues: FloatArray
    mean: FloatArray
    total: float


class CanonicalPairs(NamedTuple):
    """Canonical correlations, the directions of both views, and the mean features."""

    correlations: FloatArray
    first: FloatArray
    second: FloatArray
    mean: FloatArray


def principal_components(moments: Moments, n_components: int) -> Components:
    """Return the leading eigenvectors of the centred second moment, the largest entry positive."""
    scatter = moments.products()
    top = (len(scatter) - n_components, len(scatter) - 1)
    values, vectors = eigh(scatter, subset_by_index=top)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    directions = (vectors * _signs(vectors)).T
    return Components(directions, values, moments.mean(), float(np.trace(scatter)))


def canonical_pairs(
    moments: Moments, width: int, alpha: float, n_components: int
) -> CanonicalPairs:
    """Return pairs of directions of two views that correlate most.

    Parameters
    ----------
    moments : Moments
        Of the features of both views, side by side.
    width : int
        Columns of the first view.
    alpha : float
        The ridge on each view, in units of the mean variance of its features.
    n_components : int
    """
    C = moments.products() / moments.weight
    raw = np.diag(moments.products(np.zeros_like(moments.shift))) / moments.weight
    factors = []
    for view in (slice(0, width), slice(width, None)):
        block = C[view, view]
        # At least the rounding of the sums, or a constant view would correlate by noise.
        rounding = len(block) * moments.precision * raw[view].sum()
        ridge = max(alpha * np.trace(block) / len(block), rounding) or 1.0
        factors.append(cholesky(block + ridge * np.eye(len(block)), lower=True))
    middle = solve_triangular(factors[0], C[:width, width:], lower=True)
    middle = solve_triangular(factors[1], middle.T, lower=True).T
    left, correlations, right = svd(middle, full_matrices=False)
    first = solve_triangular(factors[0].T, left[:, :n_components])
    second = solve_triangular(factors[1].T, right[:n_components].T)
    signs = _signs(first)
    largest = np.minimum(correlations[:n_components], 1.0)
    return CanonicalPairs(largest, first * signs, second * signs, moments.mean())


def _signs(vectors: FloatArray) -> FloatArray:
    """Return the signs that make the largest entry of each column positive."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return np.where(largest < 0, -1, 1)
