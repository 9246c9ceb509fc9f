r"""Directions drawn by their ridge leverage scores, the paper's starting point.

A direction w is worth as much as its score :math:`\tau_\lambda(w) = \mathrm{Tr}(\Phi_w^\top
(K + \lambda I)^{-1} \Phi_w)`. Of many uniform directions some are drawn with probabilities in
proportion to their scores, and weighted by the inverse: the features stay unbiased.
"""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._typing import FloatArray
from .._validation import row_norms
from ..engines import gegenbauer_sums
from ..kernels import GeneralizedZonalKernel
from ..kernels.points import dots
from ..polynomials import uniform_sphere
from ..rows.hashing import sample_rows
from ..rows.threads import block_slices

__all__ = ["draw_by_leverage", "feature_columns"]

# Rows whose scores stand for those of all, and uniform directions for each that is drawn.
N_ROWS, CANDIDATES = 1000, 8
# λ as a share of n k(x, x).
RELATIVE_RIDGE = 1e-3


def feature_columns(gzk: GeneralizedZonalKernel, rows: Any, directions: FloatArray) -> FloatArray:
    """Return the columns of all Φ_w, radial index by radial index: [n, s · m], in float64."""
    norms = row_norms(rows)
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    cosines = dots(rows, directions) * inverse[:, None]
    counts = np.full(gzk.n_radial, len(directions))
    out = np.empty((len(norms), counts.sum()))
    gegenbauer_sums(cosines, gzk.coefficients(norms), counts, gzk.dim, out)
    return out


def draw_by_leverage(
    gzk: GeneralizedZonalKernel, rows: Any, weights: FloatArray, n_directions: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Draw directions by their scores on some of the rows.

    Parameters
    ----------
    gzk : GeneralizedZonalKernel
        The expansion.
    rows : {array, CSR matrix} of shape (n, d)
        Rows as the features see them.
    weights : ndarray of shape (n,)
        Their weights.
    n_directions : int
        m.
    seed : int
        Of the candidates and of the choice.

    Returns
    -------
    directions : ndarray of shape (m, d)
    weights : ndarray of shape (m,)
        What each counts in the mean over directions, 1/m on average.
    """
    chosen = sample_rows(rows.shape[0], N_ROWS)
    sample = rows[chosen].astype(np.float64)
    roots = np.sqrt(weights[chosen])[:, None]
    K = roots * gzk(sample) * roots.T
    lam = RELATIVE_RIDGE * float(np.trace(K)) or 1.0
    K.flat[:: len(K) + 1] += lam
    factor = cho_factor(K, lower=True)
    rng = np.random.default_rng(seed)
    candidates = uniform_sphere(CANDIDATES * n_directions, rows.shape[1], rng)
    scores = np.empty(len(candidates))
    for part in block_slices(len(candidates), len(sample) * gzk.n_radial):
        phi = roots * feature_columns(gzk, sample, candidates[part])
        trace = np.einsum("nc,nc->c", phi, cho_solve(factor, phi))
        scores[part] = trace.reshape(gzk.n_radial, -1).sum(axis=0)
    total = scores.sum()
    share = scores / total if total > 0 else np.full(len(scores), 1 / len(scores))
    # Half by score, half uniformly: no weight is above twice the mean, whatever the scores.
    share = (share + 1 / len(scores)) / 2
    drawn = rng.choice(len(candidates), n_directions, p=share)
    return candidates[drawn], 1 / (n_directions * len(candidates) * share[drawn])
