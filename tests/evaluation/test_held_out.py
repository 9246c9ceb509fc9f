"""Errors on groups left out, against fits by hand."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

import zonal
from zonal.evaluation import errors_by_group

FEATURES = zonal.FourierFeatures(zonal.Gaussian(1.0), 40, random_state=0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 1))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(300), np.floor(X[:, 0] * 2)


def test_errors_are_those_of_models_of_the_other_groups(data):
    X, y, groups = data
    model = zonal.KernelRidge(FEATURES, 0.1).fit(X, y)
    errors = np.empty(300)
    for train, test in GroupKFold(3).split(X, groups=groups):
        part = zonal.KernelRidge(FEATURES, 0.1).fit(X[train], y[train])
        errors[test] = part.predict(X[test]) - y[test]
    found = errors_by_group(model, X, y, groups, n_splits=3).measures()
    assert found["mse"] == pytest.approx(np.mean(errors**2), rel=1e-9)


def test_with_many_rows_only_some_folds_are_fitted(data):
    X, y, groups = data
    model = zonal.KernelRidge(FEATURES, 0.1).fit(X, y)
    train, test = next(iter(GroupKFold(5).split(X, groups=groups)))
    part = zonal.KernelRidge(FEATURES, 0.1).fit(X[train], y[train])
    found = errors_by_group(model, X, y, groups, limit=300).measures()
    assert found["mse"] == pytest.approx(np.mean((part.predict(X[test]) - y[test]) ** 2), rel=1e-9)


def test_classes(data):
    X, y, groups = data
    model = zonal.KernelRidgeClassifier(FEATURES, 0.1).fit(X, y > 0)
    found = errors_by_group(model, X, y > 0, groups).measures()
    assert 0.3 < found["accuracy"] <= 1
    assert "log_loss" in found
