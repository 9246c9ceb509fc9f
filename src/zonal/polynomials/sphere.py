"""Random points and rotations of the sphere in dimension d."""

import numpy as np

from .._typing import FloatArray

__all__ = ["random_rotation", "uniform_sphere"]


def uniform_sphere(n_points: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Points drawn uniformly from the unit sphere, the paper's U(S^{d-1}).

    Parameters
    ----------
    n_points : int
        The number of points n.
    dim : int
        The dimension d ≥ 1.
    rng : numpy.random.Generator
        The source of randomness. More points from the same seed only append rows.

    Returns
    -------
    ndarray of shape (n_points, dim)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.polynomials import uniform_sphere
    >>> points = uniform_sphere(4, dim=3, rng=np.random.default_rng(0))
    >>> np.linalg.norm(points, axis=1)
    array([1., 1., 1., 1.])
    """
    gaussian = rng.standard_normal((n_points, dim))
    return gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True)


def random_rotation(dim: int, rng: np.random.Generator, n_rows: int | None = None) -> FloatArray:
    """Orthogonal matrix drawn from Haar's measure, or the first rows of one.

    LAPACK's QR fixes the signs of R's diagonal by a convention of its own, which makes Q far
    from uniform; multiplying by those signs makes the factorisation unique and Q uniform.

    Returns
    -------
    ndarray of shape (n_rows, dim), by default (dim, dim)
    """
    q, r = np.linalg.qr(rng.standard_normal((dim, dim if n_rows is None else n_rows)))
    signs: FloatArray = np.where(np.diag(r) < 0, -1.0, 1.0)
    return (q * signs).T
