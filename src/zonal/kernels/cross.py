r"""The kernel of the radii that belongs to each degree.

Every rotation-invariant kernel is

.. math:: k(x, y) = \sum_\ell k_\ell(\|x\|, \|y\|)\, P_d^\ell(\cos\angle(x, y)), \qquad
    k_\ell(r, s) = \alpha_{\ell,d} \int k(r, s, t)\, P_d^\ell(t)\, d\mu_d(t),

and each :math:`k_\ell` is itself a positive definite kernel of two radii. It is known in closed
form for the exponential family and the homogeneous kernels, as a sum of positive terms for
dot-product kernels, and by quadrature for all others.
"""

from functools import lru_cache, singledispatch

import numpy as np
from scipy.special import gammaln, roots_legendre

from .._typing import FloatArray
from ..engines.bessel import log_scaled_bessel
from ..polynomials import log_harmonic_dimensions, orthonormal_table
from .radial import TaylorRadial
from .terms import (
    DotProductTerm,
    ExponentialTerm,
    FixedTerm,
    HomogeneousTerm,
    NumericTerm,
    Term,
)

__all__ = ["cross", "cross_slope"]

# Values of a kernel held at once by the quadrature, 1 MB: a kernel makes several arrays of that
# size, and all stay in the cache of a core. Blocks of 16 MB take twice as long.
BLOCK = 1 << 17
# A sum of orders is cut where a further one adds nothing in double precision.
NEGLIGIBLE = 1e-17
# A radius that stands for zero, small enough for its square to be nothing.
TINY = 1e-150
# Arguments of Bessel functions: beyond, the values are zero, or those of the end.
RANGE = float(np.finfo(np.float64).tiny), 1e300


