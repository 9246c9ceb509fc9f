"""Rows that are given more than once, and weights of mean one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from zonal.rows.copies import content_hash, merge_copies, relative_weights

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, (80, 3)).astype(float)
Y = np.where(X[:, 0] > 0, X @ [1.0, 2.0, 3.0], RNG.standard_normal(80))  # some places are mixed
WEIGHT = RNG.integers(0, 4, 80).astype(float)


def merged_by_hand(X, Y, weight):
    """The first of rows that agree in X, all of which agree in y, has the weight of all."""
    found = weight.copy()
    for place in np.unique(X, axis=0):
        here = np.flatnonzero((place == X).all(axis=1) & (weight > 0))
        if len(here) and len(np.unique(Y[here], axis=0)) == 1:
            found[here] = 0
            found[here[0]] = weight[here].sum()
    return found


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", ["array", "float32", "csr", "pandas", "polars", "words"])
def test_merged_weights(kind, weight):
    frame = pd.DataFrame(X, columns=list("abc"))
    rows = {
        "array": X,
        "float32": X.astype(np.float32),
        "csr": sp.csr_array(X),
        "pandas": frame,
        "polars": pl.DataFrame({name: frame[name].to_numpy() for name in frame}),
        "words": frame.assign(a=frame["a"].map({0: "x", 1: "y", 2: None})),
    }[kind]
    given = np.ones(80) if weight is None else weight
    expected = merged_by_hand(X, Y, given)
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(given)
    np.testing.assert_array_equal(merge_copies(rows, Y, weight), expected)
    two = np.column_stack([Y, Y > 0])
    np.testing.assert_array_equal(merge_copies(rows, two, weight), merged_by_hand(X, two, given))


def test_nothing_to_merge_leaves_the_weights():
    rows = RNG.standard_normal((30, 2))
    assert merge_copies(rows, Y[:30]) is None
    assert merge_copies(rows, Y[:30], WEIGHT[:30]) is WEIGHT[:30] or np.array_equal(
        merge_copies(rows, Y[:30], WEIGHT[:30]), WEIGHT[:30]
    )


@pytest.mark.parametrize("factor", [1e-300, 0.01, 1.0, 100.0, 1e300])
def test_relative_weights_have_the_mean_one(factor):
    found = relative_weights(X, Y, factor * WEIGHT)
    merged = merged_by_hand(X, Y, WEIGHT)
    np.testing.assert_allclose(found, WEIGHT / merged[merged > 0].mean(), rtol=1e-12)
    together = relative_weights(X, Y, factor * WEIGHT, merge=True)
    np.testing.assert_allclose(together[together > 0].mean(), 1, rtol=1e-12)
    distinct = RNG.standard_normal((80, 3))
    assert relative_weights(distinct, Y, np.full(80, factor)) is None
    twice = np.concatenate([distinct, distinct]), np.concatenate([Y, Y])
    np.testing.assert_array_equal(relative_weights(*twice, merge=True), np.repeat([1.0, 0.0], 80))


def test_the_hash_of_sparse_rows_sees_places_and_values():
    rows = sp.csr_array([[1.0, 0, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 0, 0]])
    explicit = rows.copy()
    explicit.data[:] = np.where(explicit.data == 1, 0.0, explicit.data)  # zeros that are stored
    found = content_hash(rows)
    assert len(set(found.tolist())) == 4
    assert found[0] == found[3]
    dropped = explicit.copy()
    dropped.eliminate_zeros()
    np.testing.assert_array_equal(content_hash(explicit), content_hash(dropped))
