"""Where rows are a sample of more, columns and neighbours must be worth their time."""

import numpy as np
import pytest

import zonal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2000, 8))
LINE = X @ np.ones(8) + 4 * RNG.standard_normal(2000)
CHECKED = np.sign(X[:, 0] * X[:, 1]) + 0.3 * RNG.standard_normal(2000)


def fitted(y):
    return zonal.KernelRidge(budget=128, random_state=0).fit(X, y)


@pytest.mark.parametrize(("sampled", "width"), [(False, 64), (True, 32)])
def test_columns_that_gain_nothing_are_not_summed(monkeypatch, sampled, width):
    """A line needs few; all rows have half of the budget, for a local part was tried too."""
    if sampled:
        monkeypatch.setattr("zonal.selection.choose.PILOT_ROWS", 1200)
    model = fitted(LINE)
    assert model.local_ is None
    assert model.n_columns_ == width


@pytest.mark.parametrize(("sampled", "n_neighbors"), [(False, 96), (True, 32)])
def test_neighbors_that_gain_nothing_are_not_asked(monkeypatch, sampled, n_neighbors):
    """In eight columns of which two count, the nearest tell all."""
    if sampled:
        monkeypatch.setattr("zonal.selection.choose.PILOT_ROWS", 1200)
    assert fitted(CHECKED).recipe_.local.n_neighbors == n_neighbors


def test_what_gains_is_taken(monkeypatch):
    monkeypatch.setattr("zonal.selection.choose.PILOT_ROWS", 1200)
    monkeypatch.setattr("zonal.selection.ladder.beyond_chance", lambda *_: True)
    assert fitted(CHECKED).recipe_.local.n_neighbors == 96
