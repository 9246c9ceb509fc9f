"""The generalized Cauchy kernel: roughness and long memory, each with a parameter of its own."""

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from .._validation import check_positive
from .shift_invariant import ShiftInvariantKernel
from .terms import NumericTerm, Term

__all__ = ["Cauchy"]


class Cauchy(ShiftInvariantKernel):
    r"""Generalized Cauchy kernel of Gneiting and Schlather.

    .. math:: k(x,y) = \left(1 + \left(\frac{\|x-y\|}{\ell}\right)^p\right)^{-\delta} .

    Near zero it is as rough as p says (paths are differentiable for p = 2 alone), far away it falls
    like a power of the distance: the usual margin in time of kernels for space and time. With
    p = 2 it is ``RationalQuadratic(length_scale / sqrt(2 decay), alpha=decay)``.

    It has no Taylor series in the inner product: expansions have ``radial_basis="optimal"``.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,) or "median", default=1.0
        ℓ, or one for each column. ``"median"`` is the median distance between different rows,
        found in `fit` of whatever uses the kernel (or by ``kernel.resolve(X)``).
    power : float, default=2.0
        p, above 0 and at most 2.
    decay : float, default=1.0
        δ > 0: the smaller, the longer the memory.

    References
    ----------
    T. Gneiting and M. Schlather, "Stochastic models that separate fractal dimension and the Hurst
    effect", SIAM Review 46 (2004).

    Examples
    --------
    >>> import zonal
    >>> zonal.Cauchy(length_scale=2.0, power=1.0)([[0.0]], [[2.0], [6.0]])
    array([[0.5 , 0.25]])
    """

    def __init__(
        self, length_scale: npt.ArrayLike = 1.0, power: float = 2.0, decay: float = 1.0
    ) -> None:
        self.length_scale = length_scale
        self.power = power
        self.decay = decay

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        check_positive("decay", self.decay, "Cauchy")
        check_positive("power", self.power, "Cauchy", extra=", at most 2")
        if self.power > 2:
            raise ValueError(
                f"power={self.power!r} of Cauchy must be at most 2, for positive definiteness."
            )
        super().check()

    def terms(self) -> list[Term]:
        """The kernel itself."""
        self.check()
        self.one_scale()
        return [NumericTerm(self.profile, slow=self.power < 2, name=repr(self))]

    def _of_distance(self, distance: FloatArray) -> FloatArray:
        return np.exp(-self.decay * np.log1p(distance**self.power))

    def _slope(self, distance: FloatArray) -> FloatArray:
        rough = self.power < 2
        apart = np.where(distance > 0, distance, 1.0) if rough else distance
        slope = -self.decay * self.power * apart ** (self.power - 2)
        slope = slope * np.exp(-(self.decay + 1) * np.log1p(apart**self.power))
        return np.where(distance > 0, slope, 0.0) if rough else np.asarray(slope)
