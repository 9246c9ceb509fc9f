"""The cloud image is split as its published comparison is."""

import numpy as np
import pytest

from benchmarks.likelihoods.data import task
from benchmarks.likelihoods.r_random import RRandom


# As R prints them (since 3.6): set.seed(seed); runif(1), and set.seed(seed); sample(1:10).
@pytest.mark.parametrize(
    ("seed", "uniform", "order"),
    [
        (1, 0.2655087, [9, 4, 7, 1, 2, 5, 3, 10, 6, 8]),
        (42, 0.9148060, [1, 5, 10, 8, 2, 4, 6, 9, 7, 3]),
        (123, 0.2875775, [3, 10, 2, 8, 6, 9, 1, 7, 5, 4]),
    ],
)
def test_random_numbers_are_those_of_r(seed, uniform, order):
    assert RRandom(seed).uniform() == pytest.approx(uniform, abs=5e-8)
    assert RRandom(seed).sample(10, 10).tolist() == order


def test_samples_of_many_are_those_of_r():
    # sample(1:100, 1), for which two bytes of one number are enough.
    drawn = [int(RRandom(seed).sample(100, 1)[0]) for seed in (1, 2, 42, 123)]
    assert drawn == [68, 85, 49, 31]


def test_the_block_is_the_published_one():
    rows = task("modis_cloud-block", 0)
    assert len(rows.y) == 225 * 150 - 900
    assert rows.X_test.min(axis=0).tolist() == [90, 64]
    assert rows.X_test.max(axis=0).tolist() == [119, 93]
    rows = task("modis_cloud-random", 0)
    assert len(rows.y) == 6_000
    assert len(np.unique(np.vstack([rows.X, rows.X_test]), axis=0)) == 225 * 150
