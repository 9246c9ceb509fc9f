"""python -m benchmarks.space_time [names ...]: writes benchmarks/results/space_time.md.

`NeighborKriging(time=...)` beside `NeighborKriging()`, to which time is one more column, LightGBM
and the climatology. Results are kept in space_time.json, so that parts can be run one by one.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

import zonal

from ..measure import table
from .data import TASKS, Task

KEPT = Path(__file__).parents[1] / "results" / "space_time.json"
HEADER = ("data", "model", "RMSE", "MSE", "CRPS", "90 % hold", "95 % hold", "fit, s (CPU)",
          "predictions, s (CPU)")  # fmt: skip
ABOUT = (
    "# Space and time\n\n`python -m benchmarks.space_time`. *time*: `NeighborKriging(time=...)`, "
    "which knows that the last column is a time and how long its year is; *columns*: "
    "`NeighborKriging()`, to which it is one more column; *climatology*: the mean and, where there "
    "is a year, two harmonics of it, at the nearest station or place; *LightGBM* with place, time "
    "and time of the year, stopped by the errors of training rows that are held out like those "
    "asked for (days, stations, the month before, blocks), which also give its intervals. "
    "GPBoost stands beside ours in fields.md, on most of these. "
    "Intervals of the others are from the model's own variance, not calibrated. The machine was "
    "shared by many: CPU seconds are what counts. Lines of noaa_tmax are the newest, of an idle "
    "machine; of climate_berkeley by blocks climbs end elsewhere with other seeds: the RMSE is "
    "1.92 to 2.11."
)


def kriging(task: Task, **options: Any) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Predict what is asked for; std with noise."""
    train = ~task.asked
    clock, cpu = time.perf_counter(), time.process_time()
    model = zonal.NeighborKriging(**options).fit(task.X[train], task.y[train])
    middle, middle_cpu = time.perf_counter(), time.process_time()
    mean, std = model.predict(task.X[task.asked], return_std=True)
    found = {
        "fit": (middle - clock, middle_cpu - cpu),
        "predict": (time.perf_counter() - middle, time.process_time() - middle_cpu),
        "kernel": " ".join(str(model.kernel_).split()),
    }
    noise = np.sqrt(model.noise_ * model.scale_) * model.amplitude_at(task.X[task.asked])
    return mean, np.hypot(std, noise), found


def with_time(task: Task) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Our model of space and time."""
    return kriging(task, time=task.time)


def with_columns(task: Task) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Our model to which time is a column, on an interval of length one."""
    X = task.X.copy()
    X[:, -1] = (X[:, -1] - X[:, -1].min()) / np.ptp(X[:, -1])
    return kriging(task._replace(X=X))


def _trees(task: Task) -> np.ndarray:
    columns = [task.place, task.X[:, -1:]]
    if task.time != ():
        angle = 2 * np.pi * task.X[:, -1:] / task.time
        columns += [task.X[:, -1:] % task.time, np.cos(angle), np.sin(angle)]
    return np.hstack(columns)


