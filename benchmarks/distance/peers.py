"""python -m benchmarks.distance.peers: near and far beside peers; results/distance_peers.md.

Every method is fitted once to the same training rows and asked at all distances, in the same run:
random rows and all rows in holes of 2 to 20 spacings (elevation), blocks of 10° (elevation), and
what the simulated field asks for, by the distance to the nearest training row. Nobody is told which
rows will be asked. On the sphere a row counts by the area that it stands for (the cosine of its
latitude), for rows of a grid of degrees crowd at the poles. Ours is `KernelRidge()` and
`NeighborKriging()` with nothing set; GPBoost has its own ν, scales and trend, as in the comparison
of fields; k nearest rows have the number of rows and LightGBM the number of trees that left-out
random rows prefer, and quantiles of the errors at these. CPU seconds are of one thread, fit and
predict. The best of a column is bold.
"""

import argparse
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ..measure import table
from ..suite.cells import RESULTS, Method, Task, known_cells, run_cells
from ..suite.methods import gpboost, kernel_ridge, neighbor_kriging
from ..suite.scores import LEVELS, Forecast
from .data import Task as Split
from .data import elevation, gaps
from .holes import SIZES, Rows, asked

__all__ = ["METHODS", "task", "warm"]

NAME = "distance_peers"
HEADER = ("data", "asked", "rows", "method", "RMSE", "CRPS", "90 % hold", "95 % hold",
          "interval score, 90 %", "95 %", "CPU s")  # fmt: skip
SCORES = {"rmse": "{:.4g}", "crps": "{:.4g}", "coverage90": "{:.1%}", "coverage": "{:.1%}",
          "interval90": "{:.4g}", "interval": "{:.4g}"}  # fmt: skip
# Distances in spacings, in whose classes the rows of clouds are put.
EDGES = (0, 1.5, 3, 6, 12, np.inf)


def _with_holes() -> tuple[Split, dict[str, Any]]:
    X, y, _ = elevation("random")
    what, _ = asked(Rows(X, y), 0)
    names = {1: "random rows"} | {size: f"holes of {size} spacings" for size in sorted(SIZES)}
    test = what > 0
    return Split(X, y, test), {name: what[test] == size for size, name in names.items()}


def _in_blocks() -> tuple[Split, dict[str, Any]]:
    found = elevation("blocks")
    return found, {"all": np.ones(found.asked.sum(), bool)}


def _in_clouds() -> tuple[Split, dict[str, Any]]:
    found = gaps()
    known = found.X[~found.asked]
    tree = cKDTree(known)
    spacing = np.median(tree.query(known, 2)[0][:, 1])
    distance = tree.query(found.X[found.asked])[0] / spacing
    classes = {"all": np.ones(len(distance), bool)}
    for least, most in itertools.pairwise(EDGES):
        name = f"{least:g} to {most:g} spacings away" if np.isfinite(most) else f"over {least:g}"
        classes[name] = (distance > least) & (distance <= most)
    return found, {name: mine for name, mine in classes.items() if mine.any()}


DATA: dict[str, Callable[[], tuple[Split, dict[str, Any]]]] = {
    "elevation": _with_holes,
    "elevation, blocks of 10°": _in_blocks,
    "simulated field": _in_clouds,
}


def task(data: str, split: str) -> Task:
    """Return training and test rows, the classes of the latter, and how much each counts."""
    found, classes = DATA[data]()
    train, test = ~found.asked, found.asked
    told: dict[str, Any] = {"classes": classes}
    if found.X.shape[1] == 3:
        told["weight"] = np.sqrt(1 - np.minimum(found.X[test, 2] ** 2, 1))
    return Task(found.X[train], found.y[train], found.X[test], found.y[test], told)


def _with_errors(given: Task, held: Any, at_held: Any, mean: Any, note: str) -> Forecast:
    """Predictions with the quantiles of the errors of rows that were left out."""
    errors = np.quantile(given.y[held] - at_held, LEVELS)
    return Forecast(mean, quantiles=mean[:, None] + errors, note=note)


