"""``zonal fit --noise-column``: every row with its own error."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import zonal as library

from .console import as_json, good, message

MODEL = ("--features", "fourier", "--budget", 12, "--local", "none", "--alpha", 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noise")
    rng = np.random.default_rng(0)
    x, error = rng.uniform(0, 5, 300), np.exp(rng.uniform(-3, 0, 300))
    table = pd.DataFrame({"x": x, "error": error, "v": error**2})
    table["y"] = np.sin(x) + error * rng.standard_normal(300)
    table.loc[5, "error"] = np.nan
    table.to_csv(folder / "rows.csv", index=False)
    lat, lon = np.arange(-75.0, 90, 15), np.arange(15.0, 360, 30)
    field = np.cos(np.radians(lat))[:, None] + 0 * lon
    xr.Dataset(
        {"y": (("lat", "lon"), field), "s": (("lat", "lon"), 0.1 + 0 * field)},
        {"lat": lat, "lon": lon},
    ).to_netcdf(folder / "grid.nc")
    return folder


def test_standard_deviations_and_variances(folder):
    fit = ("fit", "rows.csv", "--target", "y", *MODEL, "--ignore")
    found = as_json(*fit, "v", "--noise-column", "error", "--out", "a.zonal", cwd=folder)
    assert found["inputs"] == ["x"]
    assert found["rows_dropped"] == 1
    variance = ("--noise-column", "v", "--noise-kind", "variance")
    good(*fit, "error", *variance, "--out", "b.zonal", cwd=folder)
    a, b = (library.load(folder / name) for name in ("a.zonal", "b.zonal"))
    assert a.extra_noise_ >= 0
    new = pd.DataFrame({"x": np.linspace(0, 5, 9)})
    # But for the row whose error is not known.
    np.testing.assert_allclose(a.predict(new), b.predict(new), atol=0.05)
    plain = ("fit", "rows.csv", "--target", "y", *MODEL, "--ignore", "v", "--ignore", "error")
    good(*plain, "--out", "c.zonal", cwd=folder)
    assert np.abs(library.load(folder / "c.zonal").predict(new) - a.predict(new)).max() > 1e-3


def test_a_variable_of_a_grid(folder):
    found = as_json(
        "fit", "grid.nc", "--target", "y", *MODEL, "--noise-column", "s", "--out", "g.zonal",
        cwd=folder,
    )  # fmt: skip
    assert found["inputs"] == ["latitude", "longitude"]
    assert library.load(folder / "g.zonal").extra_noise_ >= 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--noise-column", "eror"), "eror"),
        (("--noise-column", "error", "--engine", "dask"), "are for --engine local"),
        (("--noise-column", "error", "--classify"), "targets that are numbers"),
    ],
)
def test_mistakes(folder, options, words):
    assert words in message("fit", "rows.csv", "--target", "y", *MODEL, *options, cwd=folder)
