"""scikit-learn's checks for every learner."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.features import Standardizer


@parametrize_with_checks(
    [
        zonal.KernelRidge(budget=64),
        zonal.KernelRidge(zonal.GegenbauerFeatures(n_components=64), alpha=0.1),
        zonal.KernelRidgeClassifier(budget=64),
        zonal.KernelKMeans(budget=64),
        zonal.KernelPCA(budget=64),
        zonal.KernelCCA(budget=64, n_components=1),
        # It chooses as KernelRidge(budget=64) does, by the same code.
        zonal.GaussianProcess(zonal.GegenbauerFeatures(n_components=64)),
        Standardizer(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


LEARNERS = [
    zonal.KernelRidge(alpha=0.1),
    zonal.KernelRidgeClassifier(alpha=0.1),
    zonal.KernelKMeans(n_clusters=2, random_state=0),
    zonal.KernelPCA(),
    zonal.GaussianProcess(noise=0.1),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_any_transformer_will_do(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] > 0).astype(int)
    model = clone(learner).set_params(features=RBFSampler(n_components=30, random_state=0))
    model.fit(X, y)
    output = model.predict(X) if hasattr(model, "predict") else model.transform(X)
    assert len(output) == 80


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_refitting_forgets(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] > 0).astype(int)
    features = zonal.GegenbauerFeatures(n_components=20, random_state=0)
    model = clone(learner).set_params(features=features)
    method = "predict" if hasattr(model, "predict") else "transform"
    once = getattr(clone(model).fit(X[40:], y[40:]), method)(X)
    twice = getattr(model.fit(5 * X[:40], y[:40]).fit(X[40:], y[40:]), method)(X)
    np.testing.assert_array_equal(once, twice)
