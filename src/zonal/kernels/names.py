"""Kernels by name."""

from collections.abc import Callable
from typing import Any

from .arc_cosine import ArcCosine
from .base import Kernel
from .dot_product import Exponential, Polynomial
from .gaussian import Gaussian
from .matern import Laplacian, Matern
from .nngp import NNGP
from .ntk import NTK
from .rational_quadratic import RationalQuadratic

__all__ = ["KERNEL_NAMES", "as_kernel"]

KERNEL_NAMES: dict[str, Callable[[], Kernel]] = {
    "gaussian": lambda: Gaussian("median"),
    "exponential": Exponential,
    "polynomial": Polynomial,
    "arc_cosine": ArcCosine,
    "ntk": NTK,
    "nngp": NNGP,
    "matern": lambda: Matern(1.5, "median"),
    "laplacian": lambda: Laplacian("median"),
    "rational_quadratic": lambda: RationalQuadratic("median"),
}


def as_kernel(kernel: Any) -> Kernel:
    """Return the kernel itself, or the one of that name.

    Parameters
    ----------
    kernel : Kernel or str
        Shift-invariant kernels have the median rule for their scale: ``"gaussian"`` is
        ``Gaussian("median")``, ``"matern"`` is ``Matern(1.5, "median")``, ``"laplacian"`` is
        ``Laplacian("median")`` and ``"rational_quadratic"`` is ``RationalQuadratic("median")``.
        ``"exponential"``, ``"polynomial"``, ``"arc_cosine"``, ``"ntk"`` and ``"nngp"`` stand for
        the default parameters.

    Examples
    --------
    >>> from zonal.kernels import as_kernel
    >>> as_kernel("gaussian")
    Gaussian(bandwidth='median')
    >>> as_kernel("matern")
    Matern(length_scale='median')
    """
    if isinstance(kernel, Kernel):
        return kernel
    names = ", ".join(repr(name) for name in KERNEL_NAMES)
    if isinstance(kernel, str):
        if kernel in KERNEL_NAMES:
            return KERNEL_NAMES[kernel]()
        raise ValueError(f"kernel={kernel!r} is unknown: use one of {names}, or a kernel object.")
    raise TypeError(
        f"kernel={kernel!r} is neither a kernel object such as zonal.Gaussian(bandwidth=1.0) nor "
        f"one of the names {names}."
    )
