"""Gradients of maps whose columns belong to vectors: a frequency, or a direction."""

from abc import abstractmethod

from .._typing import FloatArray
from ..kernels.slopes import Slopes, weighted_rows
from .base import KernelFeatures

__all__ = ["AnchoredFeatures"]


class AnchoredFeatures(KernelFeatures):
    r"""Base class of maps whose column c depends on ‖x‖ and on ⟨x, w_c⟩ for some vector w_c.

    As for kernels, the gradient is then :math:`a_c(x)\, x + b_c(x)\, w_c`, and a weighted sum of
    columns takes two matrix products. Subclasses define `_column_slopes`.
    """

    @abstractmethod
    def _column_slopes(self, rows: FloatArray) -> tuple[Slopes, FloatArray]:
        """Return the numbers a and b [n, n_columns] at rows, and the vectors w [n_columns, d]."""

    def _gradients(self, rows: FloatArray) -> FloatArray:
        slopes, anchors = self._column_slopes(rows)
        return slopes.gradients(rows, anchors)

    def _contracted(self, rows: FloatArray, coef: FloatArray) -> FloatArray:
        slopes, anchors = self._column_slopes(rows)
        return slopes.contract(rows, coef, weighted_rows(coef, anchors))

    @property
    def _contracted_width(self) -> int:
        return 4 * self.n_columns
