import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit

from zonal.calibration.softmax import SoftmaxCalibration, exceptions, farther_logits

ONES = np.ones(300)


def test_exceptions_that_were_never_seen_count_by_their_posterior():
    """Against the integral over a rate of Beta(1/2, 1/2)."""
    scores, labels = np.tile([0.0, 1.0], (300, 1)), np.ones(300, int)
    unseen = quad(lambda rate: (1 - rate) ** 299.5 / (np.pi * np.sqrt(rate)), 0, 1)[0]
    share = unseen / (1 + unseen) / 301
    assert exceptions(scores, labels, ONES) == pytest.approx(share, rel=1e-6)
    labels[7] = 0
    assert exceptions(scores, labels, ONES) == pytest.approx(1 / 301)
    weight = np.where(np.arange(300) == 7, 0.0, 1.0)  # a row that does not count
    others = weight > 0
    assert exceptions(scores, labels, weight) == exceptions(
        scores[others], labels[others], weight[others]
    )


def test_classes_that_are_always_told_are_all_but_sure():
    labels = np.arange(300) % 2
    logits = np.where(np.eye(2)[labels] > 0, 20.0, 0.0)
    chances = SoftmaxCalibration.of(logits, labels, ONES).probabilities(logits)
    assert chances[np.arange(300), labels].min() > 1 - 1e-3 / 5
    assert chances.min() > 0


def test_farther_logits_minimise_what_they_say():
    rng = np.random.default_rng(0)
    logits, distance = rng.normal(0, 3, 300), rng.uniform(1, 10, 300)
    labels = (rng.random(300) < expit(logits / distance**0.5)).astype(int)
    holes, weight = np.arange(300) // 10, rng.uniform(0.5, 2, 300)
    found = farther_logits(logits, labels, weight, distance, holes, ONES)
    assert found is not None
    assert found.values[0, 0] == 0

    def objective(values):
        c = np.interp(np.log(distance), found.nodes, np.append(0, values))
        losses = np.logaddexp(0, -np.where(labels == 1, 1, -1) * logits * np.exp(-c))
        holes_loss = sum(
            np.average(losses[holes == h], weights=weight[holes == h]) for h in np.unique(holes)
        )
        return holes_loss + np.square(np.diff(np.append(0, values))).sum() / 2

    best = minimize(objective, np.zeros(len(found.nodes) - 1), tol=1e-10)
    np.testing.assert_allclose(found.values[1:, 0], best.x, atol=1e-3)


def test_without_deeper_holes_nothing_is_divided():
    labels = np.arange(300) % 2
    assert farther_logits(ONES, labels, ONES, ONES, labels, ONES) is None
