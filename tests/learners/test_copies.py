"""Intervals where rows are copies of each other, or have weights that are none."""

import numpy as np
import pytest
from scipy.special import ndtr

import zonal
from zonal.rows.copies import one_of_many, seen

N, NOISE = 1600, 0.3


def features():
    return zonal.HarmonicFeatures(zonal.Gaussian(1.5), 80)


LEARNERS = {
    "ridge": zonal.KernelRidge(features()),
    "process": zonal.GaussianProcess(features()),
    "local part": zonal.KernelRidge(
        features(), local=zonal.NeighborKriging(zonal.Matern(1.5, 1.0), noise=1.0)
    ),
}


def draw(n, rng, noise=NOISE):
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(X[:, 0]) * X[:, 1] + noise * rng.standard_normal(n)


def one_place(rng):
    """A fifth of the rows agree in everything, five deviations beside the function."""
    X, y = draw(N, rng)
    same = rng.random(N) < 0.2
    X[same], y[same] = (1.0, 0.5), np.sin(1.0) / 2 + rng.choice([-5, 5]) * NOISE
    return X, y


def many_places(rng):
    """Half of the rows are drawn from a hundred."""
    X, y = draw(N, rng)
    places, targets = draw(100, rng)
    chosen = np.where(rng.random(N) < 0.5, rng.integers(0, 100, N), -1)
    again = chosen >= 0
    X[again], y[again] = places[chosen[again]], targets[chosen[again]]
    return X, y


def held(model, draws, rng):
    """The share of the other half of some rows in intervals of 95 %, and their mean width."""
    X, y = draws(rng)
    train = rng.permutation(N) < N // 2
    lower, upper = model.fit(X[train], y[train]).predict_interval(X[~train], 0.95)
    return np.mean((lower <= y[~train]) & (y[~train] <= upper)), np.mean(upper - lower)


CASES = [("ridge", one_place), ("process", one_place), ("ridge", many_places)]


@pytest.mark.parametrize(("name", "draws"), [*CASES, ("local part", many_places)])
def test_intervals_hold_where_rows_are_copies(name, draws):
    """Where copies pass for precise rows, intervals are four times as wide, or hold 99 %."""
    found = [held(LEARNERS[name], draws, np.random.default_rng(seed)) for seed in range(8)]
    shares, widths = np.array(found).T
    error = shares.std(ddof=1) / np.sqrt(len(shares))
    assert abs(shares.mean() - 0.95) < 3 * error
    if draws is many_places:  # of normal errors about the true function
        assert widths.mean() < 1.1 * 2 * 1.96 * NOISE


def test_weights_that_say_nothing_of_the_noise():
    """Weights of a survey: rows that are new have the noise of all others."""
    shares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        (X, y), weight = draw(N, rng), np.exp(rng.standard_normal(N))
        known = np.arange(N) < N // 2
        model = LEARNERS["ridge"].fit(X[known], y[known], weight[known])
        lower, upper = model.predict_interval(X[~known], 0.95)
        shares.append(np.mean((lower <= y[~known]) & (y[~known] <= upper)))
    assert abs(np.mean(shares) - 0.95) < 3 * np.std(shares, ddof=1) / np.sqrt(len(shares))


def test_weights_that_are_precisions():
    """The noise of a new observation is that of a row of mean weight."""
    shares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        weight = np.exp(rng.standard_normal(N))
        weight /= weight.mean()
        X, y = draw(N, rng, NOISE / np.sqrt(weight))
        model = LEARNERS["ridge"].fit(X, y, weight)
        lower, upper = model.predict_interval(X, 0.95)
        # What normal errors about the true function would have.
        truth = np.sin(X[:, 0]) * X[:, 1]
        shares.append(np.mean(ndtr((upper - truth) / NOISE) - ndtr((lower - truth) / NOISE)))
    assert abs(np.mean(shares) - 0.95) < 3 * np.std(shares, ddof=1) / np.sqrt(len(shares))


def test_parts_of_a_sample():
    """Of 20,000 rows two have a fifth and a tenth of the weight; a tenth of the rows is seen."""
    every = np.ones(20_000)
    every[:2] = np.array([0.2, 0.1]) / 0.7 * 19_998
    found = seen(every[:2_000], every.sum())
    np.testing.assert_allclose(found[:2] / found.sum(), [0.2, 0.1], rtol=1e-12)
    np.testing.assert_array_equal(found[2:], 1.0)
    np.testing.assert_array_equal(seen(every, every.sum()), every)
    # Chance has no more to say of a row of a hundredth of the sample.
    few = np.r_[np.ones(1_999), 20.0]
    np.testing.assert_array_equal(seen(few, 1e6), few)


def test_one_of_many():
    assert one_of_many(np.array([0.2, 0.2, 0.6, 20.0])) == 0.2
    assert np.isinf(one_of_many(np.array([0.2, 0.6, 20.0])))  # few of the least are no measure
    assert one_of_many(np.ones(5)) == np.inf
    assert one_of_many(np.full(5, 0.5)) == 0.5  # others weigh more
    assert one_of_many(np.array([1.0, 2.5])) == np.inf
    assert one_of_many(np.empty(0)) == np.inf
