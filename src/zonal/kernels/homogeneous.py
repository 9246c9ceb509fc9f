"""Homogeneous kernels (‖x‖ ‖y‖)^p κ(cos): what arc-cosine, Neural Tangent and Zonal share."""

from abc import abstractmethod
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .._validation import row_norms
from .base import Kernel, cosines
from .terms import HomogeneousTerm, Term

__all__ = ["HomogeneousKernel", "arc_cosine_0", "arc_cosine_1", "arc_cosine_2"]


class HomogeneousKernel(Kernel):
    """Base class: subclasses give `_term`, from which matrix, diagonal and expansion follow."""

    @abstractmethod
    def _term(self) -> HomogeneousTerm:
        """The function of the angle and the power of the norms."""

    def terms(self) -> list[Term]:
        """The kernel itself."""
        self.check()
        return [self._term()]

    def _matrix(self, rows: Any, others: Any) -> Array:
        term = self._term()
        cos = cosines(rows, others)
        values = term.values(cos)
        if term.power:
            norm_x = row_norms(rows)
            norm_y = norm_x if others is None else row_norms(others)
            values = values * np.power(norm_x, term.power)[:, None]
            values = values * np.power(norm_y, term.power)
        return values.astype(rows.dtype, copy=False)

    def _diag(self, norms: FloatArray) -> FloatArray:
        term = self._term()
        # A row of zeros has no angle; its cosine counts as zero, as in the matrix.
        return np.power(norms, 2 * term.power) * term.values((norms > 0).astype(np.float64))


def _arccos(t: Any) -> Any:
    """Angle, for real t (rounding may leave [-1, 1]) or in the complex unit disc."""
    return np.arccos(t if np.iscomplexobj(t) else np.clip(t, -1, 1))


def _sine(t: Any) -> Any:
    square = 1 - t * t
    return np.sqrt(square if np.iscomplexobj(t) else np.maximum(square, 0))


def arc_cosine_0(t: Any) -> Any:
    """The paper's a₀(t) = 1 - arccos(t)/π."""
    return 1 - _arccos(t) / np.pi


def arc_cosine_1(t: Any) -> Any:
    """The paper's a₁(t) = (√(1-t²) + t (π - arccos t)) / π."""
    return (_sine(t) + t * (np.pi - _arccos(t))) / np.pi


def arc_cosine_2(t: Any) -> Any:
    """(3 t √(1-t²) + (π - arccos t) (1 + 2t²)) / π."""
    return (3 * t * _sine(t) + (np.pi - _arccos(t)) * (1 + 2 * t * t)) / np.pi
