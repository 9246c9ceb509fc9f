"""`NeighborKriging(warp="auto")`: length scales that differ with place and direction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import zonal


def field(n=320, seed=0):
    """Rows of a plane, and a field that is long along the diagonal."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 2))
    along = X @ [1.0, -1.0]
    return X, np.sin(14 * along) + 0.3 * X.sum(axis=1) + 0.05 * rng.standard_normal(n)


@pytest.fixture(scope="module")
def model():
    X, y = field()
    options = {"amplitude": None, "warp": "auto"}
    return zonal.NeighborKriging(n_neighbors=320, n_features=0, **options).fit(X, y)


def test_it_is_the_model_of_warped_rows(model):
    """With all rows as neighbours the order of rows does not matter."""
    X, y = field()
    asked = np.random.default_rng(1).uniform(0, 1, (40, 2))
    there = zonal.NeighborKriging(model.kernel_, 320, noise=model.noise_, n_features=0)
    there.fit(model.warped(X), y)
    assert np.abs(model.warped(X) - X).max() > 0.01
    mean, std = model.predict(asked, return_std=True)
    expected, expected_std = there.predict(model.warped(asked), return_std=True)
    assert_allclose(mean, expected, rtol=1e-6, atol=1e-8)
    assert_allclose(std, expected_std, rtol=1e-6)
    assert_allclose(model.log_evidence_, there.log_evidence_, rtol=1e-8)


def test_gradients_intervals_and_draws_see_the_rows_as_given(model):
    asked = np.random.default_rng(2).uniform(0.1, 0.9, (5, 2))
    slopes = model._solution.gradient(asked)[:, 0]
    for c, step in enumerate(1e-5 * np.eye(2)):
        expected = (model.predict(asked + step) - model.predict(asked - step)) / 2e-5
        assert_allclose(slopes[:, c], expected, rtol=1e-4, atol=1e-4)
    lower, upper = model.predict_interval(asked)
    assert ((lower < model.predict(asked)) & (model.predict(asked) < upper)).all()
    draws = model.sample_y(asked, 200, random_state=0)
    _, std = model.predict(asked, return_std=True)
    assert (np.abs(draws.mean(axis=1) - model.predict(asked)) < 5 * std / np.sqrt(200)).all()


def test_amplitude_and_warp_go_together():
    X, y = field(800)
    loud = np.exp(1.5 * X[:, 0])
    model = zonal.NeighborKriging(warp="auto").fit(X, loud * y)
    found = model.amplitude_at(np.array([[0.1, 0.5], [0.9, 0.5]]))
    assert found[1] > 1.5 * found[0]
    assert ", places are moved, an amplitude varies\n" in str(model.recipe_)
    assert np.abs(model.warped(X) - X).max() > 0.01


def test_a_ridge_that_is_given_takes_no_warp_away():
    """Features are a constant here: a ridge shrinks nothing."""
    X, y = field()
    part = zonal.NeighborKriging(n_features=0, warp="auto")
    plain, given = (zonal.KernelRidge(None, alpha, local=part).fit(X, y) for alpha in ("cv", 0.1))
    asked = np.random.default_rng(1).uniform(0, 1, (40, 2))
    assert np.abs(given.local_.warped(X) - X).max() > 0.01
    assert_allclose(given.predict(asked), plain.predict(asked), rtol=1e-9)
    again = given.refitted(X, y)  # with everything that was found
    assert_allclose(again.predict(asked), given.predict(asked), rtol=1e-9)


def test_the_choice_takes_it_where_it_is_asked_for():
    X, y = field(600)
    part = zonal.NeighborKriging(n_features=0, warp="auto")
    model = zonal.KernelRidge(local=part, random_state=0).fit(X, y)
    assert model._solution_.part.found.warp is not None


def test_what_is_asked_wrongly_is_named():
    X, y = field(320)
    with pytest.raises(ValueError, match=r"warp='yes' of NeighborKriging must be \"auto\""):
        zonal.NeighborKriging(warp="yes").fit(X, y)
    part = zonal.NeighborKriging(warp="auto")
    with pytest.raises(ValueError, match="stands alone"):
        zonal.KernelRidge(zonal.FourierFeatures(), local=part).fit(X, y)
    for learner in (zonal.KernelRidgeClassifier, zonal.GaussianProcess):
        with pytest.raises(ValueError, match=f"is not available in {learner.__name__}"):
            learner(features=None, local=part).fit(X, y > 0)
    assert_allclose(zonal.NeighborKriging().fit(X, y).warped(X[:5]), X[:5])
