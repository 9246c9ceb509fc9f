"""python -m benchmarks.distance [names ...]: writes benchmarks/results/distance.md.

`NeighborKriging()` and `KernelRidge()` with nothing set. Results are kept in distance.json, so that
parts can be run one by one. Intervals are from the model's own variance, without any calibration.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import solve
from scipy.stats import norm

import zonal

from ..measure import peak_memory, table
from .data import (
    Field,
    Task,
    climate,
    coads,
    elevation,
    fine_elevation,
    forecast,
    gaps,
    planar_holes,
    smooth_sphere,
    soundings,
)
from .drawn import DRAWN, draw

KEPT = Path(__file__).parents[1] / "results" / "distance.json"
MODELS = {"split": {}, "neighbours alone": {"n_features": 0}, "KernelRidge()": {"chosen": True}}
HEADER = ("data", "model", "error", "90 % hold", "95 % hold",
          "largest step north / east, of the truth", "std: middle / edge of holes",
          "fit, s (CPU)", "predictions, s (CPU)")  # fmt: skip
ABOUT = (
    "# Near and far\n\n`python -m benchmarks.distance`: `NeighborKriging()` with nothing set "
    "(*split*: 256 features carry the low degrees of its kernel) and with `n_features=0` "
    "(*neighbours alone*), and `KernelRidge()`. Errors are RMSE, on elevation MSE in km², on "
    "climate_berkeley MSE in K². Intervals are from the "
    "model's own variance, not calibrated. Steps are the largest between cells of holes side by "
    "side. Of *drawn* fields, errors are in units of that of the kernel they were drawn from, with "
    "all rows as neighbours, and intervals are to hold the truth without noise. *(before)*: "
    "measured when coefficients came from all rows, and not yet again. The machine was shared by "
    "many: seconds are upper bounds, CPU seconds are what counts."
)


def _fit(task: Task, options: dict[str, Any]) -> tuple[Any, np.ndarray, np.ndarray, dict[str, Any]]:
    """Fit, predict what is asked for; std with noise."""
    train = ~task.asked
    clock, cpu = time.perf_counter(), time.process_time()
    chosen = "chosen" in options
    model = zonal.KernelRidge() if chosen else zonal.NeighborKriging(**options)
    model.fit(task.X[train], task.y[train])
    middle, middle_cpu = time.perf_counter(), time.process_time()
    mean, std = model.predict(task.X[task.asked], return_std=True)
    found = {
        "fit": (middle - clock, middle_cpu - cpu),
        "predict": (time.perf_counter() - middle, time.process_time() - middle_cpu),
    }
    noise = np.sqrt(model._solution_.noise_at(model._cells_.rows(task.X[task.asked]))[:, 0])
    return model, mean, np.hypot(std, noise), found


def _scores(truth: np.ndarray, mean: np.ndarray, std: np.ndarray) -> dict[str, float]:
    held = {
        f"held {share}": float(np.mean(np.abs(truth - mean) < norm.ppf(0.5 + share / 200) * std))
        for share in (90, 95)
    }
    return {"error": float(np.sqrt(np.mean((truth - mean) ** 2)))} | held


def on_rows(task: Task, options: dict[str, Any], squared: bool = False) -> dict[str, Any]:
    """Errors and coverage."""
    _, mean, std, found = _fit(task, options)
    scores = _scores(task.y[task.asked], mean, std)
    if squared:
        scores["error"] **= 2
    return found | scores


def on_grid(field: Field, options: dict[str, Any]) -> dict[str, Any]:
    """The same, with steps between cells, and whether the middle of a hole is known least."""
    task = field.task
    _, mean, std, found = _fit(task, options)
    hole = np.zeros(field.cells.shape, bool)
    hole[field.known] = task.asked
    filled = field.cells.copy()
    filled[hole] = mean
    found["step"], found["true step"] = steps(filled, hole), steps(field.cells, hole)
    # How deep in a hole a cell is: its distance to the nearest known row.
    known, asked = task.X[~task.asked], task.X[task.asked]
    depth = np.array([np.min(((known - one) ** 2).sum(axis=1)) for one in asked])
    order = np.argsort(depth)
    tenth = max(len(order) // 10, 1)
    found["middle"], found["edge"] = std[order[-tenth:]].mean(), std[order[:tenth]].mean()
    return found | _scores(field.cells[hole], mean, std)


def steps(cells: np.ndarray, hole: np.ndarray) -> list[float]:
    """The largest steps between two cells of holes side by side, northward and eastward."""
    found = []
    for axis in (0, 1):
        both = hole & np.roll(hole, -1, axis=axis)
        difference = np.abs(np.roll(cells, -1, axis=axis) - cells)
        found.append(float(np.nanmax(difference[both])))
    return found


def drawn(name: str, options: dict[str, Any], n_fields: int = 2) -> dict[str, Any]:
    """Errors in units of what the field's own kernel has, and coverage of the truth, of several."""
    parts = []
    for seed in range(n_fields):
        field = draw(name, seed)
        asked = np.append(np.zeros(len(field.X), bool), np.ones(len(field.places), bool))
        task = Task(np.vstack([field.X, field.places]), np.append(field.y, field.truth), asked)
        found = _fit(task, options)
        scores = _scores(field.truth, found[1], found[0].predict(field.places, True)[1])
        system = field.kernel(field.X) + field.noise * np.eye(len(field.X))
        best = field.kernel(field.places, field.X) @ solve(system, field.y, assume_a="pos")
        scores["error"] /= float(np.sqrt(np.mean((field.truth - best) ** 2)))
        parts.append(found[3] | scores)
    return _mean(parts)


