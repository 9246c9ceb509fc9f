"""The kernel of deep ReLU networks whose last layer alone is trained."""

from functools import lru_cache, partial
from typing import Any

import numpy as np

from .._loaded import MOST, check_number
from .._typing import FloatArray, ScalarFunction
from .._validation import check_count
from .homogeneous import HomogeneousKernel, arc_cosine_0, arc_cosine_1
from .terms import HomogeneousTerm

__all__ = ["NNGP"]


def relu_nngp(t: Any, depth: int) -> Any:
    r"""Return :math:`\Sigma_L` of the cosine: κ₁ applied L times."""
    for _ in range(depth):
        t = arc_cosine_1(t)
    return t


def relu_nngp_slope(t: FloatArray, depth: int) -> FloatArray:
    """Return the derivative of `relu_nngp`, by the chain rule with κ₁' = κ₀."""
    slope = np.ones_like(t)
    for _ in range(depth):
        t, slope = arc_cosine_1(t), arc_cosine_0(t) * slope
    return slope


@lru_cache(maxsize=16)
def _of_depth(depth: int) -> ScalarFunction:
    """Return one and the same function for one depth, so that its series is found once."""
    return partial(relu_nngp, depth=depth)


class NNGP(HomogeneousKernel):
    r"""Gaussian process of an infinitely wide ReLU network (deep arc-cosine kernel).

    .. math::

        k(x,y) = \|x\|\|y\|\, \Sigma_L\!\left(\frac{\langle x,y\rangle}{\|x\|\|y\|}\right), \qquad
        \Sigma_0 = t, \quad \Sigma_h = \kappa_1(\Sigma_{h-1}), \qquad k(x,x) = \|x\|^2 .

    It is what random hidden layers alone make of the rows; `NTK` also has what their training
    adds. With L = 1 it is ``ArcCosine(1)``. Zonal up to the norms, and so every map of the NTK
    serves it: one radial function is exact. `NetworkKernel` has other activations.

    Parameters
    ----------
    depth : int, default=2
        The number of hidden layers L ≥ 1.

    References
    ----------
    Y. Cho and L. K. Saul, "Kernel methods for deep learning", NeurIPS 2009.

    J. Lee, Y. Bahri, R. Novak, S. Schoenholz, J. Pennington and J. Sohl-Dickstein, "Deep Neural
    Networks as Gaussian Processes", ICLR 2018.

    Examples
    --------
    >>> import zonal
    >>> zonal.NNGP(depth=2)([[3.0, 0.0], [0.0, 1.0]]).round(4)
    array([[9.    , 1.4812],
           [1.4812, 1.    ]])
    """

    def __init__(self, depth: int = 2) -> None:
        self.depth = depth

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        check_count("depth", self.depth, "NNGP")

    def _check_loaded(self) -> None:
        check_number(self, "depth", 1, MOST)

    def _term(self) -> HomogeneousTerm:
        return HomogeneousTerm(_of_depth(self.depth), power=1, slow=True, name=repr(self))

    def _kappa_slope(self, cos: FloatArray) -> FloatArray:
        return relu_nngp_slope(cos, self.depth)
