"""Choosing rows by number, and what is learnt from a sample."""

import numpy as np
import pytest

import zonal
from zonal.kernels.expansion.distribution import Distribution
from zonal.rows import LEARN_ROWS, row_hash, sample_rows


def test_sample_is_spread_over_all_rows():
    sample = sample_rows(100_000, 1000)
    assert len(set(sample.tolist())) == 1000
    assert (np.diff(sample) > 0).all()
    # The mean of 1,000 uniform numbers below 100,000 has a standard error of 913.
    assert abs(sample.mean() - 50_000) < 5 * 913
    assert sample_rows(7, 10).tolist() == list(range(7))


def test_a_stream_keeps_the_same_sample():
    """The smallest hashes of a prefix, continued, are the smallest of all."""
    whole = set(sample_rows(5000, 100).tolist())
    prefix = set(sample_rows(3000, 100).tolist())
    rest = set(range(3000, 5000))
    candidates = np.array(sorted(prefix | rest))
    smallest = candidates[np.argsort(row_hash(candidates))[:100]]
    assert set(smallest.tolist()) == whole


def test_maps_learn_from_all_of_the_data():
    """Rows beyond the first 10,000 count: the mean is that of everything, within sampling error."""
    X = np.zeros((40_000, 2))
    X[20_000:] = 1
    X += np.random.default_rng(0).standard_normal(X.shape) * 0.1
    features = zonal.GegenbauerFeatures(n_components=4, random_state=0).fit(X)
    assert np.abs(features.center_ - 0.5).max() < 5 * 0.5 / np.sqrt(LEARN_ROWS)


def test_distribution_of_radii_uses_weights():
    radii = np.array([1.0, 2.0, 3.0])
    weighted = Distribution.sample(radii, np.array([1.0, 0.5, 2.5]))
    assert weighted.weights.sum() == pytest.approx(1)
    assert weighted.weights @ weighted.nodes == pytest.approx((1 + 1 + 7.5) / 4)
    many = np.random.default_rng(0).uniform(0, 1, 5000)
    sampled = Distribution.sample(many, np.ones(5000))
    assert len(sampled.nodes) == 32
    assert sampled.weights @ sampled.nodes**2 == pytest.approx(np.mean(many**2), rel=1e-3)
