"""python -m benchmarks.distance.sides: which neighbours; writes benchmarks/results/sides.md.

The nearest 32 rows, four rows from each of eight sectors, or 23 of the nearest with nine of ever
sparser rows: errors and steps in holes, with the kernel from which each field was drawn, without
and with features that carry its low degrees.
"""

from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

import zonal

from ..measure import table
from .__main__ import steps
from .data import planar_field, planar_holes, smooth_sphere

KEPT = Path(__file__).parents[1] / "results" / "sides.md"
N_NEIGHBORS, N_SECTORS, N_FAR = 32, 8, 9
# Nearest rows among which those of each sector are looked for.
POOL = 256
HEADER = ("field", "features", "neighbours", "RMSE", "largest step north / east", "of the truth")
ABOUT = (
    "# Neighbours on all sides\n\n`python -m benchmarks.distance.sides`: predictions in holes from "
    "the nearest 32 rows, from four rows in each of eight sectors, and from 23 of the nearest and "
    "nine of ever sparser rows (*far*), with the kernel from which each field was drawn."
)


def sectors(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Rows of which as many as there are come from each sector around a query: [q, m]."""
    near = cKDTree(rows).query(queries, POOL)[1]
    found = np.empty((len(queries), N_NEIGHBORS), np.int32)
    for i, query in enumerate(queries):
        apart = rows[near[i]] - query
        if rows.shape[1] == 3:  # in the tangent plane of the sphere
            east = np.cross([0.0, 0.0, 1.0], query)
            east /= np.linalg.norm(east)
            apart = apart @ np.column_stack([east, np.cross(query, east)])
        turn = (np.arctan2(apart[:, 1], apart[:, 0]) + np.pi) / (2 * np.pi)
        sector = np.floor(turn * N_SECTORS).astype(int) % N_SECTORS
        rank = np.array([np.sum(sector[:k] == sector[k]) for k in range(POOL)])
        found[i] = near[i][np.sort(np.lexsort((np.arange(POOL), rank))[:N_NEIGHBORS])]
    return found


def near_and_far(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The nearest rows, then the nearest of the first fourth, sixteenth and 64th of them: [q, m].

    Rows are in random order. As in the design of Stein et al. (2004), in which some are far.
    """
    ends = np.linspace(N_NEIGHBORS - N_FAR, N_NEIGHBORS, 4).astype(int)
    found = [list(row) for row in cKDTree(rows).query(queries, ends[0])[1]]
    for level, end in enumerate(ends[1:], start=1):
        near = cKDTree(rows[: len(rows) // 4**level]).query(queries, end)[1]
        for mine, candidates in zip(found, near, strict=True):
            new = [candidate for candidate in candidates if candidate not in mine]
            mine += new[: end - len(mine)]
    return np.array(found, np.int32)


def main() -> None:
    """Run and write the table."""
    smooth, planar = smooth_sphere(0), planar_holes(1.5, 20, 0)
    fields = {
        "smooth field 0 on the sphere": (
            smooth.task, smooth.cells, zonal.Matern(2.5, 0.9), 1e-4),
        "holes of 20 spacings, ν = 1.5": (
            planar, planar_field(1.5, 0), zonal.Matern(1.5, 10.0), 0.01),
    }  # fmt: skip
    lines = []
    for title, (task, cells, kernel, noise) in fields.items():
        hole, queries = task.asked.reshape(cells.shape), task.X[task.asked]
        truth = " / ".join(f"{one:.3g}" for one in steps(cells, hole))
        for n_features in (0, 256):
            model = zonal.NeighborKriging(kernel, N_NEIGHBORS, noise=noise, n_features=n_features)
            part = model.fit(task.X[~task.asked], task.y[~task.asked])._solution_.part
            process = part.joint.process
            chosen = {"nearest": None, "sectors": sectors(process.rows, queries),
                      "far": near_and_far(process.rows, queries)}  # fmt: skip
            for name, neighbors in chosen.items():
                mean = part.joint.predict(queries, neighbors=neighbors)[0][:, 0] + part.offset[0]
                filled = cells.copy()
                filled[hole] = mean
                error = np.sqrt(np.mean((mean - cells[hole]) ** 2))
                found = " / ".join(f"{one:.3g}" for one in steps(filled, hole))
                lines.append((title, str(n_features), name, f"{error:.4g}", found, truth))
                print(*lines[-1], sep=" | ", flush=True)
    KEPT.write_text(f"{ABOUT}\n\n{table(lines, HEADER)}\n")


if __name__ == "__main__":
    main()
