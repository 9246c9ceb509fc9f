"""The local part of models: a Gaussian process in which a row is known by its nearest rows.

From rows to predictions:

- `locations`: distinct rows in a fixed random order, with weighted means of their targets;
- `neighbors`: the nearest rows, of all rows or of those earlier in the order;
- `correlation`: compiled correlation functions and their slopes;
- `weights`: kriging weights and conditional variances, compiled and in NumPy, and the way back of
  derivatives;
- `whitening`: columns made independent, all at once or block by block;
- `process`: kernel, noise and rows together: weights anywhere, and the whitening;
- `marginal`: mean, coefficients, scale and log evidence from products of whitened columns;
- `evidence`: Vecchia's log evidence as a function of length scales, noise and the features' share,
  with its gradient;
- `search`: parameters by evidence;
- `joint`: features and the local part together.
"""

from .joint import Joint, fit_joint
from .locations import Locations, locate
from .process import LocalProcess
from .search import Found, find_parameters
from .whitening import Whitening

__all__ = [
    "Found",
    "Joint",
    "LocalProcess",
    "Locations",
    "Whitening",
    "find_parameters",
    "fit_joint",
    "locate",
]
