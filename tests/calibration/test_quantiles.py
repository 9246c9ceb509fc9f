import numpy as np
import pytest
from scipy.stats import binom, norm

from zonal.calibration.quantiles import ScoreQuantiles

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [19, 40, 57])
@pytest.mark.parametrize("draw", [RNG.standard_normal, RNG.standard_exponential])
def test_coverage_is_that_of_ranks(n, draw):
    """A new score is in the interval with the probability of its rank, for any distribution."""
    repetitions, levels = 20_000, [0.05, 0.95]
    scores = draw((n, repetitions))  # each column an experiment
    low, high = ScoreQuantiles.of(scores).at(levels)
    new = draw(repetitions)
    held = int(((low <= new) & (new <= high)).sum())
    k = int(np.floor((n + 1) * 0.05 + 1e-9))
    exact = 1 - 2 * k / (n + 1)
    assert exact >= 0.9 - 1e-12
    assert binom.ppf(1e-4, repetitions, exact) <= held <= binom.ppf(1 - 1e-4, repetitions, exact)


def test_order_statistics():
    scores = RNG.permutation(np.arange(1.0, 100.0))[:, None]  # (n + 1) p is the score itself
    found = ScoreQuantiles.of(scores).at([0.05, 0.5, 0.95])
    np.testing.assert_allclose(found[:, 0], [5, 50, 95])


def test_weights_have_the_mean_one():
    scores, weight = RNG.standard_normal((30, 2)), RNG.integers(1, 4, 30)
    levels = [0.02, 0.1, 0.37, 0.5, 0.8, 0.97]
    weighted = ScoreQuantiles.of(scores, weight).at(levels)
    for factor in (0.01, 7, 1e300):
        np.testing.assert_allclose(ScoreQuantiles.of(scores, factor * weight).at(levels), weighted)
    # The least score with 31 p of the weight, which is 30 in all, up to it.
    for column, found in zip(scores.T, weighted[4], strict=True):
        shares = [weight[column <= score].sum() * 30 / weight.sum() for score in column]
        assert found == min(s for s, share in zip(column, shares, strict=True) if share >= 24.8)


def test_too_few_scores_have_normal_tails():
    scores = np.array([[-1.0], [0.0], [2.0]])
    low, high = ScoreQuantiles.of(scores).at([0.01, 0.99])[:, 0]
    assert high == pytest.approx(2 * norm.ppf(0.99) / norm.ppf(0.75))
    assert low == pytest.approx(-norm.ppf(0.99) / norm.ppf(0.75))
    nothing = ScoreQuantiles.of(np.empty((0, 1))).at([0.05, 0.95])[:, 0]
    np.testing.assert_allclose(nothing, norm.ppf([0.05, 0.95]))


def test_quantiles_do_not_cross():
    found = ScoreQuantiles.of(RNG.standard_normal((7, 1))).at(np.linspace(0.001, 0.999, 200))
    assert (np.diff(found[:, 0]) >= 0).all()


@pytest.mark.parametrize("levels", [0.0, [0.5, 1.0], [[0.5]], []])
def test_mistakes(levels):
    with pytest.raises(ValueError, match="levels between 0 and 1"):
        ScoreQuantiles.of(np.zeros((3, 1))).at(levels)


def test_the_spread_counts_weights_as_scores():
    scores = np.array([[3.0], [-1.0], [2.0]])
    repeated = ScoreQuantiles.of(scores[[0, 1, 1, 2]])
    weighted = ScoreQuantiles.of(scores, np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(repeated.spread(), np.sqrt([15 / 4]))
    np.testing.assert_allclose(weighted.spread(), repeated.spread())
    np.testing.assert_array_equal(ScoreQuantiles.of(np.empty((0, 2))).spread(), [1.0, 1.0])
