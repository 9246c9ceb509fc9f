"""A weighted mean of models: it answers as its parts do, saved, refitted and continued."""

from dataclasses import replace

import numpy as np
import pytest

import zonal
from zonal.model.blend import Blend, BlendStart, start_of
from zonal.model.recipe import Share
from zonal.rows import Block


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (900, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(900)
    return X[:700], y[:700], X[700:], y[700:]


@pytest.fixture(scope="module")
def models(data):
    """Features alone, a local part alone, and three quarters of the one and one of the other."""
    X, y = data[:2]
    features = zonal.HarmonicFeatures(zonal.Matern(1.5, 2.0), 100)
    first = zonal.KernelRidge(features).fit(X, y)
    second = zonal.KernelRidge(None, local=zonal.NeighborKriging(n_features=0)).fit(X, y)
    recipe = replace(
        first.recipe_,
        others=(Share(0.25, second.recipe_),),
        spread=0.9,
    )
    blend = zonal.KernelRidge(features)
    blend.fit(X, y)
    blend._start_ = start_of(recipe, blend._cells_, X, y, 2)
    blend._sums_ = blend._start_.sums(Block(X, y))
    blend._solution_ = blend._start_.solved(blend._sums_)
    return first, second, blend


def test_predictions_are_the_weighted_mean(data, models):
    first, second, blend = models
    Q = data[2]
    expected = 0.75 * first.predict(Q) + 0.25 * second.predict(Q)
    np.testing.assert_allclose(blend.predict(Q), expected, rtol=1e-9)
    gradients = 0.75 * first.gradient(Q) + 0.25 * second.gradient(Q)
    np.testing.assert_allclose(blend.gradient(Q), gradients, rtol=1e-7, atol=1e-9)


def test_standard_deviations_are_those_of_the_mixture(data, models):
    """Var = Σ w (s² + m²) - (Σ w m)²."""
    first, second, blend = models
    (a, s), (b, t) = (model.predict(data[2], return_std=True) for model in (first, second))
    mean = 0.75 * a + 0.25 * b
    expected = 0.75 * (s**2 + a**2) + 0.25 * (t**2 + b**2) - mean**2
    np.testing.assert_allclose(blend.predict(data[2], return_std=True)[1] ** 2, expected, rtol=1e-6)


def test_intervals_are_the_mean_of_intervals_and_narrower(data, models):
    blend = models[2]
    lower, upper = blend.predict_interval(data[2])
    widths = [np.subtract(*model.predict_interval(data[2])[::-1]) for model in models[:2]]
    assert (upper - lower).mean() == pytest.approx(
        0.9 * (0.75 * widths[0].mean() + 0.25 * widths[1].mean()), rel=0.05
    )
    assert 0.8 < np.mean((lower < data[3]) & (data[3] < upper)) < 0.98


def test_saved_and_loaded(data, models, tmp_path):
    blend = models[2]
    zonal.save(blend, tmp_path / "blend.zonal")
    loaded = zonal.load(tmp_path / "blend.zonal")
    np.testing.assert_array_equal(loaded.predict(data[2]), blend.predict(data[2]))
    np.testing.assert_allclose(loaded.predict_interval(data[2]), blend.predict_interval(data[2]))
    assert isinstance(loaded._solution_, Blend)


def test_refitted_to_the_same_rows_is_the_same(data, models):
    blend = models[2]
    again = blend.refitted(*data[:2])
    np.testing.assert_allclose(again.predict(data[2]), blend.predict(data[2]), rtol=1e-6)


def test_more_rows_reach_every_part(data, models):
    blend = models[2]
    X, _, Q, asked = data
    start: BlendStart = blend._start_
    sums = start.merged(blend._sums_, start.sums(Block(Q, asked)))
    assert sums.n_rows == len(X) + len(Q)
    parts = start.solved(sums).parts
    assert len(parts[1].part.joint.residual) == len(X) + len(Q)


def test_the_recipe_says_its_weights(models):
    text = str(models[2].recipe_)
    assert "with the weight 0.75" in text
    assert "weight 0.25" in text
    assert len(text.splitlines()) == 5 + 1 + 5


def test_a_table_of_two_kinds_is_blended():
    """Half of the target is for features, half for neighbours: both take part."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (1500, 5))
    y = X @ [1.0, -1.0, 0.5, 0.5, 0.0] + np.sin(4 * X[:, 0]) * np.cos(4 * X[:, 1])
    y += 0.3 * rng.standard_normal(1500)
    model = zonal.KernelRidge(budget=128, random_state=0).fit(X[:1200], y[:1200])
    table = model.selection_
    assert table["weight"].sum() == pytest.approx(1)
    assert (table["chosen"] == (table["weight"] > 0)).all()
    errors = (model.predict(X[1200:]) - y[1200:]) ** 2
    for other in (
        zonal.KernelRidge(budget=128, local=None, random_state=0),
        zonal.KernelRidge(None),
    ):
        more = errors - (other.fit(X[:1200], y[:1200]).predict(X[1200:]) - y[1200:]) ** 2
        assert more.mean() < 2 * more.std() / np.sqrt(len(more))  # not worse beyond chance
    assert model.local_ is None or isinstance(model.local_, zonal.NeighborKriging)
