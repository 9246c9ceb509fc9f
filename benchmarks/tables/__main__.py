"""python -m benchmarks.tables [--splits N] [--tables A B] [--methods A B]: errors beside peers.

    OMP_NUM_THREADS=1 python -m benchmarks.tables      errors, and CPU seconds on one thread
    python -m benchmarks.tables --race --splits 1      seconds of ours and CatBoost's, in turns
    python -m benchmarks.tables --thirds --splits 3    ours on splits as large as published ones

Every result goes to results/tables.json when it is there, and is not found again; tables.md is
written anew each time.
"""

import argparse
import datetime
import importlib.metadata
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ..measure import limited, table
from .data import TABLES, load, split
from .methods import METHODS, PACKAGES
from .published import KEY as THIRD
from .published import METHODS as BESIDE
from .published import TABLES as PUBLISHED
from .published import published, thirds

RESULTS = Path(__file__).parents[1] / "results"
# Methods that all splits of a table are to have.
COMPARED = ("zonal", "LightGBM", "CatBoost", "HistGradientBoosting")
OTHERS = """## Methods that were run on fewer splits

Beside ours on the same splits; bold where the other is better. *CatBoost, tuned*: its defaults and
up to 19 random settings of learning rate, depth and penalties, the best on the tenth that stops the
trees; none is begun after 150 CPU seconds. *RealMLP*: pytabkit's network with the defaults that
were tuned on other tables (RealMLP-TD), 256 epochs, a fifth of the training rows chooses the epoch.
"""
# Methods whose seconds by the clock are compared, and how their keys end.
RACERS, RACE = ("zonal", "CatBoost"), ", race"
# How keys of CPU seconds end that were taken in turns, on one thread.
TURNS = ", turns"
# CPU seconds after which a method is given up on a split (and on the next ones of that table).
MOST_SECONDS = 900
ABOUT = """# Tables with words, gaps and dates

`OMP_NUM_THREADS=1 python -m benchmarks.tables` (extra `bench`) makes this page;
benchmarks/data/README.md tells where the tables come from. Root mean squared error on a fifth of
the rows (mean over as many splits as the third column tells, the same for all methods), and in
brackets the CPU seconds to fit and predict on one thread. Nothing is tuned by hand on either side;
trees stop early on a tenth of the training rows. "given up": not done after 15 minutes of CPU, and
last in rank. Methods were run one after the other, not all on the same day, on a machine in use by
others, which lengthens CPU seconds. The last column is by the clock, `--race`: ours and CatBoost in
turns on two cores, with nothing else running, on the first split (– where something else was). Rows
are split at random: in weather, the hours before and after a test row are among the training rows.
"""


