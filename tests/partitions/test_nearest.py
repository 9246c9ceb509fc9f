"""Scattered queries find their true nearest places, and open only the parts that hold them."""

from unittest import mock

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from zonal.partitions import nearest
from zonal.partitions.around import Parts, located
from zonal.partitions.tree import Tree, search

from .test_around import QUERIES, ROWS, SCALE, store


@pytest.fixture(scope="module")
def stored():
    return store(ROWS)


@pytest.mark.parametrize("n_neighbors", [1, 10, 300, 10_000])
@mock.patch.object(nearest, "GATHERED_QUERIES", 50)
@mock.patch.object(nearest, "MOST_QUERIES", 170)
def test_nearest_places_are_there(stored, n_neighbors):
    points, everything = stored.located(QUERIES), np.unique(located(ROWS, SCALE), axis=0)
    last = min(n_neighbors, len(everything)) - 1
    truth = np.sort(cdist(points, everything), axis=1)[:, last]
    seen = np.zeros(len(points), int)
    for chosen, places in nearest.neighborhoods(stored, points, n_neighbors):
        found = np.sort(cdist(points[chosen], stored.located(places.rows)), axis=1)
        np.testing.assert_allclose(found[:, last], truth[chosen], rtol=1e-12)
        assert (np.diff(places.hashes.astype(float)) >= 0).all()
        seen[chosen] += 1
    assert (seen == 1).all()


def test_few_places_are_gathered_and_few_parts_opened():
    """A query in the middle of a cell needs its neighbours and no other part."""
    rows = np.random.default_rng(2).uniform(size=(20_000, 2))
    found = store(rows)
    points = np.median(found.located(rows[found.cuts.cell_of(found.located(rows)) == 5]), axis=0)
    with mock.patch.object(Parts, "searched", autospec=True, side_effect=Parts.searched) as opened:
        ((_, places),) = nearest.neighborhoods(found, points[None], 7)
    assert [call.args[1] for call in opened.call_args_list] == [5]
    assert len(places) == 7


@pytest.mark.parametrize("n", [1, 31, 33, 1000])
def test_a_tree_finds_what_looking_at_all_finds(n):
    rng = np.random.default_rng(n)
    rows = rng.standard_normal((n, 3)).astype(np.float32).round(1)  # with ties
    points = located(rows, SCALE[[0, 1, 1]])
    tree, queries = Tree.of(points), rng.standard_normal((40, 3))
    assert sorted(tree.order) == list(range(n))
    m = min(n, 9)
    squares, names = np.full((40, m), np.inf), np.full((40, m), -1)
    search(tree, rows, SCALE[[0, 1, 1]], queries, squares, names, 100)
    distance = cdist(queries, points)
    np.testing.assert_allclose(np.sqrt(squares), np.sort(distance, axis=1)[:, :m], rtol=1e-12)
    own = np.take_along_axis(distance, names - 100, axis=1)
    np.testing.assert_allclose(own, np.sqrt(squares), rtol=1e-12)


def test_a_tree_of_other_places_is_refused():
    points = np.random.default_rng(0).standard_normal((100, 2))
    tree = Tree.of(points)
    assert tree.fits(100, 2)
    assert not tree.fits(99, 2)
    assert not tree.fits(100, 3)
    assert not tree._replace(order=tree.order + np.int32(1)).fits(100, 2)
    assert not tree._replace(boxes=tree.boxes[:-1]).fits(100, 2)
