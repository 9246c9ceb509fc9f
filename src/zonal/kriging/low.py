r"""The low degrees of a kernel as features: z with z(x)·z(y) close to k(x, y) at long range.

On the sphere they are spherical harmonics, with the variances that Mercer's theorem gives them,

.. math::

    k(x, y) = \sum_\ell c_\ell P_\ell(\langle x, y\rangle), \qquad
    z_{\ell,k}(x) = \sqrt{c_\ell / \alpha_\ell}\; Y_{\ell,k}(x), \quad \ell \le L,

and what they leave, the tail :math:`\sum_{\ell > L} c_\ell P_\ell`, depends on the chord alone.
Elsewhere they are the leading functions of the span of k(·, u) at landmarks u: with
:math:`K_{uu} = V \Lambda V^\top`,

.. math:: z(x) = \Lambda^{-1/2} V^\top k(u, x) .

Both are projections in the space of the kernel, so that k - z·z is positive definite, however few
the features are.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebfit, chebpts1

from .._loaded import check_array, check_number
from .._typing import Array, FloatArray
from .._validation import norms_agree, row_norms
from ..engines.correlation import FARTHEST, scaled
from ..engines.harmonic_engine import HarmonicEngine
from ..kernels import Kernel
from ..kernels.shift_invariant import ShiftInvariantKernel
from ..polynomials import gegenbauer_series, gegenbauer_table, harmonic_dimension, n_harmonics
from ..polynomials.harmonics import full_program, solid_harmonics_gradient
from ..rows.threads import map_rows
from .compiled_differences import cross_values
from .covariance import Covariance
from .numerics import CANDIDATES, MOST_COLUMNS, NEGLIGIBLE

__all__ = ["LandmarkLow", "Low", "SphereLow", "length_scale_of", "less", "low_degrees"]


@dataclass(frozen=True)
class SphereLow:
    """Degrees up to L of a kernel on a sphere.

    Attributes
    ----------
    coefficients : ndarray of shape (L + 1,)
        c_ℓ, the weight of the kernel included.
    dim : int
        d, at least two.
    radius : float
        The norm of the rows.
    """

    coefficients: FloatArray
    dim: int
    radius: float

    def __getstate__(self) -> dict[str, Any]:
        """Return the numbers; the rest is made again."""
        return {name: self.__dict__[name] for name in ("coefficients", "dim", "radius")}

    def _check_loaded(self) -> None:
        check_number(self, "dim", 2, 1 << 10)
        most = n_harmonics(len(check_array(self, "coefficients", "f", (None,))) - 1, self.dim)
        if not (len(self.coefficients) and most <= MOST_COLUMNS and self.radius > 0):
            raise ValueError(f"Harmonics of {len(self.coefficients)} degrees cannot be made.")

    @classmethod
    def of(
        cls, kernel: Kernel, weight: float, dim: int, radius: float, n_features: int
    ) -> "SphereLow":
        """Take as many whole degrees as there is room for."""
        degree = 0
        while n_harmonics(degree + 1, dim) <= n_features:
            degree += 1
        isotropic = one_scale(kernel)
        assert isotropic is not None

        def kappa(t: FloatArray) -> FloatArray:
            radii = np.full(len(t), radius)
            return np.asarray(isotropic.profile(radii, radii, t))

        return cls(weight * gegenbauer_series(kappa, dim, degree), dim, radius)

    def times(self, factor: float) -> "SphereLow":
        """Return the same of the kernel times a factor."""
        return replace(self, coefficients=factor * self.coefficients)

    @property
    def max_degree(self) -> int:
        """L."""
        return len(self.coefficients) - 1

    @cached_property
    def dimensions(self) -> Any:
        """α_ℓ of each degree."""
        return np.asarray(harmonic_dimension(np.arange(self.max_degree + 1), self.dim), np.int64)

    @property
    def n_columns(self) -> int:
        """D."""
        return int(self.dimensions.sum())

    @cached_property
    def series(self) -> FloatArray:
        """Chebyshev coefficients of Σ c_ℓ P_ℓ."""
        nodes = chebpts1(self.max_degree + 1)
        values = self.coefficients @ gegenbauer_table(self.max_degree, self.dim, nodes)
        return np.asarray(chebfit(nodes, values, self.max_degree))

    @cached_property
    def _engine(self) -> HarmonicEngine:
        degrees = np.arange(self.max_degree + 1)
        blocks = np.column_stack([degrees, self.dimensions]).astype(np.int64)
        return HarmonicEngine(full_program(self.max_degree, self.dim), blocks, np.float64)

    @property
    def roots(self) -> FloatArray:
        """√(c_ℓ/α_ℓ), the standard deviation of each degree's coefficients."""
        return np.asarray(np.sqrt(np.maximum(self.coefficients, 0.0) / self.dimensions))

    def features(self, rows: Array) -> FloatArray:
        """Return z at rows: [n, D]."""
        out = np.empty((len(rows), self.n_columns))
        self._engine(self._directions(rows), np.tile(self.roots, (len(rows), 1)), out)
        return out

    def carried(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return zᵀβ at rows for coefficients β [D, t]: [n, t]."""
        return np.asarray(self.features(rows) @ coef)

    def _directions(self, rows: Array) -> FloatArray:
        numbers = np.asarray(rows, np.float64)
        return np.ascontiguousarray(numbers / row_norms(numbers)[:, None])

    def contract_gradient(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return gradients of t combinations zᵀβ at rows: [n, t, d]."""
        norms = row_norms(np.asarray(rows, np.float64))
        directions = self._directions(rows)
        program = full_program(self.max_degree, self.dim)
        _, gradients = solid_harmonics_gradient(program, directions)
        weights = (np.repeat(self.roots, self.dimensions) * program.scale)[:, None] * coef
        whole = np.einsum("nkd,kt->ntd", gradients, weights)
        # Along the sphere: what is constant along rays has no gradient outward.
        outward = np.einsum("ntd,nd->nt", whole, directions)[:, :, None] * directions[:, None, :]
        return np.asarray((whole - outward) / norms[:, None, None])

    def matrix(self, rows: Array, others: Array) -> FloatArray:
        """Return z(x)·z(y)."""
        cosines = np.clip(self._directions(rows) @ self._directions(others).T, -1, 1)
        return np.asarray(np.polynomial.chebyshev.chebval(cosines, self.series))


@dataclass(frozen=True)
class LandmarkLow:
    """The leading functions of a kernel in the span of its values at landmarks.

    Attributes
    ----------
    kernel : Kernel
    landmarks : ndarray of shape (M, d)
    root : ndarray of shape (M, D)
        What k(x, landmarks) is multiplied with; the weight of the kernel is in here.
    """

    kernel: Kernel
    landmarks: FloatArray
    root: FloatArray = field(repr=False)

    def _check_loaded(self) -> None:
        n_landmarks = len(check_array(self, "landmarks", "f", (None, None)))
        check_array(self, "root", "f", (n_landmarks, None))

    @classmethod
    def of(
        cls, kernel: Kernel, weight: float, landmarks: FloatArray, n_columns: int
    ) -> "LandmarkLow":
        """Take the leading functions, or as many as are more than rounding."""
        values, vectors = np.linalg.eigh(np.asarray(kernel(landmarks), np.float64))
        kept = np.flatnonzero(values > NEGLIGIBLE * values[-1])[::-1][:n_columns]
        signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
        root = (vectors * signs)[:, kept] * np.sqrt(weight / values[kept])
        return cls(kernel, landmarks, np.ascontiguousarray(root))

    def times(self, factor: float) -> "LandmarkLow":
        """Return the same of the kernel times a factor."""
        return replace(self, root=np.sqrt(factor) * self.root)

    @property
    def n_columns(self) -> int:
        """D."""
        return self.root.shape[1]

    def features(self, rows: Array) -> FloatArray:
        """Return z at rows: [n, D]."""
        return self._times(rows, self.root)

    def carried(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return zᵀβ at rows for coefficients β [D, t]: [n, t]."""
        return self._times(rows, self.root @ coef)

    def _times(self, rows: Array, matrix: FloatArray) -> FloatArray:
        """Return k(rows, landmarks) times a matrix [M, t]."""
        reach = FARTHEST * float(np.max(length_scale_of(self.kernel)))
        low, high = self.landmarks.min(axis=0) - reach, self.landmarks.max(axis=0) + reach
        near = np.clip(np.asarray(rows, np.float64), low, high)
        if not self.kernel.by_differences:
            return np.asarray(self.kernel(near, self.landmarks) @ matrix)

        def block(part: FloatArray, out: FloatArray) -> None:
            np.matmul(cross_values(self.kernel, part, self.landmarks), matrix, out=out)

        out = np.empty((len(near), matrix.shape[1]))
        return map_rows(block, near, out, 2 * len(self.landmarks))

    def gradient(self, rows: Array, combinations: FloatArray) -> FloatArray:
        """Return gradients of combinations [n, t, D] of z, others at each row: [n, t, d]."""
        slopes = self.kernel.gradient(np.asarray(rows, np.float64), self.landmarks)
        return np.asarray(np.einsum("ntm,nmd->ntd", combinations @ self.root.T, slopes))

    def contract_gradient(self, rows: Array, coef: FloatArray) -> FloatArray:
        """Return gradients of t combinations zᵀβ at rows: [n, t, d]."""
        rows = np.asarray(rows, np.float64)
        return np.asarray(self.kernel.contract_gradient(rows, self.landmarks, self.root @ coef))

    def matrix(self, rows: Array, others: Array) -> FloatArray:
        """Return z(x)·z(y)."""
        return np.asarray(self.features(rows) @ self.features(others).T)


Low = SphereLow | LandmarkLow


def low_degrees(kernel: Kernel, weight: float, rows: Array, n_features: int) -> Low:
    """Return the low degrees of a kernel times a weight, at most so many features.

    Parameters
    ----------
    kernel : Kernel
        With parameters that are numbers.
    weight : float
    rows : ndarray of shape (n, d)
        In random order. Where they cover a sphere about the origin the features are harmonics,
        elsewhere they come from landmarks.
    n_features : int
        D, at most.
    """
    if covers_sphere(kernel, rows):
        radius = float(row_norms(np.asarray(rows[:CANDIDATES], np.float64)).mean())
        return SphereLow.of(kernel, weight, rows.shape[1], radius, n_features)
    landmarks, _ = farthest_points(rows[:CANDIDATES], length_scale_of(kernel), n_features)
    return LandmarkLow.of(kernel, weight, landmarks, n_features)


def less(covariance: Covariance, low: Low | None) -> Covariance:
    """Return a covariance less the low degrees, where these are a function of the distance."""
    if not isinstance(low, SphereLow):
        return covariance
    scale = float(np.mean(covariance.length_scale))
    return replace(covariance, series=low.series, theta=(scale / low.radius) ** 2 / 2)


def covers_sphere(kernel: Kernel, rows: Array) -> bool:
    """Whether rows lie all over a sphere, and the kernel depends on the angle between them alone.

    On a small part of it harmonics would be spent on the rest: the mean of rows that cover a cap of
    angle a is (1 + cos a)/2 long, and half where that is a hemisphere.
    """
    sample = np.asarray(rows[:CANDIDATES], np.float64)
    if sample.shape[1] < 2 or len(sample) < 2 or one_scale(kernel) is None:
        return False
    norms = row_norms(sample)
    all_over = np.linalg.norm(sample.mean(axis=0)) < 0.5 * norms.mean()
    return bool(norms_agree(norms, norms.max()) and all_over)


def one_scale(kernel: Kernel) -> Kernel | None:
    """Return the kernel with one length scale for all columns, or None where they differ."""
    name = getattr(kernel, "_scale_name", None)
    if not isinstance(kernel, ShiftInvariantKernel) or name is None:
        return kernel
    scales = np.asarray(getattr(kernel, name), np.float64)
    if np.ptp(scales) > 1e-9 * scales.max():
        return None
    return type(kernel)(**(kernel.get_params() | {name: float(np.mean(scales))}))


def length_scale_of(kernel: Kernel) -> Any:
    """Return the length scale, one number or one for each column; 1 where a kernel has none."""
    if not isinstance(kernel, ShiftInvariantKernel):
        return 1.0
    params = kernel.get_params()
    return params.get("length_scale", params.get("bandwidth", 1.0))


def farthest_points(rows: Array, length_scale: Any, n_points: int) -> tuple[FloatArray, float]:
    """Choose rows of which each is the farthest from those before it, in units of length scales.

    Returns
    -------
    chosen : ndarray of shape (n_points, d)
        Fewer where there are no more different ones.
    distance : float
        How far the other rows are at most from the chosen ones, in units of length scales.
    """
    points = scaled(rows, length_scale)
    chosen = [int(np.argmin(_squares(points, points.mean(axis=0))))]
    nearest = _squares(points, points[chosen[0]])
    while len(chosen) < min(n_points, len(points)) and nearest.max() > 0:
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, _squares(points, points[chosen[-1]]))
    return np.asarray(rows[chosen], np.float64), math.sqrt(float(nearest.max()))


def _squares(points: FloatArray, one: FloatArray) -> FloatArray:
    """Squares of the distances to one point: [n]."""
    difference = points - one
    return np.asarray(np.einsum("ij,ij->i", difference, difference))
