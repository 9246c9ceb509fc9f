"""Filling grids of every make: the same cells must get the same values."""

import warnings

import numpy as np
import pytest
import xarray as xr
from sklearn.base import clone
from sklearn.neighbors import KNeighborsRegressor

import zonal
from zonal.rows.stream import StreamSource

from .conftest import smooth


@pytest.fixture(scope="module")
def filled(holes, quick):
    return zonal.fill(holes, model=quick)


def test_values_stay_and_holes_are_filled(holes, truth, filled):
    known = holes.notnull()
    np.testing.assert_array_equal(filled["prediction"].where(known), holes)
    assert (filled["std"].where(known, 0) == 0).all()
    assert filled["prediction"].notnull().all()
    error = abs(filled["prediction"] - truth)
    assert error.max() < 0.2
    missing = filled.where(~known)
    assert (missing["std"].min() > 0) & (missing["lower"] < missing["upper"]).where(
        ~known, True
    ).all()
    # Of the holes at random: 0.9 less three standard errors. A block is another matter, since rows
    # left out one by one calibrate the intervals.
    scattered = ~known & ~((abs(truth.lat) < 20) & (abs(truth.lon) > 160))
    inside = (missing["lower"] <= truth) & (truth <= missing["upper"])
    share = inside.where(scattered).mean()
    assert share > 0.9 - 3 * np.sqrt(0.09 / int(scattered.sum()))


def test_coordinates_and_attributes(holes, filled):
    assert filled["prediction"].dims == holes.dims
    for name in ("lat", "lon"):
        xr.testing.assert_identical(filled[name], holes[name])
    assert filled["prediction"].attrs["units"] == "degC"
    assert filled["prediction"].attrs["standard_name"] == "air_temperature"
    assert filled["std"].attrs["standard_name"] == "air_temperature standard_error"
    assert filled["prediction"].attrs["ancillary_variables"] == "std lower upper"
    assert filled["upper"].attrs["units"] == "degC"
    assert filled.attrs["Conventions"].startswith("CF-")
    assert "zonal" in filled.attrs["history"]


