"""python -m benchmarks.tables [--splits N] [--tables A B] [--methods A B]: errors beside peers.

    OMP_NUM_THREADS=1 python -m benchmarks.tables      errors, and CPU seconds on one thread
    python -m benchmarks.tables --race --splits 1      seconds of ours and CatBoost's, in turns

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

from ..measure import limited
from .data import TABLES, load, split
from .methods import METHODS, PACKAGES

RESULTS = Path(__file__).parents[1] / "results"
# Methods that all splits of a table are to have.
COMPARED = ("zonal", "LightGBM", "CatBoost", "HistGradientBoosting")
# Methods whose seconds by the clock are compared, and how their keys end.
RACERS, RACE = ("zonal", "CatBoost"), ", race"
# How keys of CPU seconds end that were taken in turns, on one thread.
TURNS = ", turns"
# CPU seconds after which a method is given up on a split (and on the next ones of that table).
MOST_SECONDS = 300
ABOUT = """# Tables with words, gaps and dates

Root mean squared error on a fifth of the rows (mean over the splits; nothing tuned by hand on
either side), and in brackets the CPU seconds to fit and predict on one thread. Trees stop early on
a tenth of the training rows. `OMP_NUM_THREADS=1 python -m benchmarks.tables` makes this page;
benchmarks/data/README.md tells where the tables come from. "given up": not done after five minutes
of CPU, and last in rank. Where a method was not run, it was for want of time. Errors are means over
as many splits as are told in the third column; a method with fewer stands with its ratio to ours on
the same splits, and without a rank there. Methods were run one after the other, not all on
the same day, on a machine in use by others, which lengthens CPU seconds. The last column is by the
clock, `--race`: ours and CatBoost in turns on two cores, with nothing else running, on the first
split (– where something else was). Rows are split at random: in weather, the hours before and
after a test row are among the training rows. *CatBoost, tuned*: its defaults and up to 19 random
settings of learning rate, depth and penalties, the best on the tenth that stops the trees; none is
begun after 150 CPU seconds. *RealMLP*: pytabkit's network with the defaults that were tuned on
other tables (RealMLP-TD), 256 epochs, a fifth of the training rows chooses the epoch. Published
figures of TabR and ModernNCA, of other splits, are not quoted: they could not be checked.
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
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / "tables.json"
    if wanted.splits and "zonal" in wanted.methods:  # compiled before the clock starts
        X, y = load("wage")
        METHODS["zonal"](X[:600], y[:600], X[600:700])
    methods = RACERS if wanted.race or wanted.turns else list(filter(_installed, wanted.methods))
    end = RACE if wanted.race else TURNS if wanted.turns else ""
    for name in wanted.tables:
        X, y = load(name)
        for number in range(wanted.splits):
            for method in methods:
                known = json.loads(path.read_text()) if path.exists() else {}
                key = f"{name}, {number}, {method}{end}"
                if key in known and not wanted.again:
                    continue
                if _given_up(known, name, method):
                    continue
                found = (race if wanted.race else measure)(method, X, y, number)
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


def measure(method: str, X: Any, y: Any, number: int) -> dict[str, Any]:
    """Return error and seconds of one method on one split; no error for one that is given up."""
    train, test = split(len(y), number)
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


def race(method: str, X: Any, y: Any, number: int) -> dict[str, float]:
    """Return the seconds by the clock of one method on one split, on all threads."""
    train, test = split(len(y), number)
    start = time.perf_counter()
    METHODS[method](X.iloc[train], y[train], X.iloc[test])
    return {"wall": round(time.perf_counter() - start, 2), "threads": numba.get_num_threads()}


def page(known: dict[str, dict[str, Any]]) -> str:
    """Return the page of results."""
    beside = "ours / best | ours / CatBoost, s | the same, 2 cores"
    header = f"| table | rows | splits | {' | '.join(METHODS)} | {beside} |"
    lines = [header, "| --- " * (len(METHODS) + 6) + "|"]
    ranks: list[dict[str, float]] = []
    ratios: list[dict[str, float]] = []
    for name in TABLES:
        found = {method: _of(known, name, method) for method in METHODS}
        found = {method: runs for method, runs in found.items() if runs}
        if "zonal" not in found:
            continue
        timed = {m: runs for m, runs in found.items() if not _given_up(known, name, m)}
        n_splits = min(len(timed[m]) for m in COMPARED if m in timed)
        full = {m: runs[:n_splits] for m, runs in timed.items() if len(runs) >= n_splits}
        errors = {m: _mean(runs, "rmse") for m, runs in full.items()}
        seconds = {m: _mean(runs, "seconds") for m, runs in full.items()}
        best = min(errors.values())
        order = sorted(errors.values())
        given_up = [m for m in found if m not in timed]
        ranks.append(
            {m: order.index(error) + 1 for m, error in errors.items()}
            | dict.fromkeys(given_up, len(errors) + 1)
        )
        ratios.append({m: error / best for m, error in errors.items()})
        cells = [_cell(full, timed, m, best, m in given_up) for m in METHODS]
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
        of = [[each[m] for each in found if m in each] for m in METHODS]
        shown = [f"{over(each):.2f}" if each else "–" for each in of]
        lines.append(f"| {words} | | | {' | '.join(shown)} | | | |")
    return ABOUT + "\n" + "\n".join(lines) + "\n"


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


def _cell(full: Any, timed: Any, method: str, best: float, given_up: bool) -> str:
    """Return error and seconds; of fewer splits than the others have, over ours on the same."""
    if given_up:
        return "given up"
    if method not in timed:
        return "not run"
    runs = full.get(method, timed[method])
    error = _mean(runs, "rmse")
    bold = "**" if error == best and method in full else ""
    text = f"{bold}{error:.4g}{bold} ({_mean(runs, 'seconds'):.0f} s)"
    if method in full:
        return text
    ratio = error / _mean(timed["zonal"][: len(runs)], "rmse")
    return f"{text} [{len(runs)} split{'s' if len(runs) > 1 else ''}: {ratio:.3f} of ours]"


def _of(known: dict[str, dict[str, Any]], name: str, method: str) -> list[dict[str, Any]]:
    """Return the runs of a method on the splits of a table, up to the first that is not known."""
    keys = [f"{name}, {number}, {method}" for number in range(100)]
    n_known = next(number for number, key in enumerate(keys) if key not in known)
    return [known[key] for key in keys[:n_known]]


def _given_up(known: dict[str, dict[str, Any]], name: str, method: str) -> bool:
    return any(run["rmse"] is None for run in _of(known, name, method))


if __name__ == "__main__":
    main()
