"""Weighted means of classifiers."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

import zonal
from zonal.model.class_blend import ClassBlend, mixture_weights, pooled, weights_of_mean


def test_weights_have_the_least_log_loss_on_the_simplex():
    rng = np.random.default_rng(0)
    chances, weight = rng.uniform(0.05, 1, (3, 500)), rng.uniform(0.5, 2, 500)
    chances[0] = np.clip(chances[0] + 0.1, 0, 1)

    def loss(logs):
        own = np.exp(logs) / np.exp(logs).sum()
        return -np.average(np.log(own @ chances), weights=weight)

    best = minimize(loss, np.zeros(3), method="BFGS").x
    found = mixture_weights(chances, weight)
    assert found.sum() == pytest.approx(1)
    # Steps are slow where a weight goes to zero, and the loss is flat there.
    assert loss(np.log(found)) <= loss(best) + 1e-4


def pool_of(seed):
    """Return logarithms of the probabilities of three candidates, labels and weights."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 500)
    logits = rng.standard_normal((3, 500, 3)) + np.eye(3)[labels]
    return log_softmax(logits, axis=2), labels, rng.uniform(0.5, 2, 500)


def test_weights_and_levels_have_the_least_log_loss():
    logs, labels, weight = pool_of(0)

    def loss(both):
        own = log_softmax(np.tensordot(np.exp(both[:3]), logs, 1) + both[3:], axis=1)
        return -weight @ own[np.arange(500), labels] + 0.5 * both[3:] @ both[3:]

    best = minimize(loss, np.zeros(6), method="BFGS").x
    weights, levels = pooled(logs, labels, weight)
    total = np.exp(best[:3]).sum()
    np.testing.assert_allclose(weights, np.exp(best[:3]) / total, rtol=1e-3)
    np.testing.assert_allclose(levels, best[3:] / total, rtol=1e-2, atol=1e-3)


def test_a_candidate_that_says_the_opposite_has_no_weight():
    logs, labels, weight = pool_of(1)
    weights, _ = pooled(np.stack([logs[0], -logs[1]]), labels, weight)
    np.testing.assert_array_equal(weights, [1, 0])
    opposite, levels = pooled(-logs[1:], labels, weight)
    np.testing.assert_allclose(opposite, 0.5)
    chances = np.bincount(labels, weight) / weight.sum()
    # The normal prior counts as little as a row in 600 does.
    np.testing.assert_allclose(softmax(levels), chances, atol=2e-3)


def test_logarithms_are_averaged_where_candidates_know_different_things():
    """Two independent witnesses who agree are surer than each: logarithms of odds add up."""
    rng = np.random.default_rng(2)
    labels, ones = rng.integers(0, 2, 4000), np.ones(4000)
    logits = np.zeros((2, 4000, 2))
    # Of means ±1 and unit variance, for which 2x is the logarithm of the likelihoods' ratio.
    logits[..., 1] = 2 * (2 * labels - 1 + rng.standard_normal((2, 4000)))
    weights, levels, calibrated = weights_of_mean(softmax(logits, axis=2), labels, ones)
    assert levels is not None
    np.testing.assert_allclose(weights, 0.5, atol=0.05)
    assert calibrated.temperature == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("n_rows", [40, 4000])
def test_few_rows_do_not_tell_levels(n_rows):
    """Probabilities that are right but for levels: the gain of a row is the same."""
    rng = np.random.default_rng(3)
    logits = rng.standard_normal((n_rows, 5))
    labels = (softmax(logits, axis=1).cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1)
    tilted = softmax(logits + np.array([0.3, -0.3, 0.0, 0.3, -0.3]), axis=1)
    _, levels, _ = weights_of_mean(np.stack([tilted, tilted]), labels, np.ones(n_rows))
    assert (levels is None) == (n_rows == 40)


@pytest.fixture(scope="module")
def fitted():
    """Return three classes that are smooth in one column and fine in two others, and a model."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 4))
    f = np.sin(9 * X[:, 1]) * np.sin(9 * X[:, 2]) + 1.5 * X[:, 0] + 0.4 * rng.standard_normal(1500)
    y = np.digitize(f, [-0.6, 0.6])
    return X, y, zonal.KernelRidgeClassifier(budget=128, random_state=0).fit(X[:1000], y[:1000])


def test_a_blend_answers_as_one_model_does(fitted):
    X, y, model = fitted
    found = model._solution
    assert isinstance(found, ClassBlend)
    assert model.loss_ == "log"
    assert sum(found.weights) == pytest.approx(1)
    chances = model.predict_proba(X[1000:])
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-12)
    assert (model.predict(X[1000:]) == chances.argmax(axis=1)).all()
    assert model.predict_set(X[1000:], 0.9)[np.arange(500), y[1000:]].mean() > 0.85
    assert "beside the following" in str(model.recipe_)
    assert len(model.recipe_.others) == len(found.parts) - 1
    assert sum(model.importances_.values()) == pytest.approx(1)


def test_left_out_loss_is_that_of_new_rows(fitted):
    X, y, model = fitted
    losses = -np.log(model.predict_proba(X[1000:])[np.arange(500), y[1000:]])
    error = losses.std() / 500**0.5
    assert abs(losses.mean() - model.calibration_.loss) < 4 * error


@pytest.mark.parametrize("levels", [None, np.array([0.1, -0.2, 0.1])])
def test_gradients_of_both_means(fitted, levels):
    X, _, model = fitted
    found, step = replace(model._solution, levels=levels), 1e-5
    rows = model._cells_.rows(X[1000:1005])
    slopes = found.gradient(rows)
    for j in range(4):
        move = step * np.eye(4)[j]
        expected = (found.mean(rows + move) - found.mean(rows - move)) / (2 * step)
        np.testing.assert_allclose(slopes[:, :, j], expected, rtol=2e-3, atol=1e-4)


def test_gradients_are_those_of_the_decision_function(fitted):
    X, _, model = fitted
    rows, step = X[1000:1010], 1e-5
    found = model.gradient(rows)
    for j in range(4):
        move = step * np.eye(4)[j]
        above, below = (model.decision_function(rows + s * move) for s in (1, -1))
        np.testing.assert_allclose(
            found[:, :, j], (above - below) / (2 * step), rtol=2e-3, atol=1e-4
        )


def test_refits_and_further_rows(fitted):
    X, y, model = fitted
    again = model.refitted(X[:1000], y[:1000])
    np.testing.assert_allclose(
        again.predict_proba(X[1000:]), model.predict_proba(X[1000:]), atol=1e-3
    )
    other = model.refitted(X[500:], y[500:])
    # Two shares of 500 rows each, of standard errors of .021.
    assert abs(other.score(X[:500], y[:500]) - model.score(X[1000:], y[1000:])) < 0.09
    more = copy.deepcopy(model).partial_fit(X[1000:], y[1000:])
    assert more.loss_ == "squared"
    assert more.n_rows_ == 1500
    np.testing.assert_allclose(more.predict_proba(X[:10]).sum(axis=1), 1)


def test_the_table_of_the_choice_has_the_weights(fitted):
    _, _, model = fitted
    table, recipe = model.selection_, model.recipe_
    chosen = table[table["chosen"]]
    assert sorted(chosen["weight"]) == pytest.approx(sorted(recipe.weights))
    assert table["weight"].sum() == pytest.approx(1)
    assert (chosen["error"] < 1).all()
    # The weights belong to the right lines.
    first = chosen.loc[chosen["weight"].idxmax()]
    assert (first["local"] == "none") == (recipe.local is None)
