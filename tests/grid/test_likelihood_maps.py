"""Maps of counts and of classes."""

import numpy as np
import pandas as pd
import pytest

import zonal

xr = pytest.importorskip("xarray")

RNG = np.random.default_rng(0)
PLACES = pd.DataFrame({"lat": RNG.uniform(-60, 60, 300), "lon": RNG.uniform(-150, 150, 300)})
LATENT = np.sin(np.radians(3 * PLACES["lat"].to_numpy()))


def features():
    return zonal.NystroemFeatures(zonal.Gaussian(60.0), 30, random_state=0)


def test_counts_have_means_and_intervals():
    y = RNG.poisson(np.exp(1 + LATENT))
    model = zonal.KernelGLM("poisson", features(), local=None).fit(PLACES, y)
    found = zonal.predict_grid(model, lat=[-30.0, 0.0, 30.0], lon=[-60.0, 60.0])
    assert set(found.data_vars) == {"prediction", "std", "lower", "upper"}
    rows = pd.DataFrame({"lat": [-30.0, 30.0], "lon": [-60.0, 60.0]})
    expected = model.predict(rows)
    np.testing.assert_allclose(found["prediction"].values[[0, 2], [0, 1]], expected, rtol=1e-9)
    assert (found["std"] > np.sqrt(found["prediction"]) * (1 - 1e-9)).all()  # Poisson's, and more
    assert (found["lower"] == np.round(found["lower"])).all()
    assert ((found["lower"] <= found["prediction"]) & (found["prediction"] <= found["upper"])).all()


@pytest.mark.parametrize("words", [True, False])
def test_classes_have_a_probability_each(words):
    names = np.array(["cold", "warm sea"]) if words else np.array([3, 7])
    y = names[(LATENT > 0).astype(int)]
    model = zonal.KernelRidgeClassifier(features(), local=None).fit(PLACES, y)
    found = zonal.predict_grid(model, lat=[-30.0, 30.0], lon=[-60.0, 60.0])
    chances = [found[f"probability_{name}"] for name in names]
    np.testing.assert_allclose((chances[0] + chances[1]).values, 1.0, rtol=1e-6)
    assert found["prediction"].attrs["flag_meanings"] == ("cold warm_sea" if words else "3 7")
    numbers = found["prediction"].attrs["flag_values"]
    best = numbers[(chances[1].values > 0.5).astype(int)]
    np.testing.assert_array_equal(found["prediction"].values, best)
    np.testing.assert_array_equal(found["prediction"].values[:, 0], [numbers[0], numbers[1]])
    assert chances[0].attrs["units"] == "1"


def field_with_holes(values):
    """Return a grid, and the same without the cells between 20 and 60 degrees east."""
    lat, lon = np.arange(-60.0, 61, 10), np.arange(-150.0, 151, 10)
    whole = xr.DataArray(values(lat[:, None] + 0 * lon), {"lat": lat, "lon": lon}, name="kind")
    return whole, whole.where((whole.lon < 20) | (whole.lon > 60))


@pytest.mark.parametrize("lazy", [False, True])
def test_holes_are_filled_with_probabilities(lazy):
    whole, field = field_with_holes(lambda lat: np.digitize(lat, [-25, 25]) + 1.0)
    model = zonal.KernelRidgeClassifier(features(), local=None)
    found = zonal.fill(field.chunk(lon=16) if lazy else field, model=model).compute()
    names = [f"probability_{label}" for label in (1, 2, 3)]
    assert list(found.data_vars) == ["prediction", *names]
    chances = np.stack([found[name].values for name in names])
    np.testing.assert_allclose(chances.sum(axis=0), 1.0, rtol=1e-5)
    known = np.isfinite(field.values)
    np.testing.assert_array_equal(found["prediction"].values[known], whole.values[known])
    np.testing.assert_array_equal(chances[:, known], whole.values[known] == [[1], [2], [3]])
    assert ((chances[:, ~known] > 0) & (chances[:, ~known] < 1)).all()
    right = found["prediction"].values[~known] == whole.values[~known]
    assert right.mean() > 0.9
    kept = zonal.fill(field, model=zonal.grid.fit(field, model=model), keep_name=True)
    assert set(kept.data_vars) == {"kind", *(f"kind_{name}" for name in names)}


def test_holes_of_counts_are_filled_with_means_and_intervals():
    rng = np.random.default_rng(1)
    _, field = field_with_holes(lambda lat: rng.poisson(np.exp(1 + np.sin(np.radians(3 * lat)))))
    found = zonal.fill(field, model=zonal.KernelGLM("poisson", features(), local=None))
    known = np.isfinite(field.values)
    for name in ("prediction", "lower", "upper"):
        np.testing.assert_array_equal(found[name].values[known], field.values[known])
    assert (found["std"].values[known] == 0).all()
    holes = found.where(field.isnull(), drop=True)
    assert (holes["lower"] == np.round(holes["lower"])).all()
    # A smooth mean, known to much better than a count is.
    expected = np.exp(1 + np.sin(np.radians(3 * holes.lat))) + 0 * holes.lon
    assert float(abs(np.log(holes["prediction"] / expected)).mean()) < 0.25
