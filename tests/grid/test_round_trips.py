"""Grids of every make go into a file and come out of one, filled."""

import numpy as np
import pytest
import rioxarray  # noqa: F401  # the accessor rio
import xarray as xr

import zonal
from zonal.grid.cells import Field
from zonal.grid.checking import HiddenCheck, check_holes
from zonal.grid.files import check_holds, open_grid, packing_of, write_grid

from .conftest import smooth


@pytest.fixture(scope="module")
def model(holes, quick):
    return zonal.grid.fit(holes, model=quick)


def track(n=200):
    lat, lon = np.linspace(-50, 50, n), np.linspace(150, 250, n)
    time = np.datetime64("2020-01-01", "s") + 3600 * np.arange(n)
    values = smooth(lat, lon)
    values[::7] = np.nan
    # Places as variables, not as coordinates: most files of ships have them so.
    return xr.Dataset({"sst": ("obs", values, {"units": "degC"}), "lat": ("obs", lat),
                       "lon": ("obs", lon), "time": ("obs", time)})  # fmt: skip


def test_a_track(model, quick, tmp_path):
    track().to_netcdf(tmp_path / "ship.nc")
    given = open_grid(tmp_path / "ship.nc", chunks={})
    filled = zonal.fill(given, "sst", model=model)
    write_grid(filled, tmp_path / "filled.nc")
    found = xr.load_dataset(tmp_path / "filled.nc")
    assert found["prediction"].dims == ("obs",)
    np.testing.assert_array_equal(found["time"], track()["time"])
    np.testing.assert_allclose(found["prediction"], smooth(found["lat"], found["lon"]), atol=0.1)
    own = zonal.grid.fit(given, "sst", model=quick)
    assert list(own.feature_names_in_) == ["latitude", "longitude", "time"]
    write_grid(found, tmp_path / "ship.png")
    with pytest.raises(ValueError, match=r"s\.tif: .*this is a track: write NetCDF"):
        check_holds(tmp_path / "s.tif", found)


def test_a_curvilinear_grid(model, tmp_path):
    i, j = np.meshgrid(np.arange(-60.0, 61, 10), np.arange(0.0, 360, 15), indexing="ij")
    lat, lon = i + 5 * np.sin(np.radians(2 * j)), (j + i / 2) % 360
    values = smooth(lat, lon)
    values[3:5, 4:7] = np.nan
    axes = ("row", "column")
    data = xr.Dataset(
        {"sst": (axes, values, {"units": "degC"})},
        {"lat": (axes, lat, {"units": "degrees_north"}),
         "lon": (axes, lon, {"units": "degrees_east"})},
    )  # fmt: skip
    data.to_netcdf(tmp_path / "given.nc")
    write_grid(zonal.fill(open_grid(tmp_path / "given.nc"), "sst", model=model),
               tmp_path / "filled.nc")  # fmt: skip
    found = open_grid(tmp_path / "filled.nc").load()
    np.testing.assert_array_equal(found["lat"], lat)
    np.testing.assert_allclose(found["prediction"], smooth(lat, lon), atol=0.2)
    assert found["prediction"].attrs["units"] == "degC"
    write_grid(found, tmp_path / "filled.png")
    with pytest.raises(ValueError, match="a curvilinear grid"):
        write_grid(found, tmp_path / "filled.tif")


def test_a_raster_in_utm(model, tmp_path):
    """Rows and columns of metres, with their projection, in and out."""
    x, y = 3e5 + 1e4 * np.arange(20), 5.6e6 - 1e4 * np.arange(15)
    blank = xr.DataArray(np.zeros((15, 20)), {"y": y, "x": x}, dims=("y", "x"))
    blank = blank.rio.write_crs("EPSG:32633")
    truth = zonal.predict_grid(model, like=blank)["prediction"]
    hidden = truth.values.copy()
    hidden[4:7, 5:9] = np.nan
    holes = blank.copy(data=hidden).rio.write_nodata(np.nan)
    holes.rio.to_raster(tmp_path / "utm.tif")
    for chunks in (None, "auto"):
        filled = zonal.fill(open_grid(tmp_path / "utm.tif", chunks=chunks), "band_1", model=model)
        write_grid(filled, tmp_path / "filled.tif")
        found = open_grid(tmp_path / "filled.tif").load()
        assert found.rio.crs.to_epsg() == 32633
        assert list(found.data_vars) == ["prediction", "std", "lower", "upper"]
        np.testing.assert_array_equal(found["x"], x)
        np.testing.assert_array_equal(found["y"], y)
        np.testing.assert_allclose(found["prediction"], truth, atol=1e-4)  # in float32
        assert (found["std"].values[4:7, 5:9] > 0).all()
    write_grid(found, tmp_path / "filled.png")


def test_a_raster_across_the_date_line(model, tmp_path):
    found = zonal.predict_grid(model, lat=np.arange(-10.0, 11, 5), lon=np.arange(170.0, 191, 5))
    write_grid(found, tmp_path / "map.tif")
    again = open_grid(tmp_path / "map.tif").load()
    np.testing.assert_array_equal(again["x"], found["lon"])
    np.testing.assert_allclose(again["prediction"].values[::-1], found["prediction"], rtol=1e-6)
    with pytest.raises(ValueError, match=r"equal steps along 'lat'.*from 1 to 2"):
        check_holds(tmp_path / "map.tif", found.isel(lat=[0, 1, 2]).assign_coords(lat=[0, 1, 3]))


