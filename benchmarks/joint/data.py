"""Rows of the benchmarks of joint answers, and the blocks whose means are asked for."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

import zonal

__all__ = ["Rows", "airs", "argo", "blocks", "elevation"]

DATA = Path(__file__).parents[1] / "data"


class Rows(NamedTuple):
    """Rows as a model takes them, targets, standard errors if known, and places in degrees."""

    X: np.ndarray
    y: np.ndarray
    std: np.ndarray | None
    place: np.ndarray


def elevation() -> Rows:
    """Heights in km on a grid of 1°."""
    place, y = zonal.datasets.load_elevation(return_X_y=True)
    place = place.astype(float)
    return Rows(zonal.datasets.to_sphere(*place.T), y.astype(float) / 1000, None, place)


def _space_time(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with np.load(DATA / f"{name}.npz") as data:
        place, y = data["X"].astype(float), data["y"].astype(float)
    time = (place[:, 2] - place[:, 2].min()) / np.ptp(place[:, 2])
    return np.column_stack([zonal.datasets.to_sphere(*place[:, :2].T), time]), y, place


def airs(n_rows: int | None = None, start: int = 0) -> Rows:
    """Retrievals of CO₂ with their standard errors; so many random ones, from `start` on."""
    X, y, place = _space_time("airs_co2")
    with np.load(DATA / "airs_co2.npz") as data:
        std = data["std"].astype(float)
    chosen = np.random.default_rng(0).permutation(len(y))[start:][:n_rows]
    return Rows(X[chosen], y[chosen], std[chosen], place[chosen])


def argo(n_rows: int | None = None) -> Rows:
    """Temperatures at 100, 150 and 200 m; so many random profiles."""
    X, y, place = _space_time("argo")
    chosen = np.random.default_rng(0).permutation(len(y))[:n_rows]
    return Rows(X[chosen], y[chosen], None, place[chosen])


def blocks(place: np.ndarray, size: float = 10.0) -> np.ndarray:
    """Return the number of the block of `size` degrees (and, with a third column, of the day)."""
    block = np.floor((place[:, 0] + 90) / size) * 360 + np.floor((place[:, 1] % 360) / size)
    if place.shape[1] > 2:
        block = block * 1000 + np.floor(place[:, 2])
    return np.unique(block, return_inverse=True)[1]
