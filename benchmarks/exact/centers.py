"""A million rows with a thousand centres: Falkon's system."""

import numpy as np

import zonal

from ..measure import peak_memory
from .all_rows import Clock

__all__ = ["HEADER", "line"]

N_ROWS, N_CENTERS, NOISE = 1_000_000, 1_000, 0.1
HEADER = ("rows", "centres", "fit, s", "work, s", "MB", "test MSE", "note")


def line() -> tuple[str, ...]:
    """Fit a wave in three columns with noise: seconds, memory, and the error at new rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N_ROWS, 3))
    X_test = rng.uniform(-1, 1, (10_000, 3))

    def wave(rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(4 * rows[:, 0]) * np.cos(3 * rows[:, 1]) + rows[:, 2] ** 2)

    y = wave(X) + NOISE * rng.standard_normal(N_ROWS)
    model = zonal.ExactKernelRidge(
        zonal.Matern(2.5, 1.0), alpha=1.0, centers=N_CENTERS, random_state=0
    )
    model.fit(X[:10_000], y[:10_000])  # compiles
    clock = Clock()
    memory = peak_memory(lambda: model.fit(X, y))
    seconds, work = clock.read()
    error = np.mean((model.predict(X_test) - wave(X_test)) ** 2)
    report = model.report_
    note = f"{report.n_iterations} iterations, residual {report.residual:.1e}"
    sizes = f"{N_ROWS:,}", f"{N_CENTERS:,}"
    return *sizes, f"{seconds:.1f}", f"{work:.1f}", f"{memory / 1e6:.0f}", f"{error:.2g}", note
