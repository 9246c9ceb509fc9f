"""Fields drawn on grids."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.pipeline import make_pipeline

import zonal

RNG = np.random.default_rng(0)
LAT, LON = np.degrees(np.arcsin(RNG.uniform(-1, 1, 300))), RNG.uniform(0, 360, 300)
Y = np.sin(np.radians(LAT)) + 0.1 * RNG.standard_normal(300)


@pytest.fixture(scope="module")
def model():
    part = zonal.NeighborKriging(zonal.Matern(1.5, 0.5), noise=0.05)
    places = pd.DataFrame({"lat": LAT, "lon": LON})
    return make_pipeline(zonal.SphereEncoder(), part).fit(places, Y)


def test_draws_on_a_grid_are_those_of_its_rows(model):
    draws = zonal.sample_grid(model, resolution=30, n_samples=3, random_state=0)
    assert draws.dims == ("draw", "lat", "lon")
    lat, lon = np.meshgrid(draws.lat, draws.lon, indexing="ij")
    rows = pd.DataFrame({"lat": lat.ravel(), "lon": lon.ravel()})
    expected = model[-1].sample_y(model[:-1].transform(rows), 3, 0)
    np.testing.assert_allclose(draws.values.reshape(3, -1).T, expected, rtol=1e-12)
    # The poles are one place each.
    assert np.ptp(draws.sel(lat=90).values, axis=1).max() < 1e-6


def test_chunks_do_not_matter(model):
    grid = xr.Dataset(coords={"lat": np.arange(-80.0, 81, 20), "lon": np.arange(0.0, 360, 40)})
    whole = zonal.sample_grid(model, like=grid, n_samples=2, random_state=1)
    cut = zonal.sample_grid(model, like=grid.chunk(lat=2), n_samples=2, random_state=1)
    xr.testing.assert_identical(whole, cut)
    noisy = zonal.sample_grid(model, like=grid, n_samples=2, random_state=1, noise=True)
    assert float(abs(noisy - whole).mean()) > 0.01


def test_cells_without_covariates_are_nan():
    frame = pd.DataFrame({"lat": LAT, "lon": LON, "height": RNG.uniform(0, 1, 300)})
    model = zonal.KernelRidge(budget=32, random_state=0, local=None).fit(frame, Y)
    heights = np.full((3, 4), 0.5)
    heights[1, 2] = np.nan
    axes = {"lat": [-30.0, 0, 30], "lon": [0.0, 90, 180, 270]}
    grid = xr.Dataset({"height": (("lat", "lon"), heights)}, axes)
    draws = zonal.sample_grid(model, like=grid, n_samples=2, random_state=0)
    assert (draws.isnull().values == np.isnan(heights)).all()
    with pytest.raises(ValueError, match="nothing to draw"):
        zonal.sample_grid(model, like=grid * np.nan)


def test_other_models_are_told():
    from sklearn.linear_model import LinearRegression

    other = make_pipeline(zonal.SphereEncoder(), LinearRegression())
    other.fit(pd.DataFrame({"lat": LAT, "lon": LON}), Y)
    with pytest.raises(TypeError, match="LinearRegression has no joint posterior"):
        zonal.sample_grid(other, resolution=30)
