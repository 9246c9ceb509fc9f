"""What would take minutes or gigabytes says so before it starts."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

import zonal
from zonal.rows import costs

X = np.random.default_rng(0).standard_normal((300, 2))
y = X[:, 0]


class Never(TransformerMixin, BaseEstimator):
    """Features that a fit must not get to."""

    def __init__(self, n_components=10):
        self.n_components = n_components

    def fit(self, X, y=None):
        raise AssertionError("too late")

    def transform(self, X):
        raise AssertionError("too late")


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine of 16 GB and two cores."""
    monkeypatch.setattr(costs, "_memory", lambda: 16e9)
    monkeypatch.setattr(costs, "thread_count", lambda: 2)


@pytest.mark.parametrize("features", [Never(100_000), "auto"], ids=["given", "auto"])
@pytest.mark.parametrize("local", [None, "auto"])
def test_columns_that_do_not_fit(features, local):
    model = zonal.KernelRidge(features, budget=100_000, local=local)
    with pytest.raises(ValueError, match=r"100,000 features .* 480 GB .* has 16\. Lower budget"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (zonal.KernelRidge(Never(10_000), local=None), r"9 minutes and 4\.8 GB"),
        (zonal.KernelRidge(Never(10_000), 0.1, local=None), "67 seconds and 4 GB"),
        (zonal.GaussianProcess(Never(10_000), local=None), "4 minutes and 4 GB"),
    ],
    ids=["path of alphas", "one alpha", "process"],
)
def test_columns_that_take_minutes(learner, words):
    """Ten thousand columns: eigenproblems of 10¹² operations each, and gigabytes."""
    with (
        pytest.warns(UserWarning, match=f"10,000 features .* about {words}"),
        pytest.raises(AssertionError, match="too late"),
    ):
        learner.fit(X, y)


def test_rows_that_take_minutes():
    """Two million rows and 4,000 columns are 3.2e13 products."""
    rows = np.broadcast_to(np.float64(1), (2_000_000, 1))
    with (
        pytest.warns(UserWarning, match="4,000 features .* about 9 minutes"),
        pytest.raises(AssertionError, match="too late"),
    ):
        zonal.KernelRidge(Never(4_000), 0.1, local=None).fit(rows, rows[:, 0])


@pytest.mark.parametrize(("known", "told"), [(1000, "100,000"), (100, "25,000")])
def test_of_many_rows_the_choice_takes_few_columns(monkeypatch, known, told):
    """More than a quarter of the budget must be worth the time there."""
    monkeypatch.setattr("zonal.learners.model_learner.PILOT_ROWS", known)
    with pytest.raises(ValueError, match=f"{told} features"):
        zonal.KernelRidge(budget=100_000).fit(X, y)


def test_a_class_for_every_row():
    labels = np.arange(300)
    model = zonal.KernelRidgeClassifier(Never(10), local=None)
    with pytest.raises(AssertionError, match="too late"):
        model.fit(X, labels)  # a few hundred are nothing
    rows = np.zeros((100_000, 1))
    with pytest.raises(ValueError, match=r"100,000 targets needs about .* classes may be numbers"):
        model.fit(rows, np.arange(100_000))


def test_landmarks_that_take_minutes(monkeypatch):
    monkeypatch.setattr(costs, "EIGEN_RATE", 1e3)
    with pytest.warns(UserWarning, match=r"NystroemFeatures of 50 landmarks takes about 2 minutes"):
        zonal.NystroemFeatures(zonal.Gaussian(), 50, random_state=0).fit(X)


def test_ordinary_fits_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        features = zonal.FourierFeatures(zonal.Gaussian(), 1024, random_state=0)
        zonal.KernelRidge(features, 0.1, local=None).fit(X, y)


@pytest.mark.parametrize(
    ("seconds", "words"), [(61, "61 seconds"), (600, "10 minutes"), (7200, "2 hours")]
)
def test_times_in_words(seconds, words):
    with pytest.warns(UserWarning, match=f"This takes about {words} and 0 GB of memory. Stop."):
        costs.announce_cost("This", seconds, 0, "Stop.")
