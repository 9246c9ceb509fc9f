"""python -m benchmarks.local [names ...]: writes benchmarks/results/local.md."""

import sys
from pathlib import Path

from ..measure import table
from .data import GLOBE, Task, blocks, gaps, random
from .methods import METHODS

RESULTS = Path(__file__).parents[1] / "results" / "local.md"
HEADER = ("method", "test MSE", "CRPS", "fit, s", "predict, s", "chosen")
# GPBoost takes minutes, or needs a metric of its own, on the others.
SLOW = {"GPBoost (Vecchia)": ("elevation", "climate_berkeley", "gaps")}


def rows_of(name: str, task: Task) -> list[tuple[str, ...]]:
    """All methods on one task."""
    rows = []
    for method, run in METHODS.items():
        if method in SLOW and name not in SLOW[method]:
            continue
        found = run(task)
        score = "" if found.crps is None else f"{found.crps:.4g}"
        seconds = f"{found.fit:.1f}", f"{found.predict:.2f}"
        rows.append((method, f"{found.mse:.4g}", score, *seconds, found.note))
        print(name, *rows[-1], sep=" | ", flush=True)
    return rows


def tasks(names: list[str]) -> list[tuple[str, str, Task]]:
    """Title, dataset and split."""
    found = [(f"{name}, random rows", name, random(name)) for name in names if name != "gaps"]
    found += [(f"{name}, blocks of 10°", name, blocks(name)) for name in names if name in GLOBE]
    if "gaps" in names:
        found.append(("gaps_simulated, the holes", "gaps", gaps()))
    return found


def main() -> None:
    """Run and write the tables."""
    names = sys.argv[1:] or ["elevation", "climate_berkeley", "co2", "climate", "protein", "gaps"]
    parts = [
        "# A local part beside the peers",
        "",
        "`python -m benchmarks.local` (extra `bench`), two cores, one run, methods one after the "
        "other. Random rows: a tenth is held out. Blocks: a tenth of all blocks of 10° × 10° is "
        "held out, and our learners are told (`cv` of blocks on the training rows). CRPS is of a "
        "new observation. Elevation in km², temperatures in K or °C, CO2 as log10.",
    ]
    for title, name, task in tasks(names):
        size = f"{len(task.y):,} training rows, {len(task.y_test):,} test rows."
        parts += ["", f"## {title}", "", size, "", table(rows_of(name, task), HEADER)]
        RESULTS.write_text("\n".join(parts) + "\n")


main()
