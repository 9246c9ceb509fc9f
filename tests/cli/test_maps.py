"""Grids on the command line: real files in, real files out, in one process."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyproj
import pytest
import rioxarray  # noqa: F401  # the accessor rio
import xarray as xr

import zonal as library

from .console import as_json, files, good, message


def smooth(lat, lon):
    phi, lam = np.radians(lat), np.radians(lon)
    return 10 + 5 * np.sin(phi) + 3 * np.cos(phi) * np.sin(lam)


@pytest.fixture(scope="module")
def truth():
    lat, lon = np.arange(80.0, -81, -10), np.arange(5.0, 360, 10)
    return xr.DataArray(
        smooth(*np.meshgrid(lat, lon, indexing="ij")),
        {
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
        name="sst",
        attrs={"units": "degC", "long_name": "sea surface temperature"},
    )


@pytest.fixture(scope="module")
def folder(truth, tmp_path_factory):
    """A folder with the field with holes in files of each kind, and a model of it."""
    folder = tmp_path_factory.mktemp("maps")
    gone = np.random.default_rng(0).random(truth.shape) < 0.2
    holes = truth.where(~gone)
    packed = {"dtype": "int16", "scale_factor": 0.001, "add_offset": 10.0, "_FillValue": -32768}
    holes.to_dataset().to_netcdf(folder / "sst.nc", encoding={"sst": packed}, engine="netcdf4")
    holes.to_dataset().to_netcdf(folder / "sst_h5.nc", engine="h5netcdf")
    raster = holes.rename(lat="y", lon="x").rio.write_crs("EPSG:4326")
    raster.rio.write_nodata(np.nan).rio.to_raster(folder / "sst.tif")
    table = holes.to_dataframe().dropna().reset_index()
    to_plane = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:8857", always_xy=True)
    table["easting"], table["northing"] = to_plane.transform(table["lon"], table["lat"])
    table["station"] = [f"s{k % 40}" for k in range(len(table))]
    table.to_csv(folder / "stations.csv", index=False)
    fit = ("fit", "sst.nc", "--target", "sst", "--budget", 64, "--local", "none")
    good(*fit, "--out", "sst.zonal", cwd=folder)
    return folder


def test_fit_knows_the_axes_and_compares_errors(folder):
    model = library.load(folder / "sst.zonal")
    assert list(model.table_["inputs"]) == ["latitude", "longitude"]
    found = as_json(
        "fit", "sst.nc", "--target", "sst", "--cv", "block:20deg", "--budget", 64,
        "--report", "report.html", cwd=folder,
    )  # fmt: skip
    compared = found["validation"]
    assert compared["name"] == "blocks of 20°"
    assert compared["blocks"]["rmse"] > 0
    assert compared["random"]["rmse"] == found["test"]["rmse"]
    page = (folder / "report.html").read_text()
    assert "Random rows and blocks" in page
    assert "Believe the error on blocks of 20°" in page
    assert page.count("<img") >= 6


@pytest.mark.parametrize("ending", ["nc", "tif", "png"])
def test_predict_on_a_grid(folder, truth, ending):
    done = as_json(
        "predict", "sst.zonal", "--grid", 10, "--out", f"map.{ending}", "--force", cwd=folder
    )
    assert done["cells"] == 19 * 36
    if ending == "nc":
        with xr.open_dataset(folder / "map.nc") as found:
            assert list(found.data_vars) == ["prediction", "std", "lower", "upper"]
            assert found["prediction"].attrs["units"] == "degC"
            at = smooth(*np.meshgrid(found.lat, found.lon, indexing="ij"))
            assert abs(found["prediction"] - at).max() < 0.3
    elif ending == "tif":
        with xr.open_dataarray(folder / "map.tif", engine="rasterio") as found:
            assert found.rio.crs.to_epsg() == 4326
            assert found.attrs["long_name"] == ("prediction", "std", "lower", "upper")
            at = smooth(*np.meshgrid(found.y, found.x, indexing="ij"))
            assert abs(found.sel(band=1) - at).max() < 0.3
    else:
        assert (folder / "map.png").read_bytes()[:4] == b"\x89PNG"


def test_a_region_across_the_date_line(folder):
    good("predict", "sst.zonal", "--grid", 5, "--bounds", "170,-10,190,10", "--out", "region.nc",
         "--force", cwd=folder)  # fmt: skip
    with xr.open_dataset(folder / "region.nc") as found:
        np.testing.assert_array_equal(found.lon, np.arange(170, 191, 5))
        at = smooth(*np.meshgrid(found.lat, found.lon, indexing="ij"))
        assert abs(found["prediction"] - at).max() < 0.3


@pytest.mark.parametrize("name", ["sst.nc", "sst_h5.nc", "sst.tif"])
def test_fill_files_of_each_kind(folder, truth, name):
    target = "sst" if name != "sst.tif" else "sea surface temperature"
    ending = name.split(".")[1]
    good("fill", name, "--target", target, "--model", "sst.zonal", "--out", f"filled.{ending}",
         "--interval", 0.8, "--force", cwd=folder)  # fmt: skip
    if ending == "nc":
        with (
            xr.open_dataset(folder / "filled.nc") as found,
            xr.open_dataset(folder / name) as given,
        ):
            np.testing.assert_array_equal(found.lat, truth.lat)
            np.testing.assert_array_equal(found.lon, truth.lon)
            known = given["sst"].notnull()
            np.testing.assert_allclose(
                found["prediction"].where(known), given["sst"], atol=1e-6, equal_nan=True
            )
            assert abs(found["prediction"] - truth).max() < 0.3
            assert "0.8" in found["lower"].attrs["long_name"]
            assert found["prediction"].encoding.get("scale_factor") is None
    else:
        with xr.open_dataarray(folder / "filled.tif", engine="rasterio") as found:
            at = smooth(*np.meshgrid(found.y, found.x, indexing="ij"))
            assert abs(found.sel(band=1) - at).max() < 0.3


def test_fill_fits_a_model_of_its_own(folder, truth):
    done = as_json("fill", "sst.nc", "--target", "sst", "--out", "own.nc", "--budget", 64,
                   "--local", "none", "--cv", "block:15deg", "--save-model", "own.zonal",
                   cwd=folder)  # fmt: skip
    assert done["known"] < done["cells"] == truth.size
    with xr.open_dataset(folder / "own.nc") as found:
        assert abs(found["prediction"] - truth).max() < 0.3
    good("predict", "own.zonal", "sst.nc", "--out", "like.nc", cwd=folder)
    with xr.open_dataset(folder / "like.nc") as found:
        assert abs(found["prediction"] - truth).max() < 0.3


def test_a_projected_raster(folder, truth, tmp_path):
    """A polar stereographic grid, of which no row has one latitude."""
    x = np.arange(-2.5e6, 2.6e6, 5e5)
    back = pyproj.Transformer.from_crs("EPSG:3413", "EPSG:4326", always_xy=True)
    lon, lat = back.transform(*np.meshgrid(x, x[::-1]))
    plane = xr.DataArray(smooth(lat, lon), {"y": x[::-1], "x": x}, dims=("y", "x"))
    holes = plane.where(np.random.default_rng(0).random(plane.shape) > 0.3)
    holes.rio.write_crs("EPSG:3413").rio.write_nodata(np.nan).rio.to_raster(tmp_path / "polar.tif")
    for ending in ("tif", "png"):
        good("fill", "polar.tif", "--target", "band_1", "--model", folder / "sst.zonal",
             "--out", f"filled.{ending}", cwd=tmp_path)  # fmt: skip
    with xr.open_dataarray(tmp_path / "filled.tif", engine="rasterio") as found:
        assert found.rio.crs.to_epsg() == 3413
        assert abs(found.sel(band=1).values - plane.values).max() < 0.3


def test_tables_with_projected_columns_and_groups(folder):
    fit = ("fit", "stations.csv", "--target", "sst", "--budget", 64, "--local", "none")
    plane = ("--lat", "northing", "--lon", "easting", "--crs", "EPSG:8857", "-i", "northing",
             "-i", "easting")  # fmt: skip
    found = as_json(*fit, *plane, "--out", "plane.zonal", "--force", cwd=folder)
    assert found["test"]["rmse"] < 0.2
    assert found["validation"]["name"] == "blocks of 10°"
    good("predict", "plane.zonal", "--grid", 30, "--bounds", "-150,-60,150,60", "--out",
         "plane.nc", "--force", cwd=folder)  # fmt: skip
    with xr.open_dataset(folder / "plane.nc") as maps:
        at = smooth(*np.meshgrid(maps.lat, maps.lon, indexing="ij"))
        assert abs(maps["prediction"] - at).max() < 0.5
    grouped = as_json(*fit, "-i", "lat", "-i", "lon", "--lat", "lat", "--lon", "lon",
                      "--group", "station", cwd=folder)  # fmt: skip
    assert grouped["validation"]["name"] == "whole groups of 'station'"
    assert grouped["inputs"] == ["lat", "lon"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "sst.nc", "--target", "ssst"), "no variable 'ssst'. Did you mean 'sst'"),
        (("fit", "sst.nc", "--target", "sst", "--lat", "lat"), "axes are known"),
        (("fit", "stations.csv", "--target", "sst", "--cv", "block:10deg", "--lat", "none",
          "--lon", "none"), "give --lat and --lon"),
        (("fit", "stations.csv", "--target", "sst", "--cv", "blocks"), "is not understood"),
        (("fit", "stations.csv", "--target", "sst", "--crs", "EPSG:8857"), "--lat (northing)"),
        (("fit", "stations.csv", "--target", "sst", "--group", "statoin"), "'statoin'"),
        (("fill", "stations.csv", "--target", "sst", "--out", "a.nc"), "is not a grid"),
        (("fill", "sst.nc", "--target", "sst", "--out", "a.csv"), "must end in .nc"),
        (("fill", "none.nc", "--target", "sst", "--out", "a.nc"), "There is no file none.nc"),
        (("predict", "sst.zonal", "--out", "a.nc"), "give --grid STEP"),
        (("predict", "sst.zonal", "--grid", "5", "--bounds", "1,2", "--out", "a.nc"), "be four"),
        (("predict", "sst.zonal", "--grid", "9", "--out", "a.csv"), "must end in .nc"),
    ],
)  # fmt: skip
def test_mistakes(folder, arguments, words):
    before = files(folder)
    assert words in message(*arguments, cwd=folder)
    assert files(folder) == before


def test_an_unknown_unit_and_an_empty_grid(truth, tmp_path):
    odd = truth.assign_coords(lat=truth.lat.assign_attrs(units="furlong"))
    odd.to_dataset().to_netcdf(tmp_path / "odd.nc")
    said = message("fit", "odd.nc", "--target", "sst", "--out", "a.zonal", cwd=tmp_path)
    assert "units='furlong'" in said
    truth.where(False).to_dataset().to_netcdf(tmp_path / "empty.nc")
    said = message("fill", "empty.nc", "--target", "sst", "--out", "a.nc", cwd=tmp_path)
    assert "No cell of 'sst' has a value" in said


def test_a_damaged_file(tmp_path):
    (tmp_path / "bad.nc").write_bytes(b"not netcdf at all")
    assert "bad.nc" in message("fill", "bad.nc", "--target", "x", "--out", "a.nc", cwd=tmp_path)


def test_the_climatology_of_the_year_zero(tmp_path):
    """A real file: hours since the year 0, longitudes from 21 to 379."""
    source = Path(__file__).parents[2] / "benchmarks" / "data" / "coads_sst.nc"
    with xr.open_dataset(source, decode_times=False) as whole:
        small = whole.isel(COADSY=slice(0, None, 10), COADSX=slice(0, None, 10)).load()
    small.to_netcdf(tmp_path / "coads.nc")
    good("fill", "coads.nc", "--target", "SST", "--out", "filled.nc", "--budget", 64,
         "--local", "none", cwd=tmp_path)  # fmt: skip
    with xr.open_dataset(tmp_path / "filled.nc", decode_times=False) as found:
        assert found["prediction"].shape == (12, 9, 18)
        assert found["prediction"].notnull().all()
        np.testing.assert_array_equal(found["COADSX"], small["COADSX"])
        np.testing.assert_array_equal(found["TIME"], small["TIME"])
        assert found["TIME"].attrs["units"] == small["TIME"].attrs["units"]


def test_stations_in_time(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"lat": rng.uniform(-90, 90, 600), "lon": rng.uniform(-180, 180, 600),
         "year": rng.uniform(2000, 2010, 600)}
    )  # fmt: skip
    table["t"] = smooth(table["lat"], table["lon"]) + 0.2 * (table["year"] - 2000)
    table.to_csv(tmp_path / "t.csv", index=False)
    found = as_json("fit", "t.csv", "--target", "t", "--lat", "lat", "--lon", "lon", "--cv",
                    "block:30deg,year:2", "--budget", 64, "--local", "none", "--out",
                    "t.zonal", cwd=tmp_path)  # fmt: skip
    assert found["validation"]["name"] == "blocks of 30° × 2 of time"
    good("predict", "t.zonal", "--grid", 45, "--time", 2005, "--out", "t.nc", cwd=tmp_path)
    with xr.open_dataset(tmp_path / "t.nc") as maps:
        at = smooth(*np.meshgrid(maps.lat, maps.lon, indexing="ij")) + 1
        assert abs(maps["prediction"].isel(time=0) - at).max() < 1.0
    said = message("predict", "t.zonal", "--grid", 45, "--out", "u.nc", cwd=tmp_path)
    assert "'year' too" in said
