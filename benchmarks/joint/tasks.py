"""What is measured: draws, areas, known errors, several targets."""

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm

import zonal

from .data import Rows, airs, argo, blocks, elevation

__all__ = ["areas", "correlated", "draws", "errors", "unrelated", "variogram"]

FOLDS, USED = 10, 2
# Profiles of argo, a random sample.
PROFILES = 5_000


def _split(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Training rows and a random tenth."""
    order = np.random.default_rng(0).permutation(n)
    return order[: -(n // 10)], order[-(n // 10) :]


def crps(truth: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Of Gaussian predictions, row by row."""
    z = (truth - mean) / std
    return np.asarray(std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - np.pi**-0.5))


def draws() -> dict[str, Any]:
    """100 draws of the globe, and 2,000 against predictions."""
    rows = elevation()
    train, _ = _split(len(rows.y))
    model = zonal.NeighborKriging().fit(rows.X[train], rows.y[train])
    model.sample_y(rows.X[:50], 2)  # compiled now
    clock, cpu = time.perf_counter(), time.process_time()
    model.sample_y(rows.X, 100, random_state=0)
    found = {"seconds": time.perf_counter() - clock, "CPU": time.process_time() - cpu}
    cells = rows.X[::16]
    mean, std = model.predict(cells, return_std=True)
    total, squares = np.zeros(len(cells)), np.zeros(len(cells))
    for seed in range(1, 6):
        deviation = model.sample_y(cells, 400, random_state=seed) - mean[:, None]
        total += deviation.sum(axis=1)
        squares += np.square(deviation).sum(axis=1)
    n = 2000
    ratio = np.sqrt((squares - total**2 / n) / (n - 1)) / std
    return found | {
        "mean off, of std": float(np.sqrt(np.mean((total / n / std) ** 2))),
        "its standard error": n**-0.5,
        "std over that of predict": float(np.mean(ratio)),
        "scatter of that": float(np.std(ratio)),
        "standard error of a std": (2 * n) ** -0.5,
    }


def variogram() -> dict[str, Any]:
    """Variograms of draws that hardly know any data, against σ² (k(0) - k(h)) of their kernel."""
    rows = elevation()
    kernel = zonal.Matern(0.5, 0.056) + 12.5 * zonal.Matern(1.5, 0.98)
    few = np.random.default_rng(0).permutation(len(rows.y))[:100]
    model = zonal.NeighborKriging(kernel, noise=1e8).fit(rows.X[few], rows.y[few])
    fields = model.sample_y(rows.X, 200, random_state=0).reshape(180, 360, -1)
    found = {}
    cells = rows.X.reshape(180, 360, 3)
    for lag in (1, 2, 5, 10, 20, 40):
        # On circles of latitude, and on meridians.
        steps = [(np.roll(fields, -lag, axis=1) - fields, np.roll(cells, -lag, axis=1), cells)]
        steps.append((fields[lag:] - fields[:-lag], cells[lag:], cells[:-lag]))
        measured, expected = [], []
        for step, one, other in steps:
            chord = np.linalg.norm(one - other, axis=-1).ravel()
            pair = np.column_stack([chord, np.zeros((len(chord), 2))])
            covariance = sum(
                w * k(pair, np.zeros((1, 3)))[:, 0]
                for w, k in ((1.0, zonal.Matern(0.5, 0.056)), (12.5, zonal.Matern(1.5, 0.98)))
            )
            expected.append(model.scale_ * (13.5 - covariance))
            measured.append(np.mean(step**2, axis=2).ravel() / 2)
        ratio = np.concatenate(measured).mean() / np.concatenate(expected).mean()
        found[f"{lag}°"] = float(ratio)
    return found


def areas(name: str) -> dict[str, Any]:
    """Means over blocks that are held out: how many are inside their intervals of 90 %."""
    rows = elevation() if name == "elevation" else airs(8_000)
    label = blocks(rows.place)
    fold = np.random.default_rng(0).permutation(label.max() + 1) % FOLDS
    variance = None if rows.std is None else rows.std**2
    model: Any = None
    z = norm.ppf(0.95)
    held, apart, errors, sizes = [], [], [], []
    for k in range(USED):
        asked = fold[label] == k
        X, y = rows.X[~asked], rows.y[~asked]
        if model is None:
            options = {} if variance is None else {"noise_variance": variance[~asked]}
            model = first = zonal.NeighborKriging().fit(X, y, **options)
        else:
            model = first.refitted(X, y, None if variance is None else variance[~asked])
        names, column = np.unique(label[asked], return_inverse=True)
        area = np.cos(np.radians(rows.place[asked, 0]))
        whole = np.bincount(column, area)
        weights = sp.csr_array(
            (area / whole[column], (np.arange(len(column)), column)), (len(column), len(names))
        )
        mean, joint = model.posterior_sums(rows.X[asked], weights)
        if variance is None:
            noise = model.noise_ * model.scale_ * model.amplitude_at(rows.X[asked]) ** 2
        else:
            noise = model.extra_noise_ + variance[asked]
        own = (weights * weights).T @ noise
        truth = weights.T @ rows.y[asked]
        std = np.sqrt(np.diag(joint) + own)
        _, single = model.predict(rows.X[asked], return_std=True)
        alone = np.sqrt((weights * weights).T @ (single**2) + own)
        error = truth - mean
        held += (np.abs(error) < z * std).tolist()
        apart += (np.abs(error) < z * alone).tolist()
        errors += error.tolist()
        sizes += std.tolist()
    return {
        "blocks": len(held),
        "held": float(np.mean(held)),
        "held, cells independent": float(np.mean(apart)),
        "RMSE": float(np.sqrt(np.mean(np.square(errors)))),
        "mean std": float(np.mean(sizes)),
    }


