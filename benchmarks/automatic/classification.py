"""KernelRidgeClassifier(features="auto") beside scikit-learn's classifiers.

Peers work on standardised columns and choose gamma (around 1/d) and their penalty by 3-fold
cross-validation on at most 5,000 training rows. SVC is fitted to at most 10,000 rows.
"""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import zonal

from .data import split

NAMES = ("magic", "pendigits", "shuttle")
HEADER = ("data", "classes", "method", "test accuracy", "training rows", "seconds, choice included")
MAX_SEARCH, MAX_SVC, WIDTH = 5000, 10_000, 1024


def peers(dim: int) -> dict[str, tuple[Any, dict[str, list[float]], int]]:
    """Pipeline, grid, and the most rows that it is fitted to."""
    gammas = [factor / dim for factor in (0.1, 0.3, 1.0, 3.0, 10.0)]
    ridge = {"ridgeclassifier__alpha": [1e-6, 1e-4, 1e-2, 1.0]}
    return {
        "SVC": (
            make_pipeline(StandardScaler(), SVC()),
            {"svc__gamma": gammas, "svc__C": [1.0, 10.0, 100.0]},
            MAX_SVC,
        ),
        "RBFSampler + RidgeClassifier": (
            make_pipeline(StandardScaler(), RBFSampler(random_state=0), RidgeClassifier()),
            {"rbfsampler__gamma": gammas} | ridge,
            10**9,
        ),
        "Nystroem + RidgeClassifier": (
            make_pipeline(StandardScaler(), Nystroem(random_state=0), RidgeClassifier()),
            {"nystroem__gamma": gammas} | ridge,
            10**9,
        ),
    }


def run(name: str) -> list[tuple[str, ...]]:
    """The rows of the table."""
    X, y = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)
    train, test, y_train, y_test = split(np.asarray(X, dtype=np.float64), y, stratify=y)
    rows = []

    def note(method: str, model: Any, n_rows: int, start: float) -> None:
        seconds = time.perf_counter() - start
        accuracy = f"{model.score(test, y_test):.4f}"
        classes = str(len(np.unique(y)))
        rows.append((name, classes, method, accuracy, f"{n_rows:,}", f"{seconds:.1f}"))
        print(*rows[-1], sep=" | ", flush=True)

    start = time.perf_counter()
    model = zonal.KernelRidgeClassifier(random_state=0).fit(train, y_train)
    chosen = model.selection_[model.selection_["chosen"]].iloc[0]
    what = f"{chosen['kernel']}, {chosen['features']}" + (", metric" if chosen["metric"] else "")
    note(f"**auto** ({what})", model, len(train), start)
    order = np.random.default_rng(0).permutation(len(train))
    for method, (pipeline, grid, most) in peers(train.shape[1]).items():
        start = time.perf_counter()
        last = pipeline.steps[-2][0]
        if method != "SVC":
            # Half the width for the search's folds of 3,333 rows, the same width at the end.
            pipeline.set_params(**{f"{last}__n_components": WIDTH // 2})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a nearly singular ridge, rare classes
            part = order[:MAX_SEARCH]
            search = GridSearchCV(pipeline, grid, cv=3).fit(train[part], y_train[part])
            best = pipeline.set_params(**search.best_params_)
            if method != "SVC":
                best.set_params(**{f"{last}__n_components": WIDTH})
            part = order[:most]
            best.fit(train[part], y_train[part])
        note(method, best, len(part), start)
    return rows
