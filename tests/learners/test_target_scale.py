"""Targets on another scale: which one, and back again without bias."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

import zonal
from zonal.model.target_scale import TargetScale, choose_scale

N = 1500


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).uniform(-2, 2, (N, 2))


def test_another_scale_where_both_measures_are_in_favour(rows):
    rng = np.random.default_rng(1)
    smooth = np.sin(rows[:, 0]) + 0.5 * rows[:, 1]
    noise = rng.standard_normal(N)
    steep = 2 * np.sin(3 * rows[:, 0]) + rows[:, 1]
    assert choose_scale(rows, np.exp(steep + rows[:, 1] + 0.1 * noise), None).name == "logarithm"
    counts = rng.poisson(np.exp(1 + steep))
    assert counts.min() == 0
    found = choose_scale(rows, counts, None)
    assert (found.name, found.shift) == ("logarithm", 1.0)
    # The likelihood of roots is larger, but squared errors are no smaller.
    assert choose_scale(rows, rng.poisson(np.exp(2 + smooth)), None) is None
    # Errors alike everywhere, hardly any skewness, or negative: as they are.
    assert choose_scale(rows, np.exp(1.5 * rows[:, 0]) + 10 + 0.2 * noise, None) is None
    assert choose_scale(rows, (5 + smooth + 0.2 * noise) ** 2, None) is None
    assert choose_scale(rows, smooth, None) is None


@pytest.mark.parametrize("name", ["root", "logarithm"])
def test_there_and_back(name):
    """Without errors exactly; with normal ones the mean of a square or of a log-normal."""
    y = np.geomspace(0.5, 50, 40)
    exact = TargetScale(name, 0.0, np.zeros(1))
    np.testing.assert_allclose(exact.backward(exact.forward(y)), y)
    step = 1e-6
    change = exact.backward(exact.forward(y) + step) - exact.backward(exact.forward(y) - step)
    np.testing.assert_allclose(exact.slope(exact.forward(y)), change / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(np.exp(exact.log_slope(y)), 1 / exact.slope(exact.forward(y)))
    quantiles = np.random.default_rng(0).standard_normal(100_000)
    noisy = TargetScale(name, 0.0, quantiles, 0.3)
    z = np.array([2.0, 3.0])
    expected = z**2 + 0.09 if name == "root" else np.exp(z + 0.045)
    np.testing.assert_allclose(noisy.backward(z), expected, rtol=5e-3)


def test_predictions_of_a_skewed_target_are_not_biased(monkeypatch):
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x": rng.uniform(-2, 2, N), "kind": rng.choice(["a", "b", "c"], N)})
    z = np.sin(X["x"]) + X["kind"].map({"a": 0.0, "b": 0.5, "c": 1.0})
    y = np.exp(z + 0.4 * rng.standard_normal(N)).to_numpy()
    mean = np.exp(z + 0.08).to_numpy()
    normal = ndtri((np.arange(32) + 0.5) / 32)
    scale = TargetScale("logarithm", 0.0, normal / normal.std(), 1.0)
    monkeypatch.setattr("zonal.model.cells.choose_scale", lambda *_: scale)
    model = zonal.KernelRidge(budget=64, local=None, target="auto", random_state=0)
    model.fit(X[:1000], y[:1000])
    # The error of the model on the scale of z, which is the noise and a little more.
    assert model.target_.deviation == pytest.approx(0.4, rel=0.1)
    found, std = model.predict(X[1000:], return_std=True)
    assert (std > 0).all()
    # The log-normal factor exp(σ²/2) = 1.083 is there: without it the ratio would be 0.92.
    assert abs(found.mean() / mean[1000:].mean() - 1) < 0.04
    assert model.score(X[1000:], mean[1000:]) > 0.95
    # Quantiles keep their meaning on any scale: those of y are those of z, taken back.
    lower, upper = model.predict_interval(X[1000:])
    middle = model.predict_quantiles(X[1000:], 0.5)
    assert (lower > 0).all()
    assert ((lower < middle) & (middle < upper)).all()
    slack = 5 * np.sqrt(0.09 * (1 / 1000 + 1 / 500))
    assert abs(np.mean((lower <= y[1000:]) & (y[1000:] <= upper)) - 0.9) < slack
    # Of log-normal noise of 0.4, upper over lower is exp(2 · 1.645 · 0.4); σ is known to 10 %.
    ratio = np.log(upper / lower)
    np.testing.assert_allclose(np.median(ratio), 2 * 1.645 * 0.4, rtol=0.15)
    # The median is below the mean, by the factor exp(-σ²/2).
    np.testing.assert_allclose(np.median(middle / found), np.exp(-0.08), rtol=0.04)
    plain = zonal.KernelRidge(budget=64, local=None, target=None, random_state=0)
    assert not hasattr(plain.fit(X[:1000], y[:1000]), "target_")
    with pytest.raises(ValueError, match="target='log' must be"):
        zonal.KernelRidge(target="log").fit(X, y)


def test_rows_of_no_weight_are_not_among_those_that_the_choice_needs(monkeypatch):
    """Of 320 rows 280 count: there is no choice, whose error the scale would take over."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"x": rng.uniform(-2, 2, 320), "kind": rng.choice(["a", "b"], 320)})
    scale = TargetScale("logarithm", 0.0, np.zeros(1), 1.0)
    monkeypatch.setattr("zonal.model.cells.choose_scale", lambda *_: scale)
    weight = np.where(np.arange(320) < 40, 0.0, 1.0)
    model = zonal.KernelRidge(budget=32, random_state=0)
    y = np.exp(X["x"].to_numpy())
    assert not hasattr(model.fit(X, y, weight), "target_")
    assert np.isfinite(model.predict(X)).all()
