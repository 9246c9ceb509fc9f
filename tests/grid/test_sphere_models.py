"""Every model of a grid sees the sphere, and keeps what it says of its predictions."""

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import zonal
from zonal.grid.sphere import SphereModel, on_sphere

MODELS = {
    "kriging": zonal.NeighborKriging(zonal.Matern(1.5, 0.7)),
    "local part alone": zonal.KernelRidge(
        None, local=zonal.NeighborKriging(zonal.Matern(1.5, 0.7))
    ),
    "features": zonal.KernelRidge(zonal.HarmonicFeatures(zonal.Matern(1.5, 0.7), 200), local=None),
    "process": zonal.GaussianProcess(zonal.HarmonicFeatures(zonal.Matern(1.5, 0.7), 200)),
}


@pytest.fixture(scope="module")
def across():
    """A field that is steepest at 180°, known up to 5° from it."""
    lat, lon = np.arange(-85.0, 90, 10), np.arange(-175.0, 180, 10)
    phi, lam = np.radians(np.meshgrid(lat, lon, indexing="ij"))
    return xr.DataArray(10 * np.cos(phi) * np.sin(lam), {"lat": lat, "lon": lon}, name="t")


@pytest.mark.parametrize("name", MODELS)
def test_no_step_at_the_date_line(across, name):
    model = zonal.grid.fit(across, model=MODELS[name])
    lat = np.arange(-80.0, 81, 20)
    found = zonal.predict_grid(model, lat=lat, lon=[-179.9999, 179.9999])
    step = abs(found["prediction"].diff("lon")).max()
    # The field itself changes by 10 cos φ · 2e-4° there, 3.5e-5; in degrees it was above one.
    assert step < 1e-3
    assert abs(found["prediction"]).max() < 0.1
    assert list(found.data_vars) == ["prediction", "std", "lower", "upper"]
    assert (found["std"] > 0).all()
    assert (found["lower"] < found["upper"]).all()


def test_the_poles_are_single_places(across):
    model = zonal.grid.fit(across, model=MODELS["kriging"])
    pole = zonal.predict_grid(model, lat=[90.0], lon=np.arange(0.0, 360, 30))["prediction"]
    # Of 36 rows at the same distance 32 are neighbours, and rounding decides which.
    assert np.ptp(pole.values) < 1e-3


def test_the_wrapped_model_gives_what_its_own_gives_on_unit_vectors(across):
    model = zonal.grid.fit(across, model=MODELS["kriging"])
    assert isinstance(model, SphereModel)
    cells = across.to_dataframe().reset_index()
    sphere = zonal.datasets.to_sphere(cells["lat"], cells["lon"])
    plain = zonal.NeighborKriging(zonal.Matern(1.5, 0.7)).fit(sphere, cells["t"])
    places = cells[["lat", "lon"]].set_axis(["latitude", "longitude"], axis=1)[:50]
    np.testing.assert_allclose(model.predict(places), plain.predict(sphere[:50]))
    for ours, theirs in (
        (model.predict_interval(places, 0.8), plain.predict_interval(sphere[:50], 0.8)),
        (model.predict(places, return_std=True), plain.predict(sphere[:50], return_std=True)),
    ):
        np.testing.assert_allclose(ours, theirs)
    quantiles = model.predict_quantiles(places, 0.5)
    np.testing.assert_allclose(quantiles, plain.predict_quantiles(sphere[:50], 0.5))


def test_models_that_know_the_sphere_stay_as_they_are():
    encoded = make_pipeline(zonal.SphereEncoder(), zonal.HarmonicFeatures())
    for model in (zonal.KernelRidge(), zonal.GaussianProcess(), zonal.KernelRidge(encoded),
                  make_pipeline(zonal.SphereEncoder(), KNeighborsRegressor()),
                  zonal.KernelRidge(None, encoder=zonal.TableEncoder())):  # fmt: skip
        assert type(on_sphere(model)) is type(model)
    neighbours = on_sphere(KNeighborsRegressor())
    assert isinstance(neighbours, SphereModel)
    assert not hasattr(neighbours, "predict_interval")


def test_blocks_of_cells_are_streamed(across):
    held = zonal.grid.fit(across, model=MODELS["features"])
    streamed = zonal.grid.fit(across.chunk(lat=5), model=MODELS["features"])
    np.testing.assert_allclose(
        zonal.predict_grid(streamed, resolution=30)["prediction"],
        zonal.predict_grid(held, resolution=30)["prediction"], rtol=1e-6, atol=1e-8,
    )  # fmt: skip
    assert streamed.n_rows_ == across.size


@pytest.mark.longest
def test_a_saved_model_fills_in_a_fresh_process(across, tmp_path):
    model = zonal.grid.fit(across, model=MODELS["kriging"])
    zonal.save(model, tmp_path / "model.zonal")
    expected = zonal.predict_grid(model, lat=[12.3, -47.1], lon=[1.7, 101.3, -163.4])
    expected.to_netcdf(tmp_path / "expected.nc")
    code = (
        "import numpy as np, xarray as xr, zonal; m = zonal.load('model.zonal');"
        "old = xr.open_dataset('expected.nc'); found = zonal.predict_grid(m, like=old);"
        "[np.testing.assert_allclose(found[name], old[name], rtol=1e-10) for name in old]"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
