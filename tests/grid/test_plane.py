"""Places on a plane, against PROJ; libraries that are not there."""

import sys

import numpy as np
import pyproj
import pytest

from zonal.grid.optional import library
from zonal.grid.plane import PlaneDecoder
from zonal.grid.projection import Projection


def test_northings_and_eastings_become_degrees():
    rng = np.random.default_rng(0)
    lat, lon = rng.uniform(40, 60, 50), rng.uniform(9, 15, 50)
    x, y = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:32632", always_xy=True).transform(
        lon, lat
    )
    rows = np.column_stack([x, rng.standard_normal(50), y])
    found = PlaneDecoder("32632", y=2, x=0).fit_transform(rows)
    np.testing.assert_allclose(found[:, 2], lat, atol=1e-9)
    np.testing.assert_allclose(found[:, 0], lon, atol=1e-9)
    np.testing.assert_array_equal(found[:, 1], rows[:, 1])
    np.testing.assert_allclose(Projection.of(32632).to_plane(lat, lon), (x, y), rtol=1e-12)


def test_mistakes():
    with pytest.raises(ValueError, match="'EPSG:1' is not a coordinate reference system"):
        Projection.of("EPSG:1")
    polar = Projection.of("EPSG:3413")
    with pytest.raises(ValueError, match="outside of the projection"):
        Projection.of("+proj=ortho +lat_0=0 +lon_0=0").to_degrees([1e8], [0.0])
    assert polar.to_degrees(0.0, 0.0)[0] == pytest.approx(90)


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rioxarray", None)
    library.cache_clear()
    with pytest.raises(ImportError, match=r"GeoTIFF files need.*rioxarray.*zonal\[geo\]"):
        library("rioxarray")
    library.cache_clear()
