"""Which iterate of a metric is better than none, beyond chance."""

import numpy as np
import scipy.stats

from ...._typing import FloatArray
from ..choices import CONFIDENCE
from ..numerics import TIE

__all__ = ["best_iterate"]


def best_iterate(losses: FloatArray, weights: FloatArray) -> int:
    """Return the iterate with the smallest mean loss if it beats the first beyond chance, else 0.

    Parameters
    ----------
    losses : ndarray of shape (n_iterates, n)
        Of each iterate on each row, the same rows for all.
    weights : ndarray of shape (n,)
    """
    share = weights / weights.sum()
    means = losses @ share
    # The first of those that differ by rounding, which depends on threads.
    best = int(np.argmax(means <= means.min() + TIE * abs(means.min())))
    difference = losses[0] - losses[best]
    gain = share @ difference
    n = len(share)
    error = np.sqrt(share**2 @ (difference - gain) ** 2 * n / (n - 1))
    return best if gain > scipy.stats.t.ppf(CONFIDENCE, n - 1) * error else 0
