"""Rows by which intervals are calibrated: a fair sample of the rows to come."""

import numpy as np

from zonal.kriging.locations import locate
from zonal.model import local_solution
from zonal.model.local_solution import Observations
from zonal.rows.block import Block


def crowd(n_alone, n_crowd, seed=0):
    """Rows at places of their own, with little noise, and rows at one place, with much."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.uniform(-1, 1, (n_alone, 2)), np.full((n_crowd, 2), 0.5)])
    noise = np.repeat([0.02, 0.5], [n_alone, n_crowd]) * rng.standard_normal(len(X))
    return X, (np.sin(3 * X[:, 0]) + noise)[:, None]


def test_a_crowded_place_is_drawn_as_often_as_rows_come_to_it(monkeypatch):
    monkeypatch.setattr(local_solution, "OBSERVED_PLACES", 400)
    X, y = crowd(1000, 2000)
    locations = locate(X, y)
    found = Observations.of(locations, Block(X, y), None, 32)
    crowded = locations.index[-1]
    assert len(found.places) == 400
    # Four deviations of the binomial distribution of 400 draws with the share 2/3.
    assert abs(np.mean(found.places == crowded) - 2 / 3) < 4 * np.sqrt(2 / 9 / 400)
    # About as many as have places of their own are those of the last places.
    X, y = crowd(1000, 5)
    locations = locate(X, y)
    found = Observations.of(locations, Block(X, y), None, 32)
    assert found.n_places == 400
    assert found.places.min() >= len(locations) - 400
