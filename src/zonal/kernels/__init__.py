"""Kernels: their exact values, and their expansion as generalized zonal kernels."""

from .anova import Anova
from .arc_cosine import ArcCosine
from .base import GeneralizedZonalKernel, Kernel, Product, Scaled, Sum
from .cauchy import Cauchy
from .dot_product import DotProduct, Exponential, Polynomial
from .expansion.cut import TruncationWarning
from .gaussian import Gaussian
from .matern import Laplacian, Matern
from .names import KERNEL_NAMES, as_kernel
from .network import NetworkKernel
from .nngp import NNGP
from .ntk import NTK
from .periodic import Periodic
from .rational_quadratic import RationalQuadratic
from .rotation_invariant import RotationInvariant
from .space_time import SpaceTime
from .zonal import Zonal

__all__ = [
    "KERNEL_NAMES",
    "NNGP",
    "NTK",
    "Anova",
    "ArcCosine",
    "Cauchy",
    "DotProduct",
    "Exponential",
    "Gaussian",
    "GeneralizedZonalKernel",
    "Kernel",
    "Laplacian",
    "Matern",
    "NetworkKernel",
    "Periodic",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "RotationInvariant",
    "Scaled",
    "SpaceTime",
    "Sum",
    "TruncationWarning",
    "Zonal",
    "as_kernel",
]
