"""Columns made ready for a kernel: on a common scale, on the sphere, in a learnt metric."""

from .learned_metric import LearnedMetric
from .sphere_encoder import SphereEncoder
from .standardizer import Standardizer
from .table_encoder import TableEncoder

__all__ = ["LearnedMetric", "SphereEncoder", "Standardizer", "TableEncoder"]
