"""The features that precondition an exact solution, at all of its rows."""

import math
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from .._typing import Array
from ..features.nystroem import NystroemFeatures
from ..kernels import Kernel
from ..rows import Block, sample_rows
from .alphas import is_word
from .ridge import SMALL

__all__ = ["preconditioner_features"]

# Up to this many rows the automatic preconditioner takes all as landmarks, and is exact.
FEW = 1000
# Rows that are mapped at a time.
MAP_ROWS = 4096


def preconditioner_features(preconditioner: Any, kernel: Kernel, block: Block, seed: int) -> Array:
    """Return the features of all rows, in single precision if they are many.

    Parameters
    ----------
    preconditioner : "auto" or feature map
        ``"auto"``: 7 √n landmarks by randomly pivoted Cholesky.
    kernel : Kernel
        With all parameters resolved to numbers.
    block : Block
        The rows.
    seed : int
        Of the landmarks.

    Returns
    -------
    ndarray of shape (n, D)
    """
    n_rows = len(block)
    if is_word(preconditioner, "auto"):
        rank = n_rows if n_rows <= FEW else max(500, math.ceil(7 * math.sqrt(n_rows)))
        features: Any = NystroemFeatures(kernel, rank, sampling="rpcholesky", random_state=seed)
        learnt = block.rows(sample_rows(n_rows))
    else:
        features, learnt = clone(preconditioner), block
    with warnings.catch_warnings():  # fewer distinct rows than landmarks are all landmarks
        warnings.filterwarnings("ignore", "n_components=.* exceeds", UserWarning)
        features.fit(learnt.X, sample_weight=learnt.weight)
    first = _dense(features.transform(block.X[:MAP_ROWS]))
    out = np.empty((n_rows, first.shape[1]), np.float64 if n_rows <= SMALL else np.float32)
    out[:MAP_ROWS] = first
    for start in range(MAP_ROWS, n_rows, MAP_ROWS):
        part = slice(start, start + MAP_ROWS)
        out[part] = _dense(features.transform(block.X[part]))
    return out


def _dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values
