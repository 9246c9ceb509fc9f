"""Tables of cells: means over the splits that all methods of a table have, and the best marked."""

from typing import Any

import numpy as np

from ..measure import table

__all__ = ["compared", "missing", "pages", "standing"]

HEADER = (
    "method", "RMSE", "CRPS", "NLPD", "as normal", "95 % hold", "interval score", "CPU s",
    "clock s", "MB", "splits", "version, day",
)  # fmt: skip
# Scores of which less is better, in the order of the columns; how they are shown.
SCORES = {"rmse": "{:.4g}", "crps": "{:.4g}", "nlpd": "{:.3f}", "nlpd_normal": "{:.3f}"}
STANDING = (
    "data", "ours", "best peer", "its", "standing", "CPU s, ours / its", "CPU s, ours / quickest",
)  # fmt: skip
# What is as good as first: scores differ by as much between splits.
TIE = 0.01
# A fifth of the peer's seconds is what we want to stay below.
QUICK = 0.2
Cells = dict[tuple[str, str, str], dict[str, Any]]


def compared(cells: Cells, title: str, methods: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the cells with scores of each method that has any, of the splits that all have."""
    done = {
        method: {key[1]: cell for key, cell in cells.items() if _is_done(key, cell, title, method)}
        for method in methods
    }
    done = {method: found for method, found in done.items() if found}
    common = set.intersection(*map(set, done.values())) if done else set()
    return {m: [found[split] for split in sorted(common)] for m, found in done.items()}


def _is_done(key: tuple[str, str, str], cell: dict[str, Any], title: str, method: str) -> bool:
    return key[0] == title and key[2] == method and "rmse" in cell


def pages(cells: Cells, data: dict[str, list[str]], methods: list[str]) -> list[str]:
    """Return a heading and a table for each dataset; `data` has the splits of each title.

    A method without a cell has no line (see `missing`). Means of more splits stand below.
    """
    parts = []
    for title in data:
        known = {method for name, _, method in cells if name == title}
        if not known:
            continue
        done = compared(cells, title, methods)
        best = {score: _least([mean(some, score) for some in done.values()]) for score in SCORES}
        run = [method for method in methods if method in known]
        found = {m: [c for key, c in cells.items() if key[::2] == (title, m)] for m in run}
        rows = [_row(m, found[m], done.get(m, []), best) for m in run]
        some = next((c for own in done.values() for c in own), None)
        size = "" if some is None else f" ({some['rows'][0]:,} rows, test {some['rows'][1]:,})"
        parts.append(f"## {title}{size}\n\n{table(rows, HEADER)}\n")
        more = [
            _on_more(m, [c for c in found[m] if "rmse" in c])
            for m, some in done.items()
            if sum("rmse" in c for c in found[m]) > len(some)
        ]
        if more:
            parts.append("\n".join(more) + "\n")
    return parts


def missing(cells: Cells, data: dict[str, list[str]], methods: list[str]) -> str:
    """Return a list of the methods and the datasets where they have no cell."""
    known = {(title, method) for title, _, method in cells}
    absent = []
    for method in methods:
        without = [title for title in data if (title, method) not in known]
        if without:
            those = [title for title in data if title not in without]
            fewer = len(those) < len(without)
            named = f"any but {'; '.join(those)}" if fewer and those else "; ".join(without)
            absent.append(f"- {method}: {named}")
    return "\n".join(["Not run, for want of time:", "", *absent, ""]) if absent else ""


def _on_more(method: str, cells: list[dict[str, Any]]) -> str:
    means = {name: mean(cells, name) for name in SCORES}
    shown = [SCORES[name].format(value) for name, value in means.items() if value is not None]
    return f"- {method} on {len(cells)} splits: {', '.join(shown)} in the order of the columns."


def standing(cells: Cells, data: dict[str, list[str]], ours: str, score: str) -> str:
    """Return how our method stands on each dataset beside the best peer, by one score.

    The best of several lines of a peer may be so by a hair and slow: the last column has the
    quickest of all peers that are as good as the best.
    """
    rows, good, quick, quickest = [], 0, 0, 0
    peers = sorted({method for _, _, method in cells if "zonal" not in method})
    for title in data:
        done = compared(cells, title, [ours, *peers])
        means = {m: value for m, own in done.items() if (value := mean(own, score)) is not None}
        if ours not in means or len(means) < 2:
            continue
        own, other = means.pop(ours), min(means, key=means.__getitem__)
        least = min(own, means[other])
        words = "first" if own == least else "behind"
        if own > least and own - least <= TIE * abs(least):
            words = "within 1 %"
        good += words != "behind"
        alike = [m for m, v in means.items() if v - means[other] <= TIE * abs(means[other])]
        seconds = {m: max(mean(done[m], "cpu") or 0, 0.1) for m in [*alike, ours]}
        ratios = [seconds[ours] / one for one in (seconds[other], min(map(seconds.get, alike)))]
        quick += words != "behind" and ratios[0] <= QUICK
        quickest += words != "behind" and ratios[1] <= QUICK
        shown = [SCORES[score].format(value) for value in (own, means[other])]
        rows.append((title, shown[0], other, shown[1], words, *(f"{one:.2g}" for one in ratios)))
    if not rows:
        return ""
    counted = (
        f"First or within 1 % on {good} of {len(rows)}, on {quick} of them with at most a fifth of "
        f"the best peer's CPU seconds, on {quickest} with at most a fifth of those of the quickest "
        "peer whose score is within 1 % of the best one's."
    )
    return f"{counted}\n\n{table(rows, STANDING)}\n"


def _least(values: list[float | None]) -> float | None:
    """Return the least of several scores, None where there is but one."""
    known = [value for value in values if value is not None]
    return min(known) if len(known) > 1 else None


def mean(cells: list[dict[str, Any]], what: str) -> float | None:
    """Return the mean of a score over cells, None where one of them has none."""
    values = [cell.get(what) for cell in cells]
    return float(np.mean(values)) if values and None not in values else None


def _row(
    method: str, found: list[dict[str, Any]], done: list[dict[str, Any]], best: dict[str, Any]
) -> tuple[str, ...]:
    if not done:
        reasons = [cell.get("reason", "no split in common with the others") for cell in found]
        return (method, reasons[-1], *["–"] * (len(HEADER) - 2))
    shown = []
    for score, form in SCORES.items():
        value = mean(done, score)
        text = "–" if value is None else form.format(value)
        shown.append(f"**{text}**" if value is not None and value == best[score] else text)
    coverage, interval = mean(done, "coverage"), mean(done, "interval")
    notes = {cell["note"] for cell in done} - {""}
    versions = sorted({f"{cell['version']}, {cell['date']}" for cell in done})
    failed = [cell["reason"] for cell in found if "reason" in cell]
    return (
        method + (f" ({', '.join(sorted(notes))})" if notes else ""),
        *shown,
        "–" if coverage is None else f"{coverage:.1%}",
        "–" if interval is None else f"{interval:.4g}",
        f"{mean(done, 'cpu'):.0f}",
        f"{mean(done, 'clock'):.0f}",
        f"{mean(done, 'memory'):.0f}",
        str(len(done)) + (f"; {failed[0]}" if failed else ""),
        "; ".join(versions),
    )
