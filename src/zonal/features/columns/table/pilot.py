"""Which columns of numbers are mapped to normal scores: what a held-out fifth of the rows says."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ...._typing import FloatArray
from ....kernels import Matern
from ....kernels.bandwidth import median_distance
from ..choices import PILOT_ROWS
from ..metric.comparison import best_iterate
from ..metric.distinct_sample import DistinctSample
from ..metric.regression import Regression

__all__ = ["best_encoding", "numbered"]


def best_encoding(encodings: Iterable[FloatArray], targets: FloatArray, weights: FloatArray) -> int:
    """Return the number of the encoding that a kernel regression does best with.

    The first stays unless another is better beyond chance on the same held-out rows.

    Parameters
    ----------
    encodings : iterable of ndarrays of shape (n, d)
        The same rows, looked at one after the other.
    targets : ndarray of shape (n, t)
        Centred, of unit variance in all.
    weights : ndarray of shape (n,)
    """
    losses, held_out = [], np.empty(0)
    for rows in encodings:
        sample = numbered(rows, targets, weights)
        if not sample.usable:
            return 0
        scale = median_distance(sample.rows[:1000], sample.weights[:1000])
        if not scale > 0:
            return 0
        landmarks = np.arange(min(PILOT_ROWS // 10, sample.n_train))
        losses.append(Regression.fit(Matern(1.5, scale), sample, landmarks).losses)
        held_out = sample.weights[sample.n_train :]
    return best_iterate(np.array(losses), held_out)


def numbered(rows: FloatArray, targets: FloatArray, weights: FloatArray) -> DistinctSample:
    """Return a sample in which equal rows are apart, so that all encodings share their split."""
    found = DistinctSample.of(np.arange(len(rows))[:, None].astype(float), targets, weights)
    return replace(found, rows=rows[found.rows[:, 0].astype(int)])
