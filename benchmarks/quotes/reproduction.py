"""The paper's cells beside ours, with the reason where they differ."""

import json
from typing import Any

import numpy as np

from ..paper.common import PUBLISHED_METHODS, published_name
from ..paper.reasons import TOLERANCE, cluster_reason, ridge_reason
from .sources import RESULTS

__all__ = ["kmeans_cells", "ridge_cells"]


def _line(
    dataset: str, method: str, measured: list[float], published: float, reason: str
) -> tuple[str, ...]:
    mean = float(np.mean(measured))
    off = mean / published - 1
    needed = abs(off) > TOLERANCE
    places = 2 if mean >= 10 else 3
    return (
        dataset,
        method,
        f"{mean:.{places}f}",
        f"{published:g}",
        f"{100 * off:+.0f} %",
        reason if needed else "",
    )


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((RESULTS / f"{name}.json").read_text())["rows"]
    return [row for row in rows if row["method"] in PUBLISHED_METHODS]


def ridge_cells() -> list[tuple[str, ...]]:
    """Table 2 at bandwidth 1."""
    return [
        _line(
            row["dataset"],
            row["method"],
            row["mse"],
            row["published mse"],
            ridge_reason(row["dataset"], published_name(row["method"])),
        )
        for row in _rows("table2")
        if row["part"] == "bandwidth 1" and row["mse"] and row["published mse"]
    ]


def kmeans_cells() -> list[tuple[str, ...]]:
    """Table 3, objectives in each method's own features."""
    return [
        _line(
            row["dataset"],
            row["method"],
            row["own"],
            row["published"],
            cluster_reason(published_name(row["method"])),
        )
        for row in _rows("table3")
        if row["own"] and row["published"]
    ]
