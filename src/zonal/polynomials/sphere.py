"""Points of the sphere: random ones, rotations, and those of latitudes and longitudes."""

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray

__all__ = ["random_rotation", "to_sphere", "uniform_sphere"]


def uniform_sphere(n_points: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw points uniformly from the unit sphere, the paper's U(S^{d-1}).

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
    """Draw an orthogonal matrix from Haar's measure, or the first rows of one.

    LAPACK's QR fixes the signs of R's diagonal by a convention of its own, which makes Q far
    from uniform; multiplying by those signs makes the factorisation unique and Q uniform.

    Returns
    -------
    ndarray of shape (n_rows, dim), by default (dim, dim)
    """
    q, r = np.linalg.qr(rng.standard_normal((dim, dim if n_rows is None else n_rows)))
    signs: FloatArray = np.where(np.diag(r) < 0, -1.0, 1.0)
    return (q * signs).T


def to_sphere(lat: npt.ArrayLike, lon: npt.ArrayLike) -> Array:
    r"""Return points of the unit sphere from latitude and longitude.

    .. math:: (\cos\varphi\cos\lambda,\; \cos\varphi\sin\lambda,\; \sin\varphi)

    Parameters
    ----------
    lat : array-like of shape (n,)
        Latitude φ in degrees, from -90 to 90.
    lon : array-like of shape (n,)
        Longitude λ in degrees.

    Returns
    -------
    ndarray of shape (n, 3)
        float32 if both inputs are, else float64.

    Examples
    --------
    >>> from zonal.datasets import to_sphere
    >>> to_sphere([0, 90], [90, 0]).round(6) + 0.0
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    latitude, longitude = np.asarray(lat), np.asarray(lon)
    dtype = np.result_type(latitude, longitude)
    phi, lam = np.broadcast_arrays(
        np.radians(latitude, dtype=np.float64), np.radians(longitude, dtype=np.float64)
    )
    if not (np.isfinite(phi).all() and np.isfinite(lam).all()):
        raise ValueError("lat and lon must be finite numbers of degrees.")
    if (np.abs(phi) > np.pi / 2 * (1 + 1e-9)).any():
        worst = np.asarray(latitude).ravel()[np.argmax(np.abs(phi))]
        raise ValueError(
            f"lat={worst} is not a latitude: latitudes are degrees from -90 to 90. Are lat and "
            "lon swapped?"
        )
    points = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=-1)
    return points.astype(np.float32) if dtype == np.float32 else points
