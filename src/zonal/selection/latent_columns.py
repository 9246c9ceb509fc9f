"""Columns as they are or in normal scores, by the loss of a likelihood on a part of the pilot."""

from dataclasses import replace

import numpy as np

from .._typing import Array
from .._validation import is_sparse
from ..features.columns.ranker import Ranker
from ..features.columns.standardizer import Standardizer
from ..model.anova_kernel import TRIAL_ROWS, Latent, landmarks_of, plain_kernel
from ..rows import Block
from .rows import Rows

__all__ = ["ranked_better"]


def ranked_better(rows: Rows, latent: Latent, pilot: Block) -> bool:
    """Tell whether a fit on landmarks has less loss in normal scores than in plain columns.

    Rows are left out one by one. Spheres, tables that were encoded and sparse rows stay as they
    are.

    Parameters
    ----------
    rows : Rows
    latent : Latent
        How latent functions are fitted.
    pilot : Block
        The rows of the pilot with what is observed of them.
    """
    plain = isinstance(rows.step, Standardizer) and rows.sphere is None
    if not plain or is_sparse(pilot.X):
        return False
    few = slice(TRIAL_ROWS)
    if not np.ptp(rows.pilot.targets[few], axis=0).any():
        return False
    ranked = Ranker().fit(pilot.X, sample_weight=rows.pilot.weights).transform(pilot.X[few])
    some = pilot.rows(few)

    def loss(own: Array) -> float:
        known = replace(some, X=np.asarray(own, np.float64))
        return latent.pseudo(landmarks_of(plain_kernel(known.X), known.X), known).loss

    return loss(ranked) < loss(some.X)
