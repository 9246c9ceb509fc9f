"""Which kernels have a compiled form, and which it is."""

import math

from ..engines.correlation import (
    EXPONENTIAL,
    GAUSSIAN,
    MATERN_32,
    MATERN_52,
    RATIONAL,
    Correlation,
)
from .base import Kernel
from .gaussian import Gaussian
from .matern import Matern
from .rational_quadratic import RationalQuadratic

__all__ = ["of_kernel"]

_OF_NU = {0.5: EXPONENTIAL, 1.5: MATERN_32, 2.5: MATERN_52, math.inf: GAUSSIAN}


def of_kernel(kernel: Kernel) -> Correlation | None:
    """The compiled form of a kernel, or None if it has none.

    Parameters
    ----------
    kernel : Kernel
        With all parameters resolved to numbers.
    """
    if isinstance(kernel, Gaussian):
        return Correlation(GAUSSIAN, 0.0, kernel.bandwidth)
    if isinstance(kernel, Matern) and kernel.nu in _OF_NU:
        return Correlation(_OF_NU[kernel.nu], 0.0, kernel.length_scale)
    if isinstance(kernel, RationalQuadratic):
        return Correlation(RATIONAL, float(kernel.alpha), kernel.length_scale)
    return None
