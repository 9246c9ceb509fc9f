"""Maps of counts and of classes."""

import numpy as np
import pandas as pd
import pytest

import zonal

pytest.importorskip("xarray")

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
