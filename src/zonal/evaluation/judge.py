"""One pass over all rows with a fitted model: errors, and the rows that figures show."""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from .._typing import Array
from ..rows import row_hash, source_of
from ..rows.block import Block, take
from .errors import ClassErrors, Counts, Errors, Spread
from .interval_errors import LEVELS, IntervalErrors
from .split import Split

__all__ = ["FIGURE_ROWS", "Findings", "Judge", "judge"]

# Training rows whose error is found, test rows in figures and rows on maps: about so many.
TRAIN_ROWS = FIGURE_ROWS = 20_000
MAP_ROWS = 100_000
# Rows that are judged together.
BLOCK_ROWS = 1 << 16


@dataclass(frozen=True)
class Findings:
    """What a pass finds.

    Attributes
    ----------
    test, train : Errors or ClassErrors
        Of the test rows, and of (a sample of) the training rows.
    targets : Spread or Counts
        The targets of all training rows; ``targets.best`` is the best constant prediction.
    shown, mapped : dict of str to ndarray
        Rows for figures and maps: ``truth`` and ``prediction``; for classes the ``confidence`` in
        the predicted one; on maps ``lat`` and ``lon``; with intervals the ``width`` of those of
        90 %. Empty where no sample was asked for.
    intervals : IntervalErrors or None
        Of the test rows (of training rows, if there are no others), if they were asked for.
    """

    test: Any
    train: Any
    targets: Any
    shown: dict[str, Array]
    mapped: dict[str, Array]
    intervals: IntervalErrors | None = None

    def __add__(self, other: "Findings") -> "Findings":
        """Return what was found in the rows of both."""
        return Findings(
            self.test + other.test,
            self.train + other.train,
            self.targets + other.targets,
            _joined(self.shown, other.shown),
            _joined(self.mapped, other.mapped),
            None
            if self.intervals is None or other.intervals is None
            else self.intervals + other.intervals,
        )

    def measures(self) -> dict[str, dict[str, float]]:
        """Return the measures of ``test`` and ``train`` beside those of the best constant."""
        constant = self.targets.best if self.targets.rows else None
        return {"test": self.test.measures(constant), "train": self.train.measures(constant)}


def judge(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    split: Split | None = None,
    n_rows: int | None = None,
    where: tuple[int, int] | None = None,
    intervals: bool = False,
) -> Findings:
    """Judge a fitted model in one pass over rows.

    Parameters
    ----------
    model : estimator
        Any fitted regressor or classifier with one target, of this library or another.
    X : array, frame, Dask collection or stream of blocks
        Rows; a stream yields their targets (and weights) too.
    y, sample_weight : arrays or Dask collections, optional
        Targets and weights, unless X yields them.
    split : Split, optional
        Which rows are for the test; by default all. The others are judged as training rows.
    n_rows : int, optional
        The number of all rows. If it is given, a sample of rows (about 20,000 of the test rows,
        100,000 on a map) is kept for figures, and training rows are judged on a sample.
    where : (int, int), optional
        The columns of latitude and longitude, if there is to be a map.
    intervals : bool, default=False
        Whether to judge the model's quantiles too, for regressors that have `predict_quantiles`.

    Returns
    -------
    Findings
        Errors of test and training rows, and the sample.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.linspace(-3, 3, 300)[:, None]
    >>> model = zonal.KernelRidge(budget=32, random_state=0).fit(X[::2], np.sin(X[::2, 0]))
    >>> found = zonal.evaluation.judge(model, X[1::2], np.sin(X[1::2, 0]))
    >>> bool(found.test.measures()["rmse"] < 1e-3)
    True
    """
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    y, sample_weight = (
        np.asarray(part) if isinstance(part, list | tuple) else part for part in (y, sample_weight)
    )
    if intervals:
        _learner(model).calibration_  # noqa: B018  # found now, for a light model has no rows
    task = Judge(_light(model), split, n_rows, where, intervals)
    found: Findings = source_of(X, y, sample_weight).reduce(task, operator.add, BLOCK_ROWS)
    if found is None:
        raise ValueError("X has 0 rows; at least one is needed to judge a model.")
    return found


