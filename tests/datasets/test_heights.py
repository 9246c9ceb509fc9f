"""Heights of the ground at any place."""

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import zonal
from zonal.datasets import height_at, load_elevation


def test_centres_of_cells_have_their_heights():
    place, height = load_elevation(return_X_y=True)
    np.testing.assert_allclose(height_at(*place.T), height, atol=1e-3)


def test_between_centres_it_is_bilinear_as_scipy_has_it():
    place, height = load_elevation(return_X_y=True)
    lat, lon = np.unique(place[:, 0]), np.unique(place[:, 1])
    grid = np.empty((len(lat), len(lon)))
    grid[np.searchsorted(lat, place[:, 0]), np.searchsorted(lon, place[:, 1])] = height
    reference = RegularGridInterpolator((lat, lon), grid)
    rng = np.random.default_rng(0)
    asked = np.column_stack([rng.uniform(-89, 89, 500), rng.uniform(-179, 179, 500)])
    np.testing.assert_allclose(height_at(*asked.T), reference(asked), atol=1e-6)


def test_longitudes_close_and_the_pole_is_a_place():
    lat = np.array([-70.0, 0.2, 45.9])
    np.testing.assert_allclose(height_at(lat, -180.0 + 0 * lat), height_at(lat, 180.0 + 0 * lat))
    np.testing.assert_allclose(height_at(lat, 359.9 + 0 * lat), height_at(lat, -0.1 + 0 * lat))
    # Over the pole one arrives on the far side.
    np.testing.assert_allclose(height_at([90.0], [10.0]), height_at([90.0], [190.0]))


def test_what_is_no_latitude_is_named():
    with pytest.raises(ValueError, match=r"95\.0 is not a latitude"):
        height_at([0.0, 95.0], [0.0, 0.0])
    with pytest.raises(ValueError, match="nan is not a latitude"):
        height_at(np.nan, 0.0)
    with pytest.raises(ValueError, match=r"shape \(2,\) and arg 1 with shape \(3,\)"):
        height_at([0.0, 1.0], [0.0, 1.0, 2.0])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_longitude_is_named(wrong):
    with pytest.raises(ValueError, match=f"{wrong} is not a longitude"):
        height_at([0.0, 5.0], [0.0, wrong])


def test_encoder_has_heights_after_the_place():
    rows = np.array([[30.5, 90.5, 1.0], [0.5, -140.5, 3.0]])
    encoder = zonal.SphereEncoder(0, 1, rest="passthrough", height=True).fit(rows)
    found = encoder.transform(rows)
    np.testing.assert_allclose(found[:, 3], height_at(rows[:, 0], rows[:, 1]) / 1000)
    np.testing.assert_allclose(found[:, 4], rows[:, 2])
    assert list(encoder.get_feature_names_out()) == [
        "sphere_x", "sphere_y", "sphere_z", "height", "x2",
    ]  # fmt: skip
    assert len(encoder.groups_) == found.shape[1]
    with pytest.raises(ValueError, match="height='yes' of SphereEncoder must be True or False"):
        zonal.SphereEncoder(0, 1, height="yes").fit(rows)


@pytest.mark.longest
def test_a_model_that_knows_heights_fills_a_gap_that_follows_them(tmp_path):
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.uniform(20, 50, 1500), rng.uniform(60, 120, 1500)])
    y = 30 - 0.5 * (places[:, 0] - 20) - 6.5 * height_at(*places.T) / 1000
    gap = np.hypot(places[:, 0] - 33, places[:, 1] - 90) < 6  # Tibet
    errors = {}
    for height in (False, True):
        encoder = zonal.SphereEncoder(0, 1, height=height)
        model = zonal.KernelRidge(encoder=encoder, random_state=0).fit(places[~gap], y[~gap])
        errors[height] = np.sqrt(np.mean((model.predict(places[gap]) - y[gap]) ** 2))
    # The targets are linear in height and latitude, which these rows determine.
    assert errors[True] < 0.1 * errors[False]
    zonal.save(model, tmp_path / "model.zonal")
    loaded = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_allclose(loaded.predict(places[gap]), model.predict(places[gap]))
