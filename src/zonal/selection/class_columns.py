"""Columns as they are or in normal scores, by the log loss of classes on a part of the pilot."""

import numpy as np

from .._typing import Array
from .._validation import is_sparse
from ..features.columns.ranker import Ranker
from ..features.columns.standardizer import Standardizer
from ..model.class_kernel import SEARCH_ROWS, landmark_fit, plain_kernel
from .rows import Rows

__all__ = ["ranked_better"]


def ranked_better(rows: Rows) -> bool:
    """Tell whether logistic regression has less loss in normal scores than in plain columns.

    Rows are left out one by one, as those of `zonal.model.from_classes`. Spheres, tables that
    were encoded and sparse rows stay as they are.
    """
    pilot = rows.pilot.rows
    plain = isinstance(rows.step, Standardizer) and rows.sphere is None
    if not plain or is_sparse(pilot):
        return False
    few = slice(SEARCH_ROWS)
    labels, weights = np.asarray(rows.pilot_y)[few], rows.pilot.weights[few]
    if len(np.unique(labels)) < 2:
        return False
    ranked = Ranker().fit(pilot, sample_weight=rows.pilot.weights).transform(pilot[few])

    def loss(own: Array) -> float:
        kernel = plain_kernel(own.shape[1])
        return landmark_fit(kernel, np.asarray(own, np.float64), labels, weights).calibrated.loss

    return loss(ranked) < loss(np.asarray(pilot[few]))
