"""Fitting a model to the training rows of a table and judging it on the others."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.base import is_regressor

from .._typing import Array
from ..calibration.scores import confidence_error
from ..evaluation import Findings, Split, judge
from ..evaluation.interval_errors import crps_of_constant
from ..rows import sample_of
from ..tables import Columns, LoadedRows, Stream
from ..tables.dask import DaskTable
from ..tables.frames import FrameStream
from .chosen import choices
from .console import Screen
from .models import encoding
from .validation import Validation

__all__ = ["DaskTrainingRows", "FitSample", "LocalTrainingRows", "TrainingRows", "fit_and_test"]

Encode = Callable[[Any], Any]


class TrainingRows(Protocol):
    """All rows of a table, and those for training, as a learner takes them."""

    split: Split
    columns: list[str]

    @property
    def n_rows(self) -> int:
        """The number of all rows, known after `check`."""

    @property
    def n_dropped(self) -> int:
        """The number of rows that were left out, known after `check`."""

    def check(self) -> Any:
        """Check all rows, and return the training rows that a map learns from."""

    def train(self, encode: Encode | None = None) -> tuple[Any, ...]:
        """Return what `fit` takes: the training rows, mapped by a function."""

    def all(self) -> tuple[Any, ...]:
        """Return what `judge` takes: all rows."""


class LocalTrainingRows:
    """Rows that this process reads block by block.

    Parameters
    ----------
    rows : Stream, FrameStream or LoadedRows
        Yields blocks (X, y), the same ones every time.
    split : Split
    """

    def __init__(self, rows: Stream | FrameStream | LoadedRows, split: Split) -> None:
        self._rows = rows
        self.split = split
        self.columns = rows.columns

    @property
    def n_rows(self) -> int:
        """The number of all rows, known after `check`."""
        return self._rows.n_rows

    @property
    def n_dropped(self) -> int:
        """The number of rows that were left out, known after `check`."""
        return self._rows.n_dropped

    def check(self) -> Any:
        """Check all rows, and return the training rows that a map learns from."""
        return sample_of(*self.train())[0]

    def train(self, encode: Encode | None = None) -> tuple[Any, ...]:
        """Return the training rows as a stream."""
        (part,) = self.split.train(self._rows)
        return (part if encode is None else _Encoded(part, encode),)

    def all(self) -> tuple[Any, ...]:
        """Return all rows as a stream."""
        return (self._rows,)


class DaskTrainingRows:
    """Rows that the processes of a Dask cluster read.

    Parameters
    ----------
    picked : Columns
    split : Split
    """

    def __init__(self, picked: Columns, split: Split) -> None:
        self.table = DaskTable(picked)
        self.split = split
        self.columns = picked.inputs

    @property
    def n_rows(self) -> int:
        """The number of all rows, known after `check`."""
        return self.table.n_rows

    @property
    def n_dropped(self) -> int:
        """The number of rows that were left out, known after `check`."""
        return self.table.n_dropped

    def check(self) -> Any:
        """Check all rows, and return the training rows that a map learns from."""
        self.table.check()
        n_train = int(self.split.is_train(0, self.n_rows).sum())
        self.split.check(n_train, self.n_rows - n_train)
        return np.asarray(sample_of(*self.train())[0])

    def train(self, encode: Encode | None = None) -> tuple[Any, ...]:
        """Return the training rows and their targets as Dask arrays."""
        X, y = self.table.arrays(self.split.is_train)
        return (X if encode is None else encode(X)), y

    def all(self) -> tuple[Any, ...]:
        """Return all rows and their targets as Dask arrays."""
        return self.table.arrays()


@dataclass(frozen=True)
class _Encoded:
    rows: Any
    encode: Encode

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for X, *others in self.rows:
            yield (self.encode(X), *others)


@dataclass(frozen=True)
class FitSample:
    """What a report draws.

    Attributes
    ----------
    findings : Findings
    rows : ndarray or frame of shape (n, d)
        Some training rows, at most 10,000.
    folds : dict of str to ndarray
        ``lat``, ``lon`` and ``fold`` of these, if blocks judge the model.
    """

    findings: Findings
    rows: Any
    folds: dict[str, Array] = field(default_factory=dict)


def fit_and_test(
    model: Any,
    rows: TrainingRows,
    screen: Screen,
    where: tuple[int, int] | None = None,
    validation: Validation | None = None,
) -> tuple[dict[str, Any], FitSample]:
    """Fit to the training rows and judge on the others; return the result, and what to draw.

    The rows are read four times: to check them all and take a sample, twice by the learner, and
    with the fitted model. No more than a block of them and the samples are ever held.

    Parameters
    ----------
    model : Pipeline
        Columns (if they are encoded) and learner; fitted in place.
    rows : TrainingRows
    screen : Screen
    where : (int, int), optional
        The columns of latitude and longitude, for a map.
    validation : Validation, optional
        Blocks or groups by which the model is chosen or judged, beside random rows.
    """
    learner = model[-1]
    validation = validation or Validation()
    labels = None
    with screen.stage("Reading rows"):
        sample = rows.check()
    with screen.stage("Fitting"):
        if len(model) > 1:
            model[0].fit(sample)
        if validation.compares:
            labels = validation.labels(rows)
        groups = labels if validation.chooses else None
        learner.fit(*rows.train(encoding(model)), groups=groups)
    with screen.stage("Testing"):
        found = judge(
            model,
            *rows.all(),
            split=rows.split,
            n_rows=rows.n_rows,
            where=where,
            intervals=is_regressor(learner),
        )
    measures = found.measures()
    compared: dict[str, Any] = {}
    folds: dict[str, Array] = {}
    if labels is not None:
        with screen.stage("Testing on blocks"):
            test = measures["test"]
            compared = validation.judge(learner, rows, encoding(model), labels, test, screen)
            folds = validation.picture(sample, labels) if compared else {}
    result = {
        "target": model.table_["target"],
        "inputs": rows.columns,
        "rows": rows.n_rows,
        "rows_dropped": rows.n_dropped,
        "rows_train": learner.n_rows_,
        "rows_test": rows.n_rows - learner.n_rows_,
        "selected": {what: value for what, value, _ in choices(learner)},
        "alpha": learner.alpha_,
        "columns": getattr(getattr(learner, "encoder_", None), "columns_", []),
        **measures,
        **_sureness(learner, found),
    }
    if hasattr(learner, "encoder_"):
        result["importances"] = learner.importances_
    if compared:
        result["validation"] = compared
    return result, FitSample(found, sample, folds)


def _sureness(learner: Any, found: Findings) -> dict[str, Any]:
    """Return how well intervals hold, or how well probabilities do."""
    shown = found.shown
    if found.intervals is None:
        confidence, right = shown["confidence"], shown["prediction"] == shown["truth"]
        return {"calibration_error": confidence_error(confidence, right)}
    measures = {
        **found.intervals.measures(),
        "crps_of_constant": crps_of_constant(shown["truth"]),
    }
    if not hasattr(learner, "target_"):  # else they are on another scale
        calibration = learner.calibration_
        measures["left_out_crps"] = float(calibration.crps[0])
        measures["left_out_crps_without_calibration"] = float(calibration.crps_before[0])
    return {"intervals": measures}
