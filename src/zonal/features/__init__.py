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
from .scaling import Standardizer

__all__ = [
    "FastFoodFeatures",
    "FourierFeatures",
    "GegenbauerFeatures",
    "KernelFeatures",
    "MaclaurinFeatures",
    "ModifiedFourierFeatures",
    "NystroemFeatures",
    "PolySketchFeatures",
    "Standardizer",
]
