"""python -m benchmarks.distance.weights [names ...]: which weights; writes results/weights.md.

Two candidates predict held-out rows at several distances, from training rows alone. Weights of
several forms are found in the holes of one draw and scored in those of another.
"""

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from zonal.kriging.ladder import is_short, split_parameters
from zonal.kriging.locations import Locations, locate
from zonal.kriging.process import LocalProcess
from zonal.kriging.search import Found, find_parameters
from zonal.kriging.space_time import closing_period, find_space_time
from zonal.kriging.space_time_split import split_space_time
from zonal.model.distance_weights import hats
from zonal.model.split_fits import SplitFits
from zonal.selection.distances import Distances
from zonal.selection.weighing import _balanced, _nodes
from zonal.selection.weights import simplex_weights

from ..measure import table
from .data import climate, coads, elevation, forecast, gaps

KEPT = Path(__file__).parents[1] / "results" / "weights.json"
FORMS = ("the first", "the second", "constant", "line in log distance", "three distances",
         "three deviations", "own variances")  # fmt: skip
ABOUT = (
    "# Weights of two candidates\n\n`python -m benchmarks.distance.weights`: squared errors of "
    "weighted means of two candidates on held-out rows of training rows, over those of the first; "
    "near, between and far count alike. Weights are found in the holes of one draw and scored in "
    "those of another, both ways. *Line*: one over one plus the exponential of a line. *Three "
    "distances*: linear in the logarithm of the distance to the nearest row between three of them. "
    "*Three deviations*: the same, of the first candidate's own deviation. *Own variances*: one "
    "over each candidate's own variance. The first candidate is the split kernel; the second is a "
    "kernel of space and time, or the nearest rows alone (one kernel, without features)."
)


class Said(NamedTuple):
    """What two candidates say of one draw of held-out rows: predictions and deviations [2, n]."""

    held: Distances
    mean: np.ndarray
    std: np.ndarray
    weight: np.ndarray


TASKS = {
    "climate_berkeley": (lambda: climate("blocks"), True),
    "kaust_2a_9": (lambda: forecast(9), True),
    "elevation": (lambda: elevation("blocks"), False),
    "simulated field": (gaps, False),
    "COADS July": (lambda: coads().task, False),
}


def candidates(locations: Locations, in_time: bool) -> list[Found]:
    """Return the split kernel, and one of space and time or the nearest rows alone."""
    single = find_parameters(locations, None, None, quick=partial(is_short, locations, 32))
    split = split_parameters(locations, single, 256, n_neighbors=32)
    if not in_time:
        return [split, single]
    timed = find_space_time(locations, single, closing_period(locations.rows[:, -1]))
    return [split, split_space_time(locations, timed, 256, 32)]


def said(locations: Locations, founds: list[Found], seed: int) -> Said:
    """Have both candidates predict the rows of one draw of holes."""
    held = Distances(locations, founds[0], 32, seed=seed)
    means, stds = [], []
    for found in founds:
        process = LocalProcess(
            locations.rows, locations.weight, found.kernel, found.noise, 32, low=found.low
        )
        fits = SplitFits(process, locations.targets, process.features, found.ratio)
        parts = []
        for part in held.parts:
            queries = process.rows[part.test]
            joint, near = fits.without(np.flatnonzero(part.train), queries)
            mean, std = joint.predict(queries, process.features, True, near)
            noise = found.noise * joint.found.scale
            parts.append((mean[:, 0], np.sqrt(std[:, 0] ** 2 + noise)))
        means.append(np.concatenate([mean for mean, _ in parts]))
        stds.append(np.concatenate([std for _, std in parts]))
    mean, loss = np.stack(means), np.square(means[0] - held.truth[:, 0])
    shares = hats(held.distance, _nodes(held.distance, held.is_alone))
    return Said(held, mean, np.stack(stds), _balanced(loss, shares))


def weights(form: str, known: Said, new: Said) -> np.ndarray:
    """Return weights [2, n] in new holes by what held in the known ones."""
    truth = known.held.truth
    predicted = known.mean[:, :, None]
    if form in ("the first", "the second"):
        return np.tile(np.eye(2)[:, [int(form == "the second")]], len(new.held.truth))
    if form == "constant":
        found = simplex_weights(predicted, truth, known.weight)
        return np.tile(found[:, None], len(new.held.truth))
    if form == "own variances":
        return new.std**-2 / (new.std**-2).sum(axis=0)
    if form == "line in log distance":
        x = np.log(known.held.distance)
        middle, width = x.mean(), x.std()

        def share(line: np.ndarray, distance: np.ndarray) -> np.ndarray:
            return expit(line[0] + line[1] * (np.log(distance) - middle) / width)

        def loss(line: np.ndarray) -> float:
            far = share(line, known.held.distance)
            mean = (1 - far) * known.mean[0] + far * known.mean[1]
            return float(known.weight @ (truth[:, 0] - mean) ** 2)

        best = min((minimize(loss, [0.0, slope], method="Nelder-Mead") for slope in (0.0, 2.0, -2)),
                   key=lambda one: one.fun)  # fmt: skip
        far = share(best.x, new.held.distance)
        return np.stack([1 - far, far])
    of = {
        "three distances": lambda one: one.held.distance,
        "three deviations": lambda one: one.std[0],
    }
    x, alone = of[form](known), known.held.is_alone
    nodes = _nodes(x, alone)
    found = simplex_weights(predicted, truth, known.weight, hats(x, nodes))
    return (hats(of[form](new), nodes) @ found).T


def score(form: str, known: Said, new: Said) -> float:
    """Return the loss in new holes over that of the first candidate."""
    mean = (weights(form, known, new) * new.mean).sum(axis=0)
    losses = [np.square(new.held.truth[:, 0] - one) for one in (mean, new.mean[0])]
    return float(new.weight @ losses[0] / (new.weight @ losses[1]))


def main() -> None:
    """Run and write the table."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name, (load, in_time) in TASKS.items():
        if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
            continue
        task = load()
        X, y = task.X[~task.asked], task.y[~task.asked]
        if X.shape[1] > 3 or in_time:
            X = np.column_stack([X[:, :-1], (X[:, -1] - X[:, -1].mean()) / X[:, -1].std()])
        clock = time.process_time()
        locations = locate(X, (y - y.mean())[:, None], None)
        founds = candidates(locations, in_time)
        draws = [said(locations, founds, seed) for seed in (0, 1)]
        kept[name] = {
            form: float(np.mean([score(form, *draws), score(form, *draws[::-1])])) for form in FORMS
        } | {"seconds": time.process_time() - clock}
        print(name, kept[name], flush=True)
        kept = {one: kept[one] for one in TASKS if one in kept}
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
        lines = [(one, *(f"{found[form]:.3f}" for form in FORMS)) for one, found in kept.items()]
        KEPT.with_suffix(".md").write_text(f"{ABOUT}\n\n{table(lines, ('data', *FORMS))}\n")


if __name__ == "__main__":
    main()