def lightgbm(task: Task) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Boosted trees, stopped by training rows like those asked for, which give the spread."""
    import lightgbm as lgb

    X, train = _trees(task), np.flatnonzero(~task.asked)
    clock, cpu = time.perf_counter(), time.process_time()
    held = train[np.random.default_rng(1).random(len(train)) < 0.1]
    if task.alike is not None:
        held = train[task.alike[train]]
    rest = np.setdiff1d(train, held)
    model = lgb.LGBMRegressor(
        n_estimators=3000, learning_rate=0.1, num_leaves=63, verbose=-1, n_jobs=1, random_state=0
    )
    model.fit(
        X[rest], task.y[rest], eval_set=[(X[held], task.y[held])],
        callbacks=[lgb.early_stopping(50, verbose=False)],
    )  # fmt: skip
    spread = float(np.sqrt(np.mean((model.predict(X[held]) - task.y[held]) ** 2)))
    middle, middle_cpu = time.perf_counter(), time.process_time()
    mean = np.asarray(model.predict(X[task.asked]))
    found = {
        "fit": (middle - clock, middle_cpu - cpu),
        "predict": (time.perf_counter() - middle, time.process_time() - middle_cpu),
    }
    return mean, np.full(len(mean), spread), found


def climatology(task: Task) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """The mean and two harmonics of the year of the rows at the nearest places."""
    from scipy.spatial import cKDTree

    train, clock, cpu = ~task.asked, time.perf_counter(), time.process_time()
    point, angle = task.X[:, :-1], np.zeros((len(task.X), 0))
    if task.time != ():
        turn = 2 * np.pi * task.X[:, -1:] / task.time
        angle = np.hstack([np.cos(turn), np.sin(turn), np.cos(2 * turn), np.sin(2 * turn)])
    basis = np.hstack([np.ones((len(angle), 1)), angle])
    places, of_row = np.unique(point[train], axis=0, return_inverse=True)
    enough = int(np.ceil(12 / np.bincount(of_row.ravel()).mean())) if task.time != () else 1
    _, near = cKDTree(places).query(places, min(enough, len(places)))
    coef = []
    rows_of = np.split(np.argsort(of_row.ravel(), kind="stable"),
                       np.cumsum(np.bincount(of_row.ravel()))[:-1])  # fmt: skip
    basis_train, y_train = basis[train], task.y[train]
    for group in near.reshape(len(places), -1):
        rows = np.concatenate([rows_of[one] for one in group])
        coef.append(np.linalg.lstsq(basis_train[rows], y_train[rows], rcond=None)[0])
    known = np.array(coef)
    error = y_train - np.einsum("nk,nk->n", basis_train, known[of_row.ravel()])
    middle, middle_cpu = time.perf_counter(), time.process_time()
    _, nearest = cKDTree(places).query(point[task.asked])
    mean = np.einsum("nk,nk->n", basis[task.asked], known[nearest])
    found = {
        "fit": (middle - clock, middle_cpu - cpu),
        "predict": (time.perf_counter() - middle, time.process_time() - middle_cpu),
    }
    return mean, np.full(len(mean), float(error.std())), found


MODELS = {"time": with_time, "columns": with_columns, "LightGBM": lightgbm,
          "climatology": climatology}  # fmt: skip


def scores(truth: np.ndarray, mean: np.ndarray, std: np.ndarray) -> dict[str, float]:
    """Errors, CRPS of normal distributions (Gneiting and Raftery 2007) and coverage."""
    z = (truth - mean) / std
    crps = std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    mse = float(np.mean((truth - mean) ** 2))
    held = {f"held {share}": float(np.mean(np.abs(z) < norm.ppf(0.5 + share / 200)))
            for share in (90, 95)}  # fmt: skip
    return {"rmse": mse**0.5, "mse": mse, "crps": float(crps.mean())} | held


def _line(title: str, name: str, found: dict[str, Any]) -> tuple[str, ...]:
    times = [f"{found[key][0]:.1f} ({found[key][1]:.1f})" for key in ("fit", "predict")]
    numbers = [format(found[key], ".4g") for key in ("rmse", "mse", "crps")]
    return title, name, *numbers, *(f"{found[f'held {share}']:.1%}" for share in (90, 95)), *times


def main() -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="the tasks whose title has one of these in it")
    parser.add_argument("--model", choices=list(MODELS), help="this one alone")
    given = parser.parse_args()
    for title, make in TASKS.items():
        if given.names and not any(name in title for name in given.names):
            continue
        task = make()
        for name, run in MODELS.items():
            if given.model not in (None, name):
                continue
            mean, std, found = run(task)
            found |= scores(task.y[task.asked], mean, std)
            print(*_line(title, name, found), sep=" | ", flush=True)
            known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
            known.setdefault(title, {})[name] = found
            ordered = {one: known[one] for one in TASKS if one in known}
            KEPT.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")
            write_page(ordered)
    write_page(json.loads(KEPT.read_text()))


def write_page(known: dict[str, Any]) -> None:
    """Write what is known so far."""
    rows = [_line(one, model, known[one][model]) for one in known for model in MODELS
            if model in known[one]]  # fmt: skip
    KEPT.with_suffix(".md").write_text(f"{ABOUT}\n\n{table(rows, HEADER)}\n")


if __name__ == "__main__":
    main()
