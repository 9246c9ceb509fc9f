"""What matters in a model of a table: shares of the columns, and partial dependence."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..._typing import Array
from ..models import kinds_of
from . import figures
from .page import Report

__all__ = ["draw_dependence", "partial_dependence"]

# Columns whose curves are drawn, points of a curve, and rows that it is a mean over.
TOP, POINTS, ROWS = 4, 25, 100


def draw_dependence(
    page: Report, learner: Any, rows: Any, target: str, shares: dict[str, float]
) -> None:
    """Draw the shares of the columns and curves of those that matter most; frames only.

    Parameters
    ----------
    page : Report
    learner : estimator
    rows : frame
        Some training rows.
    target : str
    shares : dict of str to float
        Of the columns in what predictions depend on; nothing is drawn if there are none.
    """
    if not shares or not hasattr(rows, "columns"):
        return
    note = (
        "How far predictions for held-out rows move when the values of a column are permuted among "
        "them: shares of the squared differences, which sum to one."
    )
    page.table("What matters", ("column", "share"), list(shares.items()), note)
    label = target if not is_classifier(learner) else f"probability of {learner.classes_[-1]}"
    kinds, drawings = kinds_of(learner), []
    for name in list(shares)[:TOP]:
        kind = "number" if kinds is None else kinds.get(name)
        numeric = kind == "number" and name in rows and rows[name].dtype.kind in "iuf"
        if not numeric and kind != "word":
            continue  # dates and places
        values, means = partial_dependence(learner, rows, name)
        few = rows[name].dropna().to_numpy()[:ROWS] if numeric else None
        drawing = figures.dependence(values, means, name, label, few)
        drawings.append((f"{label} against {name}.", drawing))
    if drawings:
        page.figures(
            "Partial dependence",
            drawings,
            f"The mean prediction over {min(ROWS, len(rows))} rows, one column set to a value, "
            "from the smallest to the largest; small lines are some of the rows.",
        )


def partial_dependence(model: Any, rows: Any, name: str) -> tuple[Array, Array]:
    """Return values of a column, and the mean prediction with the column set to each.

    All of the range of numbers, by quantiles and in equal steps; the commonest words. Of a
    classifier, the probability of the last class.
    """
    column = rows[name].dropna()
    if column.dtype.kind in "iuf":
        dense = np.quantile(column, np.linspace(0, 1, POINTS))
        values = np.union1d(dense, np.linspace(dense[0], dense[-1], POINTS))
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
