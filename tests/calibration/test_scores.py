import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from zonal.evaluation import (
    calibration_error,
    coverage,
    crps,
    crps_of_quantiles,
    interval_score,
    pit_histogram,
)

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("y", "mean", "std"), [(0.3, 0.0, 1.0), (5.0, 2.0, 0.5), (-4.0, 1.0, 3.0)])
def test_crps_against_numerical_integration(y, mean, std):
    distribution = norm(mean, std)
    below, _ = quad(lambda x: distribution.cdf(x) ** 2, mean - 12 * std, y)
    above, _ = quad(lambda x: distribution.sf(x) ** 2, y, mean + 12 * std)
    assert crps([y], [mean], [std]) == pytest.approx(below + above, rel=1e-6)
    levels = (np.arange(4000) + 0.5) / 4000
    found = crps_of_quantiles([y], distribution.ppf(levels)[None], levels)
    assert found == pytest.approx(below + above, rel=2e-3)


def test_crps_of_a_point_is_the_absolute_error():
    assert crps([1.0, 4.0], [3.0, 4.0], [0.0, 0.0]) == 1.0


def test_scores_are_proper():
    """The truth has a better score than what is too wide, too narrow or shifted."""
    y = RNG.standard_normal(20_000)

    def scores(mean, std):
        ends = norm(mean, std).ppf([0.05, 0.95])
        low, high = (np.full_like(y, end) for end in ends)
        same = np.full_like(y, mean), np.full_like(y, std)
        return np.array([crps(y, *same), interval_score(y, low, high)])

    best = scores(0, 1)
    for other in ((0, 1.5), (0, 0.7), (0.4, 1)):
        assert (scores(*other) > best).all()
    assert best[0] == pytest.approx(1 / np.sqrt(np.pi), rel=0.03)


def test_weights_are_counts():
    y, low, high = RNG.standard_normal((3, 5))
    weight = np.array([1, 2, 0, 3, 1])
    repeated = [np.repeat(part, weight) for part in (y, low, high)]
    for score in (interval_score, coverage):
        assert score(y, low, high, sample_weight=weight) == pytest.approx(score(*repeated))


def test_histogram_of_a_calibrated_forecast_is_flat():
    n, levels = 40_000, np.arange(1, 10) / 10
    mean = RNG.standard_normal(n)
    y = mean + RNG.standard_normal(n)
    found = pit_histogram(y, mean[:, None] + norm.ppf(levels), levels)
    # A share of 0.1 has the standard error 0.3/√n.
    assert np.abs(found - 1).max() < 5 * 3 / np.sqrt(n)
    narrow = pit_histogram(y, mean[:, None] + 0.5 * norm.ppf(levels), levels)
    assert min(narrow[0], narrow[-1]) > 1.5


def test_calibration_error_of_true_probabilities():
    p = RNG.uniform(0, 1, 50_000)
    y = RNG.uniform(0, 1, len(p)) < p
    true = np.column_stack([1 - p, p])
    assert calibration_error(y, true, [False, True]) < 0.02
    assert calibration_error(y, np.round(true), [False, True]) > 0.2


def test_mistakes():
    with pytest.raises(ValueError, match=r"coverage=1\.5 must be between 0 and 1"):
        interval_score([0.0], [0.0], [0.0], coverage=1.5)
    with pytest.raises(ValueError, match="increasing numbers between 0 and 1"):
        crps_of_quantiles([0.0], [[0.0, 1.0]], [0.5, 0.2])
    with pytest.raises(ValueError, match="std must be at least 0"):
        crps([0.0], [0.0], [-1.0])
