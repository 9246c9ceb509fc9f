"""The rational quadratic kernel: Gaussians of many length scales at once."""

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from .._validation import check_positive
from .shift_invariant import ShiftInvariantKernel
from .terms import NumericTerm, Term

__all__ = ["RationalQuadratic"]


class RationalQuadratic(ShiftInvariantKernel):
    r"""Rational quadratic kernel, as scikit-learn's.

    .. math::

        k(x,y) = \left(1 + \frac{\|x-y\|^2}{2 \alpha \ell^2}\right)^{-\alpha}
        = \mathbb{E}_\tau\, e^{-\tau \|x-y\|^2 / (2 \ell^2)}, \qquad
        \tau \sim \mathrm{Gamma}(\alpha, 1/\alpha),

    a mixture of Gaussians whose mean inverse square width is 1/ℓ²; α = ∞ would be the Gaussian.

    It has no Taylor series in the inner product: expansions have ``radial_basis="optimal"``.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,) or "median", default=1.0
        ℓ, or one for each column. ``"median"`` is the median distance between different rows,
        found in `fit` of whatever uses the kernel (or by ``kernel.resolve(X)``).
    alpha : float, default=1.0
        α > 0: the smaller, the more the length scales differ.

    Examples
    --------
    >>> import zonal
    >>> zonal.RationalQuadratic(length_scale=2.0, alpha=0.5)([[0.0, 0.0]], [[0.0, 2.0]]).round(6)
    array([[0.707107]])
    """

    def __init__(self, length_scale: npt.ArrayLike = 1.0, alpha: float = 1.0) -> None:
        self.length_scale = length_scale
        self.alpha = alpha

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        check_positive("alpha", self.alpha, "RationalQuadratic")
        super().check()

    def terms(self) -> list[Term]:
        """The kernel itself."""
        self.check()
        self.one_scale()
        return [NumericTerm(self.profile, slow=False, name=repr(self))]

    def _of_distance(self, distance: FloatArray) -> FloatArray:
        return np.exp(-self.alpha * np.log1p(distance**2 / (2 * self.alpha)))

    def _slope(self, distance: FloatArray) -> FloatArray:
        return -np.exp(-(self.alpha + 1) * np.log1p(distance**2 / (2 * self.alpha)))