@singledispatch
def cross(
    term: Term, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    """Return k_ℓ(r, s) of one term for all degrees and all pairs of radii.

    Parameters
    ----------
    term : Term
        A summand of a kernel.
    dim, max_degree : int
        d and q.
    radii, others : ndarrays of shapes (n,) and (m,)
        r and s.

    Returns
    -------
    ndarray of shape (max_degree + 1, n, m)
    """
    raise TypeError(f"{term!r} has no kernels of the radii.")


@cross.register
def _(
    term: HomogeneousTerm, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    powers = np.outer(np.power(radii, term.power), np.power(others, term.power))
    return term.series(dim, max_degree)[:, None, None] * powers


@cross.register
def _(
    term: FixedTerm, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    degree = min(max_degree, term.degree_limit)
    left, right = (term.radial(dim, degree, term.fixed_order)(r) for r in (radii, others))
    inner = np.einsum("nli,mli->lnm", left, right)
    return np.pad(inner, ((0, max_degree - degree), (0, 0), (0, 0)))


@cross.register
def _(
    term: DotProductTerm, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    radial = _enough_orders(term, dim, max_degree, float(max(radii.max(), others.max())))
    return np.einsum("nli,mli->lnm", radial(radii), radial(others), optimize=True)


def _enough_orders(term: DotProductTerm, dim: int, max_degree: int, top: float) -> TaylorRadial:
    """Return the term's radial functions, as many as count at radii up to `top`."""
    n_radial = 8
    while True:  # all terms are positive: no digits are lost, only the number of them is open
        n_radial *= 2
        radial = term.radial(dim, max_degree, n_radial)
        at_top = np.square(radial(np.array([top]))[0])
        if (at_top[:, -1] <= NEGLIGIBLE * at_top.sum(axis=1)).all() or n_radial >= 1024:
            return radial


@cross.register
def _(
    term: ExponentialTerm, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    r"""With z = r s · rate: α_ℓ Γ(d/2) (2/z)^{d/2-1} I_{ℓ+d/2-1}(z) e^{-β(r²+s²)}, in logs."""
    product, gap = np.outer(radii, others), np.subtract.outer(radii, others)
    orders = np.arange(max_degree + 1) + dim / 2 - 1
    log_alpha = log_harmonic_dimensions(max_degree, dim)[:, None, None]
    log_constant = log_alpha + gammaln(dim / 2) + term.log_factor
    # At z = 0 only degree 0 is left; the smallest number stands in for zero.
    z = np.clip(term.rate * product, *RANGE)
    with np.errstate(over="ignore"):
        # z - β(r²+s²) without its cancellation: the Gaussian has nothing but the first part.
        decay = -term.decay * np.square(gap)
        if term.rate != 2 * term.decay:
            decay += (term.rate - 2 * term.decay) * product
        return np.exp(
            log_constant + log_scaled_bessel(orders, z) + (1 - dim / 2) * np.log(z / 2) + decay
        )


@cross.register
def _(
    term: NumericTerm, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    cosines, table = _quadrature(max_degree, dim)
    out = np.empty((max_degree + 1, len(radii), len(others)))
    step = max(1, BLOCK // (len(others) * len(cosines)))
    # Values below the diagonal are known from above it.
    symmetric = term.symmetric and radii is others
    for start in range(0, len(radii), step):
        rows = slice(start, start + step)
        columns = slice(start if symmetric else 0, None)
        values = term.profile(radii[rows, None, None], others[columns, None], cosines)
        out[:, rows, columns] = np.moveaxis(values @ table, -1, 0)
        if symmetric:
            out[:, columns, rows] = np.swapaxes(out[:, rows, columns], 1, 2)
    return out


@singledispatch
def cross_slope(
    term: Term, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    """Return ∂k_ℓ(r, s)/∂r of one term in closed form, as `cross`: [max_degree + 1, n, m]."""
    raise NotImplementedError(
        f"{term!r} has no derivative of its kernels of the radii, so that there is no gradient "
        "here: use rows within the range of those in fit, or another kernel."
    )


@cross_slope.register
def _(
    term: HomogeneousTerm, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    power = term.power
    slopes = power * np.power(radii, max(power - 1, 0))
    return term.series(dim, max_degree)[:, None, None] * np.outer(slopes, np.power(others, power))


@cross_slope.register
def _(
    term: DotProductTerm, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    radial = _enough_orders(term, dim, max_degree, float(max(radii.max(), others.max())))
    return np.einsum("nli,mli->lnm", radial.derivative(radii), radial(others), optimize=True)


@cross_slope.register
def _(
    term: ExponentialTerm, dim: int, max_degree: int, radii: FloatArray, others: FloatArray
) -> FloatArray:
    r"""From I_ν' = I_{ν+1} + (ν/z) I_ν:  k_ℓ' = (ℓ/r - 2βr) k_ℓ + rate s (α_ℓ/α_{ℓ+1}) k_{ℓ+1}."""
    # Divided by r, what is proportional to it has a limit at zero, which a tiny number stands for.
    radii = np.maximum(radii, TINY)[:, None]
    inner = term.rate * others
    if dim == 1:  # cosh and sinh
        values = cross(term, 1, 1, radii[:, 0], others)
        return (inner * values[::-1] - 2 * term.decay * radii * values)[: max_degree + 1]
    values = cross(term, dim, max_degree + 1, radii[:, 0], others)
    log_alpha = log_harmonic_dimensions(max_degree + 1, dim)
    ratio = np.exp(log_alpha[:-1] - log_alpha[1:])[:, None, None]
    ell = np.arange(max_degree + 1)[:, None, None]
    return np.asarray(
        (ell / radii - 2 * term.decay * radii) * values[:-1] + inner * ratio * values[1:]
    )


@lru_cache(maxsize=32)
def _quadrature(max_degree: int, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return cosines [n] and the matrix α_ℓ P_ℓ(t) dμ [n, q + 1] that values are multiplied by.

    Gauss–Legendre in the *angle*. A kernel such as Matérn's is not smooth in the cosine where
    two points meet, √(1-t), but it is in the angle, so that the rule converges for it as fast as
    for any other; nodes crowd at the ends, where two nearly equal radii need them.
    """
    if dim == 1:
        cosines, weights = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    else:
        nodes, weights = roots_legendre(2 * max_degree + 128 + min(dim, 256))
        angles = np.pi / 2 * (1 + nodes)
        cosines = np.cos(angles)
        log_density = (dim - 2) * np.log(np.sin(angles))
        weights = weights * np.exp(log_density - log_density.max())
        weights /= weights.sum()
    log_root = log_harmonic_dimensions(max_degree, dim)[:, None] / 2
    table = np.exp(log_root) * orthonormal_table(max_degree, dim, cosines) * weights
    return cosines, np.ascontiguousarray(table.T)
