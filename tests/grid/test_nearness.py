"""No value where data are far."""

import numpy as np
import pytest
import xarray as xr

import zonal
from zonal.grid.nearness import EARTH_RADIUS

LAT, LON = np.arange(-80.0, 81, 10), np.arange(0.0, 360, 10)
TRUTH = xr.DataArray(
    np.sin(np.radians(LAT))[:, None] * np.ones(36), {"lat": LAT, "lon": LON}, name="t"
)
HOLES = TRUTH.where((TRUTH.lon < 200) | (TRUTH.lat > 20))
MODEL = zonal.NeighborKriging(zonal.Matern(1.5, 0.5), noise=0.01)


def kilometres(lat, lon, places):
    """Great-circle distances to the nearest of some places, by the haversine formula."""
    phi, lam = np.radians(lat)[..., None], np.radians(lon)[..., None]
    p, q = np.radians(places).T
    h = np.sin((phi - p) / 2) ** 2 + np.cos(phi) * np.cos(p) * np.sin((lam - q) / 2) ** 2
    return (2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.clip(h, 0, 1)))).min(axis=-1)


def grid_distance(field):
    lat, lon = np.meshgrid(field.lat, field.lon, indexing="ij")
    known = HOLES.notnull().values
    places = np.column_stack([part[known] for part in np.meshgrid(LAT, LON, indexing="ij")])
    return kilometres(lat, lon, places)


@pytest.mark.parametrize("chunks", [None, {"lat": 5}])
def test_far_cells_of_a_filled_grid_stay_empty(chunks):
    data = HOLES if chunks is None else HOLES.chunk(chunks)
    found = zonal.fill(data, model=MODEL, max_distance=1500.0)["prediction"]
    near = grid_distance(HOLES) <= 1500
    assert 0 < near.mean() < 1
    np.testing.assert_array_equal(found.notnull().values, near)
    whole = zonal.fill(HOLES, model=MODEL)["prediction"]
    np.testing.assert_allclose(found.values[near], whole.values[near])


def test_maps_of_a_model_that_knows_its_places(tmp_path):
    model = zonal.grid.fit(HOLES, model=MODEL)
    zonal.save(model, tmp_path / "model.zonal")
    for one in (model, zonal.load(tmp_path / "model.zonal")):
        found = zonal.predict_grid(one, resolution=20, max_distance=1200.0)["prediction"]
        expected = grid_distance(found) <= 1200
        np.testing.assert_array_equal(found.notnull().values, expected)


@pytest.mark.parametrize("wrong", [0, -1, "far", True, np.inf])
def test_mistakes(wrong):
    with pytest.raises(ValueError, match="must be a positive number"):
        zonal.fill(HOLES, model=MODEL, max_distance=wrong)


def test_models_that_do_not_know():
    model = zonal.NeighborKriging(zonal.Matern(1.5, 0.5), noise=0.01)
    lat, lon = np.meshgrid(LAT, LON, indexing="ij")
    model.fit(zonal.datasets.to_sphere(lat.ravel(), lon.ravel()), TRUTH.values.ravel())
    with pytest.raises(ValueError, match="knows where its data are"):
        zonal.predict_grid(model, resolution=30, max_distance=100)
