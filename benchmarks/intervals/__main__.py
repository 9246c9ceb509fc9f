"""python -m benchmarks.intervals [--splits N] [--peer-splits N] [names ...].

It writes results/intervals.md.
A name is a dataset, for random rows, or a dataset and ``-blocks``. Splits that are done are kept in
results/intervals.json, so that a run can be continued with more of them.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from ..measure import table
from .data import CLASSES, GLOBE, blocks, random
from .methods import METHODS, classes

RESULTS = Path(__file__).parents[1] / "results"
NAMES = [
    "elevation", "climate_berkeley", "climate", "co2", "protein",
    *(f"{name}-blocks" for name in GLOBE), *CLASSES,
]  # fmt: skip
OURS = "**zonal**"
# Peers where they are asked for: they take minutes.
PEERS = {"CatBoost": ("protein",)}


def measured(name: str, seed: int, done: dict[str, list[float]], peers: bool) -> None:
    """Run our method, and its peers if asked for, on one split, but for those that are known."""
    dataset, _, gaps = name.partition("-")
    task = blocks(dataset, seed) if gaps else random(dataset, seed)
    if dataset in CLASSES:
        if OURS not in done:
            done[OURS] = list(classes(task).values())
    else:
        for method, run in METHODS.items():
            asked = method not in PEERS or (peers and name in PEERS[method])
            if asked and method not in done:
                done[method] = list(run(task))
    print(name, seed, done, flush=True)


def page(found: dict[str, dict[str, dict[str, list[float]]]]) -> str:
    """Return the tables."""
    parts = [
        "# Intervals",
        "",
        "`python -m benchmarks.intervals` (extra `bench`). Random rows: a tenth is held out. "
        "Blocks: a tenth of all blocks of 10° × 10° is held out, and the intervals are calibrated "
        "by blocks of the training rows. Coverage is that of 90 % intervals, ± the standard "
        "deviation over the splits; CRPS and the interval score are means over the splits, in km, "
        "K or °C, log10 of CO2, Å; a peer's CRPS over ours is that of the same splits. The last "
        "column is the time of the calibration over that of the fit. The machine was shared. "
        "GPBoost's intervals of elevation and climate_berkeley are in the comparison of fields, "
        "with its own ν, scales and trend.",
    ]
    rows, labels = [], []
    for name, splits in found.items():
        methods = {method for one in splits.values() for method in one}
        for method in sorted(methods, key=lambda method: (method != OURS, method)):
            values = np.array([one[method] for one in splits.values() if method in one])
            mean, count = values.mean(axis=0), str(len(values))
            held = f"{100 * mean[0]:.1f}"
            if len(values) > 1:
                held += f" ± {100 * values.std(axis=0, ddof=1)[0]:.1f}"
            if name in CLASSES:
                # Of few classes the fit has made it already, and nothing is left to do.
                cost = f"{100 * mean[-1] / mean[-2]:.0f} %" if mean[-1] > 1e-3 else "in the fit"
                labels.append((name, count, held, *(f"{v:.3g}" for v in mean[1:5]), cost))
            else:
                cost = f"{100 * mean[4] / mean[3]:.0f} %" if mean[4] else ""
                both = [one for one in splits.values() if method in one and OURS in one]
                same = np.mean([one[method][1] / one[OURS][1] for one in both]) if both else np.nan
                ratio = f"{same:.2f}" if method != OURS and both else ""
                scores = f"{mean[1]:.4g}", ratio, f"{mean[2]:.4g}", f"{mean[3]:.0f}"
                rows.append((name, method, count, held, *scores, cost))
    header = (
        "data", "method", "splits", "coverage, %", "CRPS", "over ours", "interval score", "fit, s",
        "cost",
    )  # fmt: skip
    parts += ["", "## Regression", "", table(rows, header)]
    if labels:
        header = (
            "data", "splits", "coverage of sets, %", "classes in a set", "accuracy", "log loss",
            "calibration error", "cost",
        )  # fmt: skip
        parts += ["", "## Classification", "", table(labels, header)]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Run what is not known, and write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--peer-splits", type=int, default=10)
    parser.add_argument("names", nargs="*", default=NAMES)
    options = parser.parse_args()
    path = RESULTS / "intervals.json"
    for seed in range(options.splits):
        for name in options.names:
            found = json.loads(path.read_text()) if path.exists() else {}
            done = found.get(name, {}).get(str(seed), {})
            measured(name, seed, done, seed < options.peer_splits)
            found = json.loads(path.read_text()) if path.exists() else {}
            found.setdefault(name, {})[str(seed)] = done
            ordered = {key: found[key] for key in NAMES if key in found}
            path.write_text(json.dumps(ordered, indent=1) + "\n")
    (RESULTS / "intervals.md").write_text(
        page(json.loads((RESULTS / "intervals.json").read_text()))
    )


if __name__ == "__main__":
    main()
