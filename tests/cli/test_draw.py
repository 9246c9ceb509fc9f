"""``zonal draw``: draws in a file, the same for the same seed."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import zonal as library

from .console import as_json, good, message


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("draws")
    rng = np.random.default_rng(0)
    lat, lon = rng.uniform(40, 60, 100), rng.uniform(0, 20, 100)
    table = pd.DataFrame({"lat": lat, "lon": lon, "y": np.sin(lat / 5) + lon / 20})
    table.to_csv(folder / "places.csv", index=False)
    model = ("--features", "fourier", "--budget", 8, "--alpha", 1, "--local", "none")
    good("fit", "places.csv", "--target", "y", *model, "--out", "y.zonal", cwd=folder)
    return folder


def test_draws_in_a_file(folder):
    options = ("--grid", 5, "--draws", 4, "--seed", 3)
    found = as_json("draw", "y.zonal", *options, "--out", "draws.nc", cwd=folder)
    assert found["draws"] == 4
    with xr.open_dataset(folder / "draws.nc") as written:
        assert written["y"].dims == ("draw", "lat", "lon")
        assert written["y"][0].size == found["cells"]
        model = library.load(folder / "y.zonal")
        grid = written.drop_vars(["y", "draw"])
        again = library.sample_grid(model, like=grid, n_samples=4, random_state=3)
        np.testing.assert_allclose(written["y"], again, rtol=1e-9)
        grid.to_netcdf(folder / "grid.nc")
    good("draw", "y.zonal", "grid.nc", "--draws", 4, "--seed", 3, "--out", "like.nc", cwd=folder)
    with xr.open_dataset(folder / "like.nc") as written:
        np.testing.assert_allclose(written["y"], again, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--grid", 5, "--out", "made.png"), "must end in .nc, not '.png'"),
        (("--out", "made.nc"), "Give either a GRID to take or --grid STEP"),
        (("--grid", 5, "--set", "kind", "--out", "made.nc"), "must be a name and a value"),
        (("--grid", 5, "--rename", "a=b", "--out", "made.nc"), "--rename is for"),
    ],
)
def test_mistakes(folder, options, words):
    assert words in message("draw", "y.zonal", *options, cwd=folder)
    assert not list(folder.glob("made*"))
