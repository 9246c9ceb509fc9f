"""Groups of rows that cross-validation keeps together, and models fitted to other rows."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut

import zonal

FEATURES = zonal.FourierFeatures(zonal.Gaussian(1.0), 40, random_state=0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (400, 2))
    groups = np.floor(X[:, 0] + 3).astype(int)
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(400), groups


@pytest.mark.parametrize("splitter", [GroupKFold(3), LeaveOneGroupOut()])
def test_splitters_of_groups(data, splitter):
    X, y, groups = data
    model = zonal.KernelRidge(FEATURES, cv=splitter).fit(X, y, groups=groups)
    pairs = list(splitter.split(X, y, groups))
    given = zonal.KernelRidge(FEATURES, cv=pairs).fit(X, y)
    for name, values in given.cv_results_.items():
        np.testing.assert_array_equal(model.cv_results_[name], values)


def test_an_integer_means_folds_of_whole_groups(data):
    X, y, groups = data
    names = np.array(list("abcdef"))[groups]
    model = zonal.KernelRidge(FEATURES, cv=3).fit(X, y, groups=names)
    given = zonal.KernelRidge(FEATURES, cv=GroupKFold(3)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_mse"], given.cv_results_["mean_test_mse"]
    )
    again = zonal.KernelRidge(FEATURES, cv=3).fit(X, y)
    assert again.cv_results_["mean_test_mse"][0] != model.cv_results_["mean_test_mse"][0]


def test_groups_of_one_fit_are_forgotten(data):
    X, y, groups = data
    model = zonal.KernelRidge(FEATURES, cv=3).fit(X, y, groups=groups)
    first = model.cv_results_["mean_test_mse"]
    model.fit(X, y)
    plain = zonal.KernelRidge(FEATURES, cv=3).fit(X, y)
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_mse"], plain.cv_results_["mean_test_mse"]
    )
    assert (model.cv_results_["mean_test_mse"] != first).any()


def test_the_classifier_and_streams_take_groups(data):
    X, y, groups = data
    classifier = zonal.KernelRidgeClassifier(FEATURES, cv=GroupKFold(3))
    classifier.fit(X, y > 0, groups=groups)
    assert classifier.score(X, y > 0) > 0.9
    blocks = [(X[:150], y[:150]), (X[150:], y[150:])]
    model = zonal.KernelRidge(FEATURES, cv=GroupKFold(3)).fit(iter(blocks), groups=groups)
    given = zonal.KernelRidge(FEATURES, cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert model.alpha_ == pytest.approx(given.alpha_)


def test_mistakes(data):
    X, y, groups = data
    with pytest.raises(ValueError, match=r"needs the group of each row.*groups=groups"):
        zonal.KernelRidge(FEATURES, cv=GroupKFold(3)).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        zonal.KernelRidge(FEATURES, cv=GroupKFold(3)).fit(X, y, groups=groups[:-1])


@pytest.mark.parametrize("local", [None, zonal.NeighborKriging()])
def test_refitted_keeps_all_that_was_chosen(data, local):
    X, y, _ = data
    model = zonal.KernelRidge(FEATURES, local=local, cv=3).fit(X, y)
    half = model.refitted(X[:200], y[:200])
    given = zonal.KernelRidge(
        FEATURES,
        model.alpha_,
        local=local and zonal.NeighborKriging(model.local_.kernel_, noise=model.local_.noise_),
    ).fit(X[:200], y[:200])
    np.testing.assert_allclose(half.predict(X), given.predict(X), rtol=1e-6, atol=1e-8)
    assert half.n_rows_ == 200
    assert model.n_rows_ == 400


def test_refitted_classifier_needs_not_all_classes(data):
    X, y, _ = data
    labels = np.digitize(y, [-0.5, 0.5])
    model = zonal.KernelRidgeClassifier(FEATURES).fit(X, labels)
    part = model.refitted(X[labels < 2], labels[labels < 2])
    assert set(part.predict(X)) == {0, 1}
    assert part.predict_proba(X).shape == (400, 3)
