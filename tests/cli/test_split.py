"""The test rows: their share, that blocks do not matter, and that nothing repeats itself."""

import itertools

import numpy as np
import pytest

from zonal.cli.errors import CommandError
from zonal.cli.split import Split


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [1000, 1234, 99_999])
def test_share_is_exact(fraction, n):
    count = Split(fraction, 3).is_test(0, n).sum()
    assert abs(count - fraction * n) <= 1


def test_blocks_agree():
    split = Split(0.15, 7)
    whole = split.is_test(0, 10_000)
    cuts = [0, 1, 17, 4096, 4097, 10_000]
    parts = [split.is_test(a, b) for a, b in itertools.pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_no_period_is_met():
    """Every place within ten rows is as likely: counts have a standard deviation of 95."""
    test = Split(0.1, 0).is_test(0, 100_000)
    counts = test.reshape(-1, 10).sum(axis=0)
    assert counts.sum() == 10_000
    np.testing.assert_allclose(counts, 1000, atol=4.5 * np.sqrt(10_000 * 0.1 * 0.9))
    # The choice in one group of ten tells nothing about the next: correlation ±1/√10,000.
    place = test.reshape(-1, 10).argmax(axis=1)
    assert abs(np.corrcoef(place[:-1], place[1:])[0, 1]) < 0.045


def test_seeds_choose_other_rows():
    """Of 10,000 test rows a tenth are shared by chance, ± 30."""
    one, other = (Split(0.1, seed).is_test(0, 100_000) for seed in (0, 1))
    assert abs((one & other).sum() - 1000) < 4.5 * 30


def test_no_test_rows_on_request():
    split = Split(0.0, 0)
    assert not split.is_test(0, 100).any()
    split.check(100, 0)
    with pytest.raises(CommandError, match=r"4 rows are too few .* 0\.1 .*--test-fraction 0"):
        Split(0.1, 0).check(4, 0)
