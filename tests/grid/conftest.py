"""Small grids of a smooth field, with holes."""

import numpy as np
import pytest
import xarray as xr
from sklearn.pipeline import make_pipeline

import zonal


def smooth(lat, lon, time=0.0):
    """A smooth function on the sphere and in time."""
    phi, lam = np.radians(lat), np.radians(lon)
    return 10 + 5 * np.sin(phi) + 3 * np.cos(phi) * np.sin(lam) + 0.5 * np.sin(time)


@pytest.fixture(scope="session")
def quick():
    """A model that needs no automatic choice."""
    features = make_pipeline(
        zonal.SphereEncoder(), zonal.HarmonicFeatures(zonal.Matern(2.5, 1.0), 100)
    )
    return zonal.KernelRidge(features, 1e-4, local=zonal.NeighborKriging(zonal.Matern(1.5, 0.5)))


@pytest.fixture(scope="session")
def truth():
    """The field in the middle of cells of 10° × 10°, with CF attributes."""
    lat, lon = np.arange(-85.0, 90, 10), np.arange(-175.0, 180, 10)
    return xr.DataArray(
        smooth(*np.meshgrid(lat, lon, indexing="ij")),
        {
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
        name="temperature",
        attrs={
            "units": "degC",
            "long_name": "temperature of the air",
            "standard_name": "air_temperature",
        },
    )


@pytest.fixture(scope="session")
def holes(truth):
    """The field without a fifth of its cells: at random, and a block across the date line."""
    gone = np.random.default_rng(0).random(truth.shape) < 0.15
    block = (abs(truth.lat) < 20) & (abs(truth.lon) > 160)
    return truth.where(~gone & ~block)
