"""The median rule for length scales."""

import warnings
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import _check_sample_weight

from .._typing import FloatArray
from .._validation import row_norms
from ..rows import sample_rows

__all__ = ["median_distance"]

MAX_ROWS = 2000
# A relative margin makes ties fall the same way for weights and for repeated rows.
HALF = 0.5 * (1 - 1e-12)
# Classes of distances, one of which is sorted.
CLASSES = 1000


def median_distance(X: Any, sample_weight: Any = None) -> float:
    """Return the median Euclidean distance between different rows.

    Pairs at distance zero do not count, so that weighting a row by two is the same as repeating
    it, and many equal rows do not shrink the scale to zero. At most 2,000 rows are used; which
    ones depends on their numbers only.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Rows.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows; a pair weighs the product.

    Returns
    -------
    float
        The median, or 1.0 (with a warning) where all rows are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kernels.bandwidth import median_distance
    >>> median_distance(np.array([[0.0], [0.0], [3.0]]))
    3.0
    """
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    chosen = np.flatnonzero(weights > 0)
    chosen = chosen[sample_rows(len(chosen), MAX_ROWS)]
    rows = X[chosen].astype(np.float64)
    distances = squareform(euclidean_distances(rows), checks=False)  # each pair once
    # Equal rows can come out at 1e-8 instead of zero: ‖x‖² + ‖y‖² - 2⟨x,y⟩ cancels.
    floor = 1e-7 * row_norms(rows).max(initial=0.0)
    apart = distances > floor
    if not apart.any():
        warnings.warn(
            "All rows are equal, so they have no median distance: the length scale is set to 1. "
            "Give a number instead.",
            UserWarning,
            stacklevel=2,
        )
        return 1.0
    if (weights[chosen] == weights[chosen[0]]).all():  # then nothing has to be sorted
        values = distances if apart.all() else distances[apart]
        middle = int(np.ceil(HALF * len(values))) - 1
        return float(np.partition(values, middle)[middle])
    pair_weights = squareform(np.outer(weights[chosen], weights[chosen]), checks=False)
    return _weighted_median(distances[apart], pair_weights[apart])


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """Return the smallest value up to which half of the weight lies.

    Only the class of values that holds it is sorted: all pairs of 2,000 rows take ten times as
    long to sort.
    """
    totals, edges = np.histogram(values, CLASSES, weights=weights)
    reached = np.cumsum(totals)
    half = HALF * reached[-1]
    found = int(np.searchsorted(reached, half))
    low, high = edges[found], edges[found + 1] if found + 1 < CLASSES else np.inf
    inside = (low <= values) & (values < high)
    values, weights = values[inside], weights[inside]
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order]) + reached[found] - totals[found]
    return float(values[order][min(np.searchsorted(cumulative, half), len(order) - 1)])
