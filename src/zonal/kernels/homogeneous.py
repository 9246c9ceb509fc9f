"""Homogeneous kernels (‖x‖ ‖y‖)^p κ(cos): what arc-cosine, Neural Tangent and Zonal share."""

from abc import abstractmethod
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .._validation import row_norms
from .base import Kernel
from .points import cosines
from .slopes import Slopes, inverse
from .terms import HomogeneousTerm, Term

__all__ = [
    "HomogeneousKernel",
    "arc_cosine_0",
    "arc_cosine_0_slope",
    "arc_cosine_1",
    "arc_cosine_2",
]


class HomogeneousKernel(Kernel):
    """Base class: subclasses give `_term`, from which matrix, diagonal and expansion follow."""

    @abstractmethod
    def _term(self) -> HomogeneousTerm:
        """Return the function of the angle and the power of the norms."""

    @abstractmethod
    def _kappa_slope(self, cos: FloatArray) -> FloatArray:
        """Return κ' of the cosine; zero where it is infinite (x and y on one line)."""

    def terms(self) -> list[Term]:
        """Return the kernel itself."""
        self.check()
        return [self._term()]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return (r s)^p κ(cos)."""
        self.check()
        term = self._term()
        return np.asarray(np.power(r, term.power) * np.power(s, term.power) * term.values(cos))

    def slopes(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> Slopes:
        """Return the gradient of the angle and of the norms."""
        term = self._term()
        cos = np.asarray(cos)
        # (r s)^p κ(cos), with ∇r = x/r and ∇cos = y/(r s) - cos x/r².
        per_x, per_y = inverse(r), inverse(s)
        powers = np.power(r, term.power) * np.power(s, term.power)
        slope = term.factor * self._kappa_slope(cos)
        along = per_x**2 * powers * (term.power * term.values(cos) - cos * slope)
        return Slopes(along, per_x * per_y * powers * slope)

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return κ of all cosines, times powers of the norms."""
        term = self._term()
        cos = cosines(rows, others)
        values = term.values(cos)
        if term.power:
            norm_x = row_norms(rows)
            norm_y = norm_x if others is None else row_norms(others)
            values = values * np.power(norm_x, term.power)[:, None]
            values = values * np.power(norm_y, term.power)
        return values.astype(rows.dtype, copy=False)

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return κ(1) times powers of the norms."""
        term = self._term()
        # A row of zeros has no angle; its cosine counts as zero, as in the matrix.
        return np.power(norms, 2 * term.power) * term.values((norms > 0).astype(np.float64))


def _arccos(t: Any) -> Any:
    """Return angle, for real t (rounding may leave [-1, 1]) or in the complex unit disc."""
    return np.arccos(t if np.iscomplexobj(t) else np.clip(t, -1, 1))


def _sine(t: Any) -> Any:
    square = 1 - t * t
    return np.sqrt(square if np.iscomplexobj(t) else np.maximum(square, 0))


def arc_cosine_0(t: Any) -> Any:
    """Return the paper's a₀(t) = 1 - arccos(t)/π."""
    return 1 - _arccos(t) / np.pi


def arc_cosine_0_slope(t: FloatArray) -> FloatArray:
    """Return a₀'(t) = 1 / (π √(1-t²)), and zero where that is infinite."""
    return inverse(np.pi * _sine(t))


def arc_cosine_1(t: Any) -> Any:
    """Return the paper's a₁(t) = (√(1-t²) + t (π - arccos t)) / π."""
    return (_sine(t) + t * (np.pi - _arccos(t))) / np.pi


def arc_cosine_2(t: Any) -> Any:
    """Return (3 t √(1-t²) + (π - arccos t) (1 + 2t²)) / π."""
    return (3 * t * _sine(t) + (np.pi - _arccos(t)) * (1 + 2 * t * t)) / np.pi
