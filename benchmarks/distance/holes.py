"""python -m benchmarks.distance.holes [names ...]: writes benchmarks/results/holes.md.

Calibrated intervals of `KernelRidge()`, with nothing set: what they hold of random rows and of all
rows inside balls of 2, 5, 10 and 20 spacings across. Errors in one hole go together, and a field
has room for few large ones: balls, and fields that are simulated, are drawn three times, and shares
are of the rows of all. On the sphere rows of a grid of degrees crowd at the poles, and one ball
there has most rows of all: each row counts by the area that it stands for, the cosine of its
latitude. *By rows*: each row counts alike. *By holes*: each hole counts alike, with the standard
error over holes. Lines that have no share by rows are of `KernelRidge(features=None)` and the
version before. Results are kept in holes.json, so that parts can be run one by one.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.spatial import cKDTree

import zonal
from zonal.evaluation import coverage, crps_of_quantiles, interval_score

from ..automatic.data import load
from ..measure import table
from .data import SIDE, Task, coads, coads_axes, elevation, forecast, gaps, planar_field

KEPT = Path(__file__).parents[1] / "results" / "holes.json"
# Diameters in spacings, and how many balls of each; the largest are drawn first.
SIZES = {20: 5, 10: 10, 5: 20, 2: 60}
# Rows of larger data: a random part of them, so that the spacing is that of the part.
MOST_ROWS = 40_000
LEVELS = (np.arange(40) + 0.5) / 40
HEADER = (
    "data", "asked", "rows", "90 % hold", "95 % hold", "90 %, by rows", "90 %, by holes", "CRPS",
    "interval score, 90 %", "95 %", "fit, s (CPU)", "calibration, s (CPU)",
)  # fmt: skip


class Rows(NamedTuple):
    """Rows, targets and the column of time, if there is one."""

    X: np.ndarray
    y: np.ndarray
    time: int | None = None


def _known(task: Task, time: int | None = None) -> Rows:
    """Return the rows of a task that are not its own test."""
    return Rows(task.X[~task.asked], task.y[~task.asked], time)


def planar(nu: float, seed: int) -> Rows:
    """Return half of the cells of a simulated field, with noise."""
    cells = np.indices((SIDE, SIDE)).reshape(2, -1).T.astype(float)
    rng = np.random.default_rng(1000 + seed)
    y = planar_field(nu, seed).ravel() + 0.1 * rng.standard_normal(len(cells))
    kept = rng.random(len(cells)) < 0.5
    return Rows(cells[kept], y[kept])


DATA: dict[str, Callable[[int], Rows]] = {
    "elevation": lambda seed: Rows(*elevation("random")[:2]),
    "climate_berkeley": lambda seed: Rows(*load("climate_berkeley"), 3),
    "simulated field": lambda seed: _known(gaps()),
    "kaust_2a_1": lambda seed: _known(forecast(1), 2),
    "kaust_2a_6": lambda seed: _known(forecast(6), 2),
    **{f"Matérn field, ν = {nu}": (lambda seed, nu=nu: planar(nu, seed)) for nu in (0.5, 1.5, 2.5)},
}
N_DRAWS = 3


def asked(rows: Rows, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what is asked of each row: 0 nothing, 1 a random tenth, else the size of its hole.

    And the number of its hole.

    Holes are of places: beside a time, their rows of all times are asked.
    """
    rng = np.random.default_rng(seed)
    place = rows.X if rows.time is None else np.delete(rows.X, rows.time, axis=1)
    places, index = np.unique(place, axis=0, return_inverse=True)
    tree = cKDTree(places)
    spacing = float(np.median(tree.query(places, 2)[0][:, 1]))
    size_of, centers, radii = np.zeros(len(places), int), [], []
    hole_of = np.zeros(len(places), int)
    for size, number in SIZES.items():
        radius, n_made = size / 2 * spacing, 0
        for center in places[rng.permutation(len(places))]:
            gaps_ = np.linalg.norm(np.array(centers).reshape(-1, place.shape[1]) - center, axis=1)
            if (gaps_ < 1.5 * (np.array(radii) + radius)).any():
                continue
            inside = tree.query_ball_point(center, radius)
            size_of[inside], hole_of[inside] = size, len(centers)
            centers.append(center)
            radii.append(radius)
            n_made += 1
            if n_made == number:
                break
    found = size_of[index.ravel()]
    found[(rng.random(len(found)) < 0.1) & (found == 0)] = 1
    return found, hole_of[index.ravel()]


def area(X: np.ndarray) -> np.ndarray:
    """Return how much each row counts: on the sphere the cosine of its latitude."""
    if X.shape[1] >= 3 and np.allclose(np.square(X[:, :3]).sum(axis=1), 1, atol=1e-6):
        return np.asarray(np.sqrt(1 - np.minimum(X[:, 2] ** 2, 1)))
    return np.ones(len(X))


def pooled(rows: Callable[[int], Rows]) -> dict[str, Any]:
    """Return means over several draws, of scores by rows."""
    parts = [run(rows(seed), seed) for seed in range(N_DRAWS)]
    found: dict[str, Any] = {}
    for key in parts[0]:
        if key in ("fit", "calibration"):
            found[key] = float(np.mean([part[key] for part in parts]))
            continue
        known = [part[key] for part in parts if key in part]
        names = [name for name in known[0] if name not in ("rows", "area", "by hole")]
        found[key] = {"rows": sum(one["rows"] for one in known)}
        for name in names:
            weight = [one["rows" if name == "by rows" else "area"] for one in known]
            found[key][name] = float(np.average([one[name] for one in known], weights=weight))
        if "by hole" in known[0]:
            each = np.concatenate([one["by hole"] for one in known])
            error = float(each.std(ddof=1) / np.sqrt(len(each)))
            found[key]["by holes"] = (float(each.mean()), error, len(each))
    return found


