import numpy as np
import pytest
from scipy.spatial.distance import cdist

from zonal.kriging import scanning
from zonal.kriging.neighbors import Nearest, earlier_neighbors, effective_columns

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_columns", [1, 3, 20])
@pytest.mark.parametrize("n_neighbors", [1, 7, 300])
def test_nearest_are_those_of_all_distances(n_columns, n_neighbors, monkeypatch):
    monkeypatch.setattr(scanning, "QUERIES", 16)  # several tiles
    monkeypatch.setattr(scanning, "POINTS", 70)
    points, queries = RNG.random((300, n_columns)), RNG.random((50, n_columns))
    found = Nearest(points).query(queries, n_neighbors)
    expected = np.argsort(cdist(queries, points), axis=1)[:, :n_neighbors]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_columns", [1, 3, 20])
@pytest.mark.parametrize("n_neighbors", [1, 7, 299])
@pytest.mark.parametrize("some", [False, True])
def test_earlier_are_those_of_all_distances(n_columns, n_neighbors, some):
    points = RNG.random((300, n_columns))
    rows = np.sort(RNG.choice(300, 40, replace=False)).astype(np.int32) if some else None
    found = earlier_neighbors(points, n_neighbors, rows)
    distances = cdist(points, points)
    for i, row in enumerate(np.arange(300) if rows is None else rows):
        expected = np.argsort(distances[row, :row])[:n_neighbors]
        np.testing.assert_array_equal(found[i, : len(expected)], expected)
        assert (found[i, len(expected) :] == -1).all()


def test_rows_that_are_not_in_random_order_ask_again():
    # All rows of the second half are at one place: the nearest of a late row are mostly later.
    points = np.concatenate([RNG.random((200, 2)), 5 + 1e-3 * RNG.random((200, 2))])
    found = earlier_neighbors(points, 10)
    distances = cdist(points, points)
    for row in range(400):
        expected = np.argsort(distances[row, :row])[:10]
        np.testing.assert_array_equal(found[row, : len(expected)], expected)


def test_many_columns_far_from_zero():
    """Keys are differences of squares: they must not lose the distances."""
    points = 1e6 + RNG.random((400, 12))
    found = Nearest(points).query(points[:50], 9)
    expected = np.argsort(cdist(points[:50], points), axis=1)[:, :9]
    np.testing.assert_array_equal(found, expected)


def test_effective_columns():
    assert effective_columns(RNG.random((100, 3))) == 3
    plane = RNG.standard_normal((5000, 2)) @ np.linalg.qr(RNG.standard_normal((20, 20)))[0][:2]
    assert abs(effective_columns(plane) - 2) < 0.01
    assert abs(effective_columns(RNG.standard_normal((20000, 20))) - 20) < 0.2
    assert effective_columns(np.ones((5, 20))) == 1
    wide = RNG.standard_normal((8, 30))
    values = np.linalg.eigvalsh(np.cov(wide, rowvar=False))
    assert effective_columns(wide) == pytest.approx(values.sum() ** 2 / (values**2).sum())
