"""What a fitted learner has chosen, in words and tables."""

import re
from collections.abc import Sequence
from typing import Any

from ..features.columns import LearnedMetric
from ..features.columns.stretcher import Stretcher
from ..features.space import FeatureSpace

__all__ = ["choices", "tried"]


def choices(learner: Any) -> list[tuple[str, str, str]]:
    """Return what was chosen, and why: rows of (what, value, why)."""
    steps = FeatureSpace(learner.features_, learner.n_columns_).steps
    last = steps[-1]
    name = "none" if last is None else type(last).__name__
    how = "chosen automatically" if isinstance(learner.features, str) else "as asked for"
    why = "the number of columns asked for, or all there are"
    rows = [("feature map", name, how), ("features", f"{learner.n_columns_:,}", why)]
    for metric in (step for step in steps if isinstance(step, LearnedMetric | Stretcher)):
        rows.insert(1, _metric_row(metric))
    if hasattr(last, "kernel_"):
        why = "with the parameters left open learnt from the data"
        rows.insert(1, ("kernel", _short(repr(last.kernel_)), why))
    target = getattr(learner, "target_", None)
    if target is not None:
        why = "the largest held-out likelihood; back with smearing"
        rows.append(("target", f"{target.name} of y + {target.shift:g}", why))
    local = getattr(learner, "local_", None)
    if local is not None:
        shares = ", ".join(f"{part} {share:.0%}" for part, share in learner.shares_.items())
        why = f"kriging on {local.n_neighbors_} neighbours; variance explained: {shares}"
        rows.append(("local part", _short(repr(local.kernel_)), why))
    if learner.cv_results_:
        rows.append(("alpha", f"{learner.alpha_:.3g}", "the smallest cross-validated error"))
    elif not isinstance(learner.alpha, str):
        rows.append(("alpha", f"{learner.alpha_:.3g}", "as asked for"))
    return rows


def _metric_row(metric: LearnedMetric | Stretcher) -> tuple[str, str, str]:
    """Return what the columns went through; length scales are of the columns after it."""
    if isinstance(metric, Stretcher):
        return "columns", "stretched", "where the target is steep; length scales are in the result"
    rank, dim = metric.components_.shape
    return "metric", f"learned, of {dim} columns", f"{rank} directions; length scales are in it"


def tried(learner: Any) -> tuple[Sequence[str], list[list[Any]]]:
    """Return header and rows of the table of candidates, if the learner chose among some."""
    table = getattr(learner, "selection_", None)
    if table is None:
        return [], []
    records = table.to_dict("records") if hasattr(table, "to_dict") else list(table)
    header = list(dict.fromkeys(key for record in records for key in record))
    return [str(key) for key in header], [
        [_cell(row.get(key)) for key in header] for row in records
    ]


def _short(text: str) -> str:
    """Return text with the numbers in it rounded."""
    return re.sub(r"\d+\.\d{5,}(e-?\d+)?", lambda found: f"{float(found[0]):.4g}", text)


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)
