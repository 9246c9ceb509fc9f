"""Gradients of what learners predict, through whatever comes before the features."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

import zonal
from tests.finite_differences import assert_gradient
from zonal.features import Standardizer

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (300, 3)) * [1.0, 5.0, 0.2] + [0.0, 3.0, 0.0]
y = np.sin(X[:, 0]) + 0.1 * X[:, 1] ** 2
AT = X[:7]
FEATURES = zonal.FourierFeatures(zonal.Gaussian(2.0), 64, random_state=0)


class Linear(TransformerMixin, BaseEstimator):
    """x ↦ A x, as a learnt metric does."""

    def fit(self, X, y=None):
        self.matrix_ = np.random.default_rng(1).standard_normal((2, X.shape[1]))
        return self

    def transform(self, X):
        return X @ self.matrix_.T

    def linear_map(self):
        return self.matrix_


def ridge(features="auto"):
    return zonal.KernelRidge(features, alpha=0.1, budget=64, random_state=0)


@pytest.mark.parametrize(
    "features",
    [
        FEATURES,
        zonal.NystroemFeatures(zonal.Matern(1.5, 5.0), 40, random_state=0),
        make_pipeline(Standardizer(), FEATURES),
        make_pipeline(StandardScaler(), FEATURES),
        make_pipeline(StandardScaler(with_std=False), FEATURES),
        make_pipeline(RobustScaler(), FEATURES),
        make_pipeline(MaxAbsScaler(), FEATURES),
        make_pipeline(MinMaxScaler((-1, 2)), FEATURES),
        make_pipeline(StandardScaler(), "passthrough", Linear(), MaxAbsScaler(), FEATURES),
        make_pipeline(StandardScaler(), make_pipeline(Linear(), FEATURES)),
    ],
    ids=lambda features: repr(features)[:60],
)
def test_ridge(features):
    model = ridge(features).fit(X, y)
    assert_gradient(model.gradient(AT), model.predict, AT)


def test_automatic_features():
    """The table of the radial functions is right to 1e-8 of them, over steps of 1e-2."""
    model = ridge().fit(X, y)
    assert_gradient(model.gradient(AT), model.predict, AT, atol=1e-5)


def test_known_function():
    """The gradient of the function that the data came from."""
    Z = np.random.default_rng(1).uniform(-2, 2, (2000, 2))
    features = zonal.NystroemFeatures(zonal.Gaussian(1.5), 150, random_state=0)
    model = zonal.KernelRidge(features, alpha=1e-8).fit(Z, np.sin(Z[:, 0]) * Z[:, 1])
    inner = Z[np.abs(Z).max(axis=1) < 1.7]
    expected = np.column_stack([np.cos(inner[:, 0]) * inner[:, 1], np.sin(inner[:, 0])])
    np.testing.assert_allclose(model.gradient(inner), expected, atol=1e-2)


def test_several_targets():
    Y = np.column_stack([y, np.cos(X[:, 2])])
    model = ridge(FEATURES).fit(X, Y)
    G = model.gradient(AT)
    assert G.shape == (7, 2, 3)
    assert_gradient(G, model.predict, AT)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifier(n_classes):
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = zonal.KernelRidgeClassifier(FEATURES, alpha=0.1).fit(X, labels)
    assert_gradient(model.gradient(AT), model.decision_function, AT)


def test_gaussian_process():
    model = zonal.GaussianProcess(FEATURES, noise=0.1).fit(X, y)
    assert_gradient(model.gradient(AT), model.predict, AT)
    both = zonal.GaussianProcess(FEATURES, noise=0.1).fit(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(both.gradient(AT)[:, 1], -model.gradient(AT), rtol=1e-9)


def test_kinds_of_rows():
    model = ridge(make_pipeline(Standardizer(), FEATURES)).fit(X, y)
    exact = model.gradient(AT)
    single = model.gradient(AT.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, atol=1e-5 * np.abs(exact).max())
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(model.fit(frame, y).gradient(frame.iloc[:7]), exact)
    sparse = model.fit(sp.csr_matrix(X), y).gradient(sp.csr_matrix(AT))
    dense = model.gradient(AT)
    np.testing.assert_allclose(sparse, dense, rtol=1e-10)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (make_pipeline(Normalizer(), FEATURES), "Normalizer.. in front .* linear_map"),
        (make_pipeline(MinMaxScaler(clip=True), FEATURES), "linear_map"),
        (RBFSampler(random_state=0), "use a feature map of this library"),
    ],
)
def test_what_has_no_gradient_says_so(features, message):
    model = ridge(features).fit(X, y)
    with pytest.raises(NotImplementedError, match=message):
        model.gradient(AT)


def test_before_fit():
    for model in (ridge(), zonal.KernelRidgeClassifier(), zonal.GaussianProcess()):
        with pytest.raises(NotFittedError):
            model.gradient(AT)
