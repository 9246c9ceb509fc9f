"""Fitting a model to the training rows of a table and judging it on the others."""

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from .._typing import Array
from .console import Screen
from .judge import Findings, Judge, best_constant
from .selection import choices

__all__ = ["Material", "fit_and_test"]


class Material(NamedTuple):
    """What a report draws.

    Attributes
    ----------
    findings : Findings
    sample : ndarray of shape (n, d)
        Some training rows, at most 10,000.
    """

    findings: Findings
    sample: Array


def fit_and_test(
    model: Any, rows: Any, screen: Screen, where: tuple[int, int] | None = None
) -> tuple[dict[str, Any], Material]:
    """Fit to the training rows and judge on the others; what came of it, and what to draw.

    The rows are walked over four times: to check them all and take a sample, twice by the learner,
    and with the fitted model. No more than a block of them and the samples are ever held.

    Parameters
    ----------
    model : Pipeline
        Columns and learner; fitted in place.
    rows : LocalRows or DaskRows
    screen : Screen
    where : (int, int), optional
        The columns of latitude and longitude, for a map.
    """
    columns, learner = model[0], model[-1]
    with screen.stage("Reading rows"):
        sample = rows.sample()
    with screen.stage("Fitting"):
        columns.fit(sample)
        learner.fit(*rows.train(columns.transform))
    constant = best_constant(learner)
    with screen.stage("Testing"):
        fitted = Pipeline([("columns", columns), ("learner", learner.without_sums())])
        found = rows.reduce(Judge(fitted, constant, rows.split, rows.n_rows, where))
    result = {
        "target": model.table_["target"],
        "inputs": rows.inputs,
        "rows": rows.n_rows,
        "rows_dropped": rows.n_dropped,
        "rows_train": learner.n_rows_,
        "rows_test": rows.n_rows - learner.n_rows_,
        "selected": {what: value for what, value, _ in choices(learner)},
        "alpha": learner.alpha_,
        "test": found.test.measures(),
        "train": found.train.measures(),
    }
    return result, Material(found, sample)
