"""The average outer product M of a regression's gradients, and its fourth root."""

import numpy as np
import scipy.linalg
from sklearn.utils.extmath import svd_flip

from ...._typing import FloatArray
from ..numerics import MAX_RANK
from .regression import Regression

__all__ = ["fourth_root", "outer_product_factor"]


def fourth_root(
    model: Regression, linear: FloatArray, diagonal: bool, rng: np.random.Generator
) -> FloatArray | None:
    """Return the fourth root of M for a regression on mapped rows; None where M is zero.

    The regression's own gradients g are with respect to the mapped rows: those with respect to
    the rows before the map A are Aᵀ g, so that a factor F of its M is F A after all.
    """
    if diagonal:
        entries = sum(np.square(g * linear).sum(axis=0) for g in model.gradients())
        return np.asarray(entries) ** 0.25 if np.any(entries) else None
    factor = outer_product_factor(model, rng)
    if not len(factor):
        return None
    factor = factor * linear if linear.ndim == 1 else factor @ linear
    left, values, right = scipy.linalg.svd(factor, full_matrices=False)
    _, right = svd_flip(left, right, u_based_decision=False)
    known = values > max(factor.shape) * np.finfo(float).eps * values[0]
    return np.asarray(np.sqrt(values[known])[:, None] * right[known])


def outer_product_factor(model: Regression, rng: np.random.Generator) -> FloatArray:
    r"""Return F with FᵀF = M, the mean outer product of the gradients: [rank, d].

    With a matrix Ω of probes and Y = M Ω, which one pass over the gradients gives,

    .. math:: M \approx Y (\Omega^\top Y)^+ Y^\top ,

    exactly so for Ω = I. Random probes leave out about what is beyond their number of M's
    spectrum.
    """
    dim = model.rows.shape[1]
    probes = np.eye(dim) if dim <= MAX_RANK else rng.standard_normal((dim, MAX_RANK))
    product = np.zeros_like(probes)
    for gradients in model.gradients():
        product += gradients.T @ (gradients @ probes)
    values, vectors = scipy.linalg.eigh(probes.T @ product)
    known = values > max(len(values) * np.finfo(float).eps * values[-1], 0.0)
    return (product @ (vectors[:, known] / np.sqrt(values[known]))).T
