"""Arc-cosine kernels: infinitely wide layers of threshold units, ReLUs and squared ReLUs."""

import numpy as np

from .._typing import FloatArray
from .homogeneous import (
    HomogeneousKernel,
    arc_cosine_0,
    arc_cosine_0_slope,
    arc_cosine_1,
    arc_cosine_2,
)
from .terms import HomogeneousTerm

__all__ = ["ArcCosine"]

_FUNCTIONS = (arc_cosine_0, arc_cosine_1, arc_cosine_2)


class ArcCosine(HomogeneousKernel):
    r"""Arc-cosine kernel of Cho and Saul (2009).

    .. math::

        k(x,y) = \tfrac1\pi \|x\|^n \|y\|^n J_n(\theta), \qquad
        J_0 = \pi-\theta,\quad J_1 = \sin\theta + (\pi-\theta)\cos\theta,\quad
        J_2 = 3\sin\theta\cos\theta + (\pi-\theta)(1+2\cos^2\theta),

    with θ the angle between x and y, so that k(x, x) = ‖x‖²ⁿ · (1, 1, 3)[n]. A row of zeros has
    no angle; θ = π/2 is used for it.

    The Gegenbauer series decays slowly. Degrees are chosen up to 200, and what the last leaves out
    of k(x, x) is, for order 0, at most 2.4e-3 in dimensions 2 to 5 and 6.5e-3 up to dimension 30;
    order 1 reaches 1.5e-6 and order 2 reaches 1e-6 in all of these.

    Parameters
    ----------
    order : {0, 1, 2}, default=1
        The order n: the power of the activation function max(0, u)ⁿ.

    References
    ----------
    Y. Cho and L. K. Saul, "Kernel methods for deep learning", NeurIPS 2009.

    Examples
    --------
    >>> import zonal
    >>> zonal.ArcCosine(order=1)([[3.0, 0.0], [0.0, 1.0]]).round(6)
    array([[9.     , 0.95493],
           [0.95493, 1.     ]])
    """

    def __init__(self, order: int = 1) -> None:
        self.order = order

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        if self.order not in (0, 1, 2):
            raise ValueError(f"order={self.order!r} of ArcCosine must be 0, 1 or 2.")

    def _term(self) -> HomogeneousTerm:
        function = _FUNCTIONS[self.order]
        return HomogeneousTerm(function, self.order, slow=True, name=repr(self))

    def _kappa_slope(self, cos: FloatArray) -> FloatArray:
        if self.order == 0:
            return arc_cosine_0_slope(cos)
        lower = _FUNCTIONS[self.order - 1](cos)  # a₁' = a₀ and a₂' = 4 a₁
        return np.asarray(self.order**2 * lower)
