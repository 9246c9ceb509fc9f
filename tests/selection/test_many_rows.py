"""Where rows are a sample of more, columns and neighbours must be worth their time."""

import numpy as np
import pytest

import zonal
from zonal.selection.judge import Candidate
from zonal.selection.ladder import weigh, worth

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
    monkeypatch.setattr("zonal.selection.ladder.worth", lambda *_, **__: True)
    assert fitted(CHECKED).recipe_.local.n_neighbors == 96


def candidate(predicted, truth):
    losses = np.square(truth - predicted).mean(axis=1)
    return Candidate("", predicted, losses, (len(truth),))


def test_time_that_doubles_must_gain_half_a_per_cent_each_time():
    """A sure gain of 1.2 % is worth two doublings, and not three."""
    truth = RNG.standard_normal((4000, 1))
    first = candidate(np.zeros_like(truth), truth)
    gains = 0.012 * first.losses
    assert [worth(gains, first, doublings) for doublings in (1, 2, 3)] == [True, True, False]
    # A gain as large that chance may have made is none.
    assert not worth(gains + 10 * RNG.standard_normal(4000), first)


@pytest.mark.parametrize(("thrifty", "left"), [(False, 3), (True, 2)])
def test_a_third_candidate_must_gain_what_it_costs(thrifty, left):
    """Two that are nearly the same: a mean of both gains something, but very little."""
    truth = np.zeros((4000, 1))
    one, two, *own = RNG.standard_normal((4, 4000, 1))
    errors = [one, two + 0.1 * own[0], two + 0.1 * own[1]]
    found = weigh([candidate(error, truth) for error in errors], truth, thrifty=thrifty)
    assert len(found.candidates) == left
    assert sum(found.weights) == pytest.approx(1)
