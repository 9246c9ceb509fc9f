"""Predictions on grids that are given by numbers, or by another grid."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.pipeline import make_pipeline

import zonal

from .conftest import smooth


@pytest.fixture(scope="module")
def model(holes, quick):
    return zonal.grid.fit(holes, model=quick)


def test_a_resolution_covers_thegrid_of(model):
    found = zonal.predict_grid(model, resolution=30)
    np.testing.assert_array_equal(found["lat"], np.arange(-90, 91, 30))
    np.testing.assert_array_equal(found["lon"], np.arange(-180, 180, 30))
    assert found["prediction"].dims == ("lat", "lon")
    assert found["lat"].attrs["units"] == "degrees_north"
    assert found["prediction"].attrs["units"] == "degC"
    rows = pd.DataFrame({"latitude": [0.0], "longitude": [90.0]})
    mean = model.predict(rows)
    assert float(found["prediction"].sel(lat=0, lon=90)) == pytest.approx(mean[0])
    assert zonal.predict_grid(model, resolution=0.7, lat=(0, 2), lon=(0, 1))["std"].shape == (3, 2)


def test_a_quarter_degree_has_so_many_cells():
    from zonal.grid.prediction import grid_of

    data, dims = grid_of(None, None, None, 0.25)
    assert dims == ("lat", "lon")
    assert data.sizes["lat"] * data.sizes["lon"] == 1_038_240


def test_the_interval_widens_with_the_coverage(model):
    narrow, wide = (
        zonal.predict_grid(model, lat=[10.0], lon=[20.0, 170.0], coverage=coverage)
        for coverage in (0.5, 0.95)
    )
    assert (wide["upper"] > narrow["upper"]).all()
    assert (wide["lower"] < narrow["lower"]).all()
    assert "0.95" in wide["lower"].attrs["long_name"]


def test_chunks_are_computed_later(model):
    lazy = zonal.predict_grid(model, resolution=20, chunks={"lat": 4})
    assert lazy["prediction"].chunks[0] == (4, 4, 2)
    xr.testing.assert_allclose(
        lazy.compute().drop_attrs(), zonal.predict_grid(model, resolution=20).drop_attrs()
    )


def test_like_another_grid(model, holes):
    found = zonal.predict_grid(model, like=holes)
    xr.testing.assert_identical(found["lon"], holes["lon"])
    rows = pd.DataFrame(
        {"latitude": np.repeat(holes.lat.values, 36), "longitude": np.tile(holes.lon.values, 18)}
    )
    np.testing.assert_allclose(found["prediction"].values.ravel(), model.predict(rows))


@pytest.mark.parametrize("kind", ["lat, lon", "sphere", "frame", "frame with month", "year"])
def test_models_of_tables(kind):
    rng = np.random.default_rng(0)
    lat, lon, time = rng.uniform(-90, 90, 250), rng.uniform(-180, 180, 250), rng.uniform(0, 3, 250)
    y = smooth(lat, lon, time if kind in ("frame with month", "year") else 0)
    kriging = zonal.NeighborKriging(zonal.Matern(2.5, 1.0))
    features = zonal.HarmonicFeatures(zonal.Matern(2.5, 1.0), 100)
    pipeline = make_pipeline(zonal.SphereEncoder(0, 1), features)
    encoded = zonal.KernelRidge(pipeline, 1e-3, local=kriging)
    asked = {"lat": [10.0, 20.0], "lon": [30.0]}
    if kind == "sphere":
        X = zonal.datasets.to_sphere(lat, lon)
        model = zonal.KernelRidge(None, local=kriging).fit(X, y)
    elif kind == "lat, lon":
        model = zonal.KernelRidge(None, local=zonal.NeighborKriging()).fit(np.c_[lat, lon], y)
    elif kind == "year":
        model, asked["time"] = encoded.fit(np.c_[lat, lon, time], y), [1.0, 2.0]
    elif kind == "frame":
        model = encoded.fit(pd.DataFrame({"Lat": lat, "Lon": lon}), y)
    else:
        frame = pd.DataFrame({"lat": lat, "lon": lon, "month": time})
        model, asked["time"] = encoded.fit(frame, y), 2.0
    found = zonal.predict_grid(model, **asked)
    at = smooth(found.lat, found.lon, found.time if "time" in found.coords else 0)
    assert abs(found["prediction"] - at).max() < 1.5


def test_dates_are_years(quick):
    time = pd.date_range("2020-01-01", "2022-01-01", freq="73D")
    lat, lon = np.arange(-60.0, 61, 30), np.arange(0.0, 360, 60)
    shape = (len(time), len(lat), len(lon))
    years = (time.day_of_year - 1) / np.where(time.is_leap_year, 366, 365) + time.year
    values = np.broadcast_to(np.asarray(years)[:, None, None] - 2020, shape)
    data = xr.DataArray(values, {"time": time, "lat": lat, "lon": lon})
    model = zonal.grid.fit(data, model=quick)
    found = zonal.predict_grid(model, lat=[0.0], lon=[0.0], time=["2020-07-02", "2021-01-01"])
    np.testing.assert_allclose(found["prediction"].values.ravel(), [0.5, 1.0], atol=0.03)


def test_mistakes(model, holes):
    with pytest.raises(ValueError, match="resolution=0 of predict_grid"):
        zonal.predict_grid(model, resolution=0)
    with pytest.raises(ValueError, match="Give lat and lon"):
        zonal.predict_grid(model, lat=[1.0])
    with pytest.raises(ValueError, match="smaller one first"):
        zonal.predict_grid(model, resolution=1, lon=(170, -170))
    with pytest.raises(ValueError, match="whole grid"):
        zonal.predict_grid(model, like=holes, resolution=1)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(0, 1, (50, 3)), columns=["lat", "lon", "height"])
    other = zonal.KernelRidge(zonal.SphereEncoder(), 1.0).fit(frame, frame["lat"])
    with pytest.raises(ValueError, match="'height' too"):
        zonal.predict_grid(other, resolution=60)
    bare = zonal.KernelRidge(zonal.SphereEncoder(0, 1), 1.0).fit(
        rng.uniform(0, 1, (50, 5)), np.ones(50)
    )
    with pytest.raises(ValueError, match="5 columns without names"):
        zonal.predict_grid(bare, resolution=60)
