"""Logistic regression on landmarks of a local part's kernel: the other candidate of places."""

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from .._typing import Array
from ..features.nystroem import NystroemFeatures
from ..features.space import FeatureSpace
from ..rows import Block, sample_rows
from .from_classes import FromClasses
from .from_rows import FromRows
from .local_calibration import unseen_local
from .log_loss import LogLoss, counting_rows

__all__ = ["beside_local"]

#: Multiples of the local part's length scales that are tried, and rows and columns of the trials.
STRETCHES, TRIAL_ROWS, TRIAL_COLUMNS = (1.0, 2.0, 4.0), 2_000, 256


def beside_local(how: LogLoss, local: FromRows, block: Block, budget: int) -> FromClasses | None:
    """Fit on landmark features of a local part's kernel, its length scales perhaps stretched.

    None where trials on fewer rows and columns have more loss than the local part.

    Parameters
    ----------
    how : LogLoss
    local : FromRows
        The fit of the indicators.
    block : Block
        All rows with labels.
    budget : int
        The number of features.
    """
    if not hasattr(local.part.found.kernel, "length_scale"):
        return None
    rows = Block(local.local_rows(block.X), block.y, block.weight)
    counting = counting_rows(rows)
    trial = rows.rows(counting[sample_rows(len(counting), TRIAL_ROWS)])
    losses = [
        how.on_rows(_landmarks(local, stretch, TRIAL_COLUMNS, trial.X), trial).calibrated.loss
        for stretch in STRETCHES
    ]
    if min(losses) > _held_out_loss(local):
        return None
    space = _landmarks(local, STRETCHES[int(np.argmin(losses))], budget, rows.X)
    found = how.on_rows(space, rows)
    if local.columns is None:
        return found
    whole = make_pipeline(*FeatureSpace(local.columns, 0).steps, space.features)
    return FromClasses(FeatureSpace(whole, space.n_columns), found.mode, found.calibrated)


def _landmarks(local: FromRows, stretch: float, n_components: int, X: Array) -> FeatureSpace:
    """Return landmark features of the kernel of a local part, fitted to rows."""
    kernel = local.part.found.kernel
    length = np.asarray(kernel.length_scale, np.float64) * stretch
    own = clone(kernel).set_params(length_scale=float(length) if length.ndim == 0 else length)
    features = NystroemFeatures(own, min(n_components, len(X)), random_state=0).fit(X)
    return FeatureSpace(features, features.transform(X[:1]).shape[1])


def _held_out_loss(local: FromRows) -> float:
    """Return the mean log loss of calibrated indicators at rows that are left out of the fit."""
    truth, values, weight = unseen_local(local.part, local.map)
    labels = truth.argmax(axis=1)
    chances = local.class_calibration().probabilities(values)[np.arange(len(labels)), labels]
    return float(-np.average(np.log(chances), weights=weight))
