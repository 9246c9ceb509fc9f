"""The page of the runs: means over folds, and ours beside the best peer."""

from pathlib import Path
from typing import Any

import numpy as np

from ..measure import table
from .methods import METHODS, OURS

__all__ = ["write_page"]

PAGE = Path(__file__).parents[1] / "results" / "maps.md"
HEADER = (
    "method", "test MSE", "CRPS", "fit, s", "predict, s", "clock, s", "peak memory, MB", "folds",
)  # fmt: skip
NO_CRPS = "no distribution"
BEST = (
    "task", "best peer", "error, ours / its", "seconds, ours / its", "CRPS, ours / its",
)  # fmt: skip
TEXT = """# Maps beside the peers

`OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.maps --folds 3` (extra `bench`): one
thread for every method, each run in a process of its own. The command runs methods in turns on each
fold; of these runs the peers' came first, and ours last. Seconds are of the processor (fit,
predict), since the machine had other work; *clock* is both by the clock.
A tenth of the places is the test: random ones, or those of whole cells of 10°
(`zonal.BlockKFold`); our learner is told which (`cv`). Figures are means over the folds that all
methods of a table have run, so that they can be compared; those of methods with more stand below
it. A method that is missing from a table was not run there, for want of time; GPBoost, with its own
smoothness and a trend, is on COADS and elevation in `benchmarks.fields`, too.

CRPS is of a new observation, where a method has a distribution, by the same rule for all: 99
quantiles, ours calibrated, those of the others of a normal distribution with their mean and
variance. PyKrige gets 10,000 random training points, since it needs all distances; verde's spline
gets means of blocks, since it needs a matrix of all pairs, and works on a plane. Our time to
predict has the calibration of the quantiles in it. Peak memory is what a method adds to the
process.
"""


def write_page(known: dict[str, Any]) -> None:
    """Write what is known so far."""
    parts = [TEXT]
    for title, found in known.items():
        folds = sorted(set.intersection(*(set(runs) for runs in found.values())))
        rows = [_cells(method, found[method], folds) for method in METHODS if method in found]
        some = next(iter(found[next(iter(found))].values()))
        size = f"About {some['training']:,} training places and {some['test']:,} test places."
        heading = f"## {title[0].upper()}{title[1:]}"
        parts.append(f"{heading}\n\n{size}\n\n{table(rows, HEADER)}\n")
        more = [
            f"{method} on {len(found[method])} folds: test MSE {_mean(found[method], 'mse'):.4g}."
            for method in METHODS
            if len(found.get(method, {})) > len(folds)
        ]
        if more:
            parts.append("\n".join(f"- {line}" for line in more) + "\n")
    best = [row for title, found in known.items() if (row := _beside_best(title, found))]
    if best:
        words = (
            "The best peer is the one with the lowest error of those that were run, whatever its "
            "time, on the folds that all have run. Seconds are those of the "
            "processor, for fit and predict."
        )
        parts.insert(1, f"## Ours beside the best peer\n\n{words}\n\n{table(best, BEST)}\n")
    PAGE.write_text("\n".join(parts))


def _mean(runs: dict[str, Any], of: str, folds: Any = None) -> float | None:
    values = [runs[fold][of] for fold in folds or runs]
    return None if values[0] is None else float(np.mean(values))


def _seconds(runs: dict[str, Any], folds: Any = None) -> float:
    return sum(_mean(runs, of, folds) or 0.0 for of in ("fit_cpu", "predict_cpu"))


def _cells(method: str, every: dict[str, Any], folds: list[str]) -> tuple[str, ...]:
    runs = {fold: every[fold] for fold in folds}
    crps = _mean(runs, "crps")
    clock = sum(_mean(runs, of) or 0.0 for of in ("fit", "predict"))
    return (
        method,
        f"{_mean(runs, 'mse'):.4g}",
        NO_CRPS if crps is None else f"{crps:.4g}",
        f"{_mean(runs, 'fit_cpu'):.1f}",
        f"{_mean(runs, 'predict_cpu'):.2f}",
        f"{clock:.1f}",
        f"{_mean(runs, 'memory'):.0f}",
        f"{len(runs)}",
    )


def _beside_best(title: str, found: dict[str, Any]) -> tuple[str, ...] | None:
    ours = found.get(OURS, {})
    ratios = []
    folds = sorted(set.intersection(*(set(runs) for runs in found.values())))
    for method, runs in found.items():
        if method != OURS and folds:
            error = (_mean(ours, "mse", folds) or 0.0) / (_mean(runs, "mse", folds) or 1.0)
            seconds = _seconds(ours, folds) / _seconds(runs, folds)
            scores = _mean(ours, "crps", folds), _mean(runs, "crps", folds)
            crps = f"{scores[0] / scores[1]:.2f}" if scores[0] and scores[1] else NO_CRPS
            ratios.append((error, method, seconds, crps))
    if not ratios:
        return None
    error, method, seconds, crps = max(ratios)
    return f"{title[0].upper()}{title[1:]}", method, f"{error:.3f}", f"{seconds:.2f}", crps
