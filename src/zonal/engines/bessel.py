r"""Modified Bessel functions of the first kind, in logarithms, for any order and argument.

Debye's expansion is uniform in the order ν and the argument z. With w = √(ν² + z²) and p = ν/w,

.. math::

    \log e^{-z} I_\nu(z) = \frac{\nu^2}{w + z} - \nu \operatorname{arsinh}\frac\nu z
    - \frac12 \log 2\pi w + \log \sum_k \frac{u_k(p)}{\nu^k},

and :math:`u_k(p) = p^k v_k(p^2)`, so that the k-th summand is :math:`v_k(p^2) / w^k`: what counts
is that w is large, not that either of the two is.

Where it is not, SciPy knows I_ν, but takes as long for each order as for the first. Orders that
follow each other are found from ratios :math:`r_\nu = I_{\nu+1}(z) / I_\nu(z)` instead, of which
:math:`r_{\nu-1} = z / (2\nu + z r_\nu)` is stable from above.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy.polynomial import Polynomial as Poly
from scipy.special import gammaln, ive

from .._typing import FloatArray

__all__ = ["debye_polynomials", "log_scaled_bessel"]

# From this w on, what twelve terms leave out is at most v_12(0) / w¹² ≈ 3,020 / 50¹² ≈ 1e-17.
LARGE = 50.0
TERMS = 12
# A sum is cut where a further term adds nothing in double precision.
NEGLIGIBLE = 1e-17
# Ratios begin at zero, so many orders above the last and above z. For ν ≥ z they are at most
# 1/(1 + √2), and each step takes the error times two of them: 0.172²² ≈ 1e-17.
STEPS = 22


def log_scaled_bessel(orders: npt.ArrayLike, z: FloatArray) -> FloatArray:
    """Return log(e^{-z} I_ν(z)), also where the value underflows or SciPy's is NaN.

    Parameters
    ----------
    orders : array-like of shape (n,)
        ν ≥ -½.
    z : ndarray of any shape
        Positive.

    Returns
    -------
    ndarray of shape (n, *z.shape)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.engines.bessel import log_scaled_bessel
    >>> log_scaled_bessel([0.5, 1000.0], np.array([1.0, 1e15])).round(2).tolist()
    [[-1.06, -18.19], [-6606.28, -18.19]]
    """
    orders = np.atleast_1d(np.asarray(orders, np.float64))
    arguments = np.asarray(z, np.float64).ravel()
    out = np.empty((len(orders), len(arguments)))
    _fill(orders, arguments, _coefficients(), out)
    small = np.isnan(out)
    if len(orders) > 1 and (np.diff(orders) == 1).all():
        counts = small.sum(axis=0)  # w grows with the order: the first ones, of each argument
        few = counts > 0
        out[0, few] = _log_of_small(np.full(few.sum(), orders[0]), arguments[few])
        _climb(orders, arguments, counts, out)
    elif small.any():
        nu, x = np.broadcast_arrays(orders[:, None], arguments)
        out[small] = _log_of_small(nu[small], x[small])
    return out.reshape(len(orders), *np.shape(z))


def _log_of_small(nu: FloatArray, x: FloatArray) -> FloatArray:
    """Return the logarithms for orders and arguments below `LARGE`."""
    with np.errstate(divide="ignore"):
        out = np.log(ive(nu, x))
    tiny = ~(out > -600)  # SciPy's value is too small, or zero
    if tiny.any():
        nu, x = nu[tiny], x[tiny]
        # (z/2)^ν / Γ(ν+1) Σ_k (z²/4)^k / (k! (ν+1)…(ν+k)): positive terms, quick since ν >> z.
        quarter = np.square(x / 2)
        term = total = np.ones_like(x)
        k = 0
        while (term > NEGLIGIBLE * total).any():
            k += 1
            term = term * quarter / (k * (nu + k))
            total = total + term
        out[tiny] = nu * np.log(x / 2) - gammaln(nu + 1) + np.log(total) - x
    return np.asarray(out)


@njit(nogil=True, cache=True)
def _fill(orders, z, coefficients, out):  # type: ignore[no-untyped-def]
    """Fill Debye's expansion where w is large, NaN elsewhere.

    orders [n], z [m], coefficients [TERMS, TERMS] of v_k in p²: IN. out [n, m]: OUT.
    """
    for i in range(len(orders)):
        nu = orders[i]
        for j in range(len(z)):
            w = math.hypot(nu, z[j])
            if not w >= LARGE:
                out[i, j] = np.nan
                continue
            q = (nu / w) ** 2
            total = 0.0
            for k in range(TERMS - 1, -1, -1):
                v = 0.0
                for power in range(k, -1, -1):
                    v = v * q + coefficients[k, power]
                total = total / w + v
            # arsinh(ν/z), whose argument may overflow.
            angle = math.log(nu + w) - math.log(z[j]) if nu > z[j] else math.asinh(nu / z[j])
            out[i, j] = (
                nu * (nu / (w + z[j]))
                - nu * angle
                - 0.5 * math.log(2 * math.pi * w)
                + math.log(total)
            )


@njit(nogil=True, cache=True)
def _climb(orders, z, counts, out):  # type: ignore[no-untyped-def]
    """Fill the first orders of each argument, from the value of the very first.

    orders [n], each one more than the last, z [m], counts [m]: IN. out [n, m]: the first row IN,
    the first `counts` of each column OUT.
    """
    steps = np.empty(len(orders))
    for j in range(len(z)):
        x, last = z[j], counts[j] - 1
        if last < 1:
            continue
        log_x = math.log(x)
        ratio = 0.0
        for k in range(STEPS + max(0, math.ceil(x - orders[last])), 0, -1):
            ratio = x / (2 * (orders[last] + k) + x * ratio)
        for i in range(last, 0, -1):
            below = 2 * orders[i] + x * ratio
            ratio = x / below
            steps[i] = log_x - math.log(below)  # log r, also where r underflows
        for i in range(1, last + 1):
            out[i, j] = out[i - 1, j] + steps[i]


@lru_cache(maxsize=1)
def _coefficients() -> FloatArray:
    """Return the coefficients of v_k in p², with u_k(p) = p^k v_k(p²): [TERMS, TERMS]."""
    table = np.zeros((TERMS, TERMS))
    for k, u in enumerate(debye_polynomials(TERMS)):
        table[k, : k + 1] = u.coef[k : 3 * k + 1 : 2]
    return table


@lru_cache(maxsize=4)
def debye_polynomials(n_terms: int) -> tuple[Poly, ...]:
    """Return u_0 = 1, u_{k+1}(p) = p²(1-p²) u_k'(p) / 2 + ∫₀ᵖ (1-5q²) u_k(q) dq / 8."""
    found = [Poly([1.0])]
    for _ in range(n_terms - 1):
        u = found[-1]
        found.append(Poly([0, 0, 0.5, 0, -0.5]) * u.deriv() + (Poly([1, 0, -5]) * u).integ() / 8)
    return tuple(found)
