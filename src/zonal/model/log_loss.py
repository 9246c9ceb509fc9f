"""The log loss in the place of the squared one, for rows whose indicators are fitted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..likelihoods import Multinomial
from ..rows import Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.hashing import LEARN_ROWS
from ..rows.reservoir import Reservoir
from .anova_kernel import LANDMARKS, Pseudo
from .class_fit import ClassMode, fit_classes
from .class_sums import ClassExpansion, ClassSums, curvature
from .from_classes import FromClasses
from .kept_features import room_for_features
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

    #: A label tells little of its row: 400 gain .0006 of the log loss on validation rows of magic,
    #: nothing on those of connect4, and the search takes up to twice as long.
    landmarks: ClassVar[int] = LANDMARKS

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
            mode = self._mode_on_rows(space, shift, source.block, quick)
        else:
            mode = fit_classes(walk, self._start(space.features, shift), *self._rule)
        weight = np.ones(len(sample)) if sample.weight is None else np.asarray(sample.weight, float)
        return FromClasses.of(
            space, mode, sample.rows(), sample.y.argmax(axis=1), weight / self.unit
        )

    def on_rows(self, space: FeatureSpace, rows: Block) -> FromClasses:
        """Fit to rows in memory, and calibrate by a sample of them."""
        mode = self._mode_on_rows(space, space.mean(rows.X), rows, quick=True)
        return FromClasses.of(space, mode, *self.sample(rows, LEARN_ROWS))

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
        counting = counting_rows(rows)
        few = rows.rows(counting[sample_rows(len(counting), size)])
        return few.X, *self.labelled(few)

    @property
    def _rule(self) -> tuple[float | None, bool]:
        return self.alpha, self.fit_intercept

    def _start(self, features: Any, shift: FloatArray) -> ClassExpansion:
        n_latent = 1 if len(self.classes) == 2 else len(self.classes)
        coef = np.zeros((len(shift) + 1, n_latent))
        return ClassExpansion(features, shift, self.classes, coef, False, self.unit)

    def _mode_on_rows(
        self, space: FeatureSpace, shift: FloatArray, rows: Block, quick: bool
    ) -> ClassMode:
        """Fit to rows in memory, whose features are kept if there is room."""
        features, width = space.features, len(shift)
        by_evidence = quick and self.alpha is None
        if room_for_features(rows, width):
            # Half the memory and time where α is found: what rounding moves is far below noise.
            dtype = np.float32 if by_evidence else np.float64

            def centred(Z: Array) -> Array:
                return np.asarray(Z - shift.astype(Z.dtype), dtype)

            rows, features = Block(space.map(rows.X, centred), rows.y, rows.weight), None
        start = self._start(features, shift)
        near = self._near(start, rows) if by_evidence else None
        return fit_classes(lambda where: where.sums(rows), start, *self._rule, near)

    def _near(self, start: ClassExpansion, rows: Block) -> float:
        """Return α of the columns that vary most, for some rows."""
        counting, width = counting_rows(rows), len(start.shift)
        few = rows.rows(counting[sample_rows(len(counting), FIRST_ROWS * width)])
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
