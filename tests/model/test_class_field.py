"""Two classes at places as a field of logits."""

import numpy as np
import pytest
from scipy.special import expit

import zonal
from zonal.kriging.search import Found
from zonal.model import class_field
from zonal.model.class_field import ClassField, _Labelled, left_out_logits
from zonal.model.from_local_likelihood import located
from zonal.rows import Block
from zonal.rows.hashing import LEARN_ROWS

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (700, 2))
LATENT = 9 * np.sin(3 * X[:, 0] + np.sin(2 * X[:, 1])) * np.cos(3 * X[:, 1]) + 2
Y = np.where(RNG.random(700) < expit(LATENT), "yes", "no")
TRAIN = np.arange(700) < 500


def fitted(losses_of_indicators):
    """Fit where kriged indicators have these losses, so that the choice is known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            class_field,
            "_kriged_losses",
            lambda local, labelled, parts: [losses_of_indicators] * (1 + len(parts)),
        )
        return zonal.KernelRidgeClassifier(random_state=0).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def model():
    return fitted(np.inf)


def test_left_out_of_the_fit_is_kriging_of_the_other_pseudo_targets():
    """Against dense matrices, with all rows as neighbours and the mean as it is."""
    kernel, scale, n = zonal.Matern(1.5, 0.8), 7.0, 50
    y = np.column_stack([Y[:n] == "yes", np.zeros(n), np.ones(n)])
    places = located(Block(X[:n], y, np.ones(n)), 0)
    labelled = _Labelled.of(places, y, np.ones(n))
    joint, f = labelled.fitted(Found(kernel, 1.0, 1.0, np.nan), scale, n)
    targets, precision, _ = labelled.responses.expansion(zonal.likelihoods.Bernoulli(), f)
    mean, total = joint.found.mean[0], scale * kernel(places.rows)
    noisy = total + np.diag(1 / precision)
    for row in range(0, n, 7):
        others = np.delete(np.arange(n), row)
        weights = np.linalg.solve(noisy[np.ix_(others, others)], total[others, row])
        own = mean + weights @ (targets[others] - mean)
        found = left_out_logits(joint, np.array([row], np.int32))[0]
        assert found == pytest.approx(own, rel=1e-6)


def test_a_row_of_weight_two_is_two_rows():
    y = np.column_stack([Y[:200] == "yes", np.zeros(200), np.ones(200)])
    weight = np.where(np.arange(200) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(200), weight.astype(int))
    found = Found(zonal.Matern(1.5, 0.8), 1.0, 1.0, np.nan)
    modes = []
    for rows, weights in ((np.arange(200), weight), (twice, np.ones(len(twice)))):
        places = located(Block(X[rows], y[rows], weights), 0)
        labelled = _Labelled.of(places, y[rows], weights)
        joint, f = labelled.fitted(found, 7.0, 16)
        logits, labels, counted, where = labelled.left_out(joint)
        modes.append((f, logits[np.argsort(where, kind="stable")][:3]))
        assert len(places) < LEARN_ROWS
        assert counted.sum() == weight.sum()
        assert set(labels.tolist()) == {0, 1}
    for mine, theirs in zip(*modes, strict=True):
        np.testing.assert_allclose(mine[:2], theirs[:2], rtol=1e-6)


def test_places_of_two_classes_are_a_field_of_logits(model):
    assert isinstance(model._solution, ClassField)
    assert model.loss_ == "log"
    chances = model.predict_proba(X[~TRAIN])
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    known = expit(LATENT[~TRAIN])
    assert np.mean((chances[:, 1] - known) ** 2) < 0.05
    sure = model.decision_function(X[~TRAIN]) > 0
    np.testing.assert_array_equal(model.predict(X[~TRAIN]), np.where(sure, "yes", "no"))
    assert model.local_ is not None


def test_kriged_indicators_stay_where_they_have_less_loss():
    model = fitted(1e-3)
    assert not isinstance(model._solution, ClassField)
    assert model.loss_ == "squared"


def test_far_from_all_rows_it_is_unsure(model):
    far = model.predict_proba(np.array([[40.0, 40.0], [-60.0, 5.0]]))
    assert (np.abs(far[:, 1] - 0.5) < 0.45).all()


def test_its_gradient_is_that_of_the_decision_function(model):
    rows, step = X[~TRAIN][:6], 1e-5
    found = model.gradient(rows)
    for column in range(2):
        move = step * np.eye(2)[column]
        slope = model.decision_function(rows + move) - model.decision_function(rows - move)
        np.testing.assert_allclose(found[:, column], slope / (2 * step), rtol=1e-3, atol=1e-3)


def test_it_is_saved_and_refitted(model, tmp_path):
    zonal.save(model, tmp_path / "field.zonal")
    again = zonal.load(tmp_path / "field.zonal")
    expected = model.predict_proba(X[~TRAIN])
    np.testing.assert_array_equal(again.predict_proba(X[~TRAIN]), expected)
    same = model.refitted(X[TRAIN], Y[TRAIN])
    np.testing.assert_allclose(same.predict_proba(X[~TRAIN]), expected, atol=1e-4)
    few = model.refitted(X[:250], Y[:250])
    assert few.n_rows_ == 250
    heavy = model.refitted(X[TRAIN], Y[TRAIN], np.where(Y[TRAIN] == "yes", 5.0, 1.0))
    assert heavy.predict_proba(X[~TRAIN])[:, 1].mean() > expected[:, 1].mean() + 0.02
    assert sum(model.importances_.values()) == pytest.approx(1)
