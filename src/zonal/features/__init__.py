"""Feature maps: transformers whose output Z has Z Zᵀ ≈ K."""

from .base import KernelFeatures
from .baselines import (
    AdaptiveSketchFeatures,
    FastFoodFeatures,
    HashingFeatures,
    MaclaurinFeatures,
    ModifiedFourierFeatures,
    NTKFeatures,
    PolySketchFeatures,
    ReLUFeatures,
    SphericalFeatures,
    TensorSketchFeatures,
)
from .columns import LearnedMetric, SphereEncoder, Standardizer, TableEncoder
from .fourier import FourierFeatures
from .gegenbauer import GegenbauerFeatures
from .harmonic import HarmonicFeatures
from .nystroem import NystroemFeatures
from .product import ProductFeatures
from .sum import SumFeatures

__all__ = [
    "AdaptiveSketchFeatures",
    "FastFoodFeatures",
    "FourierFeatures",
    "GegenbauerFeatures",
    "HarmonicFeatures",
    "HashingFeatures",
    "KernelFeatures",
    "LearnedMetric",
    "MaclaurinFeatures",
    "ModifiedFourierFeatures",
    "NTKFeatures",
    "NystroemFeatures",
    "PolySketchFeatures",
    "ProductFeatures",
    "ReLUFeatures",
    "SphereEncoder",
    "SphericalFeatures",
    "Standardizer",
    "SumFeatures",
    "TableEncoder",
    "TensorSketchFeatures",
]
