"""Kernels: their exact values, and their expansion as generalized zonal kernels."""

from .arc_cosine import ArcCosine
from .base import GeneralizedZonalKernel, Kernel, Product, Scaled, Sum
from .dot_product import DotProduct, Exponential, Polynomial
from .expansion.cut import TruncationWarning
from .gaussian import Gaussian
from .matern import Laplacian, Matern
from .names import KERNEL_NAMES, as_kernel
from .network import NetworkKernel
from .nngp import NNGP
from .ntk import NTK
from .rational_quadratic import RationalQuadratic
from .rotation_invariant import RotationInvariant
from .zonal import Zonal

__all__ = [
    "KERNEL_NAMES",
    "NNGP",
    "NTK",
    "ArcCosine",
    "DotProduct",
    "Exponential",
    "Gaussian",
    "GeneralizedZonalKernel",
    "Kernel",
    "Laplacian",
    "Matern",
    "NetworkKernel",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "RotationInvariant",
    "Scaled",
    "Sum",
    "TruncationWarning",
    "Zonal",
    "as_kernel",
]
