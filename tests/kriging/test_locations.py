import numpy as np

from zonal.kriging.locations import locate

RNG = np.random.default_rng(0)


def test_means_and_sums_of_squares():
    places = RNG.standard_normal((20, 2))
    which = np.concatenate([np.arange(20), RNG.integers(0, 20, 80)])
    X, Y = places[which], RNG.standard_normal((100, 2))
    weight = RNG.uniform(0, 2, 100)
    weight[5] = 0
    found = locate(X, Y, weight)
    assert len(found) == 20
    assert found.index[5] == -1
    for i, row in enumerate(found.rows):
        here = (row == X).all(axis=1)
        mean = np.average(Y[here], axis=0, weights=weight[here])
        squares = (weight[here, None] * (Y[here] - mean) ** 2).sum(axis=0)
        np.testing.assert_allclose(found.targets[i], mean, atol=1e-12)
        np.testing.assert_allclose(found.weight[i], weight[here].sum(), atol=1e-12)
        np.testing.assert_allclose(found.repeated.within[i], squares, atol=1e-12)
        assert (found.index[here & (weight > 0)] == i).all()


def test_order_depends_on_content_only():
    X, Y = RNG.standard_normal((500, 3)).astype(np.float32), RNG.standard_normal((500, 1))
    first = locate(X, Y)
    shuffle = RNG.permutation(500)
    second = locate(X[shuffle], Y[shuffle])
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_array_equal(first.targets, second.targets)
    np.testing.assert_array_equal(locate(X.astype(float), Y).rows, first.rows)
    assert first.rows.dtype == np.float32
    assert not np.array_equal(locate(X, Y, seed=1).rows, first.rows)


def test_order_is_random():
    # The mean position of the rows in each half of a sorted column: sd 500/√12/√250 ≈ 9.
    X = np.arange(500.0)[:, None]
    order = locate(X, X).rows[:, 0]
    assert abs(order[:250].mean() - 249.5) < 4 * 9
    assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 4 / np.sqrt(500)


def test_zeros_of_both_signs_are_one_place():
    found = locate(np.array([[0.0], [-0.0]]), np.array([[1.0], [3.0]]))
    assert len(found) == 1
    assert found.targets.tolist() == [[2.0]]
    assert found.repeated.within.tolist() == [[2.0]]
    assert found.repeated.more.tolist() == [1.0]


def test_order_of_learnt_columns_does_not_see_rounding():
    X, Y = RNG.standard_normal((500, 3)), RNG.standard_normal((500, 1))
    X[250:300] = X[:50]  # some of them twice
    moved = X * (1 + 1e-13 * RNG.standard_normal(3))
    first, second = locate(X, Y, learnt=True), locate(moved, Y, learnt=True)
    assert len(first) == 450
    np.testing.assert_array_equal(first.index, second.index)
    assert not np.array_equal(locate(X, Y).index, locate(moved, Y).index)
    shuffle = RNG.permutation(500)
    np.testing.assert_array_equal(locate(X[shuffle], Y[shuffle], learnt=True).rows, first.rows)
    assert not np.array_equal(locate(X, Y, seed=1, learnt=True).rows, first.rows)


def test_order_of_learnt_columns_is_random():
    X = np.arange(500.0)[:, None]
    order = locate(X, X, learnt=True).rows[:, 0]
    assert abs(order[:250].mean() - 249.5) < 4 * 9
    assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 4 / np.sqrt(500)
