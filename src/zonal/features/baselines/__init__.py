"""Systems of the literature that this library is compared with, under the same interface.

- `AdaptiveSketchFeatures`: Woodruff and Zandieh (2020) draw coordinates of tensor powers by their
  leverage scores.
- `FastFoodFeatures`: Le, Sarlós and Smola (2013) multiply by Hadamard matrices in place of a dense
  matrix of frequencies.
- `HashingFeatures`: Zandieh, Nouri, Velingker, Kapralov and Razenshteyn (2020) hash rows with
  weights.
- `MaclaurinFeatures`: Kar and Karnick (2012) multiply random projections, a degree at a time.
- `ModifiedFourierFeatures`: Avron, Kapralov, Musco, Musco, Velingker and Zandieh (2017) draw high
  frequencies more often than Rahimi and Recht do.
- `NTKFeatures`: Zandieh, Han, Avron, Shoham, Kim and Shin (2021) compose sketches and random
  features layer by layer.
- `PolySketchFeatures`: Ahle, Kapralov, Knudsen, Pagh, Velingker, Woodruff and Zandieh (2020) sketch
  tensor powers by a binary tree.
- `ReLUFeatures`: Cho and Saul (2009) proposed the kernels; the features are one layer of a network
  with random weights.
- `SphericalFeatures`: Pennington, Yu and Kumar (2015) fit a spectrum to a kernel on the sphere.
- `TensorSketchFeatures`: Pham and Pagh (2013) convolve count sketches.

`FourierFeatures` (Rahimi and Recht, 2007) and `NystroemFeatures` (Williams and Seeger, 2001) are
part of the library's own machinery, and stand beside its maps.
"""

from .adaptive_sketch import AdaptiveSketchFeatures
from .fastfood import FastFoodFeatures
from .hashing import HashingFeatures
from .maclaurin import MaclaurinFeatures
from .modified_fourier import ModifiedFourierFeatures
from .neural_tangent import NTKFeatures
from .polysketch import PolySketchFeatures
from .relu import ReLUFeatures
from .spherical import SphericalFeatures
from .tensor_sketch import TensorSketchFeatures

__all__ = [
    "AdaptiveSketchFeatures",
    "FastFoodFeatures",
    "HashingFeatures",
    "MaclaurinFeatures",
    "ModifiedFourierFeatures",
    "NTKFeatures",
    "PolySketchFeatures",
    "ReLUFeatures",
    "SphericalFeatures",
    "TensorSketchFeatures",
]
