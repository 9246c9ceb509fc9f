"""The test rows: their share, that blocks do not matter, and that nothing repeats itself."""

import itertools

import numpy as np
import pandas as pd
import pytest

from zonal.evaluation import Split


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
    with pytest.raises(ValueError, match=r"4 rows are too few .* 0\.1 .*a test fraction of 0"):
        Split(0.1, 0).check(4, 0)


X, Y = np.arange(600.0).reshape(300, 2), np.arange(300.0)


class Blocks:
    """Blocks (X, y) that can be walked over again."""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        for first in range(0, len(X), self.size):
            yield X[first : first + self.size], Y[first : first + self.size]


@pytest.mark.parametrize("part", ["train", "test"])
def test_all_kinds_of_rows_are_split_alike(part):
    da = pytest.importorskip("dask.array")
    split = Split(0.2, 5)
    mask = split.is_test(0, 300) if part == "test" else split.is_train(0, 300)
    select = getattr(split, part)
    for found in (
        select(X, Y),
        select(pd.DataFrame(X), pd.Series(Y)),
        select(X.tolist(), Y.tolist()),
        select(da.from_array(X, chunks=(70, 2)), da.from_array(Y, chunks=70)),
    ):
        np.testing.assert_array_equal(found[0], X[mask])
        np.testing.assert_array_equal(found[1], Y[mask])
    for size in (1, 7, 300):
        (stream,) = select(Blocks(size))
        for _ in range(2):
            rows, targets = zip(*stream, strict=True)
            np.testing.assert_array_equal(np.concatenate(rows), X[mask])
            np.testing.assert_array_equal(np.concatenate(targets), Y[mask])


def test_what_cannot_be_split_is_refused():
    with pytest.raises(ValueError, match=r"fraction=1\.5"):
        Split(1.5)
    with pytest.raises(ValueError, match="beside a stream"):
        Split(0.1).train(Blocks(10), Y)
    with pytest.raises(ValueError, match="3 rows are too few"):
        list(Split(0.1).train(iter([(X[:3], Y[:3])]))[0])
    with pytest.raises(ValueError, match="3 rows are too few"):
        Split(0.1).train(X[:3])
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        Split(0.1).train(dd.from_pandas(pd.DataFrame(X), npartitions=2))
