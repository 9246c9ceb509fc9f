"""Means over regions, against dense algebra and draws."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.pipeline import make_pipeline

import zonal

RNG = np.random.default_rng(0)
N = 150
LAT, LON = np.degrees(np.arcsin(RNG.uniform(-1, 1, N))), RNG.uniform(0, 360, N)
Y = np.sin(np.radians(LAT)) + 0.1 * RNG.standard_normal(N)
KERNEL, NOISE = zonal.Matern(1.5, 0.5), 0.05
AXES = {"lat": np.arange(-75.0, 76, 30), "lon": np.arange(15.0, 360, 30)}
CELLS = np.stack(np.meshgrid(AXES["lat"], AXES["lon"], indexing="ij"), axis=-1).reshape(-1, 2)
LABELS = xr.DataArray(RNG.integers(0, 4, (6, 12)), AXES, name="basin")


@pytest.fixture(scope="module")
def model():
    part = zonal.NeighborKriging(KERNEL, 200, noise=NOISE, n_features=0)
    places = pd.DataFrame({"lat": LAT, "lon": LON})
    return make_pipeline(zonal.SphereEncoder(), part).fit(places, Y)


def dense(model):
    """Posterior mean and covariance of all cells, all rows and cells being neighbours."""
    X, Q = (zonal.datasets.to_sphere(a, b) for a, b in ((LAT, LON), CELLS.T))
    V = KERNEL(X) + NOISE * np.eye(N)
    C = KERNEL(X, Q)
    solve = np.linalg.solve
    ones = np.ones(N)
    mu = ones @ solve(V, Y) / (ones @ solve(V, ones))
    gap = 1 - ones @ solve(V, C)
    covariance = KERNEL(Q) - C.T @ solve(V, C) + np.outer(gap, gap) / (ones @ solve(V, ones))
    return mu + C.T @ solve(V, Y - mu), model[-1].scale_ * covariance


def test_means_are_those_of_dense_algebra(model):
    found = zonal.predict_area(model, LABELS, covariance=True)
    assert found["prediction"].dims == ("basin",)
    assert found["basin"].values.tolist() == [1, 2, 3]
    mean, covariance = dense(model)
    area = np.cos(np.radians(CELLS[:, 0]))
    L = np.stack([area * (LABELS.values.ravel() == k) for k in (1, 2, 3)])
    np.testing.assert_allclose(found["weight"], L.sum(axis=1), rtol=1e-12)
    L /= L.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found["prediction"], L @ mean, rtol=1e-8)
    expected = L @ covariance @ L.T
    np.testing.assert_allclose(found["covariance"], expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found["std"], np.sqrt(np.diag(expected)), rtol=1e-8)
    np.testing.assert_allclose(
        found["upper"] - found["lower"], 2 * 1.6448536 * found["std"], rtol=1e-6
    )


def test_totals_masks_and_weights(model):
    mask = LABELS == 2
    people = xr.DataArray(RNG.uniform(0, 5, (6, 12)), AXES)
    found = zonal.predict_area(model, mask, people, total=True)
    mean, covariance = dense(model)
    w = (people * mask).values.ravel()
    assert found["prediction"].item() == pytest.approx(w @ mean, rel=1e-8)
    assert found["std"].item() == pytest.approx(np.sqrt(w @ covariance @ w), rel=1e-8)
    again = zonal.predict_area(model, mask.values, people.values, total=True, like=people)
    assert again["std"].item() == found["std"].item()


def test_other_functions_come_from_draws(model):
    found = zonal.predict_area(model, LABELS, function=lambda f, w: w @ f / w.sum(), n_samples=4000)
    exact = zonal.predict_area(model, LABELS)
    error = exact["std"] / np.sqrt(4000)
    assert (abs(found["prediction"] - exact["prediction"]) < 5 * error).all()
    assert (abs(found["std"] / exact["std"] - 1) < 5 / np.sqrt(2 * 4000)).all()
    largest = zonal.predict_area(model, LABELS, function="max", n_samples=50)
    share = zonal.predict_area(
        model, LABELS, function=lambda f, w: w @ (f > 0) / w.sum(), n_samples=50
    )
    assert (largest["prediction"] > exact["prediction"]).all()
    assert ((share["lower"] >= 0) & (share["upper"] <= 1)).all()


def test_features_alone():
    places = pd.DataFrame({"lat": LAT, "lon": LON})
    features = zonal.HarmonicFeatures(KERNEL, 25)
    model = make_pipeline(zonal.SphereEncoder(), zonal.GaussianProcess(features, local=None))
    model.fit(places, Y)
    found = zonal.predict_area(model, LABELS, covariance=True)
    draws = zonal.sample_grid(model, like=LABELS, n_samples=4000, random_state=0)
    area = np.cos(np.radians(draws.lat))
    for k in (1, 2, 3):
        means = draws.where(k == LABELS).weighted(area).mean(["lat", "lon"])
        one = found.sel(basin=k)
        assert abs(means.mean() - one["prediction"]) < 5 * one["std"] / np.sqrt(4000)
        assert abs(means.std() / one["std"] - 1) < 5 / np.sqrt(2 * 4000)


def test_polygons(model):
    shapely = pytest.importorskip("shapely")
    box = shapely.box(-60, -45, 60, 45)  # across the meridian where the grid begins
    found = zonal.predict_area(model, [box, shapely.box(0, 0, 360, 90)], like=LABELS)
    west = xr.DataArray(
        (np.abs(CELLS[:, 0]) < 45) & ((CELLS[:, 1] < 60) | (CELLS[:, 1] > 300)), dims="cell"
    )
    mask = xr.DataArray(west.values.reshape(6, 12), AXES)
    expected = zonal.predict_area(model, mask)
    assert found["prediction"][0].item() == pytest.approx(expected["prediction"].item())
    geopandas = pytest.importorskip("geopandas")
    frame = geopandas.GeoDataFrame({"name": ["a"]}, geometry=[box], index=["a"], crs="EPSG:4326")
    named = zonal.predict_area(model, frame, like=LABELS)
    assert named["region"].values.tolist() == ["a"]
    assert named["std"].item() == pytest.approx(expected["std"].item())


@pytest.mark.parametrize(
    ("regions", "options", "words"),
    [
        (LABELS * 0, {}, "The grid has no cell"),
        (LABELS.values[:3], {"like": LABELS}, r"regions has the shape \(3, 12\)"),
        (LABELS, {"weights": LABELS.rename(lon="x")}, "weights has the dimensions"),
        (LABELS, {"weights": -LABELS}, "finite numbers of at least 0"),
        (LABELS, {"function": "median"}, "function='median' must be 'max', 'min'"),
        (LABELS, {"function": lambda f, w: f}, "a number for each of the 500 draws"),
    ],
)
def test_mistakes(model, regions, options, words):
    with pytest.raises(ValueError, match=words):
        zonal.predict_area(model, regions, **options)
