"""The distinct values of a column."""

import numpy as np
import pandas as pd

from zonal.rows.levels import levels_of, looked_up


def test_levels_are_those_of_pandas():
    words = np.random.default_rng(0).choice(["b", "a", None, "c"], 200)
    levels, codes = levels_of(words)
    expected, known = pd.factorize(words, use_na_sentinel=False)
    np.testing.assert_array_equal(codes, expected)
    assert [known[place] if known[place] == known[place] else None for place in range(4)] == levels


def test_values_that_a_table_does_not_know():
    np.testing.assert_array_equal(looked_up({"a": 3}, ["a", "b", None, "a"], 7), [3, 7, 7, 3])
    assert len(levels_of([])[1]) == 0
