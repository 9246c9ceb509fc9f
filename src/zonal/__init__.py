"""zonal: kernel methods that scale, by explicit features Z with Z Zᵀ ≈ K.

The library reads in the order of the theory:

- `zonal.polynomials`: Gegenbauer polynomials, quadrature, series, points on the sphere;
- `zonal.kernels`: kernels, exact and expanded as generalized zonal kernels;
- `zonal.features`: feature maps, as scikit-learn transformers;
- `zonal.likelihoods`: counts, amounts, shares, classes given a latent function;
- `zonal.learners`: regression, classification, clustering, components, in one pass;
- `zonal.rows`, `zonal.tables`, `zonal.distributed`: rows in memory, in files, on a cluster;
- `zonal.evaluation`: how good a model is;
- `zonal.grid`: maps in, maps out (xarray);
- `zonal.theory`: the paper's quantities as functions;
- `zonal.datasets`: real data to try it on.
"""

import lazy_loader

from ._version import __version__ as __version__

# Names are imported when they are first used, from where `__init__.pyi` says: `import zonal` alone
# costs next to nothing, and Numba is loaded by what needs it.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
