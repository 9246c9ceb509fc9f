"""python -m benchmarks.joint [names ...]: writes benchmarks/results/joint.md.

Results are kept in joint.json, so that parts can be run one by one.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import peers, tasks

KEPT = Path(__file__).parents[1] / "results" / "joint.json"
TASKS: dict[str, Callable[[], Any]] = {
    "draws": tasks.draws,
    "variogram": tasks.variogram,
    "areas elevation": lambda: tasks.areas("elevation"),
    "areas airs_co2": lambda: tasks.areas("airs_co2"),
    "errors": tasks.errors,
    "argo": tasks.correlated,
    "unrelated": tasks.unrelated,
    "peers": peers.peers,
}
ABOUT = (
    "# Joint answers\n\n`python -m benchmarks.joint`: draws, means over blocks, known errors and "
    "several targets, with `NeighborKriging()` and `CoKriging()` and nothing set. The machine was "
    "shared by many: CPU seconds are what counts."
)


def _table(header: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    rule = tuple("---" for _ in header)
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *lines))


def page(kept: dict[str, Any]) -> str:
    """The results as they stand."""
    parts = [ABOUT]
    if "draws" in kept:
        d = kept["draws"]
        header = ("draws of the 1° globe", "seconds (CPU)", "mean off predict, of std", "its standard error", "std over predict's", "scatter", "its standard error")  # fmt: skip
        line = ("elevation, 64,800 cells", f"{d['seconds']:.1f} ({d['CPU']:.1f}) for 100", f"{d['mean off, of std']:.4f}", f"{d['its standard error']:.4f}", f"{d['std over that of predict']:.4f}", f"{d['scatter of that']:.4f}", f"{d['standard error of a std']:.4f}")  # fmt: skip
        parts += ["## Draws\n\nMoments are of 2,000 draws, over all cells.", _table(header, [line])]
    if "variogram" in kept:
        found = kept["variogram"]
        header = ("variogram", *found)
        line = ("draws over the model's", *(f"{value:.3f}" for value in found.values()))
        text = "Of 50 draws that know next to no data, against σ² (k(0) - k(h)), by lag."
        parts += [text, _table(header, [line])]
    lines = [
        (name, f"{a['blocks']:,}", f"{a['held']:.1%}", f"{a['held, cells independent']:.1%}",
         f"{a['RMSE']:.3g}", f"{a['mean std']:.3g}")
        for name in ("elevation", "airs_co2") if (a := kept.get(f"areas {name}"))
    ]  # fmt: skip
    if lines:
        header = ("means over blocks of 10°", "blocks", "90 % hold", "90 % hold, cells independent", "RMSE", "mean std")  # fmt: skip
        text = (
            "## Areas\n\nBlocks are held out in ten folds (of airs_co2 blocks of one day, 60,000 "
            "random retrievals). *Cells independent*: the variances of cells added up, as if they "
            "knew nothing of each other. Intervals are the model's own, not calibrated."
        )
        parts += [text, _table(header, lines)]
    if "errors" in kept:
        header = ("airs_co2, 80,000 retrievals", "CRPS", "MSE", "90 % hold", "common noise", "fit, s (CPU)")  # fmt: skip
        lines = [
            (name, f"{e['CRPS']:.4f}", f"{e['MSE']:.3f}", f"{e['held']:.1%}", f"{e['extra']:.3f}",
             f"{e['CPU']:.1f}")
            for name, e in kept["errors"].items()
        ]  # fmt: skip
        parts += ["## Known errors", _table(header, lines)]
    lines = [
        (title, f"{c['alone']:.4f}", f"{c['together']:.4f}", f"{c['together'] / c['alone'] - 1:+.1%}",
         f"{c['held']:.1%}", f"{c['correlation'][1]:.2f}", f"{c['CPU'][0]:.1f}", f"{c['CPU'][1]:.1f}")
        for name, title in (("argo", "150 m where 100 m was measured alone"), ("unrelated", "150 m beside an unrelated target"))
        if (c := kept.get(name))
    ]  # fmt: skip
    if lines:
        header = ("argo", "MSE alone", "MSE together", "change", "90 % hold", "correlation found", "alone, s (CPU)", "together, s (CPU)")  # fmt: skip
        parts += ["## Several targets", _table(header, lines)]
    if "peers" in kept:
        header = ("library", "seconds (CPU)", "CRPS, km", "90 % hold")
        lines = [
            (name, f"{p['seconds']:.1f} ({p['CPU']:.1f})", f"{p['CRPS']:.4f}", f"{p['held']:.1%}")
            for name, p in kept["peers"].items()
        ]
        text = (
            f"## Peers\n\n{peers.DRAWS} draws at {peers.CELLS:,} cells given {peers.KNOWN:,} rows "
            "of elevation, the same exponential kernel and noise for each. GSTools solves a dense "
            "system of all rows; PyKrige makes no draws."
        )
        parts += [text, _table(header, lines)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Run what is named, and write all that is known."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.joint")
    parser.add_argument("names", nargs="*", default=list(TASKS), choices=[*TASKS, []])
    for name in parser.parse_args().names:
        found = TASKS[name]()
        print(name, found, flush=True)
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        KEPT.write_text(json.dumps(kept | {name: found}, indent=1) + "\n")
    kept = json.loads(KEPT.read_text())
    KEPT.with_suffix(".md").write_text(page(kept))


if __name__ == "__main__":
    main()
