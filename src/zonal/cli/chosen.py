"""What a fitted learner has chosen, in words and tables."""

import re
from collections.abc import Sequence
from typing import Any

__all__ = ["choices", "final_map", "tried"]


def final_map(features: Any) -> Any:
    """The map itself: the last step of a pipeline."""
    return features[-1] if hasattr(features, "steps") else features


def choices(learner: Any) -> list[tuple[str, str, str]]:
    """What was chosen, and why: rows of (what, value, why)."""
    last = final_map(learner.features_)
    automatic = isinstance(learner.features, str)
    rows = [
        (
            "feature map",
            type(last).__name__,
            "chosen automatically" if automatic else "as asked for",
        ),
        (
            "features",
            f"{learner.n_columns_:,}",
            "the number of columns asked for, or all there are",
        ),
    ]
    if hasattr(last, "kernel_"):
        why = "with the parameters left open learnt from the data"
        rows.insert(1, ("kernel", _short(repr(last.kernel_)), why))
    if hasattr(learner, "alpha_"):
        cross_validated = bool(learner.cv_results_)
        why = "the smallest cross-validated error" if cross_validated else "as asked for"
        rows.append(("alpha", f"{learner.alpha_:.3g}", why))
    return rows


def tried(learner: Any) -> tuple[Sequence[str], list[list[Any]]]:
    """The table of candidates of an automatic choice, if the learner keeps one: header, rows."""
    table = getattr(learner, "selection_", None)
    if table is None:
        return [], []
    records = table.to_dict("records") if hasattr(table, "to_dict") else list(table)
    header = list(dict.fromkeys(key for record in records for key in record))
    return [str(key) for key in header], [
        [_cell(row.get(key)) for key in header] for row in records
    ]


def _short(text: str) -> str:
    """Text with the numbers in it rounded to what one reads."""
    return re.sub(r"\d+\.\d{5,}(e-?\d+)?", lambda found: f"{float(found[0]):.4g}", text)


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)
