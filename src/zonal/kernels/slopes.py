r"""Gradients of rotation-invariant kernels: combinations of the two points.

A function of ‖x‖, ‖y‖ and the angle changes with x in the plane of x and y only,

.. math:: \nabla_x k(x, y) = a(x, y)\, x + b(x, y)\, y ,

so that two numbers for each pair are the whole gradient, sums and products of kernels are sums and
products of these, and a weighted sum of gradients is a matrix product:

.. math:: \sum_j c_j \nabla_x k(x_i, y_j) = (a c)_i\, x_i + \sum_j b_{ij} c_j y_j .
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, FloatArray, ScalarFunction

__all__ = ["Slopes", "check_coef", "complex_step", "dense", "inverse", "weighted_rows"]

# The step of a complex-step derivative: its square is nothing beside one.
STEP = 1e-30


@dataclass(frozen=True)
class Slopes:
    """The numbers a and b of many pairs (x, y), with ∇_x = a x + b y.

    Attributes
    ----------
    a, b : ndarrays of one shape
        Usually (n, m).
    """

    a: FloatArray
    b: FloatArray

    def __add__(self, other: "Slopes") -> "Slopes":
        return Slopes(self.a + other.a, self.b + other.b)

    def __mul__(self, factor: Any) -> "Slopes":
        """Multiply every gradient by a number of its own."""
        return Slopes(self.a * factor, self.b * factor)

    def gradients(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Return all gradients, for rows [n, d] and [m, d]: [n, m, d]."""
        return self.a[:, :, None] * X[:, None, :] + self.b[:, :, None] * Y

    def contract(self, X: FloatArray, coef: FloatArray, weighted: FloatArray) -> FloatArray:
        """Return sums of the gradients over y, with coefficients [m, t]: [n, t, d].

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The rows x.
        coef : ndarray of shape (m, t)
            The coefficients.
        weighted : ndarray of shape (m, t * d)
            Their products with the rows y, the same for every block of X; see `weighted_rows`.
        """
        along = (self.a @ coef)[:, :, None] * X[:, None, :]
        return along + (self.b @ weighted).reshape(along.shape)


def weighted_rows(coef: FloatArray, Y: FloatArray) -> FloatArray:
    """Return products c_{j,t} y_j of coefficients [m, t] and rows [m, d]: [m, t * d]."""
    return (coef[:, :, None] * Y[:, None, :]).reshape(len(Y), -1)


def dense(rows: Any) -> FloatArray:
    """Return rows as a dense array in float64: gradients have no zeros to spare."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def inverse(values: FloatArray) -> FloatArray:
    """Return 1 / values, zero for zero."""
    values = np.asarray(values, dtype=np.float64)
    return np.divide(1.0, values, out=np.zeros_like(values), where=values != 0)


def check_coef(coef: Any, n_columns: int, what: str) -> FloatArray:
    """Check coefficients, and return them as [n_columns, t]; one vector counts as t = 1."""
    values = np.asarray(coef, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) != n_columns or not np.isfinite(values).all():
        raise ValueError(
            f"coef of shape {values.shape} must be finite numbers of shape ({n_columns},) or "
            f"({n_columns}, n_targets): one row for each {what}."
        )
    return values.reshape(n_columns, -1)


def complex_step(kappa: ScalarFunction, t: FloatArray, owner: str) -> FloatArray:
    """Return κ'(t) = Im κ(t + ih) / h, which takes no difference and so loses no digit.

    Parameters
    ----------
    kappa : callable
        An analytic function, written for complex arrays.
    t : ndarray
        Real points.
    owner : str
        For the message.
    """
    try:
        values: Array = np.asarray(kappa(t + STEP * 1j))
    except TypeError as error:
        raise ValueError(_NOT_COMPLEX.format(owner=owner)) from error
    if values.ndim == 0:  # a constant
        return np.zeros_like(t)
    if not np.iscomplexobj(values):
        raise ValueError(_NOT_COMPLEX.format(owner=owner))
    return np.asarray(values.imag / STEP)


_NOT_COMPLEX = (
    "kappa of {owner} does not take complex arrays to complex arrays, which its derivative needs: "
    "write it with NumPy's analytic functions (no abs, maximum or clip)."
)