@dataclass(frozen=True)
class Judge:
    """Judges a model on blocks of rows; rows are sampled by a hash of their numbers.

    Attributes
    ----------
    model, split, n_rows, where, intervals
        As `judge` takes them.
    """

    model: Any
    split: Split | None = None
    n_rows: int | None = None
    where: tuple[int, int] | None = None
    intervals: bool = False

    def __call__(self, block: Block) -> Findings:
        """Judge a block."""
        truth = self._truth(block)
        test, train, shown, mapped = self._masks(block)
        needed = np.flatnonzero(test | train | mapped)
        X = take(block.X, needed)
        columns = {"truth": truth[needed], **self._predicted(X, truth)}
        if block.weight is not None:
            columns["weight"] = np.asarray(block.weight)[needed]
        place = _columns_of(X, self.where) if self.where else None

        def of(rows: Array) -> dict[str, Array]:
            return {name: values[rows[needed]] for name, values in columns.items()}

        samples = []
        for rows in (shown, mapped):
            without = ("chances", "weight") if rows is shown else ("chances", "quantiles", "weight")
            samples.append({k: v for k, v in of(rows).items() if k not in without})
        if place is not None:
            for sample, rows in zip(samples, (shown, mapped), strict=True):
                sample.update(zip(("lat", "lon"), place[rows[needed]].T, strict=True))
        training = ~test
        weight = None if block.weight is None else np.asarray(block.weight)[training]
        targets = self._targets(truth[training], weight)
        held = None
        if self.intervals:
            judged = of(train if self.split is not None and not self.split.fraction else test)
            held = IntervalErrors.of(judged["truth"], judged["quantiles"], judged.get("weight"))
        errors = self._errors(of(test)), self._errors(of(train))
        return Findings(*errors, targets, samples[0], samples[1], held)

    def _masks(self, block: Block) -> tuple[Array, Array, Array, Array]:
        """Tell which rows are for the test, which training rows are judged, which are kept."""
        start, stop = block.start, block.start + len(block)
        none = np.zeros(len(block), dtype=bool)
        test = ~none if self.split is None else self.split.is_test(start, stop)
        if self.n_rows is None:
            return test, ~test, none, none
        share = row_hash(np.arange(start, stop)) / 2.0**64  # uniform in [0, 1]
        n_test = self.n_rows * (1.0 if self.split is None else self.split.fraction)
        train = ~test & (share * (self.n_rows - n_test) < TRAIN_ROWS)
        shown = test & (share * n_test < FIGURE_ROWS) if n_test else train
        return test, train, shown, share * self.n_rows < MAP_ROWS if self.where else none

    def _truth(self, block: Block) -> Array:
        if block.y is None:
            raise ValueError("y is missing: judging a model takes the true targets.")
        truth = np.asarray(block.y)
        if truth.ndim != 1:
            raise ValueError(
                f"y has the shape {truth.shape}, but one target is judged at a time: pass a "
                "column of it, and a model of that column."
            )
        return truth

    def _predicted(self, X: Any, truth: Array) -> dict[str, Array]:
        empty = X.shape[0] == 0
        found = {"prediction": truth[:0] if empty else np.asarray(self.model.predict(X))}
        if self.intervals:
            quantiles = np.zeros((0, len(LEVELS)))
            if not empty:
                quantiles = _learner(self.model).predict_quantiles(_encoded(self.model, X), LEVELS)
            found.update(quantiles=quantiles, width=quantiles[:, -2] - quantiles[:, 1])
        if is_classifier(self.model) and hasattr(self.model, "predict_proba"):
            n_classes = len(self.model.classes_)
            chances = np.zeros((0, n_classes)) if empty else self.model.predict_proba(X)
            found.update(confidence=chances.max(axis=1, initial=0.0), chances=chances)
        return found

    def _targets(self, truth: Array, weight: Array | None) -> Spread | Counts:
        if is_classifier(self.model):
            return Counts.of(truth, self.model.classes_, weight)
        return Spread.of(truth, weight)

    def _errors(self, rows: dict[str, Array]) -> Errors | ClassErrors:
        truth, prediction, weight = rows["truth"], rows["prediction"], rows.get("weight")
        if not is_classifier(self.model):
            return Errors.of(truth, prediction, weight)
        classes = self.model.classes_
        return ClassErrors.of(truth, prediction, classes, rows.get("chances"), weight)


def _columns_of(X: Any, places: tuple[int, int]) -> Array:
    chosen = list(places)
    columns = X.iloc[:, chosen] if hasattr(X, "iloc") else X[:, chosen]
    return np.asarray(columns, dtype=np.float64)


def _learner(model: Any) -> Any:
    """Return the last step of a pipeline, or the model."""
    return model[-1] if isinstance(model, Pipeline) else model


def _encoded(model: Any, X: Any) -> Any:
    """Return rows as the last step of a pipeline sees them."""
    return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X


def _light(model: Any) -> Any:
    """Return a model without the sums that only `fit` needs: most of what workers would be sent."""
    if isinstance(model, Pipeline):
        *steps, (name, last) = model.steps
        return Pipeline([*steps, (name, _light(last))])
    return model.without_sums() if hasattr(model, "without_sums") else model


def _joined(left: dict[str, Array], right: dict[str, Array]) -> dict[str, Array]:
    return {name: np.concatenate([left[name], right[name]]) for name in left}
