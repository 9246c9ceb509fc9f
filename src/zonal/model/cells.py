"""How the cells of a table become rows of numbers, and targets become numbers.

Learnt once, from the rows of a fit, and used again for each row that is predicted. Nothing else in
the library encodes rows.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from .._typing import Array, FloatArray
from .._validation import is_sparse, prediction_dtype
from ..features.columns import TableEncoder
from ..features.columns.table.cells import columns_of, is_plain
from ..features.columns.table.gaps import column_means, filled
from ..features.columns.table.identifiers import identifiers
from ..rows import Block, Source
from ..rows.block import take
from ..rows.kinds import is_frame
from .encoders import encode_training, fit_encoder, is_mixed
from .recipe import MIN_ROWS
from .target_scale import TargetScale, choose_scale

__all__ = ["Cells", "learn_encoder"]


@dataclass(frozen=True)
class Cells:
    """What a fit has learnt of cells and targets.

    Attributes
    ----------
    encoder : transformer or None
        Fitted; None: rows are numbers already, or go to the features as they are.
    means : dict or None
        What fills gaps in frames of numbers that had none in the fit.
    scale : TargetScale or None
        The scale on which targets are learnt; None: as they are.
    classes : ndarray or None
        The labels, where classes are learnt.
    factors : dict of label to float
        What the weights of rows are multiplied by, for each class.
    single : bool
        Whether there is one target, a number, and predictions have one axis.
    periods : tuple of float or None
        Where the last column of the rows is a time: after which it may come back.
    y_dtype : str
        The precision of the targets; labels have none, and follow the rows.
    """

    encoder: Any = None
    means: Any = None
    scale: TargetScale | None = None
    classes: Array | None = None
    factors: dict[Any, float] = field(default_factory=dict)
    single: bool = False
    periods: tuple[float, ...] | None = None
    y_dtype: str = "float64"

    @property
    def mixed(self) -> bool:
        """Whether the rows are those of a table with words, dates or gaps."""
        return is_mixed(self.encoder)

    def with_targets(self, y: Any, classes: Array | None) -> "Cells":
        """Return the same with the kind of targets: classes, or one or several numbers."""
        dtype = "float32" if classes is not None else np.asarray(y).dtype.name
        single = np.ndim(y) == 1 and classes is None
        return replace(self, classes=classes, single=single, y_dtype=dtype)

    def with_scale(self, block: Block, numbers: Any) -> "Cells":
        """Choose the scale of one target by the rows of a table, if these are enough."""
        if not self.mixed or np.ndim(block.y) != 1 or block.n_counting < MIN_ROWS:
            return self
        rows = _Encoded(self.encoder, block.X, numbers)
        return replace(self, scale=choose_scale(rows, block.y, block.weight))

    def with_deviation(self, error: float, least: bool) -> "Cells":
        """Return the same with the error of the chosen model, on the scale of the target.

        Parameters
        ----------
        error : float
        least : bool
            Whether a smaller error that is known already stays.
        """
        if self.scale is None:
            return self
        error = min(error, self.scale.deviation) if least else error
        return replace(self, scale=replace(self.scale, deviation=error))

    def with_class_weight(self, block: Block, class_weight: Any) -> "Cells":
        """Learn how much the rows of each class weigh."""
        if class_weight is None:
            return self
        y = block.y if block.weight is None else block.y[block.weight > 0]
        classes = np.unique(y)
        factors = compute_class_weight(class_weight, classes=classes, y=y)
        return replace(self, factors=dict(zip(classes.tolist(), factors.tolist(), strict=True)))

    def training(self, block: Block, numbers: Any = None) -> Block:
        """Return checked rows as the fit sees them.

        Words become means of the targets of other rows. Rows that are not consecutive come with
        their numbers.
        """
        X, y, weight = block.parts
        if self.encoder is not None:
            if numbers is None:
                numbers = np.arange(block.start, block.start + len(block))
            X = encode_training(self.encoder, X, numbers)
        return Block(X, self.scaled(y), self._weight(y, weight), block.start)

    def scaled(self, y: Any) -> Any:
        """Return targets on the scale on which they are learnt."""
        return y if self.scale is None else self.scale.forward(y).astype(y.dtype)

    def _weight(self, y: Any, weight: FloatArray | None) -> FloatArray | None:
        if not self.factors:
            return weight
        factor = np.array([self.factors.get(label, 1.0) for label in y.tolist()])
        return factor if weight is None else weight * factor

    def rows(self, X: Any) -> Any:
        """Return checked rows that are to be predicted as numbers."""
        if self.means is not None and is_frame(X):
            X = filled(X, self.means)
        return X if self.encoder is None else self.encoder.transform(X)

    def targets(self, y: Any, n_rows: int) -> Array:
        """Return the numbers that are learnt: targets, or indicators of classes: [n, t]."""
        if self.classes is not None:
            return (np.asarray(y)[:, None] == self.classes).astype(np.int8)
        return np.empty((n_rows, 0)) if y is None else np.asarray(y).reshape(n_rows, -1)

    def n_targets(self, y: Any) -> int:
        """Return how many columns `targets` has, without making them."""
        if self.classes is not None:
            return len(self.classes)
        return 0 if y is None else int(np.prod(np.shape(y)[1:], dtype=int))

    def dtype(self, X: Any) -> np.dtype[Any]:
        """Return the precision of predictions for rows."""
        return prediction_dtype(X, self.y_dtype)

    def refitted(self, block: Block) -> "Cells":
        """Return the same, with what an encoder learns from targets taken from other rows."""
        if not self.mixed:
            return self
        return replace(self, encoder=self.encoder.refitted(*block.parts))


@dataclass(frozen=True)
class _Encoded:
    """Rows of a table that are encoded when they are looked at."""

    encoder: Any
    X: Any
    numbers: Any

    def __getitem__(self, chosen: Any) -> Array:
        return np.asarray(
            self.encoder.transform_training(take(self.X, chosen), np.asarray(self.numbers)[chosen])
        )


def learn_encoder(
    encoder: Any, automatic: bool, task: str, block: Block, numbers: Any, source: Source | None
) -> Cells:
    """Learn what makes rows of numbers of a table, if one is needed.

    Parameters
    ----------
    encoder : transformer, "auto" or None
    automatic : bool
        Whether the features are chosen; given ones may want the frame as it is.
    task : {"regression", "classification"}
    block : Block
        Checked rows, targets and weights.
    numbers : ndarray of int
        Those of the rows.
    source : Source or None
        All rows, of which these are a sample.
    """
    X, y, weight = block.parts
    if encoder is None or is_sparse(X):
        return Cells()
    if isinstance(encoder, str):
        if encoder != "auto":
            raise ValueError(
                f"encoder={encoder!r} must be 'auto', None or a transformer such as "
                "zonal.TableEncoder()."
            )
        if not is_frame(X) or not automatic:
            return Cells()
        if is_plain(X) and not identifiers(columns_of(X), numbers):
            return Cells(means=column_means(X))
        encoder = TableEncoder()
    return Cells(fit_encoder(encoder, X, y, weight, task, numbers, source))
