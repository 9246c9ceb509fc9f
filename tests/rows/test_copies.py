"""Rows that are given more than once, and weights of mean one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from zonal.rows.copies import content_hash, merge_copies, relative_weights

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, (80, 3)).astype(float)
# Some places have one target, some several of their own, some several that others have too.
Y = np.select(
    [X[:, 0] == 1, X[:, 0] == 2], [X @ [1.0, 2.0, 3.0], RNG.integers(5, 7, 80)], 0.1
) + np.where(X[:, 0] == 0, X @ [10.0, 20.0, 30.0] + RNG.integers(0, 2, 80), 0.0)
WEIGHT = RNG.integers(0, 4, 80).astype(float)


def merged_by_hand(X, Y, weight):
    """The first of some copies has the weight of all.

    Copies agree in X and y; and either all rows of that X do, or no other X has that y.
    """
    found, targets = weight.copy(), Y.reshape(len(Y), -1)
    for row in range(len(X)):
        same_place, same_target = (X[row] == X).all(axis=1), (targets == targets[row]).all(axis=1)
        here, with_it = same_place & (weight > 0), same_target & (weight > 0)
        if weight[row] and ((here & ~with_it).sum() == 0 or (with_it & ~here).sum() == 0):
            copies = np.flatnonzero(here & with_it)
            found[row] = weight[copies].sum() if row == copies[0] else 0.0
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
    two = np.column_stack([Y, Y > 3])
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


def test_a_target_of_a_place_that_occurs_once_is_no_proof_of_a_copy():
    """Two ratings of one place agree by chance, where another place has the same rating."""
    rows, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([5.0, 5.0, 6.0, 5.0])
    assert merge_copies(rows, y) is None
    np.testing.assert_array_equal(merge_copies(rows[:3], y[:3]), [2.0, 0.0, 1.0])
    np.testing.assert_array_equal(merged_by_hand(rows, y, np.ones(4)), np.ones(4))
