"""Tables of cells: means over the splits that all methods of a row have, and the best marked."""

from typing import Any

import numpy as np

from ..measure import table

__all__ = ["pages"]

HEADER = (
    "method", "RMSE", "CRPS", "NLPD", "as normal", "95 % hold", "interval score", "CPU s",
    "clock s", "MB", "splits", "version, day",
)  # fmt: skip
# Scores of which less is better, in the order of the columns; how they are shown.
SCORES = {"rmse": "{:.4g}", "crps": "{:.4g}", "nlpd": "{:.3f}", "nlpd_normal": "{:.3f}"}
Cells = dict[tuple[str, str, str], dict[str, Any]]


def pages(cells: Cells, data: dict[str, list[str]], methods: list[str]) -> list[str]:
    """Return a heading and a table for each dataset; `data` has the splits of each title.

    Every method has a line: one that was not run says so.
    """
    parts = []
    for title, splits in data.items():
        found = {
            method: [cells[key] for split in splits if (key := (title, split, method)) in cells]
            for method in methods
        }
        done = {m: [c for c in some if "rmse" in c] for m, some in found.items()}
        best = {score: _least([_mean(done[m], score) for m in methods]) for score in SCORES}
        rows = [_row(m, found[m], done[m], best) for m in methods]
        some = next((c for m in methods for c in done[m]), None)
        size = "" if some is None else f" ({some['rows'][0]:,} rows, test {some['rows'][1]:,})"
        parts.append(f"## {title}{size}\n\n{table(rows, HEADER)}\n")
    return parts


def _least(values: list[float | None]) -> float | None:
    """Return the least of several scores, None where there is but one."""
    known = [value for value in values if value is not None]
    return min(known) if len(known) > 1 else None


def _mean(cells: list[dict[str, Any]], what: str) -> float | None:
    values = [cell[what] for cell in cells if cell.get(what) is not None]
    return float(np.mean(values)) if values else None


def _row(
    method: str, found: list[dict[str, Any]], done: list[dict[str, Any]], best: dict[str, Any]
) -> tuple[str, ...]:
    if not done:
        reason = found[-1]["reason"] if found else "not run yet"
        return (method, reason, *["–"] * (len(HEADER) - 2))
    shown = []
    for score, form in SCORES.items():
        value = _mean(done, score)
        text = "–" if value is None else form.format(value)
        shown.append(f"**{text}**" if value is not None and value == best[score] else text)
    coverage, interval = _mean(done, "coverage"), _mean(done, "interval")
    notes = {cell["note"] for cell in done} - {""}
    versions = sorted({f"{cell['version']}, {cell['date']}" for cell in done})
    failed = [cell["reason"] for cell in found if "reason" in cell]
    return (
        method + (f" ({', '.join(sorted(notes))})" if notes else ""),
        *shown,
        "–" if coverage is None else f"{coverage:.1%}",
        "–" if interval is None else f"{interval:.4g}",
        f"{_mean(done, 'cpu'):.0f}",
        f"{_mean(done, 'clock'):.0f}",
        f"{_mean(done, 'memory'):.0f}",
        str(len(done)) + (f"; {failed[0]}" if failed else ""),
        "; ".join(versions),
    )
