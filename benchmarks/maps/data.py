"""Fields on the globe, and how they are split."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from sklearn.model_selection import KFold

import zonal

__all__ = ["NAMES", "TITLES", "Task", "kinds", "load", "tasks"]

COADS = Path(__file__).parents[1] / "data" / "coads_sst.nc"
NAMES = ("coads", "climate", "elevation")
TITLES = {
    "coads": "sea surface temperature of July (COADS, a grid with real holes), K²",
    "climate": "temperature of July at land points, K²",
    "elevation": "elevation, km²",
}


class Task(NamedTuple):
    """Training and test places in degrees, and what our learner is told of the latter."""

    title: str
    places: pd.DataFrame
    y: np.ndarray
    test_places: pd.DataFrame
    y_test: np.ndarray
    cv: Any


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return latitudes, longitudes and values."""
    if name == "coads":
        with xr.open_dataset(COADS, decode_times=False) as data:
            sst = data["SST"].isel(TIME=6).load()
        lat, lon = np.meshgrid(sst["COADSY"], (sst["COADSX"] + 180) % 360 - 180, indexing="ij")
        known = sst.notnull().values
        X, y = np.column_stack([lat[known], lon[known]]), sst.values[known]
    else:
        X, y = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)
        if name == "climate":
            X, y = X[X[:, 2] == 7], y[X[:, 2] == 7]
        else:
            y = y / 1000
    return pd.DataFrame(X[:, :2].astype(float), columns=["lat", "lon"]), y.astype(float)


def kinds() -> dict[str, tuple[Any, Any]]:
    """The splits into ten folds, and what our learner is told of them."""
    return {
        "random places": (KFold(10, shuffle=True, random_state=0), 2),
        "blocks of 10°": (zonal.BlockKFold(10, 10), zonal.BlockKFold(5, 10, random_state=1)),
    }


def tasks(name: str, fold: int = 0) -> list[Task]:
    """A tenth of the rows is the test: random ones, or those of whole blocks of 10°."""
    places, y = load(name)
    found = []
    for kind, (splitter, cv) in kinds().items():
        train, test = list(splitter.split(places))[fold]
        parts = places.iloc[train], y[train], places.iloc[test], y[test]
        found.append(Task(f"{TITLES[name]}: {kind}", *parts, cv))
    return found
