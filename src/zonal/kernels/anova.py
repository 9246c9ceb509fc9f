"""Products over columns: functions of one column, of two, of three, and so on, in one kernel."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..engines.anova import LARGEST, anova_matrix
from ..rows.threads import map_rows
from .differences import DifferenceKernel
from .levels import Levels, level_distances

__all__ = ["Anova"]


class Anova(DifferenceKernel):
    r"""ANOVA kernel: a product over columns, each of which may count or not.

    .. math::

        k(x, y) = e^{-D(x, y)}
        \prod_j \frac{1 + \theta_j\, \kappa(|x_j - y_j| / \ell_j)}{1 + \theta_j},
        \qquad \kappa(r) = (1 + \sqrt3 r)\, e^{-\sqrt3 r} .

    Multiplied out it is a sum over all sets of columns: of functions of single columns, of pairs
    weighed by :math:`\theta_i \theta_j`, of triples, and so on. So functions of few columns at a
    time, as trees find them, are learned from rows that differ in all others; a kernel of the
    distance takes such rows for strangers. A column of small θ or long ℓ hardly counts.

    Columns of few values may be words, whose numbers have no order: of those,
    :math:`D(x, y) = \sum_{j: x_j \ne y_j} u_j(x_j) + u_j(y_j)` with a number u for each level, and
    a product over columns again. A value is the level next to it.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default=1.0
        ℓ, of all columns or one for each.
    weight : float or array-like of shape (d,), default=1.0
        θ ≥ 0, of all columns or one for each.
    levels : array-like of shape (n_levels, 3), optional
        Column, value and u of each level, in the order of the columns, and of values in them; by
        default D is zero.

    References
    ----------
    M. Stitson et al., "Support vector regression with ANOVA decomposition kernels", 1999.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> kernel = zonal.Anova(length_scale=1.0, weight=1.0)
    >>> kernel([[0.0, 0.0]], [[0.0, 0.0], [0.0, 9.0], [9.0, 9.0]]).round(4)
    array([[1.  , 0.5 , 0.25]])

    A column of three levels alone:

    >>> levels = [[0, 0.0, 0.5], [0, 1.0, 0.2], [0, 2.0, 1.0]]
    >>> words = zonal.Anova(weight=0.0, levels=levels)
    >>> -np.log(words([[0.0]], [[0.0], [1.0], [2.0]])).round(4) + 0
    array([[0. , 0.7, 1.5]])
    """

    _advice = "use NystroemFeatures, which take any kernel."

    def __init__(
        self,
        length_scale: npt.ArrayLike = 1.0,
        weight: npt.ArrayLike = 1.0,
        levels: npt.ArrayLike | None = None,
    ) -> None:
        self.length_scale = length_scale
        self.weight = weight
        self.levels = levels

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        """Whether k(x, y) depends on x - y only: not on which levels differ."""
        return self.levels is None

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        for name, least in (("length_scale", "positive"), ("weight", "non-negative")):
            value = getattr(self, name)
            numbers = np.asarray(value)
            right = numbers.dtype.kind in "iuf" and numbers.ndim <= 1 and numbers.size
            low = right and (numbers <= 0 if least == "positive" else numbers < 0).any()
            if not right or low or not np.isfinite(numbers).all():
                raise ValueError(
                    f"{name}={value!r} of Anova must be a {least} number, or one for each column."
                )
        if self.levels is not None:
            _check_levels(np.asarray(self.levels))

    def check_width(self, n_columns: int) -> None:
        """Raise ValueError unless parameters are of as many columns."""
        for name in ("length_scale", "weight"):
            given = np.asarray(getattr(self, name))
            if given.ndim and len(given) != n_columns:
                raise ValueError(
                    f"{name} of Anova has {len(given)} numbers, but the rows have {n_columns} "
                    "columns: give one number, or one for each column."
                )
        known = self._levels()
        if known is not None and known[0].column.max() >= n_columns:
            raise ValueError(
                f"levels of Anova are those of column {known[0].column.max()}, but the rows have "
                f"{n_columns} columns, numbered from 0."
            )

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the products at all pairs."""
        right = np.asarray(rows if others is None else others)
        out = self._products(np.asarray(rows), right)
        known = self._levels()
        if known is None:
            return out
        levels, counts = known
        left, right = levels.indicators(np.asarray(rows)), levels.indicators(right)

        def block(part: Array, found: Array) -> None:
            found *= np.exp(-level_distances(part, right, counts))

        return map_rows(block, left, out, len(right) + left.shape[1])

    def _products(self, rows: Array, others: Array) -> Array:
        """Return those of differences, by compiled loops where columns are not very long."""
        out = np.empty((len(rows), len(others)), rows.dtype)
        weights = self._weights(rows.shape[1])
        counted = np.flatnonzero(weights)
        if not len(counted):
            out[:] = 1
            return out
        left = np.asarray(rows, np.float64)[:, counted]
        right = np.asarray(others, np.float64)[:, counted]
        length, weights = self._length(rows.shape[1])[counted], weights[counted]
        middle = (right.max(axis=0, initial=-np.inf) + right.min(axis=0, initial=np.inf)) / 2
        middle = np.where(np.isfinite(middle), middle, 0.0)
        left, right = (left - middle) / length, (right - middle) / length
        far = max(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0)) > LARGEST
        unit = np.sqrt(3) * np.ones(len(counted))
        slow = Anova(unit, weights)

        def block(part: FloatArray, found: Array) -> None:
            if far:
                found[:] = slow.of_differences(part[:, None, :] - right)
            else:
                found[:] = anova_matrix(part, right, weights)

        return map_rows(block, left, out, (4 * len(counted) if far else 2) * len(right))

    def slopes_at(self, rows: FloatArray, others: FloatArray) -> FloatArray:
        """Return gradients by x at all pairs, levels being constants: [n, m, d]."""
        known = self._levels()
        if known is None:
            return super().slopes_at(rows, others)
        found = Anova(self.length_scale, self.weight).slopes_at(rows, others)
        levels, counts = known
        distance = level_distances(levels.indicators(rows), levels.indicators(others), counts)
        return np.asarray(found * np.exp(-distance)[..., None])

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return the kernel at differences [..., d]: [...]."""
        self._check_differences()
        return np.asarray(self._factors(delta).prod(axis=-1))

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return its gradient by the difference: [..., d]."""
        self._check_differences()
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

    def _check_differences(self) -> None:
        """Raise ValueError where the difference is not all that counts."""
        if self.levels is not None:
            raise ValueError(
                "An Anova kernel with levels is no function of differences: use the kernel as it "
                "is, not in sums and products, where these are asked for."
            )

    def _levels(self) -> tuple[Levels, FloatArray] | None:
        """Return the levels of columns and u, if there are any."""
        if self.levels is None:
            return None
        column, value, counts = np.asarray(self.levels, np.float64).T
        return Levels(column.astype(np.intp), value), counts


def _check_levels(levels: Array) -> None:
    """Raise ValueError unless levels are columns, increasing values and numbers."""
    right = levels.dtype.kind in "iuf" and levels.ndim == 2 and levels.shape[1] == 3 and len(levels)
    if not (right and np.isfinite(levels).all()):
        raise ValueError(
            f"levels={levels!r} of Anova must be finite numbers of shape (n_levels, 3): column, "
            "value and what the level counts."
        )
    column, value, counts = levels.T
    steps = np.diff(column)
    whole = np.array_equal(column, column.astype(np.intp)) and column.min() >= 0
    if not whole or (steps < 0).any() or (np.diff(value)[steps == 0] <= 0).any():
        raise ValueError(
            "levels of Anova must be in the order of their columns, numbered from 0, and of "
            f"increasing values in each: got columns {column!r} and values {value!r}."
        )
    if (counts < 0).any():
        raise ValueError(f"Levels of Anova count at least zero, not {counts.min():g}.")
