"""zonal: kernel methods that scale, by explicit features Z with Z Zᵀ ≈ K.

The library reads in the order of the theory:

- `zonal.polynomials`: Gegenbauer polynomials, quadrature, series, points on the sphere;
- `zonal.kernels`: kernels, exact and expanded as generalized zonal kernels;
- `zonal.features`: feature maps, as scikit-learn transformers;
- `zonal.learners`: regression, classification, clustering, components, in one pass;
- `zonal.rows`, `zonal.tables`, `zonal.distributed`: rows in memory, in files, on a cluster;
- `zonal.evaluation`: how good a model is;
- `zonal.grid`: maps in, maps out (xarray);
- `zonal.theory`: the paper's quantities as functions;
- `zonal.datasets`: real data to try it on.
"""

from . import datasets, evaluation, grid, theory
from ._version import __version__ as __version__
from .evaluation import BlockKFold
from .features import (
    AdaptiveSketchFeatures,
    FastFoodFeatures,
    FourierFeatures,
    GegenbauerFeatures,
    HarmonicFeatures,
    HashingFeatures,
    LearnedMetric,
    MaclaurinFeatures,
    ModifiedFourierFeatures,
    NTKFeatures,
    NystroemFeatures,
    PolySketchFeatures,
    ProductFeatures,
    ReLUFeatures,
    SphereEncoder,
    SphericalFeatures,
    TableEncoder,
    TensorSketchFeatures,
)
from .grid import fill, predict_grid
from .kernels import (
    NTK,
    ArcCosine,
    DotProduct,
    Exponential,
    Gaussian,
    GeneralizedZonalKernel,
    Laplacian,
    Matern,
    Polynomial,
    RationalQuadratic,
    RotationInvariant,
    TruncationWarning,
    Zonal,
)
from .learners import (
    ExactKernelRidge,
    GaussianProcess,
    KernelCCA,
    KernelKMeans,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    NeighborKriging,
)
from .learners.checkpoint import Checkpoint
from .persistence import load, save
from .tables import stream

__all__ = [
    "NTK",
    "AdaptiveSketchFeatures",
    "ArcCosine",
    "BlockKFold",
    "Checkpoint",
    "DotProduct",
    "ExactKernelRidge",
    "Exponential",
    "FastFoodFeatures",
    "FourierFeatures",
    "Gaussian",
    "GaussianProcess",
    "GegenbauerFeatures",
    "GeneralizedZonalKernel",
    "HarmonicFeatures",
    "HashingFeatures",
    "KernelCCA",
    "KernelKMeans",
    "KernelPCA",
    "KernelRidge",
    "KernelRidgeClassifier",
    "Laplacian",
    "LearnedMetric",
    "MaclaurinFeatures",
    "Matern",
    "ModifiedFourierFeatures",
    "NTKFeatures",
    "NeighborKriging",
    "NystroemFeatures",
    "PolySketchFeatures",
    "Polynomial",
    "ProductFeatures",
    "RationalQuadratic",
    "ReLUFeatures",
    "RotationInvariant",
    "SphereEncoder",
    "SphericalFeatures",
    "TableEncoder",
    "TensorSketchFeatures",
    "TruncationWarning",
    "Zonal",
    "datasets",
    "evaluation",
    "fill",
    "grid",
    "load",
    "predict_grid",
    "save",
    "stream",
    "theory",
]