VARIANTS = {
    "descending latitudes": lambda a: a.isel(lat=slice(None, None, -1)),
    "longitudes from 0 to 360": lambda a: a.assign_coords(
        lon=("lon", a.lon.values % 360, a.lon.attrs)
    ),
    "longitudes from 20 to 380": lambda a: a.assign_coords(
        lon=("lon", (a.lon.values - 20) % 360 + 20, a.lon.attrs)
    ),
    "longitude first": lambda a: a.transpose("lon", "lat"),
    "other names with CF units": lambda a: a.rename(lat="YAX", lon="XAX"),
    "radians": lambda a: a.assign_coords(
        lat=("lat", np.radians(a.lat.values), {"units": "radians"}),
        lon=("lon", np.radians(a.lon.values), {"units": "rad"}),
    ),
    "names without units": lambda a: a.assign_coords(lat=a.lat.values, lon=a.lon.values).rename(
        lat="nav_lat", lon="nav_lon"
    ),
    "a time of length one": lambda a: a.expand_dims(time=[np.datetime64("2020-01-01")]),
    "two-dimensional coordinates": lambda a: (
        a.assign_coords(
            latitude=(("lat", "lon"), np.broadcast_to(a.lat.values[:, None], a.shape)),
            longitude=(("lat", "lon"), np.broadcast_to(a.lon.values, a.shape)),
        )
        .drop_vars(["lat", "lon"])
        .rename(lat="row", lon="column")
    ),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_make_of_a_grid_does_not_matter(holes, filled, quick, variant):
    change = VARIANTS[variant]
    other = zonal.fill(change(holes), model=quick)
    for name in filled:
        wanted = change(filled[name])
        assert other[name].dims == wanted.dims
        # Rounded degrees change the random order of rows, by which predictions differ in their
        # last digits, and intervals that other rows calibrate a little more.
        loose = 1e-4 if name == "prediction" else 1e-2
        tolerance = loose if variant == "radians" else 1e-6
        np.testing.assert_allclose(other[name].values, wanted.values, atol=tolerance)


def test_dask_chunks(holes, filled, quick):
    lazy = zonal.fill(holes.chunk(lat=5, lon=12), model=quick)
    assert lazy["prediction"].chunks == ((5, 5, 5, 3), (12, 12, 12))
    xr.testing.assert_allclose(lazy.compute().drop_attrs(), filled.drop_attrs(), atol=1e-6)


def test_a_model_without_a_local_part_reads_chunk_by_chunk(holes, quick, monkeypatch):
    """The same model as from all rows at once, which are never held together."""
    features = clone(quick).set_params(local=None)
    cells = holes.to_dataframe().reset_index().dropna()
    places = cells[["lat", "lon"]].set_axis(["latitude", "longitude"], axis=1)
    at_once = zonal.fill(holes, model=clone(features).fit(places, cells["temperature"]))
    monkeypatch.setattr(StreamSource, "hold", None)
    lazy = zonal.fill(holes.chunk(lat=5, lon=12), model=features).compute()
    np.testing.assert_allclose(lazy["prediction"], at_once["prediction"], rtol=1e-9)


def test_cells_that_are_too_many_to_hold_are_in_parts(holes, quick, monkeypatch):
    whole = zonal.grid.fit(holes, model=clone(quick))
    monkeypatch.setattr("zonal.grid.filling.KEPT_BYTES", 100)
    monkeypatch.setattr("zonal.partitions.staying.GATHERED_BYTES", 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = zonal.grid.fit(holes.chunk(lat=5), model=clone(quick))
    found = zonal.predict_grid(model, like=holes.chunk(lat=5))["prediction"]  # lazy
    wanted = zonal.predict_grid(whole, like=holes)["prediction"]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_dataset_needs_a_target_where_there_are_several(holes, filled, quick):
    both = xr.Dataset({"a": holes, "b": 2 * holes})
    with pytest.raises(ValueError, match=r"2 variables on a grid.*'a', 'b'"):
        zonal.fill(both, model=quick)
    with pytest.raises(ValueError, match="no variable 'c'"):
        zonal.fill(both, "c", model=quick)
    with pytest.raises(TypeError, match=r"must be the name of a variable \('a', 'b'\).*model="):
        zonal.fill(both, quick)
    again = zonal.fill(both, "a", model=quick)
    np.testing.assert_array_equal(again["prediction"], filled["prediction"])


def test_cells_that_are_not_wanted_stay_empty(holes, quick):
    north = holes.lat > 0
    filled = zonal.fill(holes, model=quick, where=north)
    assert filled["prediction"].sel(lat=slice(0, None)).notnull().all()
    np.testing.assert_array_equal(
        filled["prediction"].sel(lat=slice(None, 0)), holes.sel(lat=slice(None, 0))
    )


def test_a_fitted_model_is_used_as_it_is(holes, filled, quick):
    model = zonal.grid.fit(holes, model=quick)
    again = zonal.fill(holes, model=model)
    np.testing.assert_array_equal(again["prediction"], filled["prediction"])


def test_models_of_others_give_predictions_only(holes):
    filled = zonal.fill(holes, model=KNeighborsRegressor(3))
    assert list(filled.data_vars) == ["prediction"]
    assert filled["prediction"].notnull().all()


def test_the_default_chooses_a_model(truth, holes):
    filled = zonal.fill(holes.isel(lat=slice(None, None, 2), lon=slice(None, None, 2)))
    assert abs(filled["prediction"] - truth).max() < 1.0


def test_float32_stays(holes, quick):
    filled = zonal.fill(holes.astype(np.float32), model=quick)
    assert all(filled[name].dtype == np.float32 for name in filled)


@pytest.mark.parametrize("calendar", ["standard", "noleap", "360_day"])
def test_times_of_all_calendars_come_back_from_files(holes, truth, quick, calendar, tmp_path):
    time = xr.date_range("2001-01-16", periods=3, freq="MS", calendar=calendar, use_cftime=True)
    if calendar == "standard":
        time = time.to_datetimeindex(time_unit="us")
    part = holes.isel(lat=slice(4, 14), lon=slice(0, 36, 2))
    data = (part + 0.5 * xr.DataArray(np.arange(3.0), {"time": time})).transpose("time", ...)
    data[1, 2:4, 2:4] = np.nan
    data.to_dataset(name="temperature").to_netcdf(tmp_path / "holes.nc")
    with xr.open_dataset(tmp_path / "holes.nc") as given:
        zonal.fill(given, model=quick).to_netcdf(tmp_path / "filled.nc")
    filled = xr.load_dataset(tmp_path / "filled.nc")
    wanted = (truth + 0.5 * xr.DataArray(np.arange(3.0), {"time": time})).transpose("time", ...)
    assert filled["time"].dt.calendar == data["time"].dt.calendar
    np.testing.assert_array_equal(filled["time"], data["time"])
    assert abs(filled["prediction"] - wanted).max() < 1.0
    model = zonal.grid.fit(data, model=quick)
    assert list(model.feature_names_in_) == ["latitude", "longitude", "time"]


def test_a_depth_and_a_covariate_are_columns(holes, quick):
    depth = xr.DataArray([0.0, 10.0], {"depth": [0.0, 10.0]}, dims="depth")
    data = xr.Dataset({"t": holes - 0.1 * depth, "height": abs(holes.lat) * 10})
    model = zonal.grid.fit(data, "t", covariates=["height"], model=quick)
    assert list(model.feature_names_in_) == ["latitude", "longitude", "depth", "height"]
    filled = zonal.fill(data, "t", covariates="height", model=model)
    assert filled["prediction"].dims == ("lat", "lon", "depth")
    assert filled["prediction"].notnull().all()
    again = zonal.predict_grid(model, like=data)
    assert set(again["prediction"].dims) == {"lat", "lon", "depth"}


def test_where_a_covariate_is_missing_nothing_is_predicted(holes, quick):
    height = abs(holes.lat).where(holes.lat < 60).broadcast_like(holes)
    filled = zonal.fill(
        xr.Dataset({"t": holes, "height": height}), "t", covariates=["height"], model=quick
    )
    polar = holes.lat > 60
    np.testing.assert_array_equal(filled["prediction"].where(polar), holes.where(polar))


def test_undecoded_values_are_decoded(holes, filled, quick):
    packed = (holes * 100).round().fillna(-999).astype(np.int16)
    packed.attrs = {"scale_factor": 0.01, "_FillValue": np.int16(-999), "units": "degC"}
    again = zonal.fill(packed, model=quick)
    assert abs(again["prediction"] - filled["prediction"]).max() < 0.02
    assert "scale_factor" not in again["prediction"].attrs


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.where(False), "No cell of 'temperature' has a value"),
        (lambda a: a.assign_coords(lat=a.lat.assign_attrs(units="furlong")), "'furlong'"),
        (
            lambda a: a.assign_coords(lat=a.lat.assign_attrs(units="degrees_east")),
            "latitude and longitude swapped",
        ),
        (lambda a: a.assign_coords(lat=a.lat * 2), "beyond 90 degrees"),
        (lambda a: a.rename(lat="row", lon="column").drop_attrs(), "No latitude was found"),
        (lambda a: a.expand_dims(member=3), "'member' has no numbers"),
        (lambda a: a.astype(str), "not numbers"),
    ],
)
def test_mistakes(holes, quick, change, words):
    with pytest.raises(ValueError, match=words):
        zonal.fill(change(holes), model=quick)


