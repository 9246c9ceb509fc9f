"""Pictures of whatever `fill` and `predict_grid` return, and of what comes from elsewhere."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.collections import PathCollection, PolyCollection, QuadMesh

import zonal
from zonal.grid.coastlines import coastlines
from zonal.grid.panels import colours, draw_quadrilaterals
from zonal.grid.projections import fitting_projection, orthographic, plain, robinson


def regional(**more):
    lat, lon = np.arange(45.0, 55, 0.5), np.arange(5.0, 15, 0.5)
    values = np.cos(lat)[:, None] * np.sin(lon)
    return xr.DataArray(
        values, {"lat": lat, "lon": lon}, name="sst", attrs={"units": "degC", **more}
    )


def bars(figure):
    """The labels of the scales of a figure."""
    return [axis.get_ylabel() for axis in figure.axes if axis.get_label() == "<colorbar>"]


def test_a_data_array():
    figure = zonal.grid.draw(regional(long_name="sea surface temperature"))
    assert bars(figure) == ["sea surface temperature (degC)"]
    assert bars(zonal.grid.draw(regional().rename(None))) == ["values (degC)"]


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="nothing to draw"):
        zonal.grid.draw(regional().to_dataset().assign(sst=regional().lon))
    with pytest.raises(TypeError, match="ndarray is not a map"):
        zonal.grid.draw(regional().values)


def test_a_variable_that_kept_its_name():
    data = xr.Dataset({"sst": regional(), "sst_std": abs(regional()), "sst_lower": regional()})
    assert bars(zonal.grid.draw(data)) == ["sst (degC)", "sst_std (degC)"]


def test_many_times_are_a_sheet_with_one_scale():
    time = xr.DataArray(pd.date_range("2001-01-01", periods=18, freq="MS"), dims="time")
    months = regional() + xr.DataArray(np.arange(18.0), {"time": time})
    months = months.rename("sst").assign_attrs(units="degC")
    figure = zonal.grid.draw(months)
    maps = [axis for axis in figure.axes if axis.collections and axis.get_visible()]
    maps = [axis for axis in maps if axis.get_label() != "<colorbar>"]
    assert len(maps) == 18
    assert maps[3].get_title() == "time 2001-04-01"
    assert len({axis.collections[0].get_clim() for axis in maps}) == 1
    assert bars(figure) == ["sst (degC)"]
    days = months.isel(time=np.arange(100) % 18).assign_coords(time=np.arange(100.0))
    figure = zonal.grid.draw(days)
    assert figure.get_suptitle() == "24 of 100"


def test_a_track_is_drawn_as_points():
    lat, lon = np.linspace(50, 40, 60), np.linspace(-70, -10, 60)
    track = xr.Dataset({"prediction": ("obs", np.sin(lat)), "std": ("obs", np.ones(60)),
                        "lat": ("obs", lat), "lon": ("obs", lon)})  # fmt: skip
    figure = zonal.grid.draw(track)
    assert isinstance(figure.axes[0].collections[0], PathCollection)
    assert len(figure.axes[0].collections[0].get_offsets()) == 60


def test_curvilinear_cells_are_cells():
    """The quadrilaterals of a regular grid are its cells."""
    lat, lon = np.meshgrid(np.arange(40.0, 50), np.arange(10.0, 25), indexing="ij")
    values = np.arange(150.0).reshape(10, 15)
    data = xr.Dataset(
        {"prediction": (("row", "column"), values)},
        {"latitude": (("row", "column"), lat), "longitude": (("row", "column"), lon)},
    )
    figure = zonal.grid.draw(data)
    (cells,) = (c for c in figure.axes[0].collections if isinstance(c, PolyCollection))
    assert len(cells.get_paths()) == 150
    projection = fitting_projection(lat, lon)
    corners = cells.get_paths()[0].vertices[:4]
    edges = [(39.5, 9.5), (39.5, 10.5), (40.5, 10.5), (40.5, 9.5)]
    # The middle between four places of a sphere is not quite the middle in degrees.
    np.testing.assert_allclose(corners, [projection(*edge) for edge in edges], atol=0.02)


def test_cells_across_the_edge_of_the_globe_are_drawn_on_both_sides():
    lat, lon = np.meshgrid(np.arange(-60.0, 61, 10), np.arange(0.0, 360, 10), indexing="ij")
    figure = zonal.grid.draw(regional())  # any panel will do
    panel = figure.axes[0]
    panel.clear()
    cells = draw_quadrilaterals(panel, lat, lon, np.ones(lat.shape), robinson())
    # Longitude 180 is the middle of a column of 13 cells.
    assert len(cells.get_paths()) == lat.size + 13


def test_a_regional_map_is_centred_and_a_polar_one_ends_with_its_data():
    lat, lon = np.arange(60.0, 90, 5), np.arange(0.0, 360, 10)
    polar = fitting_projection(lat, lon)
    assert np.isfinite(polar(60.0, 10.0)).all()
    assert np.isnan(polar(40.0, 10.0)).all()
    assert np.abs(polar.outline).max() == pytest.approx(np.sin(np.radians(33)))
    figure = zonal.grid.draw(regional())
    low, high = figure.axes[0].get_xlim()
    assert abs(low + high) < 0.05 * (high - low)


def test_a_constant_is_readable():
    look = colours(np.full(9, 287.15), {})
    assert look["vmin"] < 287.15 < look["vmax"]
    figure = zonal.grid.draw(regional() * 0 + 287.15)
    bar = next(axis for axis in figure.axes if axis.get_label() == "<colorbar>")
    assert [text.get_text() for text in bar.get_yticklabels()] == ["287.15"]
    everywhere = xr.Dataset({"prediction": regional(), "std": regional() * 0})
    zonal.grid.draw(everywhere).savefig("/dev/null", format="png", dpi=20)


def test_coastlines():
    lines = coastlines()
    assert sum(len(lat) for lat, _ in lines) > 4000
    # Lines end where they began, but for those at the date line and a gap of 0.01° at Calais.
    ends = [abs(lat[0] - lat[-1]) + abs(lon[0] - lon[-1]) for lat, lon in lines]
    assert np.mean(np.array(ends) < 0.02) > 0.9
    lat, lon = (np.concatenate(part) for part in zip(*lines, strict=True))
    for name, place in {"Cape Horn": (-55, -67), "Cape Town": (-34, 18), "Land's End": (50, -5.5),
                        "Hokkaido": (42, 140.5), "Sri Lanka": (6, 80.5)}.items():  # fmt: skip
        assert np.hypot(lat - place[0], (lon - place[1]) * 0.7).min() < 1.5, name
    inland = {"Berlin": (52.5, 13.4), "Kansas": (38.5, -98), "Manaus": (-3, -60)}
    for name, place in inland.items():
        assert np.hypot(lat - place[0], (lon - place[1]) * 0.7).min() > 1.0, name


@pytest.mark.parametrize("projection", [robinson(), robinson(150.0), orthographic(90.0), plain()])
def test_coastlines_have_no_line_across_the_map(projection):
    lat, lon = np.arange(-85.0, 90, 10), np.arange(-175.0, 180, 10)
    field = xr.DataArray(np.cos(lat)[:, None] * np.ones(36), {"lat": lat, "lon": lon})
    figure = zonal.grid.draw(field, projection=projection, coastlines=True)
    bare = zonal.grid.draw(field, projection=projection)
    panel = figure.axes[0]
    assert len(panel.lines) > len(bare.axes[0].lines) + 100
    assert panel.get_xlim() == bare.axes[0].get_xlim()
    width = np.ptp(panel.get_xlim())
    for line in panel.lines[len(bare.axes[0].lines) :]:
        steps = np.abs(np.diff(np.asarray(line.get_xdata())))
        assert not (steps > 0.25 * width).any()


def test_folds_on_a_plane():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(0, 1000, (200, 2)), columns=["x", "y"])
    cv = zonal.BlockKFold(4, 200, coordinates=("x", "y"))
    figure = zonal.grid.draw_folds(frame, cv)
    assert figure.axes[0].get_xlabel() == "x"
    assert not any(isinstance(c, QuadMesh) for c in figure.axes[0].collections)
