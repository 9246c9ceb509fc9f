"""The log loss in the place of the squared one, for rows whose indicators are fitted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..calibration.softmax import SoftmaxCalibration
from ..features.space import FeatureSpace
from ..likelihoods import Multinomial
from ..rows import Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.hashing import LEARN_ROWS
from ..rows.reservoir import Reservoir
from .anova_kernel import Pseudo
from .class_fit import ClassMode, fit_classes
from .class_sums import ClassExpansion, ClassSums, curvature
from .from_classes import FromClasses, left_out_logits
from .kept_features import room_for_features
from .newton_sums import GivenFeatures
from .summation import Summation

__all__ = ["LogLoss", "counting_rows"]

# The first α is that of so many rows a feature, on a share of the features: curvatures are summed
# over all rows and features twice then, instead of five times, which took most of the time.
FIRST_ROWS, NARROWER = 3, 4
# The least curvature of pseudo-targets.
TINY = 1e-6


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
        where α is found by evidence, and the mean weight where it is less than one.
    """

    classes: Array
    alpha: float | None
    fit_intercept: bool
    unit: float = 1.0

    @classmethod
    def of(cls, labels: Array) -> "LogLoss":
        """Return how classes of these labels are fitted, α by evidence."""
        return cls(np.unique(labels), None, True)

    def fitted(
        self,
        summation: Summation,
        sample: Reservoir,
        source: Source,
        walk: Callable[[ClassExpansion], ClassSums],
        *,
        quick: bool = False,
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
        quick : bool
            Whether rows in memory may be fitted from what some of them tell: α is then near its
            optimum, but not to rounding where a walk over blocks ends.
        """
        space, shift = summation.space, summation.shift[: summation.n_columns]
        if isinstance(source, ArraySource):
            mode, _ = self._mode_on_rows(space, shift, source.block, quick)
        else:
            mode = fit_classes(walk, self._start(space.features, shift), *self._rule)
        weight = np.ones(len(sample)) if sample.weight is None else np.asarray(sample.weight, float)
        return FromClasses.of(
            space, mode, sample.rows(), sample.y.argmax(axis=1), weight / self.unit
        )

    def on_rows(self, space: FeatureSpace, rows: Block) -> FromClasses:
        """Fit to rows in memory, and calibrate by a sample of them."""
        return self.left_out(space, rows)[0]

    def left_out(self, space: FeatureSpace, rows: Block) -> tuple[FromClasses, FloatArray]:
        """Fit to rows in memory, and return logits of `sample` too, each row left out."""
        shift = space.mean(rows.X)
        mode, kept = self._mode_on_rows(space, shift, rows, quick=True)
        numbers, (X, labels, weight) = (
            self._numbers(rows, LEARN_ROWS),
            self.sample(rows, LEARN_ROWS),
        )
        own = space
        if kept is not None:
            Z = kept.X[numbers]
            own, X = FeatureSpace(GivenFeatures(), len(shift)), Z + shift.astype(Z.dtype)
        logits = left_out_logits(own, mode, X, labels, weight)
        return FromClasses(space, mode, SoftmaxCalibration.of(logits, labels, weight)), logits

    def pseudo(self, space: FeatureSpace, rows: Block) -> Pseudo:
        """Fit the classes of rows in memory, and say what the fit says of them."""
        classes, labels = np.unique(np.asarray(rows.y), return_inverse=True)
        found, own = replace(self, classes=classes).on_rows(space, rows), Multinomial()
        f = found.mean(rows.X)
        # A row of no curvature at all would have its pseudo-targets anywhere.
        h = np.maximum(curvature(own.mean(f)), TINY)
        targets = f - found.intercept + own.derivatives(labels, f)[0] / h[:, None]
        if f.shape[1] == 2:
            targets = targets[:, 1:]
        weight = 1.0 if rows.weight is None else np.asarray(rows.weight, np.float64)
        n_latent = len(classes) - 1
        return Pseudo(targets, h * weight, 1 / found.alpha, n_latent, found.calibrated.loss)

    def labelled(self, rows: Block) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Return the numbers of the classes of rows, any for those of no weight, and weights."""
        labels = np.searchsorted(self.classes, np.asarray(rows.y))
        weight = np.ones(len(rows)) if rows.weight is None else np.asarray(rows.weight, float)
        return np.minimum(labels, len(self.classes) - 1), weight / self.unit

    def sample(self, rows: Block, size: int) -> tuple[Any, npt.NDArray[np.intp], FloatArray]:
        """Return some rows that count, the numbers of their classes, and weights."""
        few = rows.rows(self._numbers(rows, size))
        return few.X, *self.labelled(few)

    @staticmethod
    def _numbers(rows: Block, size: int) -> npt.NDArray[np.intp]:
        """Return the numbers of some rows that count."""
        counting = counting_rows(rows)
        return np.asarray(counting[sample_rows(len(counting), size)])

    @property
    def _rule(self) -> tuple[float | None, bool]:
        return self.alpha, self.fit_intercept

    def _start(self, features: Any, shift: FloatArray) -> ClassExpansion:
        n_latent = 1 if len(self.classes) == 2 else len(self.classes)
        coef = np.zeros((len(shift) + 1, n_latent))
        return ClassExpansion(features, shift, self.classes, coef, False, self.unit)

    def _mode_on_rows(
        self, space: FeatureSpace, shift: FloatArray, rows: Block, quick: bool
    ) -> tuple[ClassMode, Block | None]:
        """Fit to rows in memory; return their features about the shift too, if there is room."""
        features, width, kept = space.features, len(shift), None
        by_evidence = quick and self.alpha is None
        if room_for_features(rows, width):
            # Half the memory and time where α is found: what rounding moves is far below noise.
            dtype = np.float32 if by_evidence else np.float64

            def centred(Z: Array) -> Array:
                return np.asarray(Z - shift.astype(Z.dtype), dtype)

            rows = kept = Block(space.map(rows.X, centred), rows.y, rows.weight)
            features = None
        start = self._start(features, shift)
        near = self._near(start, rows) if by_evidence else None
        mode = fit_classes(lambda where: where.sums(rows), start, *self._rule, near)
        return mode, kept

    def _near(self, start: ClassExpansion, rows: Block) -> float:
        """Return α of the columns that vary most, for some rows."""
        width = len(start.shift)
        few = rows.rows(self._numbers(rows, FIRST_ROWS * width))
        Z = start.space.map(few.X, np.copy)
        if start.features is not None:
            Z -= start.shift.astype(Z.dtype)
        most = np.argsort(-Z.var(axis=0))[: -(-width // NARROWER)]
        few, own = Block(Z[:, most], few.y, few.weight), self._start(None, start.shift[most])
        return fit_classes(lambda where: where.sums(few), own, *self._rule).alpha


def counting_rows(rows: Block) -> npt.NDArray[np.intp]:
    """Return the numbers of rows of positive weight."""
    if rows.weight is None:
        return np.arange(len(rows))
    return np.flatnonzero(np.asarray(rows.weight) > 0)