def _mean(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means of results of several fields."""
    found = {name: float(np.mean([part[name] for part in parts])) for name in parts[0]
             if not isinstance(parts[0][name], tuple)}  # fmt: skip
    for name in ("fit", "predict"):
        found[name] = tuple(np.mean([part[name] for part in parts], axis=0).tolist())
    return found


def holes(nu: float, size: int, options: dict[str, Any], n_fields: int = 3) -> dict[str, Any]:
    """Coverage in holes of several simulated fields."""
    parts = [on_rows(planar_holes(nu, size, seed), options) for seed in range(n_fields)]
    return _mean(parts)


def many(options: dict[str, Any]) -> dict[str, Any]:
    """583,200 rows on the sphere: seconds, memory and predictions of 100,000 others."""
    lat, lon = np.meshgrid(
        (np.arange(540) + 0.5) / 3 - 90, (np.arange(1080) + 0.5) / 3, indexing="ij"
    )
    X = zonal.datasets.to_sphere(lat.ravel(), lon.ravel())
    rng = np.random.default_rng(0)
    y = 0.02 * rng.standard_normal(len(X))
    for frequency in np.geomspace(1, 150, 60):
        direction = rng.standard_normal(3)
        wave = frequency * X @ (direction / np.linalg.norm(direction))
        y += frequency**-0.7 * np.cos(wave + rng.uniform(0, 2 * np.pi))
    asked = np.zeros(len(X) + 100_000, bool)
    asked[len(X) :] = True
    others = rng.standard_normal((100_000, 3))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    task = Task(np.vstack([X, others]), np.append(y, np.full(100_000, np.nan)), asked)
    kept: list[dict[str, Any]] = []
    peak = peak_memory(lambda: kept.append(_fit(task, options)[3]))
    return kept[0] | {"gigabytes": peak / 2**30}


TASKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "elevation, random rows": lambda o: on_rows(elevation("random"), o, squared=True),
    "elevation, blocks of 10°": lambda o: on_rows(elevation("blocks"), o, squared=True),
    "climate_berkeley, random rows": lambda o: on_rows(climate("random"), o, squared=True),
    "climate_berkeley, blocks of 10°": lambda o: on_rows(climate("blocks"), o, squared=True),
    "climate_berkeley and heights, random rows": lambda o: on_rows(
        climate("random", height=True), o, squared=True
    ),
    "climate_berkeley and heights, blocks of 10°": lambda o: on_rows(
        climate("blocks", height=True), o, squared=True
    ),
    "simulated field, its holes": lambda o: on_rows(gaps(), o),
    "COADS July, 50° × 50° hidden": lambda o: on_grid(coads(), o),
    **{
        f"smooth field {seed} on the sphere, holes of 40°": (
            lambda o, seed=seed: on_grid(smooth_sphere(seed), o)
        )
        for seed in range(3)
    },
    **{
        f"holes of {size} spacings, ν = {nu}": (lambda o, nu=nu, size=size: holes(nu, size, o))
        for nu in (0.5, 1.5, 2.5)
        for size in (2, 5, 10, 20)
    },
    "kaust_2a_9, ten times ahead": lambda o: on_rows(forecast(9), o),
    "kaust_2a_1": lambda o: on_rows(forecast(1), o),
    "kaust_2a_6": lambda o: on_rows(forecast(6), o),
    "583,200 rows on the sphere": many,
    "elevation made at 20′ (583,200 rows), blocks": (
        lambda o: on_rows(fine_elevation(), o, squared=True)
    ),
    **{
        f"{name}, {split}": (lambda o, n=name, s=split: on_rows(soundings(n, s), o))
        for name in ("argo", "jason3", "airs_co2")
        for split in ("random", "blocks of 10°")
    },
    **{f"drawn: {name}": (lambda o, name=name: drawn(name, o)) for name in DRAWN},
}


def _line(title: str, name: str, found: dict[str, Any]) -> tuple[str, ...]:
    def number(key: str, form: str = ".4g") -> str:
        return format(found[key], form) if key in found else ""

    steps = ""
    if "step" in found:
        steps = ", ".join(" / ".join(f"{one:.3g}" for one in found[key])
                          for key in ("step", "true step"))  # fmt: skip
    spread = f"{found['middle']:.3g} / {found['edge']:.3g}" if "middle" in found else ""
    times = [f"{found[key][0]:.1f} ({found[key][1]:.1f})" for key in ("fit", "predict")]
    if "before" in found:
        title += " (before)"
    if "gigabytes" in found:
        title += f" ({found['gigabytes']:.2f} GB)"
    return (title, name, number("error"), number("held 90", ".1%"), number("held 95", ".1%"),
            steps, spread, *times)  # fmt: skip


def main() -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="the tasks whose title has one of these in it")
    parser.add_argument("--model", choices=list(MODELS), help="this one alone")
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    zonal.NeighborKriging().fit(rng.random((3000, 2)), rng.random(3000))  # compile
    for title, run in TASKS.items():
        if asked.names and not any(name in title for name in asked.names):
            continue
        for name, options in MODELS.items():
            if asked.model in (None, name):
                found = run(options)
                print(*_line(title, name, found), sep=" | ", flush=True)
                known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
                known.setdefault(title, {})[name] = found
                ordered = {one: known[one] for one in TASKS if one in known}
                KEPT.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")
                lines = [(one, model) for one in ordered for model in MODELS]
                rows = [_line(*line, ordered[line[0]][line[1]]) for line in lines
                        if line[1] in ordered[line[0]]]  # fmt: skip
                KEPT.with_suffix(".md").write_text(f"{ABOUT}\n\n{table(rows, HEADER)}\n")


if __name__ == "__main__":
    main()
