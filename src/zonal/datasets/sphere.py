"""From latitude and longitude to points of the sphere."""

import numpy as np
import numpy.typing as npt

from .._typing import Array

__all__ = ["to_sphere"]


def to_sphere(lat: npt.ArrayLike, lon: npt.ArrayLike) -> Array:
    r"""Points of the unit sphere from latitude and longitude.

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
