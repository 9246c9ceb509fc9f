"""One pass over all rows with a fitted model: errors, and the rows that figures show."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ..learners import KernelRidge
from ..moments import Moments
from ..rows import row_hash
from ..rows.block import Block
from .quality import ClassErrors, Errors
from .split import Split

__all__ = ["Findings", "Judge", "best_constant"]

# Training rows whose error is found, test rows in figures and rows on maps: about so many.
TRAIN_ROWS = FIGURE_ROWS = 20_000
MAP_ROWS = 100_000


class Findings(NamedTuple):
    """What a pass finds.

    Attributes
    ----------
    test, train : Errors or ClassErrors
        Of all test rows, and of a sample of the training rows.
    shown, mapped : dict of str to ndarray
        Rows for figures and maps: ``truth`` and ``prediction``; for classes the ``confidence`` in
        the predicted one; on maps ``lat`` and ``lon``.
    """

    test: Any
    train: Any
    shown: dict[str, Array]
    mapped: dict[str, Array]

    def __add__(self, other: "Findings") -> "Findings":  # type: ignore[override]
        """What was found in the rows of both."""
        return Findings(
            self.test + other.test,
            self.train + other.train,
            _joined(self.shown, other.shown),
            _joined(self.mapped, other.mapped),
        )


@dataclass(frozen=True)
class Judge:
    """Judges a model on blocks of rows; rows are sampled by a hash of their numbers.

    Attributes
    ----------
    model : Pipeline
        Columns and learner, fitted.
    constant : object
        The best constant on the training rows: a number, or the commonest class.
    split : Split
    n_rows : int
        The number of all rows.
    where : (int, int) or None
        The columns of latitude and longitude, if there is to be a map.
    """

    model: Any
    constant: Any
    split: Split
    n_rows: int
    where: tuple[int, int] | None

    def __call__(self, block: Block) -> Findings:
        """Judge a block."""
        numbers = np.arange(block.start, block.start + len(block))
        test = self.split.is_test(block.start, block.start + len(block))
        share = row_hash(numbers) / 2.0**64  # uniform in [0, 1]
        n_test = self.split.fraction * self.n_rows
        train = ~test & (share * (self.n_rows - n_test) < TRAIN_ROWS)
        shown = test & (share * n_test < FIGURE_ROWS) if n_test else train
        mapped = share * self.n_rows < MAP_ROWS if self.where else np.zeros_like(test)
        needed = test | train | mapped
        X, truth = block.X[needed], np.asarray(block.y)[needed]
        columns = {"truth": truth, **self._predicted(X)}
        if self.where:
            columns.update(zip(("lat", "lon"), X[:, self.where].T, strict=True))

        def of(rows: Array) -> dict[str, Array]:
            return {name: values[rows[needed]] for name, values in columns.items()}

        figures = {name: part for name, part in of(shown).items() if name != "chances"}
        maps = {name: part for name, part in of(mapped).items() if name != "chances"}
        return Findings(self._errors(of(test)), self._errors(of(train)), figures, maps)

    def _predicted(self, X: Array) -> dict[str, Array]:
        learner, n_rows = self.model[-1], len(X)
        if not n_rows:  # nothing to predict: a made-up row tells the types
            X = np.zeros((1, X.shape[1]), X.dtype)
        found = {"prediction": self.model.predict(X)}
        if not isinstance(learner, KernelRidge):
            chances = self.model.predict_proba(X)
            found.update(confidence=chances.max(axis=1), chances=chances)
        return {name: values[:n_rows] for name, values in found.items()}

    def _errors(self, rows: dict[str, Array]) -> Any:
        truth, prediction = rows["truth"], rows["prediction"]
        if "chances" not in rows:
            return Errors.of(truth, prediction, self.constant)
        classes = self.model[-1].classes_
        return ClassErrors.of(truth, prediction, rows["chances"], classes, self.constant)


def best_constant(learner: Any) -> Any:
    """The mean of the training targets, or the commonest class, from the learner's moments."""
    moments = Moments.merged(learner.moments_)
    means = moments.mean()[moments.n_features :]
    if isinstance(learner, KernelRidge):
        return float(means[0])
    return learner.classes_[int(np.argmax(means))]


def _joined(left: dict[str, Array], right: dict[str, Array]) -> dict[str, Array]:
    return {name: np.concatenate([left[name], right[name]]) for name in left}