def _left_out(given: Task) -> tuple[Any, Any]:
    """Return training rows, and a random tenth that is left out of them."""
    order = np.random.default_rng(0).permutation(len(given.y))
    return order[len(order) // 10 :], order[: len(order) // 10]


def nearest_rows(given: Task) -> Forecast:
    """scikit-learn's nearest rows, weighted by distance; their number by left-out rows."""
    from sklearn.neighbors import KNeighborsRegressor

    rest, held = _left_out(given)
    tried = {}
    for k in (2, 4, 8, 16, 32):
        model = KNeighborsRegressor(k, weights="distance").fit(given.X[rest], given.y[rest])
        tried[k] = model.predict(given.X[held])
    best = min(tried, key=lambda k: float(np.mean((given.y[held] - tried[k]) ** 2)))
    model = KNeighborsRegressor(best, weights="distance").fit(given.X, given.y)
    return _with_errors(given, held, tried[best], model.predict(given.X_test), f"k = {best}")


def lightgbm(given: Task) -> Forecast:
    """LightGBM, stopped by left-out rows."""
    import lightgbm as lgb

    rest, held = _left_out(given)
    model = lgb.LGBMRegressor(
        n_estimators=5000, num_leaves=63, verbose=-1, n_jobs=1, random_state=0
    )
    stopping = [lgb.early_stopping(50, verbose=False)]
    stopped_by = [(given.X[held], given.y[held])]
    model.fit(given.X[rest], given.y[rest], eval_set=stopped_by, callbacks=stopping)
    note = f"{model.best_iteration_} trees"
    at_held = np.asarray(model.predict(given.X[held]))
    return _with_errors(given, held, at_held, np.asarray(model.predict(given.X_test)), note)


METHODS = {
    "**zonal** `KernelRidge()`": Method(kernel_ridge, "zonal"),
    "**zonal** `NeighborKriging()`": Method(neighbor_kriging, "zonal"),
    "GPBoost, Vecchia": Method(gpboost, "gpboost"),
    "LightGBM": Method(lightgbm, "lightgbm"),
    "k nearest rows (scikit-learn)": Method(nearest_rows, "scikit-learn"),
}


def warm(method: str, given: Task) -> None:
    """Load what was compiled, before the clock starts."""
    if "zonal" in method:
        few = slice(None, None, max(len(given.y) // 600, 1))
        METHODS[method].run(given._replace(X=given.X[few], y=given.y[few]))


def _lines() -> list[tuple[str, ...]]:
    cells, lines = known_cells(NAME), []
    for data in DATA:
        found = {m: cells[data, "0", m] for m in METHODS if "by" in cells.get((data, "0", m), {})}
        for name in next(iter(found.values()))["by"] if found else ():
            least = {
                score: min(cell["by"][name][score] for cell in found.values())
                for score in ("rmse", "crps", "interval90", "interval")
            }
            for method, cell in found.items():
                scores = cell["by"][name]
                shown = [
                    f"**{form.format(scores[score])}**" if scores[score] == least.get(score)
                    else form.format(scores[score])
                    for score, form in SCORES.items()
                ]  # fmt: skip
                note = f" ({cell['note']})" if cell["note"] else ""
                seconds = f"{cell['cpu']:.0f}"
                lines.append((data, name, f"{scores['rows']:,}", method + note, *shown, seconds))
    return lines


def main() -> None:
    """Run what is not known and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="the data whose title has one of these in it")
    parser.add_argument("--only", nargs="*", default=[], help="parts of the names of methods")
    parser.add_argument("--again", action="store_true", help="also cells that are known")
    given = parser.parse_args()
    wanted = [
        (data, "0", method)
        for data in DATA
        if not given.names or any(name in data for name in given.names)
        for method in METHODS
        if not given.only or any(part in method for part in given.only)
    ]
    run_cells(NAME, "benchmarks.distance.peers", wanted, METHODS, again=given.again)
    about = "# Near and far beside peers\n\n`" + (__doc__ or "").replace("peers: ", "peers`: ", 1)
    (RESULTS / f"{NAME}.md").write_text(f"{about}\n{table(_lines(), HEADER)}\n")


if __name__ == "__main__":
    main()
