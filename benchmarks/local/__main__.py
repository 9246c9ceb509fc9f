"""python -m benchmarks.local [names ...]: writes benchmarks/results/local.md.

Results are kept in local.json, so that datasets can be run one by one.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from ..measure import table
from .data import GLOBE, Task, blocks, gaps, random
from .methods import METHODS

RESULTS = Path(__file__).parents[1] / "results"
HEADER = ("method", "test MSE", "CRPS", "fit, s", "predict, s", "chosen")
NAMES = ["elevation", "climate_berkeley", "co2", "climate", "protein", "gaps"]
# Peers that take many minutes are run where they are asked for: ``--with gpboost``.
SLOW = {"GPBoost (Vecchia)": "gpboost"}
ABOUT = (
    "# A local part beside the peers\n\n`OMP_NUM_THREADS=1 python -m benchmarks.local` (extra "
    "`bench`): one core for each method, one method after the other. Random rows: a tenth is held "
    "out. Blocks: a tenth of all blocks of 10° × 10° is held out, and our learners are told (`cv` "
    "of blocks on the training rows). CRPS is of a new observation. Elevation in km², temperatures "
    "in K or °C, CO2 as log10."
)


def tasks(names: list[str]) -> list[tuple[str, Task]]:
    """Title and split."""
    found = [(f"{name}, random rows", random(name)) for name in names if name != "gaps"]
    found += [(f"{name}, blocks of 10°", blocks(name)) for name in names if name in GLOBE]
    if "gaps" in names:
        found.append(("gaps_simulated, the holes", gaps()))
    return found


def row(method: str, task: Task) -> tuple[str, ...]:
    """One method on one task, as a line of the table."""
    found = METHODS[method](task)
    score = "" if found.crps is None else f"{found.crps:.4g}"
    return method, f"{found.mse:.4g}", score, f"{found.fit:.1f}", f"{found.predict:.2f}", found.note


def write(known: dict[str, Any]) -> None:
    """Write what is known of all tasks."""
    text = json.dumps(known, indent=1, ensure_ascii=False)
    (RESULTS / "local.json").write_text(text + "\n")
    parts = [ABOUT]
    for title, task in known.items():
        rows = [task["rows"][method] for method in METHODS if method in task["rows"]]
        parts.append(f"## {title}\n\n{task['size']}\n\n{table(rows, HEADER)}")
    (RESULTS / "local.md").write_text("\n\n".join(parts) + "\n")


def main() -> None:
    """Run and write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--with", dest="slow", nargs="*", default=[])
    asked = parser.parse_args()
    kept = RESULTS / "local.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    for title, task in tasks(asked.names):
        size = f"{len(task.y):,} training rows, {len(task.y_test):,} test rows."
        entry = known.setdefault(title, {"size": size, "rows": {}})
        for method in METHODS:
            if method not in SLOW or SLOW[method] in asked.slow:
                entry["rows"][method] = row(method, task)
                print(title, *entry["rows"][method], sep=" | ", flush=True)
                write(known)


main()
