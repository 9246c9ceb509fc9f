r"""Covariances of neighbours in compiled form: a sum of terms, less what features carry.

With ρ the distance of two rows in units of the first term's length scales, and ρ_t in those of the
others, the covariance is

.. math:: \sum_t w_t\, f_t(\rho_t) - S(1 - \theta \rho^2) - z(x)^\top z(y),

where S is a polynomial: on the sphere of radius R, in rows divided by the length scale, the low
degrees that features carry depend on the chord alone, :math:`\theta = 1 / (2 R^2)`. Everywhere else
z is given for each row. Either may be missing.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..engines.correlation import GAUSSIAN, Correlation, correlate, slopes
from ..kernels import Kernel
from ..kernels.base import Scaled, Sum
from ..kernels.compiled import of_kernel

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
    terms : ndarray of shape (n_terms, 3 + d)
        Family, shape and weight w of each term, and for each column the square of the first term's
        length scale over that of the term. The last d are one number where they agree.
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

    @classmethod
    def zero(cls) -> "Covariance":
        """Return a covariance of zero, to which others are added."""
        return cls(np.array([[GAUSSIAN, 0.0, 0.0, 1.0]]))

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

    Sums have one where all terms do.

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
    squares = [
        np.atleast_1d((first / np.asarray(one.length_scale, np.float64)) ** 2) for one in known
    ]
    if all(np.ptp(one) <= 1e-12 * one.max() for one in squares):
        squares = [one[:1] for one in squares]
    width = max(map(len, squares))
    rows = [
        [one.family, one.shape, weight, *np.broadcast_to(square, width)]
        for (weight, _), one, square in zip(parts, known, squares, strict=True)
    ]
    return Covariance(np.array(rows, np.float64), known[0].length_scale)


@njit(nogil=True, cache=True, fastmath=True)
def _squares_of(term, squares, local, first_row, out):  # type: ignore[no-untyped-def]
    """ρ_t² of the pairs whose ρ² are given: a multiple, or anew where columns differ.

    `local` [d, m + 1] are the points; the pairs are those of rows a ≥ `first_row` with all b < a.
    """
    if len(term) == 4:
        for i in range(len(squares)):
            out[i] = term[3] * squares[i]
        return
    d, first, a = len(local), 0, first_row
    while first < len(squares):
        part = out[first : first + a]
        part[:] = 0.0
        for c in range(d):
            column, x, factor = local[c], local[c, a], term[3 + c]
            for b in range(a):
                difference = column[b] - x
                part[b] += factor * difference * difference
        first += a
        a += 1


@njit(nogil=True, cache=True, fastmath=True)
def covariances(  # type: ignore[no-untyped-def]
    terms, series, theta, squares, local, scratch, work, out
):
    """Σ w f(ρ_t) - S for squares ρ² of all pairs of points, without z, with room to work in."""
    n = len(squares)
    correlate(int(terms[0, 0]), terms[0, 1], squares, scratch, out)
    if terms[0, 2] != 1.0:
        for i in range(n):
            out[i] *= terms[0, 2]
    for t in range(1, len(terms)):
        values, weight = work[1], terms[t, 2]
        _squares_of(terms[t], squares, local, 1, work[0])
        correlate(int(terms[t, 0]), terms[t, 1], work[0, :n], scratch, values)
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
    terms, series, theta, squares, local, scratch, work, out
):
    """What multiplies x_c - y_c in the gradient: of the last point's pairs with all others: [d, m].

    Twice the derivatives with respect to the square of the difference in each column.
    """
    n, d = len(squares), len(local)
    out[:] = 0.0
    for t in range(len(terms)):
        _squares_of(terms[t], squares, local, n, work[0])
        correlate(int(terms[t, 0]), terms[t, 1], work[0, :n], scratch, work[1])
        slopes(int(terms[t, 0]), terms[t, 1], work[0, :n], work[1], scratch)
        for c in range(d):
            factor = terms[t, 2] * (terms[t, 3] if terms.shape[1] == 4 else terms[t, 3 + c])
            for i in range(n):
                out[c, i] += factor * scratch[i]
    if len(series) > 1:
        derivative = _derivative(series)
        for i in range(n):
            t = 1.0 - theta * squares[i]
            now, last = 0.0, 0.0
            for k in range(len(derivative) - 1, 0, -1):
                now, last = derivative[k] + 2.0 * t * now - last, now
            for c in range(d):
                out[c, i] += 2.0 * theta * (derivative[0] + t * now - last)


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
