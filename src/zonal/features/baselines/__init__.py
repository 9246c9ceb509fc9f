"""The methods that Gegenbauer features are compared with, under the same interface."""

from .adaptive_sketch import AdaptiveSketchFeatures
from .fastfood import FastFoodFeatures
from .fourier import FourierFeatures
from .hashing import HashingFeatures
from .maclaurin import MaclaurinFeatures
from .modified_fourier import ModifiedFourierFeatures
from .neural_tangent import NTKFeatures
from .nystroem import NystroemFeatures
from .polysketch import PolySketchFeatures
from .relu import ReLUFeatures
from .spherical import SphericalFeatures
from .tensor_sketch import TensorSketchFeatures

__all__ = [
    "AdaptiveSketchFeatures",
    "FastFoodFeatures",
    "FourierFeatures",
    "HashingFeatures",
    "MaclaurinFeatures",
    "ModifiedFourierFeatures",
    "NTKFeatures",
    "NystroemFeatures",
    "PolySketchFeatures",
    "ReLUFeatures",
    "SphericalFeatures",
    "TensorSketchFeatures",
]
