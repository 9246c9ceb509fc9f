"""Table 3: kernel k-means on six datasets, the objective as published and as it can be compared.

k-means++ on D = 512 features of the Gaussian kernel, rows of unit norm, k the number of classes,
the best of ten starts, as scikit-learn's default was in 2022.
The objective, the mean squared distance to the centre, is evaluated on each method's own features,
as the paper does, and with the exact kernel on the labels found: features that lose a part of the
kernel's trace have shorter distances, which flatters their own objective and not the exact one.
The adjusted Rand index compares the labels with the classes.
"""

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler, normalize

import zonal
from zonal.rows import sample_rows
from zonal.theory.kernel_rows import KernelRows

from .common import Ledger, Report, Rows, is_published, published_name, say
from .table3_page import body, draw
from .table3_setting import (
    COMPARED,
    DATASETS,
    FULL,
    KERNEL,
    METHODS,
    PAPER,
    PUBLISHED,
    QUICK,
    Setting,
)


def load(name: str, n_rows: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows of unit norm, their classes, and the number of classes of the whole dataset."""
    X, classes = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)
    chosen = sample_rows(len(X), n_rows)
    # The paper does not speak of it, but raw columns give objectives far below its numbers.
    X = StandardScaler().fit_transform(X[chosen].astype(np.float64))
    return normalize(X).astype(np.float32), classes[chosen], len(np.unique(classes))


def exact_objectives(X: np.ndarray, labellings: list[np.ndarray]) -> list[float]:
    """The objective of every labelling with the exact kernel, in one pass over its matrix."""
    indicators = []
    for labels in labellings:
        _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        indicators.append((numbers[:, None] == np.arange(len(sizes))) / np.sqrt(sizes))
    matrix = KernelRows(KERNEL, X)
    stacked = np.hstack(indicators)
    explained = np.einsum("ni,ni->i", stacked, matrix @ stacked)
    starts = np.cumsum([0, *(part.shape[1] for part in indicators[:-1])])
    return [float(cost) / len(X) for cost in matrix.trace() - np.add.reduceat(explained, starts)]


def paper_cut(X: np.ndarray, setting: Setting) -> dict[str, int]:
    """The q and s with which the paper's features are closest to the kernel on some of the rows.

    The paper states neither.
    """
    rows = X[sample_rows(len(X), COMPARED)].astype(np.float64)
    K = KERNEL(rows)
    best: tuple[float, dict[str, int]] = (np.inf, {})
    for degree in setting.degrees:
        for order in setting.orders:
            cut = {"max_degree": degree, "n_radial": order}
            errors = []
            for seed in setting.seeds[:3]:
                features = zonal.GegenbauerFeatures.paper(
                    KERNEL, setting.width, **cut, random_state=seed
                )
                Z = features.fit_transform(rows)
                errors.append(float(np.linalg.norm(Z @ Z.T - K)))
            best = min(best, (float(np.median(errors)), cut), key=lambda pair: pair[0])
    return best[1]


def cluster(
    method: str, X: np.ndarray, k: int, setting: Setting, seed: int, cut: dict[str, int]
) -> tuple[Any, float]:
    """Fitted k-means and its CPU seconds."""
    features = METHODS[method](KERNEL, setting.width, **cut)
    model = zonal.KernelKMeans(features, k, n_init=setting.starts, random_state=seed)
    start = time.process_time()
    with warnings.catch_warnings():
        # In 42 dimensions the width is small for some methods; that is a part of the comparison.
        warnings.simplefilter("ignore", zonal.TruncationWarning)
        model.fit(X)
    return model, time.process_time() - start


def measure(method: str, dataset: str, setting: Setting) -> dict[str, Any]:
    """All seeds of one method on one dataset."""
    X, classes, k = load(dataset, setting.rows)
    cut = paper_cut(X, setting) if method == PAPER else {}
    fit = [cluster(method, X, k, setting, seed, cut) for seed in setting.seeds]
    say(f"table3: {dataset}, {method}: {sum(time for _, time in fit):.1f} s")
    if method == "Gegenbauer (zonal)":
        features = fit[0][0].features_
        cut = {"max_degree": features.max_degree_, "n_radial": features.n_radial_}
    published = PUBLISHED.get(published_name(method)) if is_published(method) else None
    return {
        "dataset": dataset,
        "n": len(X),
        "d": X.shape[1],
        "k": k,
        "method": method,
        "degree and order": [int(value) for value in cut.values()],
        "published": published[DATASETS.index(dataset)] if published else None,
        "own": [float(model.objective_) for model, _ in fit],
        "exact": exact_objectives(X, [model.labels_ for model, _ in fit]),
        "rand": [adjusted_rand_score(classes, model.labels_) for model, _ in fit],
        "seconds": [seconds for _, seconds in fit],
        "version": zonal.__version__,
    }


def cells(rows: Rows) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The measurements in results, by the keys of a ledger."""
    return {(row["dataset"], row["method"]): {"version": "0.1.0", **row} for row in rows}


def run(
    quick: bool = False,
    methods: list[str] | None = None,
    known: Rows | None = None,
    ledger: Ledger | None = None,
) -> Report:
    """All methods on all datasets; or some, with what is known of the others."""
    setting = QUICK if quick else FULL
    ledger = ledger or Ledger()
    rows: Rows = []
    for dataset in DATASETS:
        for method in methods or list(setting.methods):
            row = ledger.get((dataset, method), partial(measure, method, dataset, setting))
            rows += [] if row is None else [row]
    places = [(row["dataset"], row["method"]) for row in rows]
    rows += [
        row
        for row in known or []
        if row["method"] in METHODS and (row["dataset"], row["method"]) not in places
    ]
    order = list(METHODS)
    rows.sort(key=lambda row: (DATASETS.index(row["dataset"]), order.index(row["method"])))
    shown = {
        "kernel": f"Gaussian of bandwidth {KERNEL.bandwidth:.4f}",
        "D": setting.width,
        "seeds": setting.seeds,
        "starts for each seed": setting.starts,
        "precision": "float32",
        "rows at most": setting.rows if quick else "all",
    }
    return Report("Table 3: kernel k-means", shown, rows, body(rows), draw(rows))
