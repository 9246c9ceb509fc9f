"""Zonal kernels: any positive definite function of the inner product on the unit sphere."""

from dataclasses import replace

import numpy as np

from .._typing import FloatArray, ScalarFunction
from ..polynomials import gegenbauer_series
from .homogeneous import HomogeneousKernel
from .slopes import complex_step
from .terms import HomogeneousTerm, Term

__all__ = ["Zonal"]


class Zonal(HomogeneousKernel):
    r"""Zonal kernel k(x, y) = κ(⟨x, y⟩) on the unit sphere.

    Positive definite in dimension d if and only if no Gegenbauer coefficient c_ℓ of κ is negative
    (Schoenberg), which is checked when the kernel is expanded. Rows must have norm one.

    Parameters
    ----------
    kappa : callable
        κ on [-1, 1], vectorised over arrays.

    Examples
    --------
    A Poisson kernel, which has a pole outside the sphere:

    >>> import zonal
    >>> kernel = zonal.Zonal(lambda t: 0.75 / (1.25 - t) ** 1.5)
    >>> kernel([[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]).round(4)
    array([[0.5367]])
    >>> kernel([[2.0, 0.0, 0.0]])
    Traceback (most recent call last):
        ...
    ValueError: Zonal is a kernel on the unit sphere, but row 0 has norm 2: ...
    """

    def __init__(self, kappa: ScalarFunction) -> None:
        self.kappa = kappa

    def _function(self) -> ScalarFunction:
        """Return κ."""
        return self.kappa

    def check_norms(self, norms: FloatArray) -> None:
        """Raise ValueError if a row does not lie on the unit sphere."""
        off = np.abs(norms - 1) > 1e-5
        if off.any():
            row = int(np.argmax(off))
            raise ValueError(
                f"{type(self).__name__} is a kernel on the unit sphere, but row {row} has norm "
                f"{norms[row]:.6g}: scale the rows with sklearn.preprocessing.Normalizer, or use "
                "zonal.DotProduct for a kernel on all of R^d."
            )

    def terms(self) -> list[Term]:
        """Return the kernel itself, marked slow if its series is."""
        self.check()
        # Judged on the circle: a smooth function has no Chebyshev coefficients left there.
        tail = np.abs(gegenbauer_series(self._function(), 2, 200))
        slow = bool(tail[150:].max() > 1e-9 * tail.max())
        return [replace(self._term(), slow=slow)]

    def _term(self) -> HomogeneousTerm:
        return HomogeneousTerm(self._function(), power=0, name=f"kappa of {type(self).__name__}")

    def _kappa_slope(self, cos: FloatArray) -> FloatArray:
        cosines = np.asarray(cos, dtype=np.float64)
        return complex_step(self._function(), cosines, type(self).__name__)
