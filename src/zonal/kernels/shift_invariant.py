"""Kernels of the distance ‖x - y‖ over a length scale, and the median rule for the latter.

With one length scale for each column the distance is that of rows divided by them.
"""

import math
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances

from .._typing import Array, FloatArray
from .._validation import check_positive, row_norms
from ..engines.distances import DIRECT_COLUMNS, direct_distances
from ..rows.threads import map_rows
from .bandwidth import median_distance
from .base import Kernel
from .points import as_rows
from .slopes import Slopes

__all__ = ["ShiftInvariantKernel", "accurate_distances"]

# Pairs closer than this share of their norms are measured by their difference.
NEAR = 1e-3
BLOCK = 4096
# Norms whose squares come close to the largest number.
HUGE = 1e150
# In units of the scale: sums of squares are far from overflow in single precision.
LARGEST = 1e15


class ShiftInvariantKernel(Kernel):
    """Base class: k(x, y) = f(‖x - y‖ / scale) with f(0) = 1; subclasses give f, `_of_distance`.

    The scale is a parameter of the subclass: a number, one number for each column, or
    ``"median"``.
    """

    shift_invariant = True

    #: The name of the parameter that holds the scale.
    _scale_name: ClassVar[str] = "length_scale"

    @abstractmethod
    def _of_distance(self, distance: FloatArray) -> FloatArray:
        """f, elementwise at distances in units of the scale."""

    @abstractmethod
    def _slope(self, distance: FloatArray) -> FloatArray:
        """f'(ρ)/ρ, elementwise at distances in units of the scale; zero where it has no limit."""

    @property
    def _scale(self) -> Any:
        return getattr(self, self._scale_name)

    @property
    def _is_median(self) -> bool:
        return isinstance(self._scale, str) and self._scale == "median"

    @property
    def _is_per_column(self) -> bool:
        return not isinstance(self._scale, str) and np.ndim(self._scale) > 0

    def one_scale(self) -> float:
        """The scale of all columns, for what needs a kernel that is rotation-invariant."""
        if self._is_per_column:
            raise ValueError(
                f"{self!r} has a {self._scale_name} for each column, so it is not "
                "rotation-invariant and has no expansion in harmonics and no features of its own: "
                f"divide the columns by them and give one number as {self._scale_name}."
            )
        return float(self._scale)

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        owner, name = type(self).__name__, self._scale_name
        if self._is_median:
            raise ValueError(
                f'{owner}({name}="median") has no {name} yet: it is found in fit. To use '
                "the kernel directly, call kernel.resolve(X) first or give a number."
            )
        if self._is_per_column:
            check_scales(name, self._scale, owner)
        else:
            check_positive(name, self._scale, owner, extra=', or "median"')

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """A copy with a scale that is a number: the median distance if "median" was given."""
        kernel = clone(self)
        if self._is_median:
            kernel.set_params(**{self._scale_name: median_distance(as_rows(X), sample_weight)})
        kernel.check()
        return kernel

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """The kernel at the distance, which is found without cancellation for near points."""
        self.check()
        return np.asarray(self._of_distance(_distance(r, s, cos) / self.one_scale()))

    def slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        """Return the gradient, along the difference of the points."""
        return self._along_difference(self._slope(_distance(r, s, cos) / self.one_scale()))

    def slope_matrix(self, rows: FloatArray, others: FloatArray) -> Slopes:
        """Return the gradients at all pairs of rows."""
        distances = accurate_distances(rows, others)
        distances /= float(self._scale)
        return self._along_difference(self._slope(distances))

    def _along_difference(self, slope: FloatArray) -> Slopes:
        """f'(ρ)/ρ · (x - y)/scale², which is the gradient."""
        slope = slope / float(self._scale) ** 2
        return Slopes(slope, -slope)

    def gradient(self, X: Any, Y: Any = None) -> Array:  # noqa: D102, as in the base class
        if not self._is_per_column:
            return super().gradient(X, Y)
        rows, others, scales = self._scaled_pair(X, Y)
        gradients = self._unit().gradient(rows, others)
        return np.asarray(gradients / scales.astype(gradients.dtype))

    def contract_gradient(self, X: Any, Y: Any, coef: npt.ArrayLike) -> Array:  # noqa: D102
        if not self._is_per_column:
            return super().contract_gradient(X, Y, coef)
        rows, others, scales = self._scaled_pair(X, Y)
        gradients = self._unit().contract_gradient(rows, others, coef)
        return np.asarray(gradients / scales.astype(gradients.dtype))

    @property
    def by_differences(self) -> bool:  # type: ignore[override]
        """Whether length scales differ between columns, so that norms and angle do not tell k."""
        return self._is_per_column

    def distances(self, delta: FloatArray) -> FloatArray:
        """Return the distance in units of the scale, of differences [..., d]: [...]."""
        scaled = np.asarray(delta, np.float64) / np.asarray(self._scale, np.float64)
        with np.errstate(over="ignore"):
            distance = np.sqrt(np.einsum("...c,...c->...", scaled, scaled))
        return np.minimum(distance, HUGE)

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return the kernel at differences [..., d]: [...]."""
        return np.asarray(self._of_distance(self.distances(delta)))

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return its gradient by the difference: [..., d]."""
        slope = self._slope(self.distances(delta))
        return np.asarray(slope[..., None] * (delta / np.square(np.asarray(self._scale, float))))

    def _unit(self) -> Self:
        """The same kernel with a scale of one."""
        return clone(self).set_params(**{self._scale_name: 1.0})

    def _scaled_pair(self, X: Any, Y: Any) -> tuple[Any, Any, FloatArray]:
        self.check()
        rows = as_rows(X)
        others = None if Y is None or Y is X else as_rows(Y)
        return (
            self._scaled(rows),
            None if others is None else self._scaled(others),
            np.asarray(self._scale, np.float64),
        )

    def _scaled(self, rows: Any) -> Any:
        """Rows divided by the scale of each column, in their own precision."""
        scales = np.asarray(self._scale, dtype=np.float64)
        if len(scales) != rows.shape[1]:
            raise ValueError(
                f"{self._scale_name} of {type(self).__name__} has {len(scales)} entries, but the "
                f"rows have {rows.shape[1]} columns: give one number, or one for each column."
            )
        if isinstance(rows, sp.csr_matrix | sp.csr_array):
            return (rows @ sp.diags_array(1 / scales)).astype(rows.dtype)
        return (rows / scales).astype(rows.dtype)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return f of all distances."""
        if self._is_per_column:
            others = None if others is None else self._scaled(others)
            return self._unit().matrix(self._scaled(rows), others)
        right, scale = rows if others is None else others, float(self._scale)
        dtype = np.result_type(rows.dtype, right.dtype)
        if not (_is_direct(rows, scale) and _is_direct(right, scale)):
            return self._indirect_matrix(rows, others).astype(dtype, copy=False)
        # In units of a power of two, which rounds nothing, no square is too large or too small.
        exponent = -math.frexp(scale)[1]
        left, right = (np.ldexp(points, exponent).astype(dtype) for points in (rows, right))

        def block(part: Array, out: Array) -> None:
            distances = direct_distances(part, right)
            distances /= math.ldexp(scale, exponent)
            out[:] = self._of_distance(distances)

        out = np.empty((len(left), len(right)), dtype)
        return map_rows(block, left, out, 4 * len(right))

    def _indirect_matrix(self, rows: Any, others: Any) -> Array:
        """The matrix where differences of rows are too many, or out of range."""
        distances = accurate_distances(rows, others)
        distances /= float(self._scale)
        return self._of_distance(distances)

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return ones: f(0) = 1."""
        return np.ones_like(norms)


