"""Models of any columns meet a grid: dates, words and heights of a terrain model."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.linear_model import LinearRegression

import zonal
from zonal.grid.matching import MissingColumns

JULY = "2020-07-15"


def height(lat, lon):
    return 1000 + 800 * np.sin(9 * lat) * np.cos(7 * lon)


def temperature(height, day, urban):
    return 20 - 0.0065 * height - 8 * np.cos(2 * np.pi * day / 366) + urban


@pytest.fixture(scope="module")
def stations():
    """A table with dates, words and gaps, and what was measured."""
    rng = np.random.default_rng(0)
    n = 600
    lat, lon = rng.uniform(46, 47, n), rng.uniform(8, 9.3, n)
    date = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 366, n), "D")
    kind = rng.choice(["urban", "rural"], n)
    table = pd.DataFrame({"lat": lat, "lon": lon, "elevation": height(lat, lon), "date": date,
                          "kind": kind})  # fmt: skip
    y = temperature(table["elevation"], date.day_of_year, kind == "urban")
    table.loc[rng.random(n) < 0.05, "elevation"] = np.nan
    return table, y + 0.3 * rng.standard_normal(n)


@pytest.fixture(scope="module")
def model(stations):
    return zonal.KernelRidge(random_state=0).fit(*stations)


@pytest.fixture(scope="module")
def terrain():
    lat, lon = np.arange(46.05, 47, 0.1), np.arange(8.05, 9.3, 0.1)
    values = height(lat[:, None], lon)
    return xr.Dataset({"elevation": (("lat", "lon"), values)}, {"lat": lat, "lon": lon})


def test_one_day_on_a_terrain(model, terrain):
    found = zonal.predict_grid(model, like=terrain, time=JULY, at={"kind": "urban"})
    assert found["prediction"].dims == ("time", "lat", "lon")
    assert found["time"].values[0] == np.datetime64(JULY)
    truth = temperature(terrain["elevation"], pd.Timestamp(JULY).day_of_year, 1)
    error = (found["prediction"].isel(time=0) - truth).values
    # A constant has 4.7, the noise of one observation 0.3.
    assert np.sqrt(np.mean(error**2)) < 0.3
    rows = pd.DataFrame({"lat": [46.05], "lon": [8.05], "elevation": [height(46.05, 8.05)],
                         "date": pd.to_datetime([JULY]), "kind": ["urban"]})  # fmt: skip
    assert float(found["prediction"][0, 0, 0]) == pytest.approx(model.predict(rows)[0])


def test_a_date_that_is_the_same_everywhere(model, terrain):
    day = zonal.predict_grid(model, like=terrain, time=JULY, at={"kind": "urban"})
    same = zonal.predict_grid(model, like=terrain, at={"kind": "urban", "date": JULY})
    assert same["prediction"].dims == ("lat", "lon")
    np.testing.assert_allclose(same["prediction"], day["prediction"].isel(time=0))


def test_times_and_words_of_the_grid(model, terrain):
    """A grid with dates of its own, and a variable of words."""
    dates = pd.to_datetime(["2020-01-15", JULY])
    words = xr.where(terrain["elevation"] > 1000, "rural", "urban")
    grid = terrain.assign(kind=words).assign_coords(date=dates)
    found = zonal.predict_grid(model, like=grid)
    assert dict(found.sizes) == {"lat": 10, "lon": 13, "date": 2}
    warmer = found["prediction"].isel(date=1) - found["prediction"].isel(date=0)
    assert float(warmer.min()) > 10
    urban = zonal.predict_grid(model, like=terrain, at={"kind": "urban", "date": JULY})
    where = (words == "urban").values
    both = found["prediction"].isel(date=1).transpose("lat", "lon").values
    np.testing.assert_allclose(both[where], urban["prediction"].values[where])
    assert (both[~where] < urban["prediction"].values[~where]).all()


@pytest.mark.parametrize("calendar", ["noleap", "360_day"])
def test_months_of_cftime_for_a_column_of_dates(model, terrain, calendar):
    time = xr.date_range("2020-01-15", periods=3, freq="MS", calendar=calendar, use_cftime=True)
    grid = terrain.assign_coords(time=time)
    found = zonal.predict_grid(model, like=grid, at={"kind": "rural"})
    plain = zonal.predict_grid(
        model, like=terrain, time=["2020-02-01", "2020-03-01", "2020-04-01"], at={"kind": "rural"}
    )
    np.testing.assert_allclose(
        found["prediction"].transpose("time", ...), plain["prediction"], atol=1e-9
    )


def test_columns_by_other_names(model, terrain):
    renamed = terrain.rename(elevation="z")
    renamed["z"].attrs["standard_name"] = "elevation"
    upper = terrain.rename(elevation="Elevation", lat="latitude", lon="x_lon")
    expected = zonal.predict_grid(model, like=terrain, time=JULY, at={"kind": "urban"})
    for grid in (renamed, upper):
        found = zonal.predict_grid(model, like=grid, time=JULY, at={"kind": "urban"})
        np.testing.assert_array_equal(found["prediction"], expected["prediction"])


def test_a_model_of_x_and_y(stations):
    """No latitude at all: columns of a plane, by the names of the grid's coordinates."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(0, 1000, (60, 3)), columns=["x", "y", "depth"])
    model = LinearRegression().fit(table, 2 * table["x"] - table["y"] + 3 * table["depth"])
    grid = xr.Dataset({"depth": (("northing", "easting"), [[1.0, 2.0], [3.0, np.nan]])},
                      {"northing": [10.0, 20.0], "easting": [5.0, 6.0]})  # fmt: skip
    found = zonal.predict_grid(model, like=grid)["prediction"]
    np.testing.assert_allclose(found, [[10 - 10 + 3, 12 - 10 + 6], [10 - 20 + 9, np.nan]])
    assert len(zonal.grid.draw(found).axes) == 2