def test_months_of_a_year_without_leap_days(holes, truth, quick, tmp_path):
    time = xr.date_range("2001-01-16", periods=18, freq="MS", calendar="noleap", use_cftime=True)
    part = holes.isel(lat=slice(6, 12), lon=slice(0, 36, 3))
    data = (part + 0.1 * xr.DataArray(np.arange(18.0), {"time": time})).transpose("time", ...)
    data.rename("t").to_netcdf(tmp_path / "given.nc")
    given = open_grid(tmp_path / "given.nc")
    filled = zonal.fill(given, "t", model=quick, keep_name=True)
    write_grid(filled, tmp_path / "filled.nc")
    found = open_grid(tmp_path / "filled.nc").load()
    assert list(found.data_vars) == ["t", "t_std", "t_lower", "t_upper"]
    assert found["t"].attrs["ancillary_variables"] == "t_std t_lower t_upper"
    assert found["time"].dt.calendar == "noleap"
    np.testing.assert_array_equal(found["time"], data["time"])
    assert found["t"].notnull().all()
    with pytest.raises(ValueError, match=r"m\.tif: .*18 along 'time'"):
        check_holds(tmp_path / "m.tif", given["t"])


def test_packed_integers_come_back_packed(holes, model, tmp_path):
    packing = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 10.0, "_FillValue": -32768}
    holes.to_netcdf(tmp_path / "given.nc", encoding={"temperature": packing})
    given = open_grid(tmp_path / "given.nc")
    known = packing_of(given["temperature"])
    filled = zonal.fill(given, model=model, keep_name=True)
    write_grid(filled, tmp_path / "packed.nc", packing=known)
    with xr.open_dataset(tmp_path / "packed.nc", mask_and_scale=False) as raw:
        assert raw["temperature"].dtype == np.int16
        assert raw["temperature_lower"].attrs["scale_factor"] == 0.01
        assert raw["temperature_std"].dtype.kind == "f"
    found = xr.load_dataset(tmp_path / "packed.nc")
    np.testing.assert_allclose(found["temperature"], filled["temperature"], atol=0.0051)
    with pytest.raises(ValueError, match="is not packed into integers"):
        packing_of(holes)
    narrow = {**known, "scale_factor": 1e-5}
    with pytest.raises(ValueError, match=r"the packing of the file holds 9\.67232 to 10\.3277"):
        write_grid(filled, tmp_path / "narrow.nc", packing=narrow)
    with pytest.raises(ValueError, match="packed integers go into NetCDF"):
        write_grid(filled, tmp_path / "packed.tif", packing=known)


def test_holes_are_checked_where_values_are_known(holes, truth, quick):
    """The hidden cells are in the shape of the holes, and what is found there is not seen."""
    field = Field.of(holes)
    model = zonal.grid.fit(holes, model=quick)
    found = check_holes(field, model, 0.9)
    assert isinstance(found, HiddenCheck)
    assert found.shape.startswith("the shape of the holes")
    assert 20 <= found.n_hidden <= 0.2 * int(holes.notnull().sum())
    assert found.rmse < 0.3
    noisy = holes + np.random.default_rng(0).standard_normal(holes.shape)
    model = zonal.grid.fit(noisy, model=quick)
    rough = check_holes(Field.of(noisy), model, 0.9)
    # No prediction is nearer to values with a noise of one than one, up to chance.
    assert rough.rmse > 1 - 3 / np.sqrt(2 * rough.n_hidden)
    assert rough.inside > 0.9 - 4 * np.sqrt(0.09 / rough.n_hidden)
    assert "at random" in check_holes(Field.of(truth), model, 0.9).shape
    other = zonal.grid.fit(holes, model=zonal.NeighborKriging(zonal.Matern(1.5, 1.0)))
    assert check_holes(field, other, 0.9).rmse < 0.3


def test_a_constant_axis_and_covariates_that_a_model_knows(holes, quick):
    """The model has no column for a time of length one, but one for the height."""
    data = xr.Dataset({"t": holes, "height": abs(holes.lat) * 10}).expand_dims(time=[2020.0])
    data["height"] = data["height"].isel(time=0, drop=True)
    model = zonal.grid.fit(data, "t", covariates="height", model=quick)
    assert isinstance(check_holes(Field.of(data, "t", "height", constant=True), model, 0.9),
                      HiddenCheck)  # fmt: skip
    named = zonal.fill(data, "t", covariates="height", model=model)
    xr.testing.assert_allclose(zonal.fill(data, "t", model=model).drop_attrs(), named.drop_attrs())
    assert named["prediction"].shape == (1, 18, 36)


def test_models_of_arrays_get_all_cells_at_once(holes, monkeypatch):
    monkeypatch.setattr("zonal.grid.filling.KEPT_BYTES", 100)
    model = zonal.grid.fit(holes.chunk(lat=5), model=zonal.NeighborKriging(zonal.Matern(1.5, 1.0)))
    assert zonal.fill(holes, model=model)["prediction"].notnull().all()
