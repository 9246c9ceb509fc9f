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
from .gegenbauer import GegenbauerFeatures
from .harmonic import HarmonicFeatures
from .learned_metric import LearnedMetric
from .product import ProductFeatures
from .scaling import Standardizer
from .sphere_encoder import SphereEncoder

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
]
