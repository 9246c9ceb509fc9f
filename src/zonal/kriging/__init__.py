"""The local part of models: a Gaussian process in which a row is known by its nearest rows.

From rows to predictions:

- `locations`: distinct rows in a fixed random order, with weighted means of their targets;
- `neighbors`, `scanning`: the nearest rows, of all rows or of those earlier in the order;
- `covariance`: sums of compiled correlation functions (`engines.correlation`), less what features
  carry;
- `neighborhood`: a row and its neighbours, the factor of their covariances; `pairs`: covariances
  that do not move while others do;
- `weights`: kriging weights and conditional variances, compiled; `weight_gradient`: the way back of
  derivatives; `prediction_slopes`: gradients of predictions; `reference`: the weights in NumPy, for
  any kernel;
- `whitening`: columns made independent, all at once or block by block;
- `low`: the low degrees of a kernel as features;
- `process`: kernel, noise and rows together: weights anywhere, and the whitening;
- `marginal`: mean, coefficients, scale and log evidence from products of whitened columns;
- `joint`: features and the local part together; `joint_search`: their parameters;
- `evidence`: Vecchia's log evidence as a function of length scales, noise and the features' share,
  with its gradient;
- `sample`, `units`, `rounds`, `search`: parameters by evidence; `noise`: for kernels without
  compiled form;
- `judge`, `longer`, `ladder`: one kernel, split by degree, and a longer one beside it.
"""

from .joint import Joint, fit_joint
from .locations import Locations, locate
from .process import LocalProcess
from .search import Found, find_candidates, find_parameters
from .whitening import Whitening

__all__ = [
    "Found",
    "Joint",
    "LocalProcess",
    "Locations",
    "Whitening",
    "find_candidates",
    "find_parameters",
    "fit_joint",
    "locate",
]
