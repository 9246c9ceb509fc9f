"""python -m benchmarks.local.scale: seconds and memory against the number of rows."""

import time
from pathlib import Path

import numpy as np

import zonal

from ..measure import peak_memory, table

RESULTS = Path(__file__).parents[1] / "results" / "local_scale.md"
SIZES = (10_000, 100_000, 583_200, 1_000_000)
HEADER = ("rows", "what", "fit, s", "µs a row", "predict 100,000 rows, s", "rows a second", "peak")


def field(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A rough field on a grid: waves of all lengths, shorter ones smaller."""
    width = int(np.ceil(np.sqrt(1.5 * n_rows)))
    grid = np.indices((width, width)).reshape(2, -1).T[:n_rows] / width
    rng = np.random.default_rng(0)
    y = 0.1 * rng.standard_normal(n_rows)
    for frequency in np.geomspace(1, 400, 60):
        direction, phase = rng.standard_normal(2), rng.uniform(0, 2 * np.pi)
        wave = frequency * grid @ (direction / np.linalg.norm(direction))
        y += frequency**-0.7 * np.cos(2 * np.pi * wave + phase)
    return grid, y


def main() -> None:
    """Run and write the table."""
    zonal.NeighborKriging().fit(*field(2_000)).predict(field(500)[0])  # compile
    rows = []
    for n_rows in SIZES:
        X, y = field(n_rows)
        queries = np.random.default_rng(1).uniform(0, 1, (100_000, 2))
        for name, make in (
            ("NeighborKriging", zonal.NeighborKriging),
            ("KernelRidge, everything chosen", lambda: zonal.KernelRidge(random_state=0)),
        ):
            fitted = []

            def fit(make=make, fitted=fitted, X=X, y=y) -> None:
                start = time.perf_counter()
                fitted.append(make().fit(X, y))
                fitted.append(time.perf_counter() - start)

            peak = peak_memory(fit)
            model, seconds = fitted
            start = time.perf_counter()
            model.predict(queries)
            asked = time.perf_counter() - start
            rows.append(
                (
                    f"{n_rows:,}",
                    name,
                    f"{seconds:.1f}",
                    f"{1e6 * seconds / n_rows:.0f}",
                    f"{asked:.2f}",
                    f"{100_000 / asked:,.0f}",
                    f"{peak / 2**30:.2f} GB",
                )
            )
            print(*rows[-1], sep=" | ", flush=True)
    text = "A field on a grid of two columns, two cores; `python -m benchmarks.local.scale`."
    RESULTS.write_text(
        f"# The local part and the number of rows\n\n{text}\n\n{table(rows, HEADER)}\n"
    )


if __name__ == "__main__":
    main()