def test_more_mistakes(holes, quick):
    with pytest.raises(TypeError, match=r"ndarray is not a grid.*xarray\.DataArray"):
        zonal.fill(holes.values)
    with pytest.raises(ValueError, match=r"coverage=90 must be"):
        zonal.fill(holes, coverage=90, model=quick)
    with pytest.raises(ValueError, match="no covariate 'heigth'"):
        zonal.fill(holes, covariates="heigth", model=quick)


def test_the_poles_are_single_places(quick, tmp_path):
    lat, lon = np.linspace(-90, 90, 19), np.arange(0.0, 360, 20)
    data = xr.DataArray(smooth(*np.meshgrid(lat, lon, indexing="ij")), {"lat": lat, "lon": lon})
    zonal.fill(data.where(abs(data.lat) < 85), model=quick).to_netcdf(tmp_path / "filled.nc")
    filled = xr.load_dataset(tmp_path / "filled.nc")
    for pole in (-90, 90):
        # Which of the rows at the same distance are among the neighbours may differ.
        assert np.ptp(filled["prediction"].sel(lat=pole).values) < 1e-3
    assert abs(filled["prediction"] - data).max() < 0.2


def test_the_order_of_storage_does_not_decide():
    """The model is chosen by samples of rows, and intervals by emptied balls: of any order."""
    rng = np.random.default_rng(0)
    lat, lon = np.arange(-42.0, 42, 4), np.arange(10.0, 90, 4)
    wave = np.sin(np.radians(5 * lat))[:, None] * np.cos(np.radians(4 * lon))
    cells = xr.DataArray(wave + 0.05 * rng.standard_normal(wave.shape), {"lat": lat, "lon": lon})
    cells = cells.where((abs(cells.lat) > 9) | (abs(cells.lon - 50) > 9))
    first = zonal.fill(cells)
    other = zonal.fill(cells[::-1, ::-1].T.chunk(lat=5)).compute().reindex_like(cells)
    unit = float(cells.std())
    for name in ("prediction", "std", "lower", "upper"):
        apart = abs(other[name].transpose("lat", "lon") - first[name]).max()
        assert float(apart) < 1e-6 * unit
