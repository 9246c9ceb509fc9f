"""What a fitted learner has chosen, in words and tables."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..features.columns import LearnedMetric
from ..features.columns.stretcher import Stretcher
from ..features.space import FeatureSpace

__all__ = ["choices", "length_scales", "tried"]


def choices(learner: Any) -> list[tuple[str, str, str]]:
    """Return what was chosen, and why: rows of (what, value, why)."""
    steps = FeatureSpace(learner.features_, learner.n_columns_).steps
    last = steps[-1]
    how = "chosen automatically" if isinstance(learner.features, str) else "as asked for"
    if last is None:
        rows = [("feature map", "none", f"the local part alone, {how}")]
    else:
        why = "the number of columns asked for, or all there are"
        width = f"{learner.n_columns_:,}"
        rows = [("feature map", type(last).__name__, how), ("features", width, why)]
    for metric in (step for step in steps if isinstance(step, LearnedMetric | Stretcher)):
        rows.insert(1, _metric_row(metric))
    if hasattr(last, "kernel_"):
        why = "with the parameters left open learnt from the data"
        rows.insert(1, ("kernel", _kernel(last.kernel_), why))
    if hasattr(learner, "likelihood_"):
        rows.append(("likelihood", _short(repr(learner.likelihood_)), "shapes by evidence"))
    target = getattr(learner, "target_", None)
    if target is not None:
        why = "the largest held-out likelihood; back with smearing"
        rows.append(("target", f"{target.name} of y + {target.shift:g}", why))
    local = getattr(learner, "local_", None)
    if local is not None:
        shares = ", ".join(f"{part} {share:.0%}" for part, share in learner.shares_.items())
        why = f"kriging on {local.n_neighbors_} neighbours; variance explained: {shares}"
        rows.append(("local part", _kernel(local.kernel_), why))
    if learner.cv_results_:
        rows.append(("alpha", f"{learner.alpha_:.3g}", "the smallest cross-validated error"))
    elif hasattr(learner, "likelihood_") and isinstance(learner.alpha, str):
        rows.append(("alpha", f"{learner.alpha_:.3g}", "the largest evidence"))
    elif not isinstance(learner.alpha, str):
        rows.append(("alpha", f"{learner.alpha_:.3g}", "as asked for"))
    return rows


def length_scales(learner: Any) -> list[tuple[str, float]]:
    """Return the length scales of the local part, the shortest first; none where all are one.

    Along the columns that the encoder makes, by their names; a learned metric has directions.
    """
    local = getattr(learner, "local_", None)
    scales = np.atleast_1d(getattr(getattr(local, "kernel_", None), "length_scale", 0.0))
    if len(scales) < 2:
        return []
    names = names_of(learner)
    if len(names) != len(scales):
        names = [f"direction {number}" for number in range(1, len(scales) + 1)]
    found = zip(names, scales.tolist(), strict=True)
    return sorted(found, key=lambda item: item[1])


def names_of(learner: Any) -> list[str]:
    """Return the names of the columns that the learner's encoder makes."""
    encoder = learner.encoder_
    inputs = np.asarray(learner.table_["inputs"], dtype=object)
    if not hasattr(encoder, "get_feature_names_out"):
        return [str(name) for name in inputs]
    named = hasattr(encoder, "feature_names_in_")
    return [str(name) for name in encoder.get_feature_names_out(None if named else inputs)]


def _kernel(kernel: Any) -> str:
    """Return a kernel as text; length scales of many columns are in a table of their own."""
    scales = np.atleast_1d(getattr(kernel, "length_scale", 0.0))
    if len(scales) < 2:
        return _short(repr(kernel))
    parameters = {
        **kernel.get_params(deep=False),
        "length_scale": f"{scales.min():.4g} to {scales.max():.4g}",
    }
    told = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return _short(f"{type(kernel).__name__}({told})")


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