def test_all_that_is_missing_comes_in_one_message(model, terrain):
    with pytest.raises(MissingColumns, match=r"columns 'date' and 'kind' too.*at=\{'date'") as one:
        zonal.predict_grid(model, like=terrain)
    assert one.value.names == ["date", "kind"]
    with pytest.raises(ValueError, match=r"'knd', but the model's columns.*Did you mean 'kind'"):
        zonal.predict_grid(model, like=terrain, time=JULY, at={"knd": "urban"})
    with pytest.raises(ValueError, match="'lat', which is an axis"):
        zonal.predict_grid(model, like=terrain, time=JULY, at={"lat": 3.0})
    with pytest.raises(ValueError, match="'date' of the model holds dates, but 'soon'"):
        zonal.predict_grid(model, like=terrain, at={"kind": "urban", "date": "soon"})
    with pytest.raises(ValueError, match="must be one value"):
        zonal.predict_grid(model, like=terrain, time=JULY, at={"kind": ["urban", "rural"]})
    with pytest.raises(ValueError, match="times of its own"):
        zonal.predict_grid(model, like=terrain.expand_dims(time=[2020.0]), time=JULY)


def test_what_is_ignored_is_said(quick, holes, terrain):
    model = zonal.grid.fit(holes, model=quick)
    with pytest.raises(ValueError, match=r"no column of the model takes one.*Leave the time out"):
        zonal.predict_grid(model, lat=[10.0], lon=[20.0], time=JULY)
    with pytest.raises(ValueError, match="A value was given for 'kind'"):
        zonal.predict_grid(model, lat=[10.0], lon=[20.0], at={"kind": "urban"})
    months = terrain.expand_dims(month=[1.0, 2.0])
    with pytest.warns(UserWarning, match="dimension 'month'"):
        found = zonal.predict_grid(model, like=months)
    assert found["prediction"].dims == ("lat", "lon")


def test_words_as_covariates_of_a_grid(terrain):
    rng = np.random.default_rng(0)
    kind = xr.where(terrain["elevation"] > 1000, "rock", "meadow")
    truth = terrain["elevation"] / 1000 + 3.0 * (kind == "rock")
    data = xr.Dataset({"t": truth.where(rng.random(truth.shape) > 0.2), "kind": kind})
    assert data["t"].notnull().sum() < 300  # too few to choose by
    found = zonal.fill(data, "t", covariates="kind")["prediction"]
    # Without the words it is 0.9.
    assert float(np.sqrt(((found - truth) ** 2).mean())) < 0.5
