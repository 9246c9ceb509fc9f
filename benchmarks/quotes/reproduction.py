"""The paper's cells beside ours, with the reason where they differ."""

import json
from typing import Any

import numpy as np

import zonal

from ..paper import table2_setting, table3_setting
from ..paper.common import PUBLISHED_METHODS, published_name
from ..paper.reasons import NOT_RUN, TOLERANCE, cluster_reason, ridge_reason
from .sources import RESULTS

__all__ = ["kmeans_cells", "ridge_cells"]

Row = dict[str, Any]


def _line(
    dataset: str, method: str, row: Row | None, key: str, published: float, reason: str
) -> tuple[str, ...]:
    if row is None or not row[key]:
        return dataset, method, "not run", f"{published:g}", "–", NOT_RUN
    mean = float(np.mean(row[key]))
    off = mean / published - 1
    version = row.get("version", "0.1.0")
    notes = [] if version == zonal.__version__ else [f"v{version}"]
    notes += ["one seed"] if len(row[key]) == 1 else []
    ours = f"{mean:.{2 if mean >= 10 else 3}f}" + (f" ({', '.join(notes)})" if notes else "")
    needed = abs(off) > TOLERANCE
    return dataset, method, ours, f"{published:g}", f"{100 * off:+.0f} %", reason if needed else ""


def _rows(name: str) -> dict[tuple[str, str], Row]:
    """The rows of published methods, of Table 2 those at bandwidth 1."""
    rows: list[Row] = json.loads((RESULTS / f"{name}.json").read_text())["rows"]
    return {
        (row["dataset"], row["method"]): row
        for row in rows
        if row["method"] in PUBLISHED_METHODS and row.get("part") != "own bandwidth"
    }


def ridge_cells() -> list[tuple[str, ...]]:
    """Table 2 at bandwidth 1."""
    rows = _rows("table2")
    return [
        _line(
            dataset,
            method,
            rows.get((dataset, method)),
            "mse",
            known[published_name(method)][0],
            ridge_reason(dataset, published_name(method)),
        )
        for dataset, known in table2_setting.PUBLISHED.items()
        for method in PUBLISHED_METHODS
    ]


def kmeans_cells() -> list[tuple[str, ...]]:
    """Table 3, objectives in each method's own features."""
    rows = _rows("table3")
    return [
        _line(
            dataset,
            method,
            rows.get((dataset, method)),
            "own",
            table3_setting.PUBLISHED[published_name(method)][place],
            cluster_reason(published_name(method)),
        )
        for place, dataset in enumerate(table3_setting.DATASETS)
        for method in PUBLISHED_METHODS
    ]