def run(rows: Rows, seed: int) -> dict[str, Any]:
    """Fit to the rows that are not asked, and judge the intervals at the others."""
    if len(rows.X) > MOST_ROWS:
        kept = np.random.default_rng(seed).permutation(len(rows.X))[:MOST_ROWS]
        rows = Rows(rows.X[kept], rows.y[kept], rows.time)
    what, holes = asked(rows, seed)
    start = time.process_time()
    model = zonal.KernelRidge().fit(rows.X[what == 0], rows.y[what == 0])
    middle = time.process_time()
    model.calibration_  # noqa: B018  # found now
    found: dict[str, Any] = {"fit": middle - start, "calibration": time.process_time() - middle}
    for size in (1, *sorted(SIZES)):
        X, y = rows.X[what == size], rows.y[what == size]
        if len(y):
            found[str(size)] = _judged(model, X, y)
        if len(y) and size > 1:
            lower, upper = model.predict_interval(X, 0.9)
            inside, own = (lower <= y) & (y <= upper), holes[what == size]
            found[str(size)]["by hole"] = [inside[own == one].mean() for one in np.unique(own)]
    return found


def ahead(number: int) -> dict[str, Any]:
    """Forecast the last times of a field in space and time."""
    task = forecast(number)
    start = time.process_time()
    model = zonal.KernelRidge().fit(task.X[~task.asked], task.y[~task.asked])
    middle = time.process_time()
    model.calibration_  # noqa: B018  # found now
    times = {"fit": middle - start, "calibration": time.process_time() - middle}
    return times | {"asked": _judged(model, task.X[task.asked], task.y[task.asked])}


def hidden() -> dict[str, Any]:
    """Fill 50° × 50° of the Pacific in July, which `fill` is told nothing of but the hole."""
    field = coads()
    hole = np.zeros(field.cells.shape, bool)
    hole[field.known] = field.task.asked
    lat, lon = coads_axes()
    grid = xr.DataArray(np.where(hole, np.nan, field.cells), {"lat": lat, "lon": lon})
    start = time.process_time()
    filled = zonal.fill(grid)
    found, y = {"fit": time.process_time() - start, "calibration": 0.0}, field.cells[hole]
    ends = [filled[name].to_numpy()[hole] for name in ("lower", "upper")]
    found["asked"] = {
        "rows": len(y),
        "held 90": coverage(y, *ends),
        "score": interval_score(y, *ends, 0.9),
    }
    return found


TASKS: dict[str, Callable[[], dict[str, Any]]] = {
    **{title: (lambda rows=rows: pooled(rows)) for title, rows in DATA.items()},
    "kaust_2a_9, ten times ahead": lambda: ahead(9),
    "COADS July, 50° × 50° by fill": hidden,
}


def _judged(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    ends = {share: model.predict_interval(X, share / 100) for share in (90, 95)}
    weight = area(X)
    return {
        "rows": len(y),
        "area": float(weight.sum()),
        **{f"held {share}": coverage(y, *pair, weight) for share, pair in ends.items()},
        "by rows": coverage(y, *ends[90]),
        "crps": crps_of_quantiles(y, model.predict_quantiles(X, LEVELS), LEVELS, weight),
        "score": interval_score(y, *ends[90], 0.9, weight),
        "score 95": interval_score(y, *ends[95], 0.95, weight),
    }


def _lines(title: str, found: dict[str, Any]) -> list[tuple[str, ...]]:
    names = {"asked": "what is asked", "1": "random rows"}
    names |= {str(size): f"holes of {size} spacings" for size in sorted(SIZES)}
    lines = []
    for key, name in names.items():
        if key not in found:
            continue
        part = found[key]
        shares = ("held 90", "held 95", "by rows")
        held = [f"{part[one]:.1%}" if one in part else "" for one in shares]
        by_holes = ""
        if "by holes" in part:
            mean, error, number = part["by holes"]
            by_holes = f"{mean:.1%} ± {error:.1%} of {number}"
        scores = [
            f"{part[one]:.3g}" if one in part else "" for one in ("crps", "score", "score 95")
        ]
        times = [f"{found[one]:.1f}" if not lines else "" for one in ("fit", "calibration")]
        lines.append((title, name, f"{part['rows']:,}", *held, by_holes, *scores, *times))
    return lines


def main() -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="the data whose title has one of these in it")
    names = parser.parse_args().names
    for title, task in TASKS.items():
        if names and not any(name in title for name in names):
            continue
        found = task()
        known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        known[title] = found
        known = {one: known[one] for one in TASKS if one in known}
        KEPT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
        lines = [line for one in known for line in _lines(one, known[one])]
        about = "# Intervals near and far\n\n" + (__doc__ or "").split("\n\n", 1)[1]
        KEPT.with_suffix(".md").write_text(f"{about}\n{table(lines, HEADER)}\n")
        for line in _lines(title, found):
            print(*line, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
