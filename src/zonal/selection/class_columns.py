"""Columns as they are or in normal scores, by the log loss of classes on a part of the pilot."""

import numpy as np

from .._typing import Array
from .._validation import is_sparse
from ..features.columns.ranker import Ranker
from ..features.columns.standardizer import Standardizer
from ..features.space import FeatureSpace
from ..model.log_loss import TRIAL_COLUMNS, TRIAL_ROWS, LogLoss
from ..rows import Block
from .candidates import LANDMARKS, Kernelized, Scales
from .rows import Rows

__all__ = ["ranked_better"]

#: The length scale of the trials, in median distances: a long one is best for logistic regression
#: on few landmarks (of 1, 2 and 4: the last in nine of ten trials on training rows of five
#: tables).
WIDTH = 4.0
#: Rows of a trial: twice as many as of those beside a local part, for rare classes.
MOST_ROWS = 2 * TRIAL_ROWS


def ranked_better(rows: Rows) -> bool:
    """Tell whether logistic regression has less loss in normal scores than in plain columns.

    Rows are left out one by one, as those of `zonal.model.from_classes`. Spheres, tables that
    were encoded and sparse rows stay as they are.
    """
    pilot = rows.pilot.rows
    plain = isinstance(rows.step, Standardizer) and rows.sphere is None
    if not plain or is_sparse(pilot):
        return False
    few = slice(MOST_ROWS)
    labels, weights = np.asarray(rows.pilot_y)[few], rows.pilot.weights[few]
    if len(np.unique(labels)) < 2:
        return False
    ranked = Ranker().fit(pilot, sample_weight=rows.pilot.weights).transform(pilot[few])
    how = LogLoss(np.unique(labels), None, True)

    def loss(own: Array) -> float:
        kernel = Kernelized("matern 3/2", WIDTH, LANDMARKS)
        width, scales = min(TRIAL_COLUMNS, len(own)), Scales.of(own, weights)
        features = kernel.features(width, scales, None, own.shape[1], 0).fit(own)
        space = FeatureSpace(features, len(features.get_feature_names_out()))
        return how.on_rows(space, Block(own, labels, weights)).calibrated.loss

    return loss(ranked) < loss(np.asarray(pilot[few]))
