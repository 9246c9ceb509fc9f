"""Rows that are known and rows that are asked for, at all distances from the former."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.ndimage import zoom

import zonal

__all__ = [
    "Field",
    "Task",
    "climate",
    "coads",
    "coads_axes",
    "elevation",
    "fine_elevation",
    "forecast",
    "gaps",
    "planar_field",
    "planar_holes",
    "smooth_sphere",
    "soundings",
]

DATA = Path(__file__).parents[1] / "data"
# Blocks of 10° on a side, of which a tenth is held out.
BLOCKS, SHARE = 700, 0.1
# The simulated fields on the plane: cells on a side, length scale and noise, and the centres of the
# holes, which are so far apart that none is near another.
SIDE, SCALE, NOISE = 200, 10.0, 0.01
CENTERS = tuple((row, column) for row in (40, 100, 160) for column in (40, 100, 160))


class Task(NamedTuple):
    """All rows, their targets, and which are asked for."""

    X: np.ndarray
    y: np.ndarray
    asked: np.ndarray


class Field(NamedTuple):
    """A task on a grid: `cells` are the values of all cells, NaN for none."""

    task: Task
    cells: np.ndarray
    known: np.ndarray


def elevation(split: str) -> Task:
    """Heights in km: a random tenth, or a tenth of all blocks of 10°."""
    place, y = zonal.datasets.load_elevation(return_X_y=True)
    place, y = place.astype(float), y.astype(float) / 1000
    X, n = zonal.datasets.to_sphere(*place.T), len(y)
    asked = np.zeros(n, bool)
    if split == "random":
        asked[np.random.default_rng(0).permutation(n)[-(n // 10) :]] = True
    else:
        asked = in_blocks(*place.T)
    return Task(X, y, asked)


def climate(split: str, height: bool = False) -> Task:
    """Temperatures of twelve months: a random tenth, or a tenth of all blocks of 10°.

    With heights of the ground, these are a column after the place.
    """
    with np.load(DATA / "climate_berkeley.npz") as data:
        X, y = data["X"].astype(float), data["y"].astype(float)
    lat, lon, month = X.T
    asked = np.zeros(len(y), bool)
    if split == "random":
        asked[np.random.default_rng(0).permutation(len(y))[-(len(y) // 10) :]] = True
    else:
        asked = in_blocks(lat, lon)
    ground = [zonal.datasets.height_at(lat, lon) / 1000] if height else []
    rows = np.column_stack([zonal.datasets.to_sphere(lat, lon), *ground, (month - 1) / 11])
    return Task(rows, y, asked)


def in_blocks(lat: np.ndarray, lon: np.ndarray) -> np.ndarray:
    """Whether places lie in the tenth of all blocks of 10° that is held out."""
    cell = np.floor((lat + 90) / 10) * 36 + np.floor((lon % 360) / 10)
    return np.random.default_rng(0).random(BLOCKS)[cell.astype(int)] < SHARE


def fine_elevation() -> Task:
    """Heights on 583,200 cells of 20′, blocks held out: made, for the measured ones are not here.

    Those of one-degree cells, interpolated, plus detail that is white on 20′ cells and has a tenth
    of the variance that neighbouring one-degree cells differ by.
    """
    place, y = zonal.datasets.load_elevation(return_X_y=True)
    coarse = np.empty((180, 360))
    rows, columns = np.floor(place[:, 0] + 90).astype(int), np.floor(place[:, 1] % 360).astype(int)
    coarse[rows, columns] = y / 1000
    fine = zoom(coarse, 3, order=1, mode="grid-wrap", grid_mode=True)
    spread = np.sqrt(0.1 * np.mean(np.diff(coarse, axis=1) ** 2) / 2)
    fine += spread * np.random.default_rng(0).standard_normal(fine.shape)
    lat, lon = np.meshgrid(
        (np.arange(540) + 0.5) / 3 - 90, (np.arange(1080) + 0.5) / 3, indexing="ij"
    )
    X = zonal.datasets.to_sphere(lat.ravel(), lon.ravel())
    return Task(X, fine.ravel(), in_blocks(lat.ravel(), lon.ravel()))


def soundings(name: str, split: str) -> Task:
    """Temperatures of floats, winds along tracks or CO2 soundings, in space and time."""
    with np.load(DATA / f"{name}.npz") as data:
        X, y = data["X"].astype(float), data["y"].astype(float)
    if y.ndim > 1:  # at 100, 150 and 200 dbar: the first
        y = y[:, 0]
    if len(y) > 40_000:  # every fifth, for time
        X, y = X[::5], y[::5]
    lat, lon, times = X.T
    times = (times - times.min()) / np.ptp(times)
    asked = np.zeros(len(y), bool)
    if split == "random":
        asked[np.random.default_rng(0).permutation(len(y))[-(len(y) // 10) :]] = True
    else:
        asked = in_blocks(np.minimum(lat, 89.999), lon)
    rows = np.column_stack([zonal.datasets.to_sphere(lat, lon), times])
    return Task(rows, y, asked)


def gaps() -> Task:
    """A simulated field with holes in the shape of clouds."""
    found = zonal.datasets.load_gaps_simulated()
    return Task(found.data.astype(float), found.target.astype(float), found.test.astype(bool))


def coads() -> Field:
    """Sea surface temperatures of July without 50° × 50° of the Pacific."""
    with xr.open_dataset(DATA / "coads_sst.nc", decode_times=False) as data:
        sst = data["SST"].isel(TIME=6).load()
    lat, lon = np.meshgrid(sst["COADSY"], sst["COADSX"] % 360, indexing="ij")
    cells = sst.to_numpy().astype(float)
    known = np.isfinite(cells)
    hole = (lat > -30) & (lat < 20) & (lon > 180) & (lon < 230)
    X = zonal.datasets.to_sphere(lat[known], lon[known])
    return Field(Task(X, cells[known], hole[known]), cells, known)


def coads_axes() -> tuple[np.ndarray, np.ndarray]:
    """Return the latitudes and longitudes of its cells."""
    with xr.open_dataset(DATA / "coads_sst.nc", decode_times=False) as data:
        return data["COADSY"].to_numpy(), data["COADSX"].to_numpy() % 360


def forecast(number: int) -> Task:
    """A simulated field in space and time, of which times or places are asked for."""
    with np.load(DATA / f"kaust_2a_{number}.npz") as data:
        X, y, asked = data["X"].astype(float), data["y"].astype(float), data["test"].astype(bool)
    X[:, 2] /= 100  # 100 times
    return Task(X, y, asked)


def smooth_sphere(seed: int) -> Field:
    """A smooth field on cells of 2° with three holes of 40° across; y is the truth plus noise."""
    rng = np.random.default_rng(seed)
    lat, lon = np.meshgrid(np.arange(-89, 90, 2.0), np.arange(1, 360, 2.0), indexing="ij")
    X = zonal.datasets.to_sphere(lat.ravel(), lon.ravel())
    Z = zonal.HarmonicFeatures(zonal.Matern(2.5, 0.9), 2025).fit_transform(X)
    truth = Z @ rng.standard_normal(Z.shape[1])
    centers = zonal.datasets.to_sphere(rng.uniform(-50, 50, 3), rng.uniform(0, 360, 3))
    asked = (X @ centers.T).max(axis=1) > np.cos(np.radians(20))
    y = truth + 0.01 * rng.standard_normal(len(truth))
    return Field(Task(X, y, asked), truth.reshape(lat.shape), np.ones(lat.shape, bool))


def planar_field(nu: float, seed: int) -> np.ndarray:
    """A Matérn field on a square grid, by the Fourier transform of a torus twice as wide."""
    width = 2 * SIDE
    steps = np.minimum(np.arange(width), width - np.arange(width))
    distance = np.hypot(steps[:, None], steps[None, :])
    row = zonal.Matern(nu, SCALE)(np.zeros((1, 1)), distance.reshape(-1, 1)).reshape(width, width)
    spectrum = np.maximum(np.fft.fft2(row).real, 0.0)
    rng = np.random.default_rng(seed)
    white = rng.standard_normal((width, width)) + 1j * rng.standard_normal((width, width))
    return np.fft.fft2(np.sqrt(spectrum) * white / width).real[:SIDE, :SIDE]


def planar_holes(nu: float, size: int, seed: int) -> Task:
    """Observations of such a field, of which round holes so many cells across are asked for."""
    cells = np.indices((SIDE, SIDE)).reshape(2, -1).T.astype(float)
    noise = np.sqrt(NOISE) * np.random.default_rng(1000 + seed).standard_normal(len(cells))
    y = planar_field(nu, seed).ravel() + noise
    distance = np.min([np.hypot(*(cells - center).T) for center in CENTERS], axis=0)
    return Task(cells, y, distance <= size / 2)
