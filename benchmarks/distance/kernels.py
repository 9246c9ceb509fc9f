"""python -m benchmarks.distance.kernels: writes benchmarks/results/coads_kernels.md.

Sums of two isotropic kernels on COADS with 50° × 50° hidden: evidence and error of each, beside
those of the one that `NeighborKriging()` finds.
"""

from itertools import product
from pathlib import Path

import numpy as np

import zonal

from ..measure import table
from .data import coads

KEPT = Path(__file__).parents[1] / "results" / "coads_kernels.md"
HEADER = ("short", "long", "weight", "log evidence", "RMSE, K")
ABOUT = (
    "# Kernels on COADS\n\n`python -m benchmarks.distance.kernels`: July with 50° × 50° of the "
    "Pacific hidden. Matérn kernels (ν; length scale in units of the Earth's radius), with 256 "
    "features; the noise is scaled so that it is about the same in K for every short kernel."
)


def main() -> None:
    """Run and write the table."""
    task = coads().task
    train, lines = ~task.asked, []

    def run(names: tuple[str, str, str], model: zonal.NeighborKriging) -> None:
        model.fit(task.X[train], task.y[train])
        error = np.sqrt(np.mean((model.predict(task.X[~train]) - task.y[~train]) ** 2))
        lines.append((*names, f"{model.log_evidence_:.1f}", f"{error:.3f}"))
        print(*lines[-1], sep=" | ", flush=True)

    found = zonal.NeighborKriging()
    run(("found", "found", "found"), found)
    kept = float(np.mean(found.kernel_.k1.length_scale))
    for scale, (nu, long), weight in product(
        (0.153, 0.25, 0.436), ((2.5, 1.0), (1.5, 1.74), (2.5, 1.74), (2.5, 3.5)), (10.0, 100.0)
    ):
        kernel = zonal.Matern(1.5, scale) + weight * zonal.Matern(nu, long)
        noise = found.noise_ * (kept / scale) ** 3
        run((f"3/2; {scale}", f"{nu}; {long}", f"{weight:g}"),
            zonal.NeighborKriging(kernel, noise=noise))  # fmt: skip
    KEPT.write_text(f"{ABOUT}\n\n{table(lines, HEADER)}\n")


if __name__ == "__main__":
    main()
