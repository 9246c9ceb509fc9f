"""The region of the data, and maps that cover it and no more."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import zonal
from zonal.grid.extent import GLOBE, Extent, region_of


def test_boxes():
    rng = np.random.default_rng(0)
    lat = rng.uniform(46, 47, 200)
    assert Extent.of(lat, np.linspace(8, 9, 200)).box == pytest.approx((8, lat.min(), 9, lat.max()))
    # Across the date line, in either way of counting.
    for lon in (np.linspace(170, 190, 200), (np.linspace(170, 190, 200) + 180) % 360 - 180):
        west, _, east, _ = Extent.of(lat, lon).box
        assert (west, east) == pytest.approx((170, 190))
    # Across Greenwich.
    west, _, east, _ = Extent.of(lat, np.linspace(350, 370, 200)).box
    assert (west, east) == pytest.approx((-10, 10))
    assert Extent.of([-60.0, 80.0], [-170.0, 170.0]).box[1::2] == (-90.0, 90.0)
    everywhere = Extent.of(rng.uniform(-60, 80, 500), rng.uniform(0, 360, 500))
    assert everywhere.box == GLOBE
    ring = Extent.of(rng.uniform(70, 90, 500), rng.uniform(0, 360, 500)).box
    assert ring[::2] == (-180.0, 180.0)
    assert ring[1] > 69


def test_parts_add_up_to_the_whole():
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(10, 30, 300), rng.uniform(160, 200, 300)
    whole = Extent.of(lat, lon)
    parts = Extent.of(lat[:50], lon[:50]) + Extent.of(lat[50:], lon[50:])
    assert parts.box == whole.box


def test_a_map_is_of_the_region_of_the_data(quick):
    """100 km, not the globe: at most a step beyond the data on each side."""
    lat, lon = 46.03 + 0.1 * np.arange(10), 8.03 + 0.1 * np.arange(13)
    field = xr.DataArray(lat[:, None] + 0 * lon, {"lat": lat, "lon": lon})
    model = zonal.grid.fit(field, model=quick)
    found = zonal.predict_grid(model, resolution=0.1)
    assert found["prediction"].shape == (11, 14)
    for name, values in (("lat", lat), ("lon", lon)):
        axis = found[name].values
        assert values.min() - 0.1 <= axis[0] <= values.min()
        assert values.max() <= axis[-1] <= values.max() + 0.1
    wide = zonal.predict_grid(model, resolution=10, lat=(-90, 90), lon=(-180, 180))
    assert wide["prediction"].shape == (19, 36)


def test_a_model_that_does_not_know_its_region_has_the_globe(quick):
    rng = np.random.default_rng(0)
    places = pd.DataFrame({"lat": rng.uniform(0, 1, 50), "lon": rng.uniform(0, 1, 50)})
    model = zonal.KernelRidge(zonal.SphereEncoder(), 1.0).fit(places, places["lat"])
    assert region_of(model, 1.0) == GLOBE
    assert zonal.predict_grid(model, resolution=30)["prediction"].shape == (7, 12)


def test_a_single_place_gets_room_around_it():
    class Single:
        field_ = {"extent": [8.0, 46.0, 8.0, 46.0]}

    assert region_of(Single(), 0.5) == (7.5, 45.5, 8.5, 46.5)


def test_chunks_of_a_large_grid_are_never_made_at_once(quick, holes):
    """Memory for a map of 65 billion cells is that of its coordinates."""
    model = zonal.grid.fit(holes, model=quick)
    lazy = zonal.predict_grid(model, resolution=0.01, chunks="auto")
    assert lazy["prediction"].size == 18001 * 36000
    largest = max(np.prod(sizes) for sizes in [lazy["prediction"].data.chunksize])
    assert largest <= 1 << 18
