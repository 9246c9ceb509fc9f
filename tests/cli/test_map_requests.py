"""Maps as a person asks for them: tables and terrain in, a day out; what cannot be, said early."""

import json
import subprocess
import sys

import numba
import numpy as np
import pandas as pd
import pytest
import rioxarray
import xarray as xr

import zonal as library
from zonal.cli import console, map_sizes
from zonal.rows.progress import advanced

from .console import ENVIRONMENT, as_json, files, good, message, zonal


def height(lat, lon):
    return 1000 + 800 * np.sin(9 * lat) * np.cos(7 * lon)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Stations with dates, words and gaps; a terrain; a ship; and models of them."""
    place = tmp_path_factory.mktemp("requests")
    rng = np.random.default_rng(0)
    n = 400
    lat, lon = rng.uniform(46, 47, n), rng.uniform(8, 9.3, n)
    day = rng.integers(0, 366, n)
    kind = rng.choice(["urban", "rural"], n)
    table = pd.DataFrame({
        "lat": lat, "lon": lon, "elevation": height(lat, lon).round(1),
        "date": (pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D")).strftime("%Y-%m-%d"),
        "kind": kind,
    })  # fmt: skip
    table["t"] = 20 - 0.0065 * table["elevation"] - 8 * np.cos(2 * np.pi * day / 366)
    table["t"] += (kind == "urban") + 0.3 * rng.standard_normal(n)
    table.loc[rng.random(n) < 0.05, "elevation"] = np.nan
    table.to_csv(place / "stations.csv", index=False)
    plain = table[["lat", "lon", "t"]]
    plain.to_csv(place / "plain.csv", index=False)
    plane = pd.DataFrame({"x": 1000 * lon, "y": 1000 * lat, "t": table["t"]})
    plane.to_csv(place / "plane.csv", index=False)
    grid = {"lat": np.arange(46.05, 47, 0.1), "lon": np.arange(8.05, 9.3, 0.1)}
    values = height(grid["lat"][:, None], grid["lon"])
    terrain = xr.Dataset({"elevation": (("lat", "lon"), values)}, grid)
    terrain.assign(slope=terrain["elevation"] * 0).to_netcdf(place / "terrain.nc")
    terrain.rename(elevation="band_1").to_netcdf(place / "unnamed.nc")
    months = terrain["elevation"] + xr.DataArray(np.arange(6.0), {"time": np.arange(6.0)})
    months.rename("t").to_netcdf(place / "months.nc")
    quick = ("--budget", 64, "--local", "none")
    good("fit", "stations.csv", "--target", "t", "--out", "t.zonal", "--time-limit", 1, cwd=place)
    good("fit", "plain.csv", "--target", "t", "--out", "plain.zonal", *quick, cwd=place)
    return place


JULY = ("--time", "2020-07-15", "--set", "kind=urban")


def test_stations_to_a_map_of_one_day_in_a_fresh_process(folder):
    """The whole way, with processes that have nothing but files in common."""
    script = [sys.executable, "-m", "zonal", "predict", "t.zonal", "terrain.nc", *JULY]
    done = subprocess.run([*script, "--out", "july.nc"], cwd=folder, capture_output=True,
                          text=True, env=ENVIRONMENT, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "130 cells: july.nc" in done.stderr
    assert "does not use: slope" in done.stderr
    found = xr.load_dataset(folder / "july.nc").isel(time=0)
    truth = 21 - 0.0065 * height(found.lat, found.lon) - 8 * np.cos(2 * np.pi * 196 / 366)
    error = float(np.sqrt(((found["prediction"] - truth) ** 2).mean()))
    assert error < 1.0  # of a constant: 2.6
    inside = float(((found["lower"] <= truth) & (truth <= found["upper"])).mean())
    assert inside > 0.7  # the truth has no noise, but neighbouring cells err together


def test_columns_that_are_missing_are_asked_for_in_the_words_of_options(folder):
    before = files(folder)
    said = message("predict", "t.zonal", "terrain.nc", "--out", "a.nc", cwd=folder)
    assert "columns 'date' and 'kind' too" in said
    assert "--set date=... --set kind=..." in said
    assert "at=" not in said
    for options, words in (
        ((*JULY, "--set", "knd=x"), "'knd', but the model's columns"),
        (("--time", "soon", "--set", "kind=urban"), "neither a date such as 2020-07-15"),
        (("--set", "kind", "--time", "2020-07-15"), "must be a name and a value"),
        ((*JULY, "--rename", "sloop=x"), "no variable 'sloop'. Did you mean 'slope'"),
        ((*JULY, "--extent", "1,2,3,4"), "whole grid"),
    ):
        assert words in message("predict", "t.zonal", "terrain.nc", *options, "--out", "a.nc",
                                cwd=folder)  # fmt: skip
    said = message("predict", "plain.zonal", "--grid", 0.1, "--time", "2020-07-15", "--out",
                   "a.nc", cwd=folder)  # fmt: skip
    assert "no column of the model takes one" in said
    said = message("predict", "plain.zonal", "plain.csv", "--time", 3, "--out", "a.csv", cwd=folder)
    assert "--time is for maps" in said
    assert files(folder) == before


def test_a_variable_with_another_name(folder):
    options = (*JULY, "--rename", "band_1=elevation", "--out", "renamed.nc", "--force")
    good("predict", "t.zonal", "unnamed.nc", *options, cwd=folder)
    good("predict", "t.zonal", "terrain.nc", *JULY, "--out", "named.nc", "--force", cwd=folder)
    one, two = (xr.load_dataset(folder / f"{name}.nc") for name in ("renamed", "named"))
    np.testing.assert_array_equal(one["prediction"], two["prediction"])


def test_the_region_is_that_of_the_data(folder):
    table = pd.read_csv(folder / "plain.csv")
    done = as_json("predict", "plain.zonal", "--grid", 0.1, "--out", "m.nc", "--force", cwd=folder)
    found = xr.load_dataset(folder / "m.nc")
    assert done["cells"] == found["prediction"].size == 11 * 14
    for name in ("lat", "lon"):
        assert table[name].min() - 0.1 <= found[name].min() <= table[name].min()
        assert table[name].max() <= found[name].max() <= table[name].max() + 0.1
    done = as_json("predict", "plain.zonal", "--grid", 30, "--extent", "globe", "--out", "m.nc",
                   "--force", cwd=folder)  # fmt: skip
    assert done["cells"] == 7 * 12


def test_a_large_map_must_be_wanted(folder, monkeypatch):
    before = files(folder)
    said = message("predict", "plain.zonal", "--grid", 0.001, "--extent", "globe", "--out",
                   "big.nc", cwd=folder)  # fmt: skip
    assert "64,800,360,000 cells: about" in said
    assert "2,073.6 GB before compression" in said
    assert "--yes" in said
    assert files(folder) == before
    monkeypatch.setattr(map_sizes, "SMALL", 10)
    monkeypatch.setattr(map_sizes, "LARGE_BYTES", 100.0)
    said = message("fill", "months.nc", "--target", "t", "--out", "big.nc", cwd=folder)
    assert "--yes" in said
    assert "Fitting" not in said
    asked = ("predict", "plain.zonal", "--grid", 0.1, "--out", "big.nc")
    assert "--yes" in message(*asked, cwd=folder)
    done = zonal(*asked, "--yes", cwd=folder)
    assert done.returncode == 0
    assert "154 cells: about" in done.stderr


def ship(folder):
    """Write a track, ship.nc, and return its values and places."""
    n = 300
    lat, lon = np.linspace(50, 40, n), np.linspace(-70, -10, n)
    sst = np.where(np.arange(n) % 9, np.sin(lon / 9), np.nan)
    places = {"lat": ("obs", lat), "lon": ("obs", lon)}
    xr.Dataset({"sst": ("obs", sst, {"units": "degC"}), **places}).to_netcdf(folder / "ship.nc")
    return sst, places


@pytest.mark.parametrize(
    ("name", "target", "out", "words"),
    [
        ("months.nc", "t", "a.tif", "6 along 'time'"),
        ("ship.nc", "sst", "a.tif", "this is a track"),
        ("bent.nc", "sst", "a.tif", "curvilinear"),
    ],
)
def test_what_a_file_cannot_hold_is_said_before_the_fit(folder, name, target, out, words):
    sst, places = ship(folder)
    bent = {key: (("i", "j"), value.reshape(15, 20)) for key, (_, value) in places.items()}
    xr.Dataset({"sst": (("i", "j"), sst.reshape(15, 20)), **bent}).to_netcdf(folder / "bent.nc")
    before = files(folder)
    said = message("fill", name, "--target", target, "--out", out, cwd=folder)
    assert words in said
    assert "write NetCDF (.nc)" in said
    assert "Fitting" not in said
    assert ".zonal-" not in said
    assert files(folder) == before


@pytest.mark.longest
def test_a_ship_and_many_months_as_pictures(folder):
    ship(folder)
    quick = ("--budget", 64, "--local", "none")
    done = zonal("fill", "ship.nc", "--target", "sst", "--out", "ship.png", *quick, "--coastlines",
                 cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Filling 300 cells" in done.stderr
    assert "300 cells, 34 of them filled: ship.png" in done.stderr
    assert "root mean squared error of" in done.stderr
    assert "degC" in done.stderr
    assert "of them were inside their 90% intervals" in done.stderr
    good("fill", "months.nc", "--target", "t", "--out", "months.png", *quick, cwd=folder)
    assert (folder / "months.png").stat().st_size > 20_000


def test_a_raster_in_metres_without_a_word_about_its_libraries(folder):
    x, y = 5e5 + 5e3 * np.arange(8), 5.2e6 - 5e3 * np.arange(6)
    values = np.where(np.arange(48).reshape(6, 8) % 5, 10.0, np.nan)
    raster = xr.DataArray(values, {"y": y, "x": x}, dims=("y", "x")).rio.write_crs("EPSG:32632")
    raster.rio.to_raster(folder / "utm.tif")
    done = zonal("fill", "utm.tif", "--target", "band_1", "--model", "plain.zonal", "--out",
                 "full.tif", cwd=folder)  # fmt: skip
    assert done.returncode == 0
    said = done.stderr.splitlines()
    assert said == ["Filling 48 cells …", "48 cells, 10 of them filled: full.tif"]
    found = rioxarray.open_rasterio(folder / "full.tif")
    assert found.rio.crs.to_epsg() == 32632
    np.testing.assert_array_equal(found["x"], x)
    assert np.isfinite(found).all()


def test_names_and_packing(folder):
    axes = {"lat": np.arange(-85.0, 90, 10), "lon": np.arange(5.0, 360, 10)}
    values = np.add.outer(np.arange(18.0), np.arange(36.0))
    grid = xr.Dataset({"sst": (("lat", "lon"), values)}, axes)
    grid = grid.where(np.random.default_rng(0).random((18, 36)) > 0.1)
    grid["sea"] = (grid["lat"] > 0).astype(float)
    packing = {"dtype": "int16", "scale_factor": 0.01, "_FillValue": -1}
    grid.to_netcdf(folder / "packed.nc", encoding={"sst": packing})
    options = ("--budget", 64, "--local", "none", "--where", "sea", "--no-check")
    done = as_json("fill", "packed.nc", "--target", "sst", "--keep-name", "--packed", "--out",
                   "own.nc", *options, cwd=folder)  # fmt: skip
    missing = int((grid["sst"].isnull() & (grid["sea"] > 0)).sum())
    assert (done["cells"], done["filled"], done["check"]) == (648, missing, None)
    with xr.open_dataset(folder / "own.nc", mask_and_scale=False) as raw:
        assert list(raw.data_vars) == ["sst", "sst_std", "sst_lower", "sst_upper"]
        assert raw["sst"].dtype == np.int16
    said = message("fill", "packed.nc", "--target", "sst", "--where", "see", "--out", "b.nc",
                   cwd=folder)  # fmt: skip
    assert "no variable 'see' for --where. Did you mean 'sea'" in said


def test_places_are_recognised_and_blocks_judge_without_being_asked(folder):
    quick = ("--budget", 64, "--local", "none")
    done = zonal("fit", "plain.csv", "--target", "t", "--json", *quick, cwd=folder)
    assert "'lat' and 'lon' are taken as places on the globe" in done.stderr
    found = json.loads(done.stdout)["validation"]
    # A region of 1° has blocks of a tenth of it, not of 10°.
    assert found["name"] == "blocks of 0.1°"
    assert found["blocks"]["rmse"] > 0
    plain = as_json("fit", "plain.csv", "--target", "t", "--lat", "none", "--lon", "none", *quick,
                    cwd=folder)  # fmt: skip
    assert "validation" not in plain
    table = pd.read_csv(folder / "plain.csv")
    table["lat"] *= 10  # no degrees, whatever the name says
    table.to_csv(folder / "odd.csv", index=False)
    assert "validation" not in as_json("fit", "odd.csv", "--target", "t", *quick, cwd=folder)


def test_blocks_in_columns_of_the_table(folder):
    found = as_json("fit", "plane.csv", "--target", "t", "--cv", "block,x:300,y:200", "--budget",
                    64, "--local", "none", "--out", "plane.zonal", cwd=folder)  # fmt: skip
    assert found["validation"]["name"] == "blocks of 300 × 200"
    assert library.load(folder / "plane.zonal") is not None
    said = message("fit", "plane.csv", "--target", "t", "--cv", "block,z:300,y:200", cwd=folder)
    assert "--cv names the column 'z'" in said
    said = message("fit", "plane.csv", "--target", "t", "--cv", "block:1deg,x:3,y:3", cwd=folder)
    assert "block,x:5000,y:5000" in said


def test_hidden_names_are_in_no_message(folder, monkeypatch):
    from zonal.cli import mapping

    def full(result, path, **options):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(mapping, "write_grid", full)
    said = message("predict", "plain.zonal", "--grid", 0.1, "--out", "full.nc", cwd=folder)
    assert "No space left" in said
    assert "full.nc" in said
    assert ".zonal-" not in said


def test_the_first_use_says_that_it_compiles(capsys, monkeypatch):
    monkeypatch.setattr(console._Compilations, "told", False)
    for _ in range(2):  # each function is compiled anew, but it is said once
        with console.Screen().stage("Fitting"):
            numba.njit(lambda x: x + 1)(1)
    said = capsys.readouterr().err
    assert said.count("compiling, which takes up to a minute at the first use") == 1


def test_a_long_stage_counts_in_a_log(capsys, monkeypatch):
    monkeypatch.setattr(console._Log, "PAUSE", 0.0)
    with console.Screen().stage("Filling", 1000, "cells"):
        advanced(250)
        advanced(250)
    said = capsys.readouterr().err.splitlines()
    assert said == ["Filling 1,000 cells …", "  250 of 1,000 cells", "  500 of 1,000 cells"]
