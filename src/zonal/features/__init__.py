"""Feature maps: transformers whose output Z has Z Zᵀ ≈ K."""

from .base import KernelFeatures
from .gegenbauer import GegenbauerFeatures
from .scaling import Standardizer

__all__ = ["GegenbauerFeatures", "KernelFeatures", "Standardizer"]
