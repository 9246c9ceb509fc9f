"""Weights by distance: against constrained least squares, with holes as the unit."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize

from zonal.kernels import Matern
from zonal.kriging.locations import locate
from zonal.kriging.search import Found
from zonal.model.distance_weights import hats
from zonal.selection.distances import Distances
from zonal.selection.weighing import verdict
from zonal.selection.weights import simplex_weights


class Held(NamedTuple):
    """What `Distances` tells of held-out rows."""

    truth: np.ndarray
    distance: np.ndarray
    holes: np.ndarray
    is_alone: np.ndarray
    weight: np.ndarray
    wanted: np.ndarray | None = None


def toy(n_holes=60, seed=0):
    """400 rows alone, and ten in each hole: one candidate is right near, the other far."""
    rng = np.random.default_rng(seed)
    alone = np.arange(400 + 10 * n_holes) < 400
    distance = np.where(alone, rng.uniform(0.05, 0.15, len(alone)), 0.0)
    holes = np.arange(len(alone))
    holes[~alone] = 400 + np.repeat(np.arange(n_holes), 10)
    distance[~alone] = np.exp(rng.uniform(np.log(0.1), np.log(10), (~alone).sum()))
    truth = rng.standard_normal((len(alone), 1))
    # Errors in one hole have a part in common.
    common = rng.standard_normal((2, holes.max() + 1))[:, holes]
    own = rng.standard_normal((2, len(alone)))
    sizes = np.stack([0.1 * np.sqrt(distance), 0.1 / np.sqrt(distance)])
    errors = sizes * (0.5 * common + own)
    held = Held(truth, distance, holes, alone, np.ones(len(alone)))
    return held, truth[None] + errors[:, :, None]


def test_worse_than_the_mean_has_no_weight_whatever_cancels():
    held, predicted = toy()
    far = held.distance > 3
    # Far from the rows the first is of no use, but would correct the second.
    error = (held.truth - predicted[1])[far]
    predicted[0, far] = held.truth[far] + 30 * error
    predicted[1, far] = held.truth[far] - error
    found = verdict(held, predicted)
    assert found.errors[0, -1] > 1
    assert found.weighing.values[-1].tolist() == [0.0, 1.0]
    assert found.weighing.values[0, 0] > 0.9


def test_weights_that_are_not_allowed_are_zero():
    held, predicted = toy()
    shares, free = hats(held.distance, np.log([0.1, 1.0])), np.array([[True, False], [True, True]])
    found = simplex_weights(predicted, held.truth, None, shares, free)
    assert found[0].tolist() == [1.0, 0.0]
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_each_is_taken_where_it_is_right():
    held, predicted = toy()
    found = verdict(held, predicted)
    assert found.chosen == (0, 1)
    values = found.weighing.values
    assert values[0, 0] > 0.95
    assert values[-1, 1] > 0.9
    assert found.errors[0, 0] < found.errors[1, 0]
    assert found.errors[0, 2] > found.errors[1, 2]
    mixed = np.einsum("nc,cnt->nt", found.weighing.at(held.distance), predicted)
    alone = np.square(held.truth - predicted).mean(axis=(1, 2))
    assert np.square(held.truth - mixed).mean() < alone.min()


def test_without_a_blend_one_is_left():
    held, predicted = toy()
    assert len(verdict(held, predicted, blend=False).chosen) == 1


def test_weights_of_nodes_are_those_of_constrained_least_squares():
    """Against SciPy's SLSQP: three nodes, two candidates."""
    held, predicted = toy(seed=1)
    shares = hats(held.distance, np.log([0.1, 1.0, 10.0]))
    v = np.random.default_rng(0).random(len(shares))

    def loss(w):
        each = w.reshape(3, 2)
        mean = np.einsum("nk,kc,cn->n", shares, each, predicted[:, :, 0])
        return 1e3 * float(v @ (held.truth[:, 0] - mean) ** 2)

    sums = {"type": "eq", "fun": lambda w: w.reshape(3, 2).sum(axis=1) - 1}
    found = minimize(loss, np.full(6, 0.5), bounds=[(0, 1)] * 6, constraints=sums, tol=1e-12)
    ours = simplex_weights(predicted, held.truth, v, shares)
    np.testing.assert_allclose(ours, found.x.reshape(3, 2), atol=2e-3)


@pytest.mark.parametrize("n_better", [1, 30])
def test_a_gain_in_one_hole_is_chance(n_better):
    """The same mean gain, in one hole of thirty or in all of them."""
    rng = np.random.default_rng(3)
    held = toy(n_holes=30)[0]
    error = 0.1 * rng.standard_normal(len(held.truth))
    factor = np.ones(len(error))
    factor[(held.holes >= 400) & (held.holes < 400 + n_better)] = 0.0 if n_better == 1 else 0.9
    two = held.truth[None] + np.stack([error, factor * error])[:, :, None]
    chosen = verdict(held, two).chosen
    assert (chosen == (0,)) == (n_better == 1)


def test_what_is_asked_counts():
    """Where only far rows are asked for, what is right far from the rows counts alone."""
    held, predicted = toy()
    asked = held._replace(wanted=np.linspace(5, 10, 50))
    assert verdict(asked, predicted, blend=False).chosen == (1,)
    near = held._replace(wanted=np.linspace(0.05, 0.15, 50))
    assert verdict(near, predicted, blend=False).chosen == (0,)


def test_the_order_of_storage_does_not_matter():
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(800, 2))
    y = np.sin(6 * X[:, :1]) + X[:, 1:] ** 2
    founds = [Found(Matern(nu, 0.3), noise, 1.0, 0.0) for nu, noise in ((1.5, 1e-3), (0.5, 1e-2))]
    verdicts = []
    for order in (np.arange(800), rng.permutation(800)):
        held = Distances(locate(X[order], y[order], None), founds[1], 20)
        verdicts.append(verdict(held, np.stack([held.predicted(found) for found in founds[::-1]])))
    np.testing.assert_allclose(verdicts[0].errors, verdicts[1].errors, rtol=1e-9)
    np.testing.assert_allclose(
        verdicts[0].weighing.values, verdicts[1].weighing.values, rtol=1e-6, atol=1e-9
    )


def test_held_out_rows_are_predicted_without_their_hole():
    """Against a fit to the rows that stay, with the same parameters."""
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(600, 2))
    y = np.sin(6 * X[:, :1]) + X[:, 1:] ** 2
    found = Found(Matern(1.5, 0.5), 1e-3, 1.0, 0.0)
    held = Distances(locate(X, y - y.mean(), None), found, 600)
    said, rows, start = held.predicted(found), held.locations.rows, 0
    for part in held.parts:
        mine = said[start : start + len(part.test)]
        start += len(part.test)
        known = rows[part.train]
        system = found.kernel(known) + found.noise * np.eye(len(known))
        ones = np.ones((len(known), 1))
        targets = held.locations.targets[part.train]
        left = np.linalg.solve(system, np.hstack([ones, targets]))
        mean = (ones.T @ left[:, 1:]) / (ones.T @ left[:, :1])
        exact = mean + found.kernel(rows[part.test], known) @ (left[:, 1:] - left[:, :1] * mean)
        np.testing.assert_allclose(mine, exact, atol=5e-3)
