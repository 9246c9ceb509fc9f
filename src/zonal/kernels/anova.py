"""Products over columns: functions of one column, of two, of three, and so on, in one kernel."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..engines.anova import LARGEST, anova_matrix
from ..rows.threads import map_rows
from .differences import DifferenceKernel

__all__ = ["Anova"]


class Anova(DifferenceKernel):
    r"""ANOVA kernel: a product over columns, each of which may count or not.

    .. math::

        k(x, y) = \prod_j \frac{1 + \theta_j\, \kappa(|x_j - y_j| / \ell_j)}{1 + \theta_j},
        \qquad \kappa(r) = (1 + \sqrt3 r)\, e^{-\sqrt3 r} .

    Multiplied out it is a sum over all sets of columns: of functions of single columns, of pairs
    weighed by :math:`\theta_i \theta_j`, of triples, and so on. So functions of few columns at a
    time, as trees find them, are learned from rows that differ in all others; a kernel of the
    distance takes such rows for strangers. A column of small θ or long ℓ hardly counts.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default=1.0
        ℓ, of all columns or one for each.
    weight : float or array-like of shape (d,), default=1.0
        θ > 0, of all columns or one for each.

    References
    ----------
    M. Stitson et al., "Support vector regression with ANOVA decomposition kernels", 1999.

    Examples
    --------
    >>> import zonal
    >>> kernel = zonal.Anova(length_scale=1.0, weight=1.0)
    >>> kernel([[0.0, 0.0]], [[0.0, 0.0], [0.0, 9.0], [9.0, 9.0]]).round(4)
    array([[1.  , 0.5 , 0.25]])
    """

    _advice = "use NystroemFeatures, which take any kernel."

    def __init__(self, length_scale: npt.ArrayLike = 1.0, weight: npt.ArrayLike = 1.0) -> None:
        self.length_scale = length_scale
        self.weight = weight

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        for name in ("length_scale", "weight"):
            value = getattr(self, name)
            numbers = np.asarray(value)
            right = numbers.dtype.kind in "iuf" and numbers.ndim <= 1 and numbers.size
            if not (right and np.isfinite(numbers).all() and (numbers > 0).all()):
                raise ValueError(
                    f"{name}={value!r} of Anova must be a positive number, or one for each column."
                )

    def check_width(self, n_columns: int) -> None:
        """Raise ValueError unless parameters are of as many columns."""
        for name in ("length_scale", "weight"):
            given = np.asarray(getattr(self, name))
            if given.ndim and len(given) != n_columns:
                raise ValueError(
                    f"{name} of Anova has {len(given)} numbers, but the rows have {n_columns} "
                    "columns: give one number, or one for each column."
                )

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the products at all pairs, by compiled loops where columns are not very long."""
        right = np.asarray(rows if others is None else others, np.float64)
        left, length = np.asarray(rows, np.float64), self._length(right.shape[1])
        middle = (right.max(axis=0, initial=-np.inf) + right.min(axis=0, initial=np.inf)) / 2
        middle = np.where(np.isfinite(middle), middle, 0.0)
        left, right = (left - middle) / length, (right - middle) / length
        if max(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0)) > LARGEST:
            return super().matrix(rows, others)
        weights = self._weights(len(length))

        def block(part: FloatArray, out: Array) -> None:
            out[:] = anova_matrix(part, right, weights)

        out = np.empty((len(left), len(right)), rows.dtype)
        return map_rows(block, left, out, 2 * len(right))

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return the kernel at differences [..., d]: [...]."""
        return np.asarray(self._factors(delta).prod(axis=-1))

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return its gradient by the difference: [..., d]."""
        n_columns = np.shape(delta)[-1]
        length, weights = self._length(n_columns), self._weights(n_columns)
        factors = self._factors(delta)
        scaled = np.asarray(delta) / length
        # κ'(r) = -r e⁻ʳ in scaled differences; no factor is zero.
        steep = -scaled * np.exp(-np.abs(scaled)) / length * weights / (1 + weights)
        return np.asarray(factors.prod(axis=-1)[..., None] * steep / factors)

    def _factors(self, delta: FloatArray) -> FloatArray:
        """Return the factor of each column: [..., d]."""
        n_columns = np.shape(delta)[-1]
        r, weights = np.abs(delta) / self._length(n_columns), self._weights(n_columns)
        return np.asarray((1 + weights * (1 + r) * np.exp(-r)) / (1 + weights))

    def _length(self, n_columns: int) -> FloatArray:
        """Return ℓ/√3 of each column."""
        scale = np.asarray(self.length_scale, np.float64) / np.sqrt(3)
        return np.ascontiguousarray(np.broadcast_to(scale, n_columns))

    def _weights(self, n_columns: int) -> FloatArray:
        """Return θ of each column."""
        weight = np.asarray(self.weight, np.float64)
        return np.ascontiguousarray(np.broadcast_to(weight, n_columns))
