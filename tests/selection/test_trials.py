"""Candidates judged on held-out rows of all rows."""

import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import zonal
from zonal._deadline import Deadline
from zonal.kriging import neighbors as searches
from zonal.kriging.search import Found
from zonal.model.recipe import Local
from zonal.polynomials import to_sphere
from zonal.selection.choice import _Chooser, _Contender
from zonal.selection.trials import Split, Trial, Trials, preferred


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 400))), rng.uniform(-180, 180, 400)
    targets = np.sin(np.radians(4 * lat)) + 0.3 * np.cos(np.radians(3 * lon))
    splits = []
    for west in (-180, 0):
        test = np.flatnonzero((lon > west) & (lon < west + 60))
        splits.append(Split(np.setdiff1d(np.arange(400), test), test, test[::2]))
    return Trials(to_sphere(lat, lon), targets[:, None], None, splits, n_neighbors=400)


def exact(trials, found):
    """Squared errors of kriging about the mean of generalised least squares, from all rows."""
    parts = []
    for split in trials.splits:
        X, y = trials.rows[split.train], trials.targets[split.train, 0]
        K = found.kernel(X) + found.noise * np.eye(len(X))
        ones = np.linalg.solve(K, np.ones(len(X)))
        mean = ones @ y / ones.sum()
        k = found.kernel(trials.rows[split.queries], X)
        predicted = mean + k @ np.linalg.solve(K, y - mean)
        parts.append((trials.targets[split.queries, 0] - predicted) ** 2)
    return np.concatenate(parts)


def test_candidates_of_one_metric_share_their_neighbours(trials, monkeypatch):
    found = [Found(zonal.Matern(0.5, [scale] * 3), 1e-4, 1.0, 0.0) for scale in (0.3, 2.0)]
    first = trials.losses(found[0])
    monkeypatch.setattr(searches.Nearest, "query", None)  # nothing is searched again
    second = trials.losses(found[1])
    for losses, one in zip((first, second), found, strict=True):
        # All rows are neighbours; only the mean comes from 24 earlier ones of each row.
        np.testing.assert_allclose(losses, exact(trials, one), atol=0.02 * trials.spread())


def test_the_error_of_the_mean_is_that_of_the_first_split(trials):
    split = trials.splits[0]
    mean = trials.targets[split.train].mean()
    expected = np.mean((trials.targets[split.queries] - mean) ** 2)
    assert trials.spread() == pytest.approx(expected)


def test_a_gain_in_one_gap_of_five_may_be_chance():
    rng = np.random.default_rng(0)
    losses, ends = rng.uniform(0.9, 1.1, 500), (100, 200, 300, 400, 500)
    simple = Trial(losses, 0.0, ends=ends)
    everywhere = Trial(losses - 0.1, 0.0, ends=ends)
    once = losses.copy()
    once[400:] -= 0.5  # the same mean gain
    assert preferred(simple, everywhere)
    assert not preferred(simple, Trial(once + 1e-3, 0.0, ends=ends))
    rows = Trial(losses, 0.0), Trial(rng.permutation(once - losses) + losses, 0.0)
    assert preferred(*rows)  # of rows that have nothing to do with each other it is enough


def test_the_line_of_what_was_chosen_is_marked_whatever_its_error():
    """Two contenders with the same error: the second is chosen, and no other line says so."""
    chooser = object.__new__(_Chooser)
    chooser.search = SimpleNamespace(records=[])
    chooser.verbose, chooser.step, chooser.gaps = False, None, False
    chooser.deadline, chooser.local = Deadline(), Local()
    chooser.n_neighbors, chooser.n_far = 32, 0
    chooser.trials = SimpleNamespace(mapped=lambda _: SimpleNamespace(rows=np.zeros((1, 2))))
    alike = [chooser._recorded(_Contender(Trial(np.ones(5), 0.0), name=name)) for name in "abc"]
    model = chooser._build(alike[1])
    assert [line["chosen"] for line in model.records] == [False, True, False]


def test_trials_in_other_columns_are_those_of_the_metric_itself():
    """A metric stays as long as its trials do: another one cannot take its place in memory."""

    class Half:
        def transform(self, rows):
            return rows / 2

    trials = Trials(np.ones((4, 1)), np.ones((4, 1)), None, [])
    metric = Half()
    alive, found = weakref.ref(metric), trials.mapped(metric)
    assert trials.mapped(metric) is found
    del metric
    assert alive() is not None
    assert trials.mapped(Half()) is not found


def test_a_rough_field_with_a_trend_is_chosen_with_two_ranges():
    """Near the rows as good as one kernel, and in a hole better: the choice takes the split."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 10, (1500, 2))
    long = np.sin(rows[:, 0] * 0.9) * np.cos(rows[:, 1] * 0.7) * 3
    y = long + 0.6 * np.sin(9 * rows[:, 0]) * np.sin(8 * rows[:, 1])
    y += 0.05 * rng.standard_normal(1500)
    hole = np.linalg.norm(rows - 5, axis=1) < 1.2
    fitted = zonal.KernelRidge(budget=64, random_state=0).fit(rows[~hole], y[~hole])
    chosen = fitted.selection_.loc[fitted.selection_["chosen"]].iloc[0]
    assert chosen["features"] == "split"
    assert chosen["columns"] == fitted.recipe_.local.found.low.n_columns > 0
    alone = zonal.KernelRidge(None, local=zonal.NeighborKriging(n_features=0))
    alone.fit(rows[~hole], y[~hole])
    errors = [np.square(one.predict(rows[hole]) - y[hole]).mean() for one in (fitted, alone)]
    assert errors[0] < errors[1]
