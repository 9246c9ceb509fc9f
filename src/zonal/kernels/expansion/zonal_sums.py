r"""Sums of Gegenbauer polynomials over degrees, at pairs of points, and their gradients.

.. math:: \sum_\ell \langle h_\ell(r), h_\ell(s)\rangle\, P_d^\ell(\cos)
"""

from collections.abc import Iterator

import numpy as np

from ..._typing import FloatArray
from ...polynomials import recurrence
from ..slopes import Slopes, inverse

__all__ = ["angular_radial", "zonal_matrix", "zonal_profile", "zonal_slopes"]


def zonal_profile(h_r: FloatArray, h_s: FloatArray, cos: FloatArray, dim: int) -> FloatArray:
    """Return the sums at broadcast arrays of pairs.

    Parameters
    ----------
    h_r, h_s : ndarrays of shape (..., max_degree + 1, n_radial)
        The radial functions at both points.
    cos : ndarray of shape (...)
        The cosines of the angles.
    dim : int
        d.
    """
    polynomials = enumerate(_polynomials(cos, h_r.shape[-2] - 1, dim))
    return np.asarray(
        sum(
            np.einsum("...i,...i->...", h_r[..., ell, :], h_s[..., ell, :]) * polynomial
            for ell, polynomial in polynomials
        )
    )


def zonal_matrix(h_x: FloatArray, h_y: FloatArray, cos: FloatArray, dim: int) -> FloatArray:
    """Return the sums at all pairs of rows: [n, m].

    Parameters
    ----------
    h_x, h_y : ndarrays of shapes (n, max_degree + 1, n_radial) and (m, max_degree + 1, n_radial)
        The radial functions at the rows.
    cos : ndarray of shape (n, m)
        The cosines of the angles.
    dim : int
        d.
    """
    total = np.zeros_like(cos)
    for ell, polynomial in enumerate(_polynomials(cos, h_x.shape[1] - 1, dim)):
        total += (h_x[:, ell] @ h_y[:, ell].T) * polynomial
    return total


def zonal_slopes(
    h_x: FloatArray,
    slopes_x: FloatArray,
    r: FloatArray,
    h_y: FloatArray,
    s: FloatArray,
    cos: FloatArray,
    dim: int,
) -> Slopes:
    """Return the gradients with respect to x at all pairs of rows, in the plane of x and y.

    Parameters
    ----------
    h_x, slopes_x : ndarrays of shape (n, max_degree + 1, n_radial)
        The radial functions at the rows x, and their derivatives.
    r, s : ndarrays of shapes (n,) and (m,)
        ‖x‖ and ‖y‖.
    h_y : ndarray of shape (m, max_degree + 1, n_radial)
        The radial functions at the rows y.
    cos : ndarray of shape (n, m)
        The cosines of the angles.
    dim : int
        d.
    """
    ratio, slope = angular_radial(h_x, slopes_x, r)
    max_degree = h_x.shape[1] - 1
    a, b = np.zeros_like(cos), np.zeros_like(cos)
    previous, current = np.zeros_like(cos), np.zeros_like(cos)  # P'_{ℓ-1}, P'_ℓ
    factors = recurrence(max_degree, dim)
    for ell, (polynomial, up, down) in enumerate(
        zip(_polynomials(cos, max_degree, dim), *factors, strict=True)
    ):
        a += (slope[:, ell] @ h_y[:, ell].T) * polynomial
        b += (ratio[:, ell] @ h_y[:, ell].T) * current
        previous, current = current, up * (polynomial + cos * current) - down * previous
    # ∇cos = (y/s - cos x/r) / r, and 1/r is in the ratio.
    return Slopes(a - cos * b * inverse(r)[:, None], b * inverse(s))


def _polynomials(cos: FloatArray, max_degree: int, dim: int) -> Iterator[FloatArray]:
    """Yield P_0, …, P_q at the cosines, one at a time."""
    a, b = recurrence(max_degree, dim)
    previous, current = np.zeros_like(cos), np.ones_like(cos)  # P_{ℓ-1}, P_ℓ
    for ell in range(max_degree + 1):
        yield current
        previous, current = current, a[ell] * cos * current - b[ell] * previous


def angular_radial(
    values: FloatArray, derivatives: FloatArray, radii: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return h_ℓ(r)/r and h_ℓ'(r)/r, what gradients across and along x are made of.

    At zero all that is left of a differentiable function is its linear part: h_1'(0), across.

    Parameters
    ----------
    values, derivatives : ndarrays of shape (n, max_degree + 1, n_radial)
        h and h'.
    radii : ndarray of shape (n,)

    Returns
    -------
    ratio, slope : ndarrays of shape (n, max_degree + 1, n_radial)
    """
    per_radius = inverse(radii)[:, None, None]
    ratio, slope = values * per_radius, derivatives * per_radius
    at_origin = radii == 0
    ratio[at_origin, 1:2] = derivatives[at_origin, 1:2]
    return ratio, slope
