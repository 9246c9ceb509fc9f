"""Other libraries that answer jointly, or at least with a variance: GSTools and PyKrige.

Each with the kernel and the noise that are given.
"""

import importlib.metadata
import time
from typing import Any

import numpy as np
from scipy.stats import norm

import zonal

from .data import elevation
from .tasks import crps

__all__ = ["PEERS", "peers"]

RANGE = 0.3
# Rows that are known: those that all can take, and those that only we can. Cells, and draws.
KNOWN, CELLS, DRAWS = (1_000, 60_000), 2_000, 20
# Beyond so many rows a dense matrix of all pairs, and the time of its factor, are too much here.
DENSE = 10_000


def _scores(drawn: Any, truth: np.ndarray) -> dict[str, float]:
    """CRPS and how many truths lie within the central 90 %, of an ensemble or of a normal law."""
    if isinstance(drawn, tuple):
        mean, std = drawn
        low, high = mean - norm.ppf(0.95) * std, mean + norm.ppf(0.95) * std
        score = float(np.mean(crps(truth, mean, std)))
    else:
        n = drawn.shape[1]
        ordered = np.sort(drawn, axis=1)
        spread = ordered @ (2 * np.arange(n) - n + 1) / (n * (n - 1))
        low, high = np.quantile(drawn, [0.05, 0.95], axis=1)
        score = float(np.mean(np.abs(drawn - truth[:, None]).mean(axis=1) - spread))
    return {"CRPS": score, "held": float(np.mean((low < truth) & (truth < high)))}


def _gstools(X: np.ndarray, y: np.ndarray, Q: np.ndarray, scale: float, noise: float) -> Any:
    import gstools

    model = gstools.Exponential(dim=3, var=scale, len_scale=RANGE, nugget=0.0)
    krige = gstools.krige.Ordinary(model, cond_pos=X.T, cond_val=y, cond_err=noise, exact=False)
    field = gstools.CondSRF(krige)
    field.set_pos(Q.T)
    return np.column_stack([field(seed=seed) for seed in range(DRAWS)])


def _zonal(X: np.ndarray, y: np.ndarray, Q: np.ndarray, scale: float, noise: float) -> Any:
    model = zonal.NeighborKriging(zonal.Matern(0.5, RANGE), noise=noise / scale, n_features=0)
    return model.fit(X, y).sample_y(Q, DRAWS, random_state=0)


def _pykrige(X: np.ndarray, y: np.ndarray, Q: np.ndarray, scale: float, noise: float) -> Any:
    from pykrige.ok3d import OrdinaryKriging3D

    # PyKrige's exponential model is psill (1 - exp(-3 h / range)) + nugget.
    given = {"psill": scale, "range": 3 * RANGE, "nugget": noise}
    model = OrdinaryKriging3D(
        *X.T, y, variogram_model="exponential", variogram_parameters=given, exact_values=False
    )
    mean, variance = model.execute("points", *Q.T)
    # Its variance is that of a new observation.
    return np.asarray(mean), np.sqrt(np.maximum(np.asarray(variance) - noise, 1e-12))


# What each answers with, its library, and how it is run.
PEERS = {
    "zonal": ("20 draws", "zonal", _zonal),
    "GSTools": ("20 draws", "gstools", _gstools),
    "PyKrige": ("mean and variance, no draws", "pykrige", _pykrige),
}


def peers(name: str) -> dict[str, Any]:
    """The same kernel, rows and cells for each library."""
    rows = elevation()
    order = np.random.default_rng(0).permutation(len(rows.y))
    asked = order[-CELLS:]
    answers, library, draw = PEERS[name]
    found: dict[str, Any] = {}
    for n_known in KNOWN:
        X, y, Q = rows.X[order[:n_known]], rows.y[order[:n_known]], rows.X[asked]
        one = {"answers": answers, "version": importlib.metadata.version(library)}
        found[f"{name}, {n_known:,} rows"] = one
        if library != "zonal" and n_known > DENSE:
            one["reason"] = f"needs a matrix of {8 * n_known**2 / 1e9:.0f} GB"
            continue
        given = zonal.NeighborKriging(zonal.Matern(0.5, RANGE), noise=0.01, n_features=0)
        scale = float(given.fit(X, y).scale_)  # that of our evidence, for all
        clock, cpu = time.perf_counter(), time.process_time()
        drawn = draw(X, y, Q, scale, 0.01 * scale)
        one |= {"seconds": time.perf_counter() - clock, "CPU": time.process_time() - cpu}
        one |= _scores(drawn, rows.y[asked])
    return found
