import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import brier_score_loss

import zonal

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (500, 2))
TWO = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
THREE = np.array(["a", "b", "c"])[np.digitize(np.hypot(*X.T), [1.0, 1.8])]


def features(n=80):
    return zonal.GegenbauerFeatures(
        zonal.Gaussian(1.0), n, max_degree=10, n_radial=4, random_state=0
    )


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_equals_ridge_classifier_on_the_explicit_features(y):
    """With an intercept, indicators in {0, 1} and {-1, 1} give the same decision."""
    model = zonal.KernelRidgeClassifier(features(), 0.1, loss="squared").fit(X, y)
    map_ = features().fit(X)
    expected = RidgeClassifier(0.1).fit(map_.transform(X), y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(map_.transform(X)))
    decision = expected.decision_function(map_.transform(X))
    ours = (
        model.decision_function(X)
        if len(model.classes_) == 2
        else 2 * model.decision_function(X) - 1
    )
    np.testing.assert_allclose(ours, decision, atol=1e-8)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_probabilities(y):
    model = zonal.KernelRidgeClassifier(features()).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p.min() > 0
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert model.score(X, y) > 0.95


def test_probabilities_are_honest():
    """Labels drawn with known probabilities on fresh data: the Brier score is near its optimum."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (8000, 1))
    truth = 0.5 + 0.4 * np.sin(2 * X[:, 0])
    y = (rng.uniform(size=8000) < truth).astype(int)
    model = zonal.KernelRidgeClassifier(budget=32, random_state=0).fit(X[:4000], y[:4000])
    p = model.predict_proba(X[4000:])[:, 1]
    assert brier_score_loss(y[4000:], p) < brier_score_loss(y[4000:], truth[4000:]) + 0.005
    assert np.sqrt(np.mean((p - truth[4000:]) ** 2)) < 0.07


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_partial_fit_equals_fit(size):
    def oblivious():
        return zonal.GegenbauerFeatures(
            zonal.Gaussian(1.0),
            40,
            max_degree=6,
            n_radial=2,
            radial_basis="taylor",
            center=False,
            random_state=0,
        )

    whole = zonal.KernelRidgeClassifier(oblivious(), loss="squared").fit(X, THREE)
    parts = zonal.KernelRidgeClassifier(oblivious(), loss="squared")
    for start in range(0, 500, size):
        rows = slice(start, start + size)
        parts.partial_fit(X[rows], THREE[rows], classes=["c", "a", "b"] if start == 0 else None)
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), rtol=1e-7, atol=1e-8
    )


def test_clear_errors():
    model = zonal.KernelRidgeClassifier(features())
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.ones(500))
    with pytest.raises(ValueError, match="needs classes"):
        model.partial_fit(X, TWO)
    model.partial_fit(X, TWO, classes=["other", "same"])
    with pytest.raises(ValueError, match=r"not among the classes: \['new'\].*'other', 'same'"):
        model.partial_fit(X[:1], ["new"])
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit(X, TWO, classes=["x", "y"])
    with pytest.raises(ValueError, match="Unknown label type"):
        zonal.KernelRidgeClassifier(features()).fit(X, X[:, 0])


def test_a_class_of_weight_zero_does_not_exist():
    weight = (THREE != "b").astype(float)
    model = zonal.KernelRidgeClassifier(features(), 0.1).fit(X, THREE, weight)
    assert model.classes_.tolist() == ["a", "c"]


def test_a_refit_to_the_same_rows_has_the_same_weights():
    """Only ratios of the factors of classes count, in a refit too."""
    rows = X[:300], np.where(RNG.random(300) < 0.2, "same", TWO[:300])
    for factors in ({"same": 9.0, "other": 9.0}, {"same": 9.0, "other": 1.0}):
        model = zonal.KernelRidgeClassifier(features(), class_weight=factors).fit(*rows)
        again = model.refitted(*rows).predict_proba(X)
        np.testing.assert_allclose(again, model.predict_proba(X), atol=2e-3)


def test_a_refit_names_labels_that_are_not_among_the_classes():
    model = zonal.KernelRidgeClassifier(features()).fit(X[:200], TWO[:200])
    with pytest.raises(ValueError, match=r"not among the classes: \['strange'\]"):
        model.refitted(X[:3], ["same", "other", "strange"])


def test_shares_as_weights_count_by_their_ratios():
    """Weights whose sum is one are no numbers of rows; those of two are rows that came twice."""
    shares = RNG.uniform(0.2, 1, 200)
    chances = [
        zonal.KernelRidgeClassifier(features())
        .fit(X[:200], TWO[:200], shares * factor)
        .predict_proba(X)
        for factor in (1 / shares.mean(), 1 / shares.sum(), 1e-200)
    ]
    np.testing.assert_allclose(chances[1], chances[0], atol=1e-3)
    np.testing.assert_allclose(chances[2], chances[0], atol=1e-3)
    twice = np.concatenate([X[:200]] * 2), np.concatenate([TWO[:200]] * 2)
    weighted, repeated = (
        zonal.KernelRidgeClassifier(features()).fit(*rows).predict_proba(X)
        for rows in ((X[:200], TWO[:200], np.full(200, 2.0)), twice)
    )
    np.testing.assert_allclose(repeated, weighted, atol=1e-3)