def errors(n_rows: int = 40_000) -> dict[str, Any]:
    """Retrievals with their own errors, and with one noise for all.

    The first 40,000 of the random order have served to set how many rows the common noise is found
    by: these are the next.
    """
    rows = airs(n_rows, start=40_000)
    assert rows.std is not None
    train, test = _split(len(rows.y))
    found: dict[str, Any] = {}
    row_by_row = []
    for name, options in (
        ("one noise", {}),
        ("own errors", {"noise_variance": rows.std[train] ** 2}),
    ):
        cpu = time.process_time()
        model = zonal.NeighborKriging(amplitude=None, warp=None)  # as known errors have it
        model.fit(rows.X[train], rows.y[train], **options)
        cpu = time.process_time() - cpu
        mean, std = model.predict(rows.X[test], return_std=True)
        noise = model.extra_noise_ + rows.std[test] ** 2 if options else model.noise_ * model.scale_
        total = np.sqrt(std**2 + noise)
        truth = rows.y[test]
        row_by_row.append(crps(truth, mean, total))
        found[name] = {
            "CRPS": float(np.mean(row_by_row[-1])),
            "MSE": float(np.mean((truth - mean) ** 2)),
            "held": float(np.mean(np.abs(truth - mean) < norm.ppf(0.95) * total)),
            "extra": float(model.extra_noise_ if options else noise),
            "CPU": cpu,
        }
        if not options:  # how much of the errors that are left the stated ones explain
            rest, stated = (truth - mean) ** 2 - std**2, rows.std[test] ** 2
            slope, covariance = np.polyfit(stated, rest, 1, cov=True)
            found[name]["slope"] = float(slope[0])
            found[name]["slope, standard error"] = float(np.sqrt(covariance[0, 0]))
            found[name]["stated"] = float(np.mean(stated))
            found[name]["left"] = float(np.mean(rest))
    difference = row_by_row[1] - row_by_row[0]
    found["own errors"]["difference"] = float(np.mean(difference))
    found["own errors"]["standard error"] = float(np.std(difference) / np.sqrt(len(difference)))
    return found


def _hidden(rows: Rows, Y: np.ndarray, asked: int) -> dict[str, Any]:
    """One target where only the first was measured: alone, and with the others."""
    train, test = _split(len(Y))
    truth = Y[test, asked]
    cpu = time.process_time()
    alone = zonal.NeighborKriging().fit(rows.X[train], Y[train, asked]).predict(rows.X[test])
    middle = time.process_time()
    holes = Y.copy()
    holes[test, 1:] = np.nan
    model = zonal.CoKriging().fit(rows.X, holes)
    mean = model.predict(rows.X[test])[:, asked]
    end = time.process_time()
    lower, upper = (part[:, asked] for part in model.predict_interval(rows.X[test]))
    return {
        "alone": float(np.mean((truth - alone) ** 2)),
        "together": float(np.mean((truth - mean) ** 2)),
        "held": float(np.mean((lower < truth) & (truth < upper))),
        "correlation": model.correlation_[0].tolist(),
        "CPU": [middle - cpu, end - middle],
    }


def correlated() -> dict[str, Any]:
    """argo: 150 m where 100 m was measured alone."""
    rows = argo(PROFILES)
    return _hidden(rows, rows.y, 1)


def unrelated() -> dict[str, Any]:
    """argo: 150 m beside the height of the ground a quarter of the globe away."""
    rows, ground = argo(PROFILES), elevation()
    near = zonal.NeighborKriging(zonal.Matern(0.5, 0.056), noise=1e-3, n_features=0)
    near.fit(ground.X, ground.y)
    lat, lon = rows.place[:, :2].T
    height = near.predict(zonal.datasets.to_sphere(lat, lon + 90))
    return _hidden(rows, np.column_stack([height, rows.y[:, 1]]), 1)
