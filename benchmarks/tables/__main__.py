"""python -m benchmarks.tables [--splits N] [--tables A B] [--methods A B]: errors beside peers.

Every result goes to results/tables.json when it is there, and is not found again; tables.md is
written anew each time.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .data import TABLES, load, split
from .methods import METHODS

RESULTS = Path(__file__).parents[1] / "results"
ABOUT = """# Tables with words, gaps and dates

Root mean squared error on a fifth of the rows (mean over the splits; nothing tuned by hand on
either side), and in brackets the seconds to fit and predict on one core of a machine that others
use too. Trees stop early on a tenth of the training rows. `python -m benchmarks.tables` makes this
page; benchmarks/data/README.md tells where the tables come from. Where a cell is empty, a method
was not run for want of time, and its mean rank is over fewer tables: the last line is no final
verdict. Rows are split at random: in
weather, the hours before and after a test row are among the training rows.
"""


def main() -> None:
    """Measure what is not known yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--again", action="store_true", help="Measure what is known already too.")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / "tables.json"
    for name in wanted.tables:
        X, y = load(name)
        for number in range(wanted.splits):
            for method in wanted.methods:
                known = json.loads(path.read_text()) if path.exists() else {}
                key = f"{name}, {number}, {method}"
                if key in known and not wanted.again:
                    continue
                found = measure(method, X, y, number)
                print(key, found, flush=True)
                known = json.loads(path.read_text()) if path.exists() else {}
                path.write_text(json.dumps({**known, key: found}, indent=0, sort_keys=True) + "\n")
    (RESULTS / "tables.md").write_text(page(json.loads(path.read_text())))


def measure(method: str, X: Any, y: Any, number: int) -> dict[str, float]:
    """Return error and seconds of one method on one split."""
    train, test = split(len(y), number)
    start = time.perf_counter()
    predicted = METHODS[method](X.iloc[train], y[train], X.iloc[test])
    seconds = time.perf_counter() - start
    rmse = float(np.sqrt(np.mean((y[test] - predicted) ** 2)))
    return {"rmse": round(rmse, 5), "seconds": round(seconds, 1)}


def page(known: dict[str, dict[str, float]]) -> str:
    """Return the page of results."""
    header = f"| table | rows | splits | {' | '.join(METHODS)} | ours / best |"
    lines = [header, "| --- " * (len(METHODS) + 4) + "|"]
    ranks = []
    for name in TABLES:
        found = {method: _of(known, name, method) for method in METHODS}
        found = {method: runs for method, runs in found.items() if runs}
        if "zonal" not in found:
            continue
        n_splits = min(map(len, found.values()))
        errors = {
            m: float(np.mean([run["rmse"] for run in runs[:n_splits]])) for m, runs in found.items()
        }
        seconds = {
            m: float(np.mean([run["seconds"] for run in runs[:n_splits]]))
            for m, runs in found.items()
        }
        best = min(errors.values())
        ranks.append({m: sorted(errors.values()).index(error) + 1 for m, error in errors.items()})
        cells = [_cell(errors, seconds, method, best) for method in METHODS]
        n_rows = len(load(name)[1])
        ratio = errors["zonal"] / best
        lines.append(f"| {name} | {n_rows:,} | {n_splits} | {' | '.join(cells)} | {ratio:.3f} |")
    means = [f"{np.mean([rank[m] for rank in ranks if m in rank]):.2f}" for m in METHODS]
    lines.append(f"| mean rank | | | {' | '.join(means)} | |")
    return ABOUT + "\n" + "\n".join(lines) + "\n"


def _cell(errors: Any, seconds: Any, method: str, best: float) -> str:
    if method not in errors:
        return ""
    bold = "**" if errors[method] == best else ""
    return f"{bold}{errors[method]:.4g}{bold} ({seconds[method]:.0f} s)"


def _of(known: dict[str, dict[str, float]], name: str, method: str) -> list[dict[str, float]]:
    keys = (f"{name}, {number}, {method}" for number in range(100))
    return [known[key] for key in keys if key in known]


if __name__ == "__main__":
    main()
