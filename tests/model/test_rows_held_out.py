"""Rows that are held out at several distances: their distances, their holes, their weights."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

from zonal.kriging.units import column_groups
from zonal.model.held_out import hold_out, matched_weights, nearest_distance, time_like


@pytest.fixture
def plane():
    return np.random.default_rng(0).uniform(size=(1500, 2))


def space_time(n_places=40, n_times=30):
    rng = np.random.default_rng(1)
    places = rng.uniform(size=(n_places, 2))
    times = np.linspace(0, 1, n_times)
    rows = [np.column_stack([places, np.full(n_places, t)]) for t in times]
    return rng.permutation(np.vstack(rows))


def test_distances_are_those_to_the_known_rows(plane):
    for part in hold_out(plane):
        assert not part.train[part.test].any()
        apart = cdist(plane[part.test], plane[part.train]).min(axis=1)
        np.testing.assert_allclose(part.distance, apart, rtol=1e-12)


def test_scattered_rows_are_the_last_ones(plane):
    """So that a fit to the first rows stays: with others nearly all of it was found anew."""
    first = hold_out(plane)[0]
    np.testing.assert_array_equal(np.flatnonzero(first.train), np.arange(1350))


def test_a_hole_is_a_ball_that_is_empty(plane):
    for part in hold_out(plane, scattered=False, n_test=10**9):
        np.testing.assert_array_equal(np.flatnonzero(~part.train), part.test)
        for hole in np.unique(part.hole):
            inside = plane[part.test[part.hole == hole]]
            # One of its rows is the centre: no known row is nearer to it than the farthest inside.
            reach = cdist(inside, inside).max(axis=1)
            known = cdist(inside, plane[part.train]).min(axis=1)
            assert (known >= reach).any()


def test_holes_reach_from_the_spacing_to_the_extent(plane):
    spacing = np.median(np.sort(cdist(plane, plane), axis=1)[:, 1])
    depths = [part.distance.max() for part in hold_out(plane)]
    assert depths == sorted(depths)
    assert depths[0] < 5 * spacing
    assert depths[-1] > 8 * spacing


def test_most_rows_stay_known(plane):
    for part in hold_out(plane):
        assert part.train.mean() >= 0.8


def test_beside_time_places_and_ends_are_held_out():
    rows = space_time()
    parts = {part.kind: part for part in hold_out(rows, time=2, n_test=10**9)}
    out = parts["places"].test
    gone = {tuple(place) for place in rows[out, :2]}
    assert not gone & {tuple(place) for place in rows[parts["places"].train, :2]}
    assert len(out) == 30 * len(gone)
    turns = [part for part in hold_out(rows, time=2, n_test=10**9) if part.kind == "ends"]
    moments = np.unique(rows[:, 2])
    for number, part in enumerate(turns):
        ends, known = rows[part.test, 2], rows[part.train, 2]
        # A tenth of thirty times at each end of what is left.
        cut = moments[3 * number : 30 - 3 * number]
        assert np.unique(ends).tolist() == [*cut[:3], *cut[-3:]]
        assert np.unique(known).tolist() == cut[3:-3].tolist()
    assert len(turns) == 3


def test_time_is_a_column_whose_values_many_rows_share(plane):
    rows = space_time()
    assert time_like(rows, column_groups(rows)) == 2
    assert time_like(plane, column_groups(plane)) is None
    assert time_like(plane[:, :1], np.zeros(1, int)) == 0
    angle = np.linspace(0, 6, 500)
    sphere = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(500)])
    assert time_like(sphere, column_groups(sphere)) is None


def test_balls_are_as_large_as_the_holes_that_are_asked(plane):
    hole = np.linalg.norm(plane - 0.5, axis=1) < 0.2
    wanted = nearest_distance(plane[~hole], plane[hole])
    parts = hold_out(plane[~hole], wanted, scattered=False)
    found = np.concatenate([part.distance for part in parts])
    assert np.quantile(found, 0.99) > np.quantile(wanted, 0.9)
    # With weights, each of ten classes has as many of both: within a class distances differ by its
    # width at most, and the widths add up to the range.
    weight = matched_weights(found, wanted)
    after = wasserstein_distance(found, wanted, weight)
    assert after < 0.35 * wasserstein_distance(found, wanted)
    assert after <= np.ptp(np.concatenate([found, wanted])) / 10


def test_weights_have_the_mean_one_and_lonely_classes_lose_nothing():
    weight = matched_weights(np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0, 9.0]))
    np.testing.assert_allclose(weight, [0.75, 0.75, 1.5])


def test_few_rows_have_nothing_to_hold_out():
    assert hold_out(np.zeros((2, 2))) == []
