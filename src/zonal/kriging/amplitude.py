r"""A standard deviation that varies with place: s(x) = exp(h(x)ᵀc), of low harmonics h.

A process u and its noise, multiplied with s, have the covariance

.. math:: s(x)\, s(y)\, \big(k(x, y) + \tfrac{\eta}{w}[x = y]\big),

whose kriging weights are those of u times s(q)/s(x_j), and whose variances those of u times s(q)².
So nothing else changes. Features that carry the low degrees of the kernel (`low`) are the same
everywhere, and u is what they leave. With features that grow with s, a mean that is far from that
of all rows, as it is towards the poles, would follow s into a hole; the evidence is lower too.

On a circle or a sphere h are harmonics of degree 1 to L, in a box products of cosines; where rows
end, s stays what it is at the border.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._loaded import check_array, check_number
from .._typing import Array, FloatArray
from ..polynomials import harmonic_dimension
from .low import SphereLow
from .units import column_groups

__all__ = ["Amplitude", "Box", "Sphere", "surface_of"]


@dataclass(frozen=True)
class Sphere:
    """Harmonics of some columns side by side that are points on a circle or a sphere.

    Attributes
    ----------
    first, dim : int
        The first of the columns, and how many they are.
    degree : int
        L.
    """

    first: int
    dim: int
    degree: int

    def _check_loaded(self) -> None:
        check_number(self, "first", 0, 1 << 10)
        check_number(self, "dim", 2, 3)
        check_number(self, "degree", 1, 1 << 6)

    @cached_property
    def _harmonics(self) -> SphereLow:
        degrees = np.arange(self.degree + 1)
        return SphereLow(np.asarray(harmonic_dimension(degrees, self.dim), float), self.dim, 1.0)

    def __getstate__(self) -> dict[str, Any]:
        """Return the numbers; the rest is made again."""
        return {name: self.__dict__[name] for name in ("first", "dim", "degree")}

    @property
    def roughness(self) -> FloatArray:
        """ℓ(ℓ + 1) of each function, the eigenvalue of the Laplacian: [K]."""
        degrees = np.arange(1, self.degree + 1)
        return np.repeat(degrees * (degrees + self.dim - 2.0), self._harmonics.dimensions[1:])

    def _points(self, rows: Array) -> FloatArray:
        return np.asarray(rows[:, self.first : self.first + self.dim], np.float64)

    def at(self, rows: Array) -> FloatArray:
        """Return h at rows: [n, K]."""
        return self._harmonics.features(self._points(rows))[:, 1:]

    def gradient(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return the gradient of hᵀc at rows: [n, d]."""
        whole = np.concatenate([[0.0], coef])[:, None]
        found = np.zeros((len(rows), rows.shape[1]))
        own = self._harmonics.contract_gradient(self._points(rows), whole)[:, 0]
        found[:, self.first : self.first + self.dim] = own
        return found


@dataclass(frozen=True)
class Box:
    r"""Products of cosines, :math:`\prod_c \cos(\pi k_c t_c)` with :math:`1 \le \sum_c k_c \le L`.

    Attributes
    ----------
    low, high : ndarrays of shape (d,)
        The sides of the box: t is (x - low)/(high - low), 0 or 1 beyond. Columns whose sides agree
        do not count.
    degree : int
        L.
    """

    low: FloatArray
    high: FloatArray
    degree: int

    def _check_loaded(self) -> None:
        width = len(check_array(self, "low", "f", (None,)))
        check_array(self, "high", "f", (width,))
        check_number(self, "degree", 1, 1 << 6)

    @cached_property
    def _orders(self) -> Any:
        """The k of each product: [K, d]."""
        counts = [range(self.degree + 1 if wide else 1) for wide in self.high > self.low]
        found = [k for k in itertools.product(*counts) if 0 < sum(k) <= self.degree]
        return np.array(sorted(found, key=lambda k: (sum(k), k)))

    def __getstate__(self) -> dict[str, Any]:
        """Return the numbers; the rest is made again."""
        return {name: self.__dict__[name] for name in ("low", "high", "degree")}

    @property
    def roughness(self) -> FloatArray:
        """Σk² of each function, the eigenvalue of the Laplacian over π²: [K]."""
        return np.asarray(np.square(self._orders).sum(axis=1), float)

    def _turns(self, rows: Array) -> FloatArray:
        """Return π t: [n, d]."""
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        return np.asarray(np.pi * np.clip((np.asarray(rows, np.float64) - self.low) / width, 0, 1))

    def at(self, rows: Array) -> FloatArray:
        """Return h at rows: [n, K].

        A cosine for each order of a column, not for each function: a twelfth as many.
        """
        turns, found = self._turns(rows), np.ones((len(rows), len(self._orders)))
        for c in np.flatnonzero(self.high > self.low):
            cosines = np.cos(turns[:, c, None] * np.arange(self.degree + 1))
            found *= cosines[:, self._orders[:, c]]
        return found

    def gradient(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return the gradient of hᵀc at rows: [n, d]."""
        angles = self._turns(rows)[:, None, :] * self._orders
        cosines = np.cos(angles)
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        inside = (np.asarray(rows) > self.low) & (np.asarray(rows) < self.high)
        found = np.zeros((len(rows), len(self.low)))
        for c in range(len(self.low)):
            others = np.delete(cosines, c, axis=2).prod(axis=2)
            slopes = -np.sin(angles[:, :, c]) * np.pi * self._orders[:, c] / width[c] * others
            own = np.einsum("nk,k->n", slopes, coef)  # the same for a row alone and among others
            found[:, c] = np.where(inside[:, c], own, 0.0)
        return found


def surface_of(rows: Array, in_time: bool = False, n_functions: int = 120) -> Sphere | Box | None:
    """Return the functions of place, or None where rows are not places.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Points of a sphere side by side with other columns, or two columns of a map. With more than
        a hundred and some functions errors grow where whole blocks are asked for: on elevation the
        CRPS falls by 7 % with degree 10, by 4 % with degree 15.
    in_time : bool
        Whether the last column is a time, with which nothing varies.
    n_functions : int
        K at most.
    """
    groups = column_groups(rows)
    spheres = np.flatnonzero(np.bincount(groups) == 3)
    if len(spheres):
        first = int(np.flatnonzero(groups == spheres[0])[0])
        return Sphere(first, 3, math.isqrt(n_functions + 1) - 1)
    n_places = rows.shape[1] - in_time
    if n_places != 2 or len(np.unique(groups)) != rows.shape[1]:
        return None
    numbers = np.asarray(rows, np.float64)
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    high[n_places:] = low[n_places:]
    if not (high > low).any():
        return None  # all rows are at one place
    # (L + 1)(L + 2)/2 - 1 functions.
    return Box(low, high, (math.isqrt(8 * n_functions + 9) - 3) // 2)


@dataclass(frozen=True)
class Amplitude:
    """s(x) = exp(c_0 + h(x)ᵀc).

    Attributes
    ----------
    surface : Sphere or Box
        h.
    coef : ndarray of shape (K,)
        c.
    level : float
        c_0.
    """

    surface: Sphere | Box
    coef: FloatArray
    level: float = 0.0

    def _check_loaded(self) -> None:
        check_array(self, "coef", "f", (len(self.surface.roughness),))

    def at(self, rows: Array) -> FloatArray:
        """Return s at rows: [n]."""
        return np.asarray(np.exp(self.level + self.surface.at(rows) @ self.coef))

    def log_gradient(self, rows: Array) -> FloatArray:
        """Return the gradient of log s at rows: [n, d]."""
        return self.surface.gradient(rows, self.coef)
