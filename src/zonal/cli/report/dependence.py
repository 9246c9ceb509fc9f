"""What matters in a model of a table: shares of the columns, and partial dependence."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..._typing import Array
from . import figures
from .page import Report

__all__ = ["draw_dependence", "partial_dependence"]

# Columns whose curves are drawn, points of a curve, and rows that it is a mean over.
TOP, POINTS, ROWS = 4, 25, 100


def draw_dependence(page: Report, model: Any, rows: Any, target: str) -> None:
    """Draw the shares of the columns and curves of those that matter most; frames only.

    Parameters
    ----------
    page : Report
    model : Pipeline
        A fitted learner with an encoder, or another, of which nothing is drawn.
    rows : frame
        Some training rows.
    target : str
    """
    learner = model[-1]
    if not hasattr(learner, "encoder_"):
        return
    shares = learner.importances_
    note = (
        "How far predictions for held-out rows move when the values of a column are permuted among "
        "them: shares of the squared differences, which sum to one."
    )
    page.table("What matters", ("column", "share"), list(shares.items()), note)
    label = target if not is_classifier(learner) else f"probability of {learner.classes_[-1]}"
    kinds, drawings = learner.encoder_.kinds_, []
    for name in list(shares)[:TOP]:
        numeric = kinds.get(name) == "number" and rows[name].dtype.kind in "iuf"
        if not numeric and kinds.get(name) != "word":
            continue  # dates and places
        values, means = partial_dependence(model, rows, name)
        drawings.append(
            (f"{label} against {name}.", figures.dependence(values, means, name, label))
        )
    if drawings:
        page.figures(
            "Partial dependence",
            drawings,
            f"The mean prediction over {min(ROWS, len(rows))} rows, one column set to a value.",
        )


def partial_dependence(model: Any, rows: Any, name: str) -> tuple[Array, Array]:
    """Return values of a column, and the mean prediction with the column set to each.

    Quantiles of numbers, the commonest words. Of a classifier, the probability of the last class.
    """
    column = rows[name].dropna()
    if column.dtype.kind in "iuf":
        values = np.unique(np.quantile(column, np.linspace(0.02, 0.98, POINTS)))
    else:
        values = column.astype(str).value_counts().index[:POINTS].to_numpy(dtype=object)
    few = rows.iloc[np.linspace(0, len(rows) - 1, min(ROWS, len(rows))).astype(int)]
    means = []
    for value in values:
        changed = few.assign(**{name: value})
        if is_classifier(model):
            means.append(float(model.predict_proba(changed)[:, -1].mean()))
        else:
            means.append(float(model.predict(changed).mean()))
    return values, np.array(means)
