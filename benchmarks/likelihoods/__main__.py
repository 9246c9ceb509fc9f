"""python -m benchmarks.likelihoods [--splits N] [names ...]: log loss, Brier score, deviance.

Every result goes to results/likelihoods.json when it is there, and is not found again;
likelihoods.md is written anew each time. Peers that are not installed are left out.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import (
    log_loss,
    mean_gamma_deviance,
    mean_poisson_deviance,
    roc_auc_score,
)

import zonal

from .data import CLASSES, CLOUDS, COUNTS, task
from .methods import CLASSIFIERS, COUNTERS

RESULTS = Path(__file__).parents[1] / "results"
# Logistic regression with a local part is for places.
ONLY_CLOUDS = "zonal, KernelGLM"
ABOUT = """# Classes and counts

`OMP_NUM_THREADS=1 python -m benchmarks.likelihoods` makes this page. A fifth of the rows is held
out at random (of diamonds and flights 15,000 rows are drawn first); everything has its defaults.
The cloud image is split as the published comparison of FRK v2 splits it, with R's own random
numbers: 6,000 pixels are known, or all but a block of 30 × 30 (`likelihoods/data.py` has the
source). Published Brier scores and AUC: of the 6,000 pixels .08 and .96 by spNNGP in 12 minutes,
.09 and .96 by FRK v2, .09 and .95 by INLA; of the block .19 and .77 by FRK v2 in 32 minutes. Of
counts and amounts 2,000 rows are fitted and 2,000 others predicted; the log score is the mean log
predictive density, the larger the better; GPBoost has a length scale for each column and estimates
the smoothness. CPU seconds of fit and prediction, on one thread of a machine that others used too;
zonal's modules are loaded and its loops compiled before (GPBoost on bikeshare: within). Empty: not
run.
"""


def main() -> None:
    """Measure what is not known yet, and write the page."""
    names = [*CLASSES, *CLOUDS, *COUNTS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("names", nargs="*", default=names)
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    load_and_compile()
    path = RESULTS / "likelihoods.json"
    for name in wanted.names:
        for seed in range(wanted.splits):
            for method in methods_of(name):
                known = json.loads(path.read_text()) if path.exists() else {}
                key = f"{name}, {seed}, {method}"
                if key in known or (method == ONLY_CLOUDS and name not in CLOUDS):
                    continue
                found = measure(name, seed, method)
                known = json.loads(path.read_text()) if path.exists() else {}
                if found is not None:
                    print(key, found, flush=True)
                    known = {**known, key: found}
                    path.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n")
    (RESULTS / "likelihoods.md").write_text(page(json.loads(path.read_text())))


def load_and_compile() -> None:
    """Fit a few rows of columns and of places, so that no method pays for it."""
    rng = np.random.default_rng(0)
    for n_columns in (2, 6):
        X = rng.standard_normal((400, n_columns))
        zonal.KernelRidgeClassifier(budget=64, random_state=0).fit(X, X[:, 0] > 0).predict_proba(X)
        y = rng.poisson(np.exp(X[:, 0] / 2))
        zonal.KernelGLM("poisson", budget=64, random_state=0).fit(X, y).predict(X)


def methods_of(name: str) -> list[str]:
    """Return the methods of a dataset; those of counts with each likelihood."""
    if name not in COUNTS:
        return list(CLASSIFIERS)
    return [f"{method}, {likelihood}" for likelihood in COUNTS[name] for method in COUNTERS]


def measure(name: str, seed: int, method: str) -> dict[str, float] | None:
    """Return scores and seconds of one method on one split; None where it is not installed."""
    rows = task(name, seed)
    start = time.process_time()
    try:
        if name in COUNTS:
            own, likelihood = method.rsplit(", ", 1)
            predicted, densities = COUNTERS[own](rows, likelihood)
        else:
            predicted = CLASSIFIERS[method](rows)
    except ModuleNotFoundError:
        return None
    seconds = round(time.process_time() - start, 1)
    if name in COUNTS:
        deviance = mean_gamma_deviance if likelihood == "gamma" else mean_poisson_deviance
        scores = {"deviance": deviance(rows.y_test, predicted)}
        if densities is not None:
            scores["log score"] = np.mean(densities)
        return {key: round(float(value), 5) for key, value in scores.items()} | {"seconds": seconds}
    labels = np.unique(rows.y)
    truth = rows.y_test[:, None] == labels
    scores = {
        "log loss": log_loss(rows.y_test, predicted, labels=labels),
        "Brier": float(np.mean(np.sum((predicted - truth) ** 2, axis=1))) / 2,
        "calibration error": calibration_error(predicted, truth),
    }
    if len(labels) == 2:
        scores["AUC"] = roc_auc_score(rows.y_test, predicted[:, 1])
    return {key: round(float(value), 5) for key, value in scores.items()} | {"seconds": seconds}


def calibration_error(chances: Any, truth: Any, n_bins: int = 15) -> float:
    """Return the expected calibration error of the class that is predicted."""
    best = chances.argmax(axis=1)
    sure, right = chances.max(axis=1), truth[np.arange(len(best)), best]
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    gaps = [
        np.mean(bins == b) * abs(sure[bins == b].mean() - right[bins == b].mean())
        for b in np.unique(bins)
    ]
    return float(np.sum(gaps))


def page(known: dict[str, dict[str, float]]) -> str:
    """Return the page of results."""
    lines = [ABOUT]
    for names, scores in (
        (CLASSES, ("log loss", "calibration error")),
        (CLOUDS, ("Brier", "AUC", "log loss")),
        (tuple(COUNTS), ("log score", "deviance")),
    ):
        lines += ["", f"| data | method | {' | '.join(scores)} | seconds |"]
        lines.append("| --- " * (len(scores) + 3) + "|")
        for name in names:
            for method in methods_of(name):
                runs = [v for k, v in known.items() if k.split(", ")[0] == name and _is(k, method)]
                if not runs:
                    continue
                values = [
                    f"{np.mean([run[score] for run in runs]):.4f}" if score in runs[0] else ""
                    for score in scores
                ]
                seconds = np.mean([run["seconds"] for run in runs])
                lines.append(f"| {name} | {method} | {' | '.join(values)} | {seconds:.1f} |")
    return "\n".join(lines) + "\n"


def _is(key: str, method: str) -> bool:
    """Tell whether a key ``name, seed, method`` is of a method, whose name may have commas."""
    return key.split(", ", 2)[2] == method


if __name__ == "__main__":
    main()
