"""Kernels of the difference x - y that are not rotation-invariant, and what they have in common."""

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..rows.threads import map_rows
from .base import Kernel
from .points import as_rows
from .slopes import dense
from .terms import Term

__all__ = ["DifferenceKernel"]


class DifferenceKernel(Kernel):
    """Base class: k(x, y) = f(x - y), where f depends on more than the distance.

    Subclasses define `of_differences`, `difference_slopes` and `n_columns`; the value of f at zero
    is one. There is no expansion in harmonics of all columns together: `_advice` says what there
    is instead.
    """

    shift_invariant = True
    by_differences = True

    #: What to use for features.
    _advice = "use NystroemFeatures, which take any kernel."

    @abstractmethod
    def check_width(self, n_columns: int) -> None:
        """Raise ValueError if the kernel is not one of so many columns."""

    def valid_rows(self, X: Any) -> Any:
        """Return X as dense rows with as many columns as the kernel has."""
        rows = as_rows(X)
        self.check_width(rows.shape[1])
        return rows if isinstance(rows, np.ndarray) else dense(rows).astype(rows.dtype)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return f of all differences."""
        right = np.asarray(rows if others is None else others, np.float64)
        left = np.asarray(rows, np.float64)

        def block(part: FloatArray, out: Array) -> None:
            out[:] = self.of_differences(part[:, None, :] - right)

        out = np.empty((len(left), len(right)), rows.dtype)
        return map_rows(block, left, out, 4 * left.shape[1] * len(right))

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return ones: f(0) = 1."""
        return np.ones_like(norms)

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Raise ValueError: the kernel is not a function of norms and angle."""
        raise ValueError(self._not_zonal())

    def terms(self) -> list[Term]:
        """Raise ValueError: there is no expansion of all columns together."""
        raise ValueError(self._not_zonal())

    def expand(
        self,
        dim: int,
        max_degree: int | None = None,
        n_radial: int | None = None,
        radial_basis: str = "taylor",
        radii: npt.ArrayLike | None = None,
        tol: float = 1e-6,
    ) -> Any:
        """Raise ValueError: there is no expansion of all columns together."""
        raise ValueError(self._not_zonal())

    def _not_zonal(self) -> str:
        return (
            f"{self!r} does not depend on the norms of rows and the angle between them alone, so "
            f"that it has no expansion in harmonics: {self._advice}"
        )
