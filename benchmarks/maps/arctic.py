"""python -m benchmarks.maps.arctic: do intervals hold in the Arctic, far from any value?

January of COADS has no value north of 78° N. Values north of 64° N are hidden in discs, so wide
that their middles are as far from the next value as the holes of the map are, and predicted.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from sklearn.base import clone

import zonal
from zonal.polynomials import to_sphere

from ..measure import table
from .data import COADS

RESULTS = Path(__file__).parents[1] / "results" / "maps_arctic.md"
EARTH = 6371.0088
# Radius of a disc, how far a judged cell must be from what is left, and between two middles, km.
RADIUS, LEAST, APART = 1000.0, 600.0, 600.0
NORTH, COVERAGE = 64.0, 0.9
FILL = "`zonal.fill` with nothing set"
MODELS: dict[str, Any] = {
    FILL: zonal.KernelRidge(),
    "the same, not told which cells will be asked": zonal.KernelRidge(),
    "the same with `local=NeighborKriging(amplitude=None)`": zonal.KernelRidge(
        local=zonal.NeighborKriging(amplitude=None)
    ),
}


def january() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Latitudes and longitudes of values, these, and the cells without one."""
    with xr.open_dataset(COADS, decode_times=False) as data:
        sst = data["SST"].isel(TIME=0).load()
    lat, lon = np.meshgrid(sst["COADSY"], (sst["COADSX"] + 180) % 360 - 180, indexing="ij")
    known = sst.notnull().values
    cells = pd.DataFrame({"lat": lat.ravel().astype(float), "lon": lon.ravel().astype(float)})
    values = known.ravel()
    return cells[values], sst.values[known].astype(float), cells[~values]


def kilometres(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Distances on the ground: [n, m]."""
    return EARTH * np.arccos(np.clip(points @ others.T, -1, 1))


def middles(points: np.ndarray, north: np.ndarray) -> list[int]:
    """Cells of the north, far from each other: each the farthest from those before it."""
    found = [int(north[np.argmax(points[north, 2])])]
    while True:
        distance = kilometres(points[north], points[found]).min(axis=1)
        if distance.max() < APART:
            return found
        found.append(int(north[np.argmax(distance)]))


def trial(
    places: pd.DataFrame, y: np.ndarray, learner: Any, holes: pd.DataFrame | None
) -> tuple[np.ndarray, ...]:
    """Errors, standard deviations, whether intervals hold, and distances in all discs.

    With `holes`, the model is told that these and the cells of the disc will be asked, as
    `zonal.fill` tells it.
    """
    points = to_sphere(places["lat"], places["lon"])
    north = np.flatnonzero(places["lat"] > NORTH)
    rows = places if isinstance(learner, zonal.KernelRidge) else pd.DataFrame(points)
    parts = []
    for middle in middles(points, north):
        hidden = kilometres(points, points[[middle]])[:, 0] < RADIUS
        asked = np.flatnonzero(hidden & (places["lat"].to_numpy() > NORTH))
        distance = kilometres(points[asked], points[~hidden]).min(axis=1)
        asked, distance = asked[distance > LEAST], distance[distance > LEAST]
        told = {} if holes is None else {"queries": pd.concat([holes, places[hidden]])}
        model = clone(learner).set_params(random_state=0).fit(rows[~hidden], y[~hidden], **told)
        mean = model.predict(rows.iloc[asked])
        lower, upper = model.predict_interval(rows.iloc[asked], COVERAGE)
        inside = (lower <= y[asked]) & (y[asked] <= upper)
        wide = (upper - lower) / 2
        parts.append((y[asked] - mean, wide, inside, distance, np.full(len(asked), middle)))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def write(rows: list[tuple[str, ...]]) -> None:
    """Write the page with what is known so far."""
    header = (
        "model", "discs", "cells", "km to the next value (median)", "root mean square error, K",
        "half width of the interval (mean), K", "inside", "inside in the worst disc",
    )  # fmt: skip
    RESULTS.write_text(
        "# Intervals in the Arctic, far from any value\n\n`python -m benchmarks.maps.arctic`: "
        "January of COADS, which has no value north of 78° N. All values within "
        f"{RADIUS:,.0f} km of a cell north of 64° N are hidden, and those of the hidden cells "
        f"that are more than {LEAST:.0f} km from what is left are predicted with intervals of "
        "90 %, by a model that is chosen and calibrated without them.\n\n"
        f"{table(rows, header)}\n"
    )


def main() -> None:
    """Run and write the table."""
    places, y, holes = january()
    rows: list[tuple[str, ...]] = []
    for name, learner in MODELS.items():
        told = holes if name == FILL else None
        error, wide, inside, distance, disc = trial(places, y, learner, told)
        worst = min(inside[disc == one].mean() for one in np.unique(disc))
        rows.append((
            name, f"{len(np.unique(disc))}", f"{len(error)}", f"{np.median(distance):.0f}",
            f"{np.sqrt(np.mean(error**2)):.2f}", f"{np.mean(wide):.2f}",
            f"{100 * inside.mean():.0f} %", f"{100 * worst:.0f} %",
        ))  # fmt: skip
        print(*rows[-1], sep=" | ", flush=True)
        write(rows)


if __name__ == "__main__":
    main()
