"""What the columns of a table are: a sphere, a sphere and others, or just numbers."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ..._validation import is_sparse, norms_agree, row_norms, spans_sphere
from .sphere_encoder import SphereEncoder
from .standardizer import Standardizer

__all__ = ["find_sphere", "prepare"]


def find_sphere(rows: Any) -> npt.NDArray[np.intp] | None:
    """The first three neighbouring columns that are unit vectors in every row, if there are any."""
    if is_sparse(rows) or len(rows) < 2:
        return None
    for first in range(rows.shape[1] - 2):
        norms = row_norms(rows[:, first : first + 3])
        # A coordinate that never changes is no sphere.
        spread = np.ptp(rows[:, first : first + 3], axis=0)
        if norms_agree(norms, norms.max()) and abs(norms[0] - 1) < 1e-5 and (spread > 0.1).all():
            return np.arange(first, first + 3)
    return None


def prepare(
    X: Any, weights: Any, scaled: bool = False
) -> tuple[BaseEstimator | None, Any, npt.NDArray[np.intp] | None]:
    """Columns on a common scale.

    A frame with columns named latitude and longitude (in degrees) is turned into points of the
    sphere; unit vectors stay as they are; everything else is standardised.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n, d)
        Rows of the pilot.
    weights : ndarray of shape (n,)
    scaled : bool
        Whether the columns are on a common scale already.

    Returns
    -------
    step : fitted transformer or None
        None where nothing has to be done.
    rows : ndarray or CSR matrix
        The rows after it.
    sphere : ndarray of shape (3,) or None
        The columns of the rows that are unit vectors.
    """
    if scaled:
        return None, X, find_sphere(X)
    if hasattr(X, "columns"):
        encoder = SphereEncoder()
        try:
            encoder.fit(X, sample_weight=weights)
            rows = encoder.transform(X)
        except ValueError:  # no such names, or the numbers under them are not degrees
            pass
        else:
            return encoder, np.asarray(rows), np.arange(3)
    values = np.asarray(X, dtype=np.float64) if hasattr(X, "columns") else X
    sphere = find_sphere(values)
    keep = () if sphere is None else tuple(sphere.tolist())
    whole = len(keep) == values.shape[1]
    if whole or (sphere is None and not is_sparse(values) and spans_sphere(values)):
        if not hasattr(X, "columns"):
            return None, values, sphere
        keep = tuple(range(values.shape[1]))  # nothing is changed, but names are taken off
    step = Standardizer(keep=keep)
    return step.fit(X, sample_weight=weights), step.transform(X), sphere
