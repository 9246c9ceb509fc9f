"""Projections against PROJ, and pictures that must not fail."""

import numpy as np
import pandas as pd
import pyproj
import pytest
from sklearn.model_selection import KFold

import zonal
from zonal.grid.maps import colours
from zonal.grid.projections import fitting_projection, orthographic, plain, robinson


def globe():
    return np.meshgrid(np.arange(-85.0, 90, 5), np.arange(-180.0, 180, 15), indexing="ij")


def test_robinson_agrees_with_proj():
    lat, lon = globe()
    x, y = pyproj.Proj("+proj=robin +R=1")(lon, lat)
    ours = robinson()(lat, lon)
    np.testing.assert_allclose(ours[0], x, atol=3e-3)
    np.testing.assert_allclose(ours[1], y, atol=3e-3)


@pytest.mark.parametrize("latitude", [-90.0, 30.0, 90.0])
def test_orthographic_agrees_with_proj(latitude):
    lat, lon = globe()
    x, y = pyproj.Proj(f"+proj=ortho +R=1 +lat_0={latitude}")(lon, lat)
    ours = orthographic(latitude)(lat, lon)
    seen = np.isfinite(x)
    np.testing.assert_allclose(ours[0][seen], x[seen], atol=1e-9)
    np.testing.assert_allclose(ours[1][seen], y[seen], atol=1e-9)
    assert np.isnan(ours[0][~seen]).mean() > 0.9  # those on the very edge may differ


def test_projections_that_fit():
    everywhere = fitting_projection(*globe())
    assert everywhere.outline is not None
    assert everywhere.center == 0
    pole = fitting_projection(np.array([50.0, 90.0]), np.arange(0, 360, 10))
    assert pole(90.0, 0.0) == pytest.approx((0, 0))
    region = fitting_projection(np.array([-10.0, 10.0]), np.array([170.0, -170.0]))
    assert region.outline is None
    assert abs(region.center) == pytest.approx(180)
    x, y = plain(60.0)(60.0, 10.0)
    assert (x, y) == pytest.approx((5, 60))


def test_colours():
    assert colours(np.linspace(-1, 1.5, 99), {})["cmap"] == "RdBu_r"
    both = colours(np.linspace(-1, 1.5, 99), {})
    assert both["vmin"] == -both["vmax"]
    assert colours(np.linspace(-0.1, 30, 99), {})["cmap"] == "viridis"
    assert colours(np.full(3, np.nan), {})["vmax"] > 0


@pytest.mark.parametrize("region", ["globe", "0 to 360", "pole", "date line", "two dimensions"])
def test_pictures(holes, quick, tmp_path, region):
    filled = zonal.fill(holes, model=zonal.grid.fit(holes, model=quick))
    if region == "0 to 360":
        filled = filled.assign_coords(lon=filled.lon % 360).isel(lat=slice(None, None, -1))
    elif region == "pole":
        filled = filled.sel(lat=slice(40, None))
    elif region == "date line":
        filled = filled.sel(lat=slice(-30, 30)).isel(lon=[0, 1, 2, 33, 34, 35])
    elif region == "two dimensions":
        lat, lon = (filled[name].broadcast_like(filled["std"]) for name in ("lat", "lon"))
        filled = filled.drop_vars(["lat", "lon"]).rename(lat="row", lon="column")
        axes = ("row", "column")
        filled = filled.assign_coords(latitude=(axes, lat.values), longitude=(axes, lon.values))
    figure = zonal.grid.draw(filled)
    figure.savefig(tmp_path / "map.png", dpi=40)
    assert (tmp_path / "map.png").stat().st_size > 5_000
    assert len(figure.axes) == 4  # two maps, two bars


def test_a_picture_of_folds(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"lat": rng.uniform(-90, 90, 500), "lon": rng.uniform(0, 360, 500)})
    for cv in (zonal.BlockKFold(4, 20), KFold(12)):
        figure = zonal.grid.draw_folds(frame, cv)
        figure.savefig(tmp_path / "folds.png", dpi=40)
        assert len(figure.axes[1].get_yticks()) == cv.get_n_splits()