def check_scales(name: str, scales: Any, owner: str) -> None:
    """Raise ValueError unless there is a positive finite number for each column."""
    try:
        values = np.asarray(scales, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1 or not len(values) or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"{name}={scales!r} of {owner} must be a positive finite number, one such number for "
            'each column, or "median".'
        )


def _is_direct(rows: Any, scale: float) -> bool:
    """Whether distances to rows are found from differences: few columns, and no huge numbers."""
    return (
        isinstance(rows, np.ndarray)
        and rows.shape[1] <= DIRECT_COLUMNS
        and float(max(rows.max(initial=0.0), -rows.min(initial=0.0))) < LARGEST * scale
    )


def _distance(r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
    """‖x - y‖ from both norms and the cosine."""
    # ‖x - y‖² = (r - s)² + 2rs (1 - cos), without cancellation.
    turned = np.maximum(2 * (1 - np.asarray(cos)), 0.0)
    if max(np.max(r, initial=0.0), np.max(s, initial=0.0)) < HUGE:
        return np.asarray(np.sqrt(np.square(r - s) + np.asarray(r) * s * turned))
    # Squares would overflow. hypot does not, but is slow, and quadrature spends its time here.
    return np.asarray(np.hypot(r - s, np.sqrt(r) * np.sqrt(s) * np.sqrt(turned)))


def accurate_distances(rows: Any, others: Any) -> FloatArray:
    """Euclidean distances in float64, to ten digits also between rows that nearly agree.

    ‖x‖² + ‖y‖² - 2⟨x, y⟩ is fast, but leaves 1e-8 of the norms between equal rows, and a rough
    kernel sees that: 1 - k grows like the power 2ν of the distance for a Matérn kernel.

    Parameters
    ----------
    rows, others : arrays or CSR matrices of shapes (n, d) and (m, d)
        The points; `others` may be None, for the same rows, and the diagonal is then zero.

    Returns
    -------
    ndarray of shape (n, m)
    """
    left = rows.astype(np.float64, copy=False)
    right = None if others is None else others.astype(np.float64, copy=False)
    distances = np.asarray(euclidean_distances(left, right))
    right = left if right is None else right
    sizes = np.maximum.outer(row_norms(left), row_norms(right))
    near_left, near_right = np.nonzero(distances <= NEAR * sizes)
    for start in range(0, len(near_left), BLOCK):
        i, j = near_left[start : start + BLOCK], near_right[start : start + BLOCK]
        distances[i, j] = row_norms(left[i] - right[j])
    return distances
