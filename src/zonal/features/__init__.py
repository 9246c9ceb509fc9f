"""Feature maps: transformers whose output Z has Z Zᵀ ≈ K."""

from .base import KernelFeatures
from .baselines import (
    FastFoodFeatures,
    FourierFeatures,
    MaclaurinFeatures,
    ModifiedFourierFeatures,
    NystroemFeatures,
    PolySketchFeatures,
)
from .columns import LearnedMetric, SphereEncoder, Standardizer, TableEncoder
from .gegenbauer import GegenbauerFeatures
from .harmonic import HarmonicFeatures
from .product import ProductFeatures

__all__ = [
    "FastFoodFeatures",
    "FourierFeatures",
    "GegenbauerFeatures",
    "HarmonicFeatures",
    "KernelFeatures",
    "LearnedMetric",
    "MaclaurinFeatures",
    "ModifiedFourierFeatures",
    "NystroemFeatures",
    "PolySketchFeatures",
    "ProductFeatures",
    "SphereEncoder",
    "Standardizer",
    "TableEncoder",
]
