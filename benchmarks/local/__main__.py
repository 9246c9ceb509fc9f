"""python -m benchmarks.local [names ...]: writes benchmarks/results/local.md.

Results are kept in local.json, so that datasets can be run one by one.
"""

import argparse
import json
from typing import Any

from ..measure import table
from .data import GLOBE, Task, blocks, gaps, random
from .methods import METHODS
from .summary import KEPT, summary

PAGE = KEPT.with_suffix(".md")
HEADER = ("method", "test MSE", "CRPS", "fit, s", "predict, s", "chosen")
NAMES = ["elevation", "climate_berkeley", "co2", "climate", "protein", "gaps"]
# Peers that take many minutes are run where they are asked for: ``--with lightgbm``.
SLOW = {"LightGBM": "lightgbm"}
ABOUT = (
    "# A local part beside the peers\n\n`OMP_NUM_THREADS=1 python -m benchmarks.local` (extra "
    "`bench`): one core for each method, one method after the other. Random rows: a tenth is held "
    "out. Blocks: a tenth of all blocks of 10° × 10° is held out, and our learners are told (`cv` "
    "of blocks on the training rows), and so is LightGBM, which stops by one of these folds. CRPS "
    "is of a new observation. Elevation in km², temperatures in K or °C, CO2 as log10. Seconds are "
    "of the processor since 18 November 2026 (all of LightGBM's), before by the clock of a shared "
    "machine, which are more. Gaussian processes of other libraries are in `benchmarks.fields`."
)


def tasks(names: list[str], split: str | None) -> list[tuple[str, Task]]:
    """Title and split."""
    found = []
    if split != "blocks":
        found += [(f"{name}, random rows", random(name)) for name in names if name != "gaps"]
    if split != "random":
        found += [(f"{name}, blocks of 10°", blocks(name)) for name in names if name in GLOBE]
    if "gaps" in names:
        found.append(("gaps_simulated, the holes", gaps()))
    return found


def row(method: str, task: Task) -> tuple[str, ...]:
    """One method on one task, as a line of the table."""
    found = METHODS[method](task)
    score = "" if found.crps is None else f"{found.crps:.4g}"
    return method, f"{found.mse:.4g}", score, f"{found.fit:.1f}", f"{found.predict:.2f}", found.note


def keep(title: str, size: str, line: tuple[str, ...]) -> None:
    """Add a line to what is known of all tasks."""
    known: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    entry = known.setdefault(title, {"size": size, "rows": {}})
    entry["rows"][line[0]] = line
    KEPT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def write_page() -> None:
    """Write all that is known."""
    known = json.loads(KEPT.read_text())
    parts = [ABOUT, f"## Test MSE of all\n\n{summary()}"]
    for title, task in known.items():
        rows = [task["rows"][method] for method in METHODS if method in task["rows"]]
        parts.append(f"## {title}\n\n{task['size']}\n\n{table(rows, HEADER)}")
    PAGE.write_text("\n\n".join(parts) + "\n")


def main() -> None:
    """Run and write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--with", dest="slow", nargs="*", default=[])
    parser.add_argument("--only", default="", help="the methods whose name has this in it")
    parser.add_argument("--split", choices=["random", "blocks"], help="this split alone")
    asked = parser.parse_args()
    for title, task in tasks(asked.names, asked.split):
        size = f"{len(task.y):,} training rows, {len(task.y_test):,} test rows."
        for method in METHODS:
            slow = method in SLOW and SLOW[method] not in asked.slow
            if asked.only in method and not slow:
                line = row(method, task)
                print(title, *line, sep=" | ", flush=True)
                keep(title, size, line)
    write_page()


main()
