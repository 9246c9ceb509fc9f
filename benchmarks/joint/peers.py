"""Other libraries that draw fields given data: GSTools. Each with the kernel that is given."""

import time
from typing import Any

import numpy as np

import zonal

from .data import elevation

__all__ = ["PEERS", "peers"]

RANGE = 0.3
# Rows that both know, cells and draws.
KNOWN, CELLS, DRAWS = 2000, 4000, 20


def _scores(drawn: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """CRPS of an ensemble, and how many truths lie within its central 90 %."""
    n = drawn.shape[1]
    ordered = np.sort(drawn, axis=1)
    spread = ordered @ (2 * np.arange(n) - n + 1) / (n * (n - 1))
    low, high = np.quantile(drawn, [0.05, 0.95], axis=1)
    return {
        "CRPS": float(np.mean(np.abs(drawn - truth[:, None]).mean(axis=1) - spread)),
        "held": float(np.mean((low < truth) & (truth < high))),
    }


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


PEERS = {"zonal": _zonal, "GSTools": _gstools}


def peers() -> dict[str, Any]:
    """The same kernel, rows and cells for each."""
    rows = elevation()
    order = np.random.default_rng(0).permutation(len(rows.y))
    known, asked = order[:KNOWN], order[KNOWN : KNOWN + CELLS]
    X, y, Q = rows.X[known], rows.y[known], rows.X[asked]
    model = zonal.NeighborKriging(zonal.Matern(0.5, RANGE), noise=0.01, n_features=0).fit(X, y)
    scale, noise = model.scale_, 0.01 * model.scale_
    found = {}
    for name, draw in PEERS.items():
        clock, cpu = time.perf_counter(), time.process_time()
        drawn = draw(X, y, Q, scale, noise)
        seconds = {"seconds": time.perf_counter() - clock, "CPU": time.process_time() - cpu}
        found[name] = seconds | _scores(drawn, rows.y[asked])
    return found
