import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.pipeline import Pipeline

import zonal
from zonal.features import Standardizer
from zonal.model.length_scales import tune_length_scales

RNG = np.random.default_rng(0)
N = 200
X = RNG.uniform(-2, 2, (N, 3))
y = (np.sin(3 * X[:, 0]) + 0.1 * RNG.standard_normal(N))[:, None]


def start(scale=2.0, columns=60):
    map_ = zonal.NystroemFeatures(zonal.Gaussian(scale), columns, random_state=0)
    return Pipeline([("scale", Standardizer()), ("features", map_)]).fit(X)


def log_evidence(features):
    """By the density of the targets, at the best constant, amplitude and noise of the model."""
    model = zonal.GaussianProcess(FrozenFeatures(features)).fit(X, y[:, 0])
    Z = features.transform(X)
    C = model.amplitude_ * Z @ Z.T + model.noise_ * np.eye(N)
    mean = np.linalg.solve(C, np.column_stack([np.ones(N), y])).sum(axis=0)
    found = multivariate_normal(np.full(N, mean[1] / mean[0]), C, allow_singular=True)
    assert model.log_evidence_ == pytest.approx(found.logpdf(y[:, 0]), rel=1e-6)
    return model.log_evidence_


class FrozenFeatures:
    """Features that are fitted already, as a transformer."""

    def __init__(self, features):
        self.features = features

    def get_params(self, deep=True):
        return {"features": self.features}

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return self.features.transform(X)


def test_columns_that_do_not_matter_become_long():
    before = start()
    found = tune_length_scales(before, X, y, None)
    factors = found[0].scale_ / before[0].scale_
    assert factors[0] < 1  # sin 3x is short
    assert (factors[1:] == 8).all()  # as far as they go
    assert log_evidence(found) > log_evidence(before) + 3 * 0.5 * np.log(N)
    np.testing.assert_allclose(before[0].scale_, start()[0].scale_)  # what was given stays


def test_rows_that_weigh_nothing_do_not_count():
    weight = np.concatenate([np.ones(N), np.zeros(50)])
    more = np.vstack([X, RNG.uniform(5, 6, (50, 3))])
    targets = np.vstack([y, 100 * np.ones((50, 1))])
    found, expected = (
        tune_length_scales(start(), *rest) for rest in ((more, targets, weight), (X, y, None))
    )
    np.testing.assert_allclose(found[0].scale_, expected[0].scale_)
    assert repr(found[-1].kernel_) == repr(expected[-1].kernel_)


def test_what_has_no_length_scale_stays():
    dots = zonal.GegenbauerFeatures(zonal.ArcCosine(1), 20, random_state=0)
    features = Pipeline([("scale", Standardizer()), ("features", dots)]).fit(X)
    assert tune_length_scales(features, X, y, None) is features
    given = start()
    assert tune_length_scales(given, X, np.ones((N, 1)), None) is given


def test_a_process_finds_its_length_scales():
    noise, n = 0.1, 200  # fewer rows than a choice needs: it starts from the median distance
    model = zonal.GaussianProcess(budget=100, random_state=0).fit(X[:n], y[:n, 0])
    new = RNG.uniform(-2, 2, (500, 3))
    error = np.sqrt(np.mean((model.predict(new) - np.sin(3 * new[:, 0])) ** 2))
    # Of the three columns one matters, whose ten or so waves and slopes n rows tell to σ√(10/n).
    assert error < 3 * noise * np.sqrt(10 / n)
    assert model.noise_ == pytest.approx(noise**2, rel=5 * np.sqrt(2 / n))


def test_frames_keep_the_names_of_their_columns():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.uniform(-2, 2, (100, 2)), columns=["a", "b"])
    y = np.sin(2 * X["a"].to_numpy())
    for learner in (zonal.KernelRidge, zonal.GaussianProcess):
        model = learner(budget=64, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = model.fit(X, y).predict(X)
        np.testing.assert_allclose(found, model.fit(X.to_numpy(), y).predict(X.to_numpy()))
