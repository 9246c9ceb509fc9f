r"""Gauss–Gegenbauer quadrature for the distribution of ⟨x, w⟩, w uniform on the sphere.

The weight is the *probability* density proportional to :math:`(1-t^2)^{(d-3)/2}`, so that

.. math::

    \sum_k w_k f(t_k) \approx
    \mathbb{E}_{w \sim \mathcal{U}(\mathbb{S}^{d-1})} f(\langle x, w\rangle)
    = \frac{|\mathbb{S}^{d-2}|}{|\mathbb{S}^{d-1}|} \int_{-1}^{1} f(t) (1-t^2)^{\frac{d-3}{2}} dt .
"""

from functools import lru_cache

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from .._typing import FloatArray
from .gegenbauer import check_dim

__all__ = ["gauss_gegenbauer"]


@lru_cache(maxsize=64)
def gauss_gegenbauer(n_nodes: int, dim: int) -> tuple[FloatArray, FloatArray]:
    r"""Return nodes and weights, exact for polynomials of degree 2 n_nodes - 1.

    SciPy's ``roots_jacobi`` does the same for moderate d but returns NaN from about d = 1,000
    on: its weights are not normalised and underflow. Here the nodes are the eigenvalues of the
    Jacobi matrix, and the weights follow from the Christoffel function of the orthonormal
    polynomials, a sum of positive terms, so that even tiny weights have all their digits.

    Parameters
    ----------
    n_nodes : int
        The number of nodes.
    dim : int
        The dimension d ≥ 1. For d = 1 the rule has the two nodes -1 and +1.

    Returns
    -------
    nodes, weights : ndarrays of shape (n_nodes,)
        The weights sum to one. The arrays are cached and read-only.

    Examples
    --------
    The mean of t² over the sphere is 1/d:

    >>> from zonal.polynomials import gauss_gegenbauer
    >>> nodes, weights = gauss_gegenbauer(10, dim=5)
    >>> round(float(weights @ nodes**2), 12)
    0.2
    """
    check_dim(dim)
    if dim == 1:
        nodes, weights = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    elif dim == 2:  # Chebyshev's rule, in closed form
        turns = (np.arange(n_nodes) + 0.5) / n_nodes
        nodes, weights = -np.cos(np.pi * turns), np.full(n_nodes, 1 / n_nodes)
    else:
        nodes, weights = _golub_welsch(n_nodes, dim)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def _golub_welsch(n_nodes: int, dim: int) -> tuple[FloatArray, FloatArray]:
    ell = np.arange(1, n_nodes, dtype=np.float64)
    beta = np.sqrt(ell * (ell + dim - 3) / ((2 * ell + dim - 2) * (2 * ell + dim - 4)))
    # Not the default of older SciPy, whose nodes are off by four times as much.
    nodes = eigvalsh_tridiagonal(np.zeros(n_nodes), beta, lapack_driver="sterf")
    nodes = (nodes - nodes[::-1]) / 2  # exactly symmetric, so that odd integrals vanish

    previous, current, total = np.zeros(n_nodes), np.ones(n_nodes), np.ones(n_nodes)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(n_nodes - 1):
            below = beta[k - 1] * previous if k else 0.0
            previous, current = current, (nodes * current - below) / beta[k]
            total += current**2
    # Overflow (to infinity, then NaN) marks a node too close to ±1 to carry any mass.
    weights = np.where(np.isfinite(total), 1 / total, 0.0)
    weights = weights + weights[::-1]
    return nodes, weights / weights.sum()
