r"""Covariances of neighbours in compiled form: a sum of terms, less what features carry.

With ρ the distance of two rows in units of the first term's length scales, the covariance is

.. math:: \sum_t w_t\, f_t(\rho / \kappa_t) - S(1 - \theta \rho^2) - z(x)^\top z(y),

where S is a polynomial: on the sphere of radius R, in rows divided by the length scale, the low
degrees that features carry depend on the chord alone, :math:`\theta = 1 / (2 R^2)`. Everywhere else
z is given for each row. Either may be missing.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..kernels import Kernel
from ..kernels.base import Scaled, Sum
from .correlation import Correlation, correlate, of_kernel, slopes

__all__ = [
    "Covariance",
    "covariance_of",
    "covariances",
    "difference_slopes",
    "terms_of",
]


@dataclass(frozen=True)
class Covariance:
    """What compiled code needs of a kernel.

    Attributes
    ----------
    terms : ndarray of shape (n_terms, 4)
        Family, shape, weight w and 1/κ² of each term.
    length_scale : float or ndarray of shape (d,)
        Of the first term.
    series : ndarray of shape (q + 1,)
        Chebyshev coefficients of S; none where nothing is subtracted.
    theta : float
        θ.
    """

    terms: FloatArray
    length_scale: Any = 1.0
    series: FloatArray = field(default_factory=lambda: np.zeros(0))
    theta: float = 0.0

    @classmethod
    def of(cls, correlation: Correlation) -> "Covariance":
        """Return a single term of weight one."""
        row = [correlation.family, correlation.shape, 1.0, 1.0]
        return cls(np.array([row], np.float64), correlation.length_scale)

    @property
    def prior(self) -> float:
        """The covariance of a row with itself, before z is subtracted."""
        total = float(self.terms[:, 2].sum())
        return total - float(self.series.sum())  # every Chebyshev polynomial is one at one


def terms_of(kernel: Kernel) -> list[tuple[float, Kernel]]:
    """Return the weights and the kernels of which a kernel is the sum."""
    if isinstance(kernel, Sum):
        return terms_of(kernel.k1) + terms_of(kernel.k2)
    if isinstance(kernel, Scaled):
        return [(kernel.factor * weight, one) for weight, one in terms_of(kernel.kernel)]
    return [(1.0, kernel)]


def covariance_of(kernel: Kernel) -> Covariance | None:
    """The compiled form of a kernel, or None if it has none.

    Sums have one where all terms do, and where the length scales of one are a multiple of those of
    the other: distances are then the same up to a factor.

    Parameters
    ----------
    kernel : Kernel
        With all parameters resolved to numbers.
    """
    parts = terms_of(kernel)
    found = [of_kernel(one) for _, one in parts]
    known = [one for one in found if one is not None]
    if len(known) < len(parts):
        return None
    first = np.asarray(known[0].length_scale, np.float64)
    rows = []
    for (weight, _), one in zip(parts, known, strict=True):
        ratio = np.asarray(one.length_scale, np.float64) / first
        if np.ptp(ratio) > 1e-9 * ratio.max():
            return None
        rows.append([one.family, one.shape, weight, float(np.mean(ratio)) ** -2])
    return Covariance(np.array(rows, np.float64), known[0].length_scale)


@njit(nogil=True, cache=True, fastmath=True)
def covariances(  # type: ignore[no-untyped-def]
    terms, series, theta, squares, scratch, work, out
):
    """Σ w f(ρ/κ) - S for squares ρ², without z, with two scratches of at least as many numbers."""
    n = len(squares)
    for t in range(len(terms)):
        family, shape, weight, inverse = terms[t]
        if t == 0 and inverse == 1.0:
            correlate(int(family), shape, squares, scratch, out)
            if weight != 1.0:
                for i in range(n):
                    out[i] *= weight
            continue
        values = work[1]
        for i in range(n):
            work[0, i] = squares[i] * inverse
        correlate(int(family), shape, work[0, :n], scratch, values)
        if t == 0:
            for i in range(n):
                out[i] = weight * values[i]
        else:
            for i in range(n):
                out[i] += weight * values[i]
    if len(series):
        _subtract_series(series, theta, squares, work, out)


@njit(nogil=True, cache=True, fastmath=True)
def _subtract_series(series, theta, squares, work, out):  # type: ignore[no-untyped-def]
    """Subtract Σ c_k T_k(1 - θρ²), by Clenshaw's recurrence, in loops over the pairs."""
    n, q = len(squares), len(series) - 1
    now, last = work[0], work[1]
    for i in range(n):
        now[i] = 0.0
        last[i] = 0.0
    for k in range(q, 0, -1):
        c = series[k]
        for i in range(n):
            t = 1.0 - theta * squares[i]
            new = c + 2.0 * t * now[i] - last[i]
            last[i] = now[i]
            now[i] = new
    for i in range(n):
        out[i] -= series[0] + (1.0 - theta * squares[i]) * now[i] - last[i]


@njit(nogil=True, cache=True, fastmath=True)
def difference_slopes(  # type: ignore[no-untyped-def]
    terms, series, theta, squares, scratch, work, out
):
    """Twice the derivative with respect to ρ²: what multiplies x - y in the gradient."""
    n = len(squares)
    for i in range(n):
        out[i] = 0.0
    for t in range(len(terms)):
        family, shape, weight, inverse = terms[t]
        for i in range(n):
            work[0, i] = squares[i] * inverse
        correlate(int(family), shape, work[0, :n], scratch, work[1])
        slopes(int(family), shape, work[0, :n], work[1], scratch)
        for i in range(n):
            out[i] += weight * inverse * scratch[i]
    if len(series) > 1:
        derivative = _derivative(series)
        for i in range(n):
            t = 1.0 - theta * squares[i]
            now, last = 0.0, 0.0
            for k in range(len(derivative) - 1, 0, -1):
                now, last = derivative[k] + 2.0 * t * now - last, now
            out[i] += 2.0 * theta * (derivative[0] + t * now - last)


@njit(nogil=True, cache=True)
def _derivative(series):  # type: ignore[no-untyped-def]
    """Chebyshev coefficients of the derivative of a series."""
    q = len(series) - 1
    found = np.zeros(q + 1)
    for k in range(q, 0, -1):
        higher = found[k + 1] if k + 1 <= q else 0.0
        found[k - 1] = higher + 2.0 * k * series[k]
    found[0] /= 2.0
    return found[:q]
