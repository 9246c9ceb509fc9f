"""The log loss in the place of the squared one, for rows whose indicators are fitted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from .._typing import Array, FloatArray
from ..features.nystroem import NystroemFeatures
from ..features.space import FeatureSpace
from ..rows import Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.hashing import LEARN_ROWS
from ..rows.reservoir import Reservoir
from .class_fit import ClassMode, fit_classes
from .class_sums import ClassExpansion, ClassSums
from .from_classes import FromClasses
from .from_rows import FromRows
from .kept_features import room_for_features
from .local_calibration import unseen_local
from .summation import Summation

__all__ = ["TRIAL_COLUMNS", "TRIAL_ROWS", "LogLoss"]

#: Multiples of a local part's length scales that features are tried with, and rows and columns of
#: the trials.
STRETCHES, TRIAL_ROWS, TRIAL_COLUMNS = (1.0, 2.0, 4.0), 2_000, 256
# Trials with so many times the loss of the local part go no further, to save their time. Not tuned:
# on training rows of pendigits (local part .015, trials about .06) the fit is a third quicker, and
# the log loss .0043 instead of .0035.
FAR_BEHIND = 2.0


@dataclass(frozen=True)
class LogLoss:
    """How classes are fitted by their log loss.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels, sorted.
    alpha : float or None
        None: by evidence.
    fit_intercept : bool
    unit : float
        What weights are divided by: the mean factor of the classes, of which only ratios count
        where α is found by evidence.
    """

    classes: Array
    alpha: float | None
    fit_intercept: bool
    unit: float = 1.0

    def fitted(
        self,
        summation: Summation,
        sample: Reservoir,
        source: Source,
        walk: Callable[[ClassExpansion], ClassSums],
    ) -> FromClasses:
        """Fit to all rows, on the features of a fit to their indicators.

        Parameters
        ----------
        summation : Summation
            The features, and what they are taken about.
        sample : Reservoir
            Rows with indicators, by which probabilities are calibrated.
        source : Source
            All rows.
        walk : callable
            Sums over them.
        """
        space, shift = summation.space, summation.shift[: summation.n_columns]
        if isinstance(source, ArraySource):
            mode = self._mode_on_rows(space, shift, source.block)
        else:
            mode = fit_classes(walk, self._start(space.features, shift), *self._rule)
        weight = np.ones(len(sample)) if sample.weight is None else np.asarray(sample.weight, float)
        return FromClasses.of(
            space, mode, sample.rows(), sample.y.argmax(axis=1), weight / self.unit
        )

    def on_rows(self, space: FeatureSpace, rows: Block) -> FromClasses:
        """Fit to rows in memory, and calibrate by a sample of them."""
        mode = self._mode_on_rows(space, space.mean(rows.X), rows)
        return FromClasses.of(space, mode, *self.sample(rows, LEARN_ROWS))

    def sample(self, rows: Block, size: int) -> tuple[Any, npt.NDArray[np.intp], FloatArray]:
        """Return some rows that count, the numbers of their classes, and weights."""
        counting = _counting(rows)
        few = rows.rows(counting[sample_rows(len(counting), size)])
        weight = np.ones(len(few)) if few.weight is None else np.asarray(few.weight, float)
        return few.X, np.searchsorted(self.classes, np.asarray(few.y)), weight / self.unit

    @property
    def _rule(self) -> tuple[float | None, bool]:
        return self.alpha, self.fit_intercept

    def _start(self, features: Any, shift: FloatArray) -> ClassExpansion:
        n_latent = 1 if len(self.classes) == 2 else len(self.classes)
        coef = np.zeros((len(shift) + 1, n_latent))
        return ClassExpansion(features, shift, self.classes, coef, False, self.unit)

    def _mode_on_rows(self, space: FeatureSpace, shift: FloatArray, rows: Block) -> ClassMode:
        """Fit to rows in memory, whose features are kept if there is room."""
        features: Any = space.features
        if room_for_features(rows, len(shift)):
            rows = Block(space.map(rows.X, np.copy), rows.y, rows.weight)
            features = None
        start = self._start(features, shift)
        return fit_classes(lambda where: where.sums(rows), start, *self._rule)

    def beside(
        self, local: FromRows, block: Block, budget: int, furthest: float = FAR_BEHIND
    ) -> FromClasses | None:
        """Fit on landmark features of a local part's kernel, its length scales perhaps stretched.

        None where trials on fewer rows and columns are far behind the local part.

        Parameters
        ----------
        local : FromRows
            The fit of the indicators.
        block : Block
            All rows with labels.
        budget : int
            The number of features.
        furthest : float
            How many times the loss of the local part trials may have.
        """
        rows = Block(local.local_rows(block.X), block.y, block.weight)
        trial = rows.rows(_counting(rows)[sample_rows(len(_counting(rows)), TRIAL_ROWS)])
        losses = [
            self.on_rows(_landmarks(local, stretch, TRIAL_COLUMNS, trial.X), trial).calibrated.loss
            for stretch in STRETCHES
        ]
        if min(losses) > furthest * held_out_loss(local):
            return None
        space = _landmarks(local, STRETCHES[int(np.argmin(losses))], budget, rows.X)
        found = self.on_rows(space, rows)
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


def held_out_loss(local: FromRows) -> float:
    """Return the mean log loss of calibrated indicators at rows that are left out of the fit."""
    truth, values, weight = unseen_local(local.part, local.map)
    labels = truth.argmax(axis=1)
    chances = local.class_calibration().probabilities(values)[np.arange(len(labels)), labels]
    return float(-np.average(np.log(chances), weights=weight))


def _counting(rows: Block) -> npt.NDArray[np.intp]:
    """Return the numbers of rows of positive weight."""
    if rows.weight is None:
        return np.arange(len(rows))
    return np.flatnonzero(np.asarray(rows.weight) > 0)
