"""Fitting a model to the training rows of a table and judging it on the others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.base import is_regressor

from .._typing import Array
from ..calibration.scores import confidence_error
from ..evaluation import Findings, Split, judge
from ..evaluation.interval_errors import crps_of_constant
from ..rows import sample_of
from ..tables import Columns, LoadedRows
from ..tables.dask import DaskTable
from ..tables.frames import FrameStream
from .chosen import choices
from .console import Screen
from .models import kinds_of, remember_table
from .noise import NoiseKind, WithoutNoise, WithVariances
from .validation import Validation

__all__ = [
    "DaskTrainingRows",
    "FitSample",
    "LocalTrainingRows",
    "Trained",
    "TrainingRows",
    "judge_model",
    "train",
]


class TrainingRows(Protocol):
    """All rows of a table, and those for training, as a learner takes them."""

    split: Split
    columns: list[str]
    noise: NoiseKind | None

    @property
    def n_rows(self) -> int:
        """The number of all rows, known after `check`."""

    @property
    def n_dropped(self) -> int:
        """The number of rows that were left out, known after `check`."""

    def check(self) -> Any:
        """Check all rows, and return the training rows that a map learns from."""

    def train(self) -> tuple[Any, ...]:
        """Return what `fit` takes: the training rows."""

    def all(self) -> tuple[Any, ...]:
        """Return what `judge` takes: all rows."""


class LocalTrainingRows:
    """Rows that this process reads block by block.

    Parameters
    ----------
    rows : FrameStream or LoadedRows
        Yields blocks (X, y), the same ones every time.
    split : Split
    noise : NoiseKind, optional
        What the third part of the blocks tells of the errors of rows.
    """

    def __init__(
        self, rows: FrameStream | LoadedRows, split: Split, noise: NoiseKind | None = None
    ) -> None:
        self._rows = rows
        self.split = split
        self.noise = noise
        self.columns = rows.columns

    @property
    def n_rows(self) -> int:
        """The number of all rows, known after `check`."""
        return self._rows.n_rows

    @property
    def n_dropped(self) -> int:
        """The number of rows that were left out, known after `check`."""
        return self._rows.n_dropped

    @property
    def kept(self) -> Array:
        """Which rows of the table are not left out, known after `check`."""
        return self._rows.kept

    def check(self) -> Any:
        """Check all rows, and return the training rows that a map learns from."""
        return sample_of(*self.train())[0]

    def train(self) -> tuple[Any, ...]:
        """Return the training rows as a stream, with variances where errors are known."""
        (part,) = self.split.train(self._rows)
        return (part if self.noise is None else WithVariances(part, self.noise),)

    def all(self) -> tuple[Any, ...]:
        """Return all rows as a stream."""
        return (self._rows if self.noise is None else WithoutNoise(self._rows),)


class DaskTrainingRows:
    """Rows that the processes of a Dask cluster read.

    Parameters
    ----------
    picked : Columns
    split : Split
    """

    noise: NoiseKind | None = None

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

    def train(self) -> tuple[Any, ...]:
        """Return the training rows and their targets as Dask arrays."""
        return self.table.arrays(self.split.is_train)

    def all(self) -> tuple[Any, ...]:
        """Return all rows and their targets as Dask arrays."""
        return self.table.arrays()


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


@dataclass(frozen=True)
class Trained:
    """What is left of a fit for the judgement.

    Attributes
    ----------
    sample : ndarray or frame of shape (n, d)
        Some training rows.
    labels : ndarray of shape (n_train,), or None
        The block or group of each training row, where these judge the model.
    """

    sample: Any
    labels: Array | None


def train(
    learner: Any,
    rows: TrainingRows,
    screen: Screen,
    validation: Validation | None = None,
    *,
    target: str,
    notes: Mapping[str, Any] | None = None,
    queries: Any = None,
) -> Trained:
    """Fit to the training rows, so that the model can be saved before it is judged.

    The rows are read three times: to check them all and take a sample, and twice by the learner.
    No more than a block of them and the sample are ever held.

    Parameters
    ----------
    learner : estimator
        Fitted in place; it encodes the rows itself, and knows its table and its intervals then.
    rows : TrainingRows
    screen : Screen
    validation : Validation, optional
        Blocks or groups by which the model is chosen or judged, beside random rows.
    target : str
        The name of y.
    notes : mapping, optional
        What else the model remembers of its table.
    queries : frame, optional
        Rows that will be asked.
    """
    validation = validation or Validation()
    with screen.stage("Reading rows"):
        sample = rows.check()
        labels = validation.labels(rows) if validation.compares else None
    learner.set_params(cv=validation.folds(learner.cv, labels, screen))
    with screen.stage("Fitting"):
        known: dict[str, Any] = {} if rows.noise is None else {"noise_variance": True}
        if queries is not None:
            known["queries"] = queries
        learner.fit(*rows.train(), groups=labels if validation.chooses else None, **known)
        if is_regressor(learner):
            learner.calibration_  # noqa: B018  # found now, so that it is saved
    remember_table(learner, rows.columns, target, **(notes or {}))
    return Trained(sample, labels)


def judge_model(
    learner: Any,
    rows: TrainingRows,
    trained: Trained,
    screen: Screen,
    validation: Validation | None = None,
    *,
    where: tuple[int, int] | None = None,
) -> tuple[dict[str, Any], FitSample]:
    """Judge a model on all rows, read once; return the result, and what to draw.

    Parameters
    ----------
    learner : estimator
        Fitted by `train`.
    rows : TrainingRows
    trained : Trained
        What `train` returned.
    screen : Screen
    validation : Validation, optional
        As `train` took it.
    where : (int, int), optional
        The columns of latitude and longitude, for a map.
    """
    with screen.stage("Testing"):
        found = judge(
            learner,
            *rows.all(),
            split=rows.split,
            n_rows=rows.n_rows,
            where=where,
            intervals=is_regressor(learner),
        )
    measures = found.measures()
    compared: dict[str, Any] = {}
    folds: dict[str, Array] = {}
    if validation is not None and trained.labels is not None:
        with screen.stage("Testing on blocks"):
            compared = validation.judge(learner, rows, trained.labels, measures["test"], screen)
            folds = validation.picture(trained.sample, trained.labels) if compared else {}
    result = {
        "target": learner.table_["target"],
        "inputs": rows.columns,
        "rows": rows.n_rows,
        "rows_dropped": rows.n_dropped,
        "rows_train": learner.n_rows_,
        "rows_test": rows.n_rows - learner.n_rows_,
        "selected": {what: value for what, value, _ in choices(learner)},
        "alpha": learner.alpha_,
        "columns": getattr(learner.encoder_, "columns_", []) if kinds_of(learner) else [],
        **measures,
        **_sureness(learner, found),
    }
    importances = getattr(learner, "importances_", None)  # not all features have gradients
    if importances is not None:
        result["importances"] = importances
    if compared:
        result["validation"] = compared
    return result, FitSample(found, trained.sample, folds)


def _sureness(learner: Any, found: Findings) -> dict[str, Any]:
    """Return how well intervals hold, or how well probabilities do."""
    shown = found.shown
    if found.intervals is None:
        confidence, right = shown["confidence"], shown["prediction"] == shown["truth"]
        return {"calibration_error": confidence_error(confidence, right)}
    measures: dict[str, Any] = {
        **found.intervals.measures(),
        "crps_of_constant": crps_of_constant(shown["truth"]),
    }
    calibration = learner.calibration_
    if calibration.held is not None and len(calibration.held):
        names = ("from", "to", "rows", "coverage_90", "coverage_95")
        # JSON knows no infinity: the last class ends nowhere.
        held = [[None if x == np.inf else x for x in row] for row in calibration.held.tolist()]
        measures["by_distance"] = [dict(zip(names, row, strict=True)) for row in held]
    if not hasattr(learner, "target_"):  # else they are on another scale
        measures["left_out_crps"] = float(calibration.crps[0])
        measures["left_out_crps_without_calibration"] = float(calibration.crps_before[0])
    return {"intervals": measures}
