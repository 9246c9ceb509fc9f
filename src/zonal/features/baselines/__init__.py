"""The methods that Gegenbauer features are compared with, under the same interface."""

from .fastfood import FastFoodFeatures
from .fourier import FourierFeatures
from .maclaurin import MaclaurinFeatures
from .modified_fourier import ModifiedFourierFeatures
from .nystroem import NystroemFeatures
from .polysketch import PolySketchFeatures

__all__ = [
    "FastFoodFeatures",
    "FourierFeatures",
    "MaclaurinFeatures",
    "ModifiedFourierFeatures",
    "NystroemFeatures",
    "PolySketchFeatures",
]
