"""Errors summed over blocks against scikit-learn's, of all rows at once."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score

from zonal.evaluation import ClassErrors, Errors

RNG = np.random.default_rng(0)
CUTS = [0, 1, 40, 300]
PARTS = [slice(a, b) for a, b in itertools.pairwise(CUTS)]


def test_numbers():
    truth = 1000 + RNG.standard_normal(300)
    prediction = truth + 0.3 * RNG.standard_normal(300)
    first, *others = (Errors.of(truth[p], prediction[p]) for p in PARTS)
    found = sum(others, first).measures(999.5)
    assert found["mse"] == pytest.approx(np.mean((truth - prediction) ** 2), rel=1e-12)
    assert found["rmse"] == pytest.approx(found["mse"] ** 0.5, rel=1e-12)
    assert found["mae"] == pytest.approx(mean_absolute_error(truth, prediction), rel=1e-12)
    assert found["r2"] == pytest.approx(r2_score(truth, prediction), rel=1e-10)
    assert found["mse_of_constant"] == pytest.approx(np.mean((truth - 999.5) ** 2), rel=1e-12)


def test_constant_truth_has_no_r2():
    found = Errors.of(np.full(100, 0.1), np.zeros(100)).measures(0.37)
    assert np.isnan(found["r2"])
    assert Errors.of(np.empty(0), np.empty(0)).measures(0.0) == {}


def test_classes():
    classes = np.array(["a", "b", "c"])
    truth = RNG.choice(classes, 300)
    chances = RNG.dirichlet([1, 1, 1], 300)
    prediction = classes[chances.argmax(axis=1)]
    first, *others = (ClassErrors.of(truth[p], prediction[p], classes, chances[p]) for p in PARTS)
    found = sum(others, first).measures("b")
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, prediction), rel=1e-12)
    assert found["log_loss"] == pytest.approx(log_loss(truth, chances, labels=classes), rel=1e-10)
    assert found["accuracy_of_commonest"] == pytest.approx(np.mean(truth == "b"), rel=1e-12)


def test_unseen_classes_are_errors():
    """A class that training had not is wrong, and has no probability to take a logarithm of."""
    classes, chances = np.array([1, 2]), np.array([[0.8, 0.2], [0.4, 0.6]])
    found = ClassErrors.of(np.array([1, 9]), np.array([1, 2]), classes, chances).measures(1)
    assert found == {
        "accuracy": 0.5,
        "log_loss": pytest.approx(-np.log(0.8)),
        "accuracy_of_commonest": 0.5,
    }


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_weights_are_repeated_rows(shift):
    """A row of weight 2 is two rows; sums about the mean keep R² exact far from zero."""
    truth = shift + RNG.standard_normal(300)
    prediction = truth + 0.3 * RNG.standard_normal(300)
    weight = RNG.integers(0, 4, 300)
    first, *others = (Errors.of(truth[p], prediction[p], weight[p]) for p in PARTS)
    found = sum(others, first).measures()
    twice, again = np.repeat(truth, weight), np.repeat(prediction, weight)
    assert found["r2"] == pytest.approx(r2_score(twice, again), rel=1e-7)
    assert found["mae"] == pytest.approx(mean_absolute_error(twice, again), rel=1e-7)
    classes, labels = np.array([0, 1]), (truth > shift).astype(int)
    guesses = (prediction > shift).astype(int)
    counted = ClassErrors.of(labels, guesses, classes, weight=weight).measures()
    expected = accuracy_score(np.repeat(labels, weight), np.repeat(guesses, weight))
    assert counted["accuracy"] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(counted["log_loss"])  # no probabilities were given
