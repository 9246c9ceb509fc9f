r"""Gegenbauer polynomials of dimension d, normalised to one at t = 1.

Everything here rests on one recurrence, the only stable way to evaluate them (the paper's
explicit sum loses all digits from about degree 40 on):

.. math::

    P_0 = 1, \quad P_1 = t, \quad
    (\ell + d - 2) P_{\ell+1}(t) = (2 \ell + d - 2)\, t P_\ell(t) - \ell P_{\ell-1}(t).

They are Chebyshev polynomials for d = 2, Legendre polynomials for d = 3 and monomials for
d = ∞. For d = 1 the sphere is {-1, +1}, on which only degrees 0 and 1 are independent.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray

__all__ = [
    "check_degree",
    "check_dim",
    "gegenbauer",
    "gegenbauer_table",
    "harmonic_dimension",
    "log_harmonic_dimensions",
    "n_harmonics",
    "orthonormal_table",
    "recurrence",
]


def check_dim(dim: float) -> float:
    """Return `dim` if it is a whole number of at least one, or infinity."""
    if dim == math.inf or (dim >= 1 and dim == int(dim)):
        return dim
    raise ValueError(
        f"dim={dim!r} is not a dimension: use a whole number of at least 1 "
        "(2 for Chebyshev, 3 for Legendre) or math.inf for monomials."
    )


def check_degree(degree: int, dim: float) -> int:
    """Return `degree` as an int if polynomials of that degree exist in dimension `dim`."""
    if degree < 0 or degree != int(degree):
        raise ValueError(f"degree={degree!r} is not a degree: use a whole number of at least 0.")
    if dim == 1 and degree > 1:
        raise ValueError(
            f"degree={degree} does not exist for dim=1: the sphere {{-1, +1}} has only "
            "the degrees 0 (even functions) and 1 (odd functions)."
        )
    return int(degree)


def harmonic_dimension(degree: npt.ArrayLike, dim: int) -> Any:
    r"""Return the dimension of the spherical harmonics of one degree, the paper's α_{ℓ,d}.

    .. math:: \alpha_{\ell,d} = \binom{d+\ell-1}{\ell} - \binom{d+\ell-3}{\ell-2}

    Parameters
    ----------
    degree : int or array-like of int
        The degree ℓ ≥ 0.
    dim : int
        The dimension d ≥ 1 of the space that holds the sphere.

    Returns
    -------
    int or ndarray
        Exact for a single degree, however large. An array of degrees gives an integer array,
        or a float array where 64 bits do not suffice (see `log_harmonic_dimensions`).

    Examples
    --------
    >>> from zonal.theory import harmonic_dimension
    >>> harmonic_dimension(5, dim=3)
    11
    >>> harmonic_dimension([0, 1, 2, 3], dim=4)
    array([ 1,  4,  9, 16])
    """
    dim = int(check_dim(dim))
    degrees = np.asarray(degree)
    values = [_harmonic_dimension(ell, dim) for ell in degrees.ravel().tolist()]
    if degrees.ndim == 0:
        return values[0]
    fits = max(values, default=0) < 2**63
    return np.array(values, dtype=np.int64 if fits else np.float64).reshape(degrees.shape)


def _harmonic_dimension(degree: int, dim: int) -> int:
    degree = check_degree(degree, math.inf)
    if degree < 2:
        return dim if degree else 1
    return math.comb(dim + degree - 1, degree) - math.comb(dim + degree - 3, degree - 2)


def log_harmonic_dimensions(max_degree: int, dim: float) -> FloatArray:
    """Return logarithms of α_{0,d}, …, α_{q,d}, which overflow themselves when d is large.

    Parameters
    ----------
    max_degree : int
        The largest degree q.
    dim : int
        The dimension d ≥ 1. Minus infinity marks the degrees that do not exist for d = 1.

    Returns
    -------
    ndarray of shape (max_degree + 1,)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.polynomials import log_harmonic_dimensions
    >>> np.exp(log_harmonic_dimensions(3, dim=3)).round(6)
    array([1., 3., 5., 7.])
    """
    ell = np.arange(2, max_degree + 1)
    # The ratio of successive dimensions has no cancellation, unlike differences of log Γ.
    with np.errstate(divide="ignore"):
        ratio = np.log(2 * ell + dim - 2) - np.log(2 * ell + dim - 4)
        ratio += np.log(ell + dim - 3) - np.log(ell)
    return np.concatenate([[0.0], math.log(dim) + np.cumsum(np.r_[0.0, ratio])])[: max_degree + 1]


def recurrence(max_degree: int, dim: float) -> tuple[FloatArray, FloatArray]:
    """Return a, b of P_{ℓ+1} = a_ℓ t P_ℓ - b_ℓ P_{ℓ-1}, for ℓ = 0, …, max_degree.

    Returns
    -------
    a, b : ndarrays of shape (max_degree + 1,)
    """
    ell = np.arange(max_degree + 1, dtype=np.float64)
    if dim in (1, math.inf):  # monomials; for d = 1 only 1 and t count
        return np.ones_like(ell), np.zeros_like(ell)
    # d = 2 makes the first row 0/0: P_1 = t needs a_0 = 1, b_0 = 0.
    scale = np.where(ell + dim > 2, ell + dim - 2, 1)
    a = np.where(ell == 0, 1.0, (2 * ell + dim - 2) / scale)
    return a, ell / scale


def gegenbauer_table(max_degree: int, dim: float, t: npt.ArrayLike) -> FloatArray:
    """Evaluate P_0, …, P_q at the same points.

    Parameters
    ----------
    max_degree : int
        The largest degree q.
    dim : int or math.inf
        The dimension d.
    t : array-like
        Points, usually in [-1, 1].

    Returns
    -------
    ndarray of shape (max_degree + 1, *t.shape)

    Examples
    --------
    >>> from zonal.polynomials import gegenbauer_table
    >>> gegenbauer_table(2, dim=3, t=[0.0, 1.0])
    array([[ 1. ,  1. ],
           [ 0. ,  1. ],
           [-0.5,  1. ]])
    """
    check_dim(dim)
    check_degree(max_degree, dim)
    points = np.asarray(t, dtype=np.float64)
    a, b = recurrence(max_degree, dim)
    table = np.ones((max_degree + 1, *points.shape))
    for ell in range(max_degree):
        table[ell + 1] = a[ell] * points * table[ell]
        if ell:
            table[ell + 1] -= b[ell] * table[ell - 1]
    return table


def orthonormal_table(max_degree: int, dim: int, t: npt.ArrayLike) -> FloatArray:
    """Evaluate √α_ℓ P_ℓ for ℓ = 0, …, q at the same points, without overflow of α_ℓ.

    These are orthonormal for the distribution of ⟨x, w⟩, w uniform on the sphere. Only ratios of
    successive α_ℓ enter their recurrence.

    Returns
    -------
    ndarray of shape (max_degree + 1, *t.shape)
    """
    points = np.asarray(t, dtype=np.float64)
    log_alpha = log_harmonic_dimensions(max_degree, dim)
    a, b = recurrence(max_degree, dim)
    table = np.ones((max_degree + 1, *points.shape))
    for ell in range(max_degree):
        table[ell + 1] = np.exp((log_alpha[ell + 1] - log_alpha[ell]) / 2) * (
            a[ell] * points * table[ell]
        )
        if ell:
            ratio = np.exp((log_alpha[ell + 1] - log_alpha[ell - 1]) / 2)
            table[ell + 1] -= ratio * b[ell] * table[ell - 1]
    return table


def gegenbauer(degree: int, dim: float, t: npt.ArrayLike) -> Array:
    r"""Evaluate the Gegenbauer polynomial P_d^ℓ(t) of one degree, equal to 1 at t = 1.

    .. math::

        (\ell + d - 2) P_{\ell+1}(t) = (2 \ell + d - 2)\, t P_\ell(t) - \ell P_{\ell-1}(t)

    Parameters
    ----------
    degree : int
        The degree ℓ ≥ 0.
    dim : int or math.inf
        The dimension d ≥ 1: 2 gives Chebyshev polynomials, 3 Legendre polynomials and
        infinity monomials. For d = 1 only the degrees 0 and 1 exist.
    t : array-like
        Points, usually in [-1, 1].

    Returns
    -------
    ndarray of the shape of t

    Examples
    --------
    The polynomial for d = 3 is Legendre's:

    >>> import numpy as np
    >>> from scipy.special import eval_legendre
    >>> from zonal.theory import gegenbauer
    >>> t = np.linspace(-1, 1, 7)
    >>> bool(np.allclose(gegenbauer(12, dim=3, t=t), eval_legendre(12, t), atol=1e-14))
    True
    """
    check_dim(dim)
    check_degree(degree, dim)
    points = np.asarray(t, dtype=np.float64)
    a, b = recurrence(degree, dim)
    previous, current = np.zeros_like(points), np.ones_like(points)
    for ell in range(degree):
        previous, current = current, a[ell] * points * current - b[ell] * previous
    return current


def n_harmonics(max_degree: int, dim: int) -> float:
    """Return the number of spherical harmonics up to a degree (infinity where it overflows)."""
    with np.errstate(over="ignore"):
        return float(np.exp(log_harmonic_dimensions(max_degree, dim)).sum())
