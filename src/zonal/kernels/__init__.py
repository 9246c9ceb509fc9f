"""Kernels: their exact values, and their expansion as generalized zonal kernels."""

from .algebra import Product, Scaled, Sum
from .arc_cosine import ArcCosine
from .base import Kernel, TruncationWarning
from .dot_product import DotProduct, Exponential, Polynomial
from .gaussian import Gaussian
from .gzk import GeneralizedZonalKernel
from .names import KERNEL_NAMES, as_kernel
from .ntk import NTK
from .zonal import Zonal

__all__ = [
    "KERNEL_NAMES",
    "NTK",
    "ArcCosine",
    "DotProduct",
    "Exponential",
    "Gaussian",
    "GeneralizedZonalKernel",
    "Kernel",
    "Polynomial",
    "Product",
    "Scaled",
    "Sum",
    "TruncationWarning",
    "Zonal",
    "as_kernel",
]