def main() -> None:
    """Measure what is not known yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--again", action="store_true", help="Measure what is known already too.")
    parser.add_argument("--race", action="store_true", help="Ours and CatBoost, on all threads.")
    parser.add_argument("--turns", action="store_true", help="Ours and CatBoost, CPU in turns.")
    parser.add_argument("--thirds", action="store_true", help="Splits as large as TabArena's.")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / "tables.json"
    if wanted.splits and "zonal" in wanted.methods:  # compiled before the clock starts
        X, y = load("wage")
        METHODS["zonal"](X[:600], y[:600], X[600:700])
    end, methods, cut = "", wanted.methods, split
    if wanted.race or wanted.turns:
        end, methods = RACE if wanted.race else TURNS, list(RACERS)
    elif wanted.thirds:
        end, methods, cut = THIRD, list(BESIDE), thirds
    methods = list(filter(_installed, methods))
    for name in PUBLISHED if wanted.thirds else wanted.tables:
        X, y = load(name)
        for number in range(wanted.splits):
            for method in methods:
                known = json.loads(path.read_text()) if path.exists() else {}
                key = f"{name}, {number}, {method}{end}"
                if key in known and not wanted.again:
                    continue
                if _given_up(known, name, method):
                    continue
                rows = cut(len(y), number)
                found = race(method, X, y, rows) if wanted.race else measure(method, X, y, rows)
                print(key, found, flush=True)
                known = json.loads(path.read_text()) if path.exists() else {}
                path.write_text(json.dumps({**known, key: found}, indent=0, sort_keys=True) + "\n")
    known = json.loads(path.read_text())
    (RESULTS / "tables.md").write_text(page(known))
    (RESULTS / "tables_turns.md").write_text(in_turns(known))


def _package(method: str) -> str:
    return PACKAGES.get(method, method)


def _installed(method: str) -> bool:
    """Whether the package of a method is there; says so if it is not."""
    try:
        importlib.metadata.version(_package(method))
    except importlib.metadata.PackageNotFoundError:
        print(f"{method} is not run: {_package(method)} is not installed", flush=True)
        return False
    return True


def measure(method: str, X: Any, y: Any, rows: tuple[Any, Any]) -> dict[str, Any]:
    """Return error and seconds of one method on one split; no error for one that is given up."""
    train, test = rows
    cell = {
        "version": importlib.metadata.version(_package(method)),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    start = time.process_time()
    try:
        with limited(MOST_SECONDS):
            predicted = METHODS[method](X.iloc[train], y[train], X.iloc[test])
    except TimeoutError:
        return {"rmse": None, "seconds": MOST_SECONDS, **cell}
    seconds = time.process_time() - start
    rmse = float(np.sqrt(np.mean((y[test] - predicted) ** 2)))
    return {"rmse": round(rmse, 5), "seconds": round(seconds, 1), **cell}


def race(method: str, X: Any, y: Any, rows: tuple[Any, Any]) -> dict[str, float]:
    """Return the seconds by the clock of one method on one split, on all threads."""
    train, test = rows
    start = time.perf_counter()
    METHODS[method](X.iloc[train], y[train], X.iloc[test])
    return {"wall": round(time.perf_counter() - start, 2), "threads": numba.get_num_threads()}


def page(known: dict[str, dict[str, Any]]) -> str:
    """Return the page of results: methods on all splits, then those on some of them."""
    beside = "ours / best | ours / CatBoost, s | the same, 2 cores"
    names = [name for name in TABLES if _of(known, name, "zonal")]
    methods = [m for m in METHODS if m in COMPARED]
    header = f"| table | rows | splits | {' | '.join(methods)} | {beside} |"
    lines = [header, "| --- " * (len(methods) + 6) + "|"]
    ranks: list[dict[str, float]] = []
    ratios: list[dict[str, float]] = []
    for name in names:
        found = {m: runs for m in methods if (runs := _of(known, name, m))}
        timed = {m: runs for m, runs in found.items() if not _given_up(known, name, m)}
        n_splits = min(map(len, timed.values()))
        full = {m: runs[:n_splits] for m, runs in timed.items()}
        errors = {m: _mean(runs, "rmse") for m, runs in full.items()}
        seconds = {m: _mean(runs, "seconds") for m, runs in full.items()}
        best = min(errors.values())
        order = sorted(errors.values())
        ranks.append(
            {m: order.index(error) + 1 for m, error in errors.items()}
            | {m: len(errors) + 1 for m in found if m not in timed}
        )
        ratios.append({m: error / best for m, error in errors.items()})
        cells = [_cell(full.get(m), best) if m in found else "not run" for m in methods]
        n_rows = len(load(name)[1])
        times = seconds["zonal"] / max(seconds["CatBoost"], 0.1) if "CatBoost" in seconds else None
        lines.append(
            f"| {name} | {n_rows:,} | {n_splits} | {' | '.join(cells)} | "
            f"{errors['zonal'] / best:.3f} | {'–' if times is None else f'{times:.1f}'} | "
            f"{_raced(known, name)} |"
        )
    for words, found, over in (
        ("mean rank", ranks, np.mean),
        ("worst ratio to the best", ratios, np.max),
    ):
        of = [[each[m] for each in found if m in each] for m in methods]
        shown = [f"{over(each):.2f}" if each else "–" for each in of]
        lines.append(f"| {words} | | | {' | '.join(shown)} | | | |")
    parts = [ABOUT, *lines, "", *_others(known, names), "", *published(known)]
    return "\n".join([*parts, "", *_versions(known)]) + "\n"


def _versions(known: dict[str, dict[str, Any]]) -> list[str]:
    """Return the versions of every method, and the days on which its cells were run."""
    rows = []
    for method in METHODS:
        runs = [run for name in TABLES for run in _of(known, name, method)]
        days = sorted({run["date"] for run in runs if "date" in run})
        versions = sorted({run.get("version", "not noted") for run in runs})
        if runs:
            shown = [" to ".join(dict.fromkeys((days[0], days[-1])))] if days else []
            shown += ["not noted"] if any("date" not in run for run in runs) else []
            rows.append((method, ", ".join(versions), ", ".join(shown)))
    return ["## Versions", "", table(rows, ("method", "version", "days"))]


def _others(known: dict[str, dict[str, Any]], names: list[str]) -> list[str]:
    """Return a table of the methods that were not run on all splits, and what was not run."""
    others = [m for m in METHODS if m not in COMPARED]
    lines = [OTHERS, "| table | method | splits | RMSE | ours | over ours | CPU s, ours |"]
    lines.append("| --- " * 7 + "|")
    absent = []
    for method in others:
        without = [name for name in names if not _of(known, name, method)]
        absent += [f"- {method}: {', '.join(without)}"] if without else []
        for name in names:
            runs = _of(known, name, method)
            if not runs:
                continue
            if _given_up(known, name, method):
                minutes = f"not done in {max(run['seconds'] for run in runs) / 60:g} min"
                lines.append(f"| {name} | {method} | – | {minutes} | – | – | – |")
                continue
            ours = _of(known, name, "zonal")[: len(runs)]
            runs = runs[: len(ours)]
            theirs, own = _mean(runs, "rmse"), _mean(ours, "rmse")
            bold = "**" if theirs < own else ""
            seconds = f"{_mean(runs, 'seconds'):.0f}, {_mean(ours, 'seconds'):.0f}"
            lines.append(
                f"| {name} | {method} | {len(runs)} | {bold}{theirs:.4g}{bold} | {own:.4g} | "
                f"{theirs / own:.3f} | {seconds} |"
            )
    return [*lines, "", *(["Not run, for want of time:", "", *absent] if absent else [])]


def in_turns(known: dict[str, dict[str, Any]]) -> str:
    """Return a page of errors and CPU seconds of two methods that were run in turns."""
    lines = ["# Tables: ours and CatBoost in turns", ""]
    lines += ["RMSE and CPU seconds on one thread, first split, on a machine in use.", ""]
    lines += ["| table | zonal | CatBoost | in turns, s |", "| --- | --- | --- | --- |"]
    for name in TABLES:
        both = [known.get(f"{name}, 0, {method}{TURNS}") for method in RACERS]
        if all(both):
            cells = [f"{run['rmse']:.4g} ({run['seconds']:.1f} s)" for run in both if run]
            ours, peer = (run["seconds"] for run in both if run)
            lines.append(f"| {name} | {' | '.join(cells)} | {ours / max(peer, 0.1):.1f} |")
    return "\n".join(lines) + "\n"


def _raced(known: dict[str, dict[str, Any]], name: str) -> str:
    """Return the ratio of the seconds by the clock, summed over the splits that both have."""
    ours, peers = (
        [known.get(f"{name}, {number}, {method}{RACE}") for number in range(100)]
        for method in RACERS
    )
    both = [(a["wall"], b["wall"]) for a, b in zip(ours, peers, strict=True) if a and b]
    return f"{sum(a for a, _ in both) / sum(b for _, b in both):.1f}" if both else "–"


def _mean(runs: list[dict[str, Any]], what: str) -> float:
    return float(np.mean([run[what] for run in runs]))


def _cell(runs: list[dict[str, Any]] | None, best: float) -> str:
    """Return error and seconds, or that a method was given up."""
    if runs is None:
        return "given up"
    error = _mean(runs, "rmse")
    bold = "**" if error == best else ""
    return f"{bold}{error:.4g}{bold} ({_mean(runs, 'seconds'):.0f} s)"


def _of(known: dict[str, dict[str, Any]], name: str, method: str) -> list[dict[str, Any]]:
    """Return the runs of a method on the splits of a table, up to the first that is not known."""
    keys = [f"{name}, {number}, {method}" for number in range(100)]
    n_known = next(number for number, key in enumerate(keys) if key not in known)
    return [known[key] for key in keys[:n_known]]


def _given_up(known: dict[str, dict[str, Any]], name: str, method: str) -> bool:
    return any(run["rmse"] is None for run in _of(known, name, method))


if __name__ == "__main__":
    main()
