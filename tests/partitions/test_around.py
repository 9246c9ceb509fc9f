"""Whoever asks finds the true nearest places, in whatever cell they are."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from zonal.kriging.locations import locate
from zonal.partitions.around import Parts, located, name_of
from zonal.partitions.cuts import Cuts
from zonal.partitions.folder import Folder
from zonal.partitions.part import Part, write_part

RNG = np.random.default_rng(1)
# Crowds, a line and single rows far away: where halos of one width would be wrong.
ROWS = np.concatenate(
    [
        RNG.standard_normal((1500, 2)),
        RNG.standard_normal((1500, 2)) * 0.01 + 3.0,
        np.column_stack([np.linspace(-50, 50, 300), np.full(300, 7.0)]),
        RNG.uniform(-1000, 1000, (20, 2)),
    ]
)
QUERIES = np.concatenate([ROWS[::7] + 1e-3, RNG.uniform(-60, 60, (200, 2)), [[5e3, 5e3]]])
SCALE = np.array([1.0, 2.0])


def store(rows):
    """Write rows into sixteen parts."""
    points = located(rows, SCALE)
    folder, cuts = Folder.temporary(), Cuts.of(points, 16)
    cells = cuts.cell_of(points)
    own = [np.flatnonzero(cells == cell) for cell in range(16)]
    for cell, members in enumerate(own):
        places = locate(rows[members], rows[members, :1])
        write_part(folder / name_of(cell), Part.of(places, 0))
    low = np.array([points[members].min(axis=0) for members in own])
    high = np.array([points[members].max(axis=0) for members in own])
    return Parts(folder, cuts, np.array([len(members) for members in own]), low, high, SCALE)


@pytest.fixture(scope="module")
def stored():
    return store(ROWS)


def test_surroundings_are_narrow():
    """A cell of 1,250 places spans 35 of them; four neighbours are found within four, thinned."""
    rows = np.random.default_rng(2).uniform(size=(20_000, 2))
    found = store(rows)
    points = found.located(rows)
    groups = found.groups(points)
    held = sum(len(near) for cell, g in groups for _, near in found.around(points[g], cell, 4))
    assert held < 2 * len(rows)


@pytest.mark.parametrize("n_neighbors", [1, 10, 300])
def test_nearest_places_are_there(stored, n_neighbors):
    points, everything = stored.located(QUERIES), located(ROWS, SCALE)
    truth = np.sort(cdist(points, everything), axis=1)[:, n_neighbors - 1]
    seen = np.zeros(len(points), int)
    for cell, group in stored.groups(points):
        for chosen, places in stored.around(points[group], cell, n_neighbors):
            own = group[chosen]
            found = np.sort(cdist(points[own], stored.located(places.rows)), axis=1)
            np.testing.assert_allclose(found[:, n_neighbors - 1], truth[own], rtol=1e-12)
            seen[own] += 1
    assert (seen == 1).all()


def test_earlier_places_are_the_first_in_the_order(stored):
    everything = stored.inside(np.full(2, -np.inf), np.full(2, np.inf))
    assert len(everything) == len(np.unique(ROWS, axis=0))
    assert (np.diff(everything.hashes.astype(float)) >= 0).all()
    bound = int(everything.hashes[1000])
    first = stored.inside(np.full(2, -np.inf), np.full(2, np.inf), bound)
    np.testing.assert_array_equal(first.rows, everything.rows[:1000])


def test_a_box_holds_what_is_in_it(stored):
    low, high = np.array([-1.0, -0.5]), np.array([1.0, 0.25])
    points = located(ROWS, SCALE)
    inside = ((points >= low) & (points <= high)).all(axis=1)
    found = stored.inside(low, high)
    assert {row.tobytes() for row in found.rows} == {row.tobytes() for row in ROWS[inside]}
