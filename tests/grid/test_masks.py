"""The cells that are wanted, however they are given."""

import numpy as np
import pytest
import xarray as xr

import zonal


@pytest.fixture(scope="module")
def model(holes, quick):
    return zonal.grid.fit(holes, model=quick)


@pytest.fixture(scope="module")
def expected(holes, model):
    """Holes of the north filled, those of the south not."""
    whole = zonal.fill(holes, model=model)["prediction"]
    return xr.where((holes.lat > 0) | holes.notnull(), whole, np.nan).transpose(*holes.dims)


@pytest.mark.parametrize(
    "kind", ["name", "numbers by name", "array", "one axis", "array of one axis", "list", "chunks"]
)
def test_masks(holes, model, expected, kind):
    north = (holes.lat > 0) & (holes.lon < 500)
    data = holes.to_dataset()
    where = {
        "name": "sea",
        "numbers by name": "depth",
        "array": north.values,
        "one axis": holes.lat > 0,
        "array of one axis": (holes.lat > 0).values,
        "list": north.values.tolist(),
        "chunks": north.transpose().chunk(lon=7),
    }[kind]
    data["sea"] = north
    data["depth"] = xr.where(north, 3.0, np.nan)
    if kind == "chunks":
        data = data.chunk(lat=5)
    found = zonal.fill(data, "temperature", where=where, model=model)["prediction"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)  # rows in other company round otherwise


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("see", "names no variable of the grid. Did you mean 'sea'"),
        (np.ones((3, 4)), r"shape \(3, 4\), but the grid is \(lat: 18, lon: 36\)"),
        (xr.DataArray(np.ones(4), dims="depth"), "dimension 'depth', which the grid has not"),
        (xr.DataArray(np.ones(18), {"lat": np.arange(18.0)}), "other coordinates"),
        (np.full((18, 36), "yes"), "not numbers"),
    ],
)
def test_mistakes(holes, model, where, words):
    data = holes.to_dataset().assign(sea=holes.notnull())
    with pytest.raises(ValueError, match=words):
        zonal.fill(data, "temperature", where=where, model=model)


def test_a_square_grid_needs_names(model):
    square = xr.DataArray(np.full((4, 4), np.nan), {"lat": np.arange(4.0), "lon": np.arange(4.0)})
    with pytest.raises(ValueError, match="DataArray, whose dimensions have names"):
        zonal.fill(square, where=np.ones(4, dtype=bool), model=model)
