"""The reference: plain NumPy that reads like the formula. Compiled engines must agree with it."""

import numpy as np

from .._typing import Array
from ..polynomials import orthonormal_table

__all__ = ["gegenbauer_sums"]


def gegenbauer_sums(
    projections: Array, coefficients: Array, counts: Array, dim: int, out: Array
) -> None:
    r"""Fill sums :math:`\sum_\ell c_{\ell,i} \sqrt{\alpha_\ell} P_d^\ell(t_j)` of a block.

    Parameters
    ----------
    projections : ndarray of shape (n_rows, n_directions)
        IN. Cosines t_j of the angles between a row and the directions.
    coefficients : ndarray of shape (n_rows, max_degree + 1, n_radial)
        IN. c_{ℓ,i}, different for every row.
    counts : ndarray of shape (n_radial,)
        IN. How many directions each radial index i uses: the first ``counts[i]``.
    dim : int
        IN. d.
    out : ndarray of shape (n_rows, counts.sum())
        OUT. The columns of radial index 0, then those of index 1, and so on.
    """
    table = orthonormal_table(coefficients.shape[1] - 1, dim, np.clip(projections, -1, 1))
    sums = np.einsum("lnj,nli->nij", table, coefficients)  # [n_rows, n_radial, n_directions]
    stops = np.cumsum(counts)
    for i, (count, stop) in enumerate(zip(counts, stops, strict=True)):
        out[:, stop - count : stop] = sums[:, i, :count]
