"""Feature maps: transformers whose output Z has Z Zᵀ ≈ K."""

from .gegenbauer import GegenbauerFeatures

__all__ = ["GegenbauerFeatures"]
