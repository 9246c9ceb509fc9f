"""One rule for what is better, and the weights of several candidates."""

import numpy as np
import pytest
from scipy.optimize import minimize

from zonal.selection.judge import Candidate
from zonal.selection.ladder import weigh
from zonal.selection.weights import beyond_chance, simplex_weights, spread_of_mean


def test_a_gain_in_one_gap_of_five_may_be_chance():
    rng = np.random.default_rng(0)
    ends = (100, 200, 300, 400, 500)
    once = np.repeat([0.0, 0.0, 0.0, 0.0, 0.5], 100) - 1e-3
    assert beyond_chance(np.full(500, 0.1), 1.0, ends)
    assert not beyond_chance(once, 1.0, ends)  # the same mean gain
    assert beyond_chance(rng.permutation(once), 1.0)  # rows that have nothing to do with each other


def test_a_gain_of_less_than_half_a_per_cent_does_not_count():
    assert not beyond_chance(np.full(500, 0.004), 1.0)
    assert beyond_chance(np.full(500, 0.006), 1.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_constrained_least_squares(weighted):
    """Against SciPy's SLSQP on the same problem."""
    rng = np.random.default_rng(1)
    y = rng.standard_normal((300, 2))
    shared = rng.standard_normal((300, 2))
    predicted = np.stack(
        [y + s * shared + e * rng.standard_normal((300, 2)) for s, e in [(1, 1), (0.5, 2), (2, 0)]]
    )
    v = rng.random(300) if weighted else None

    def loss(w):
        squares = np.square(y - np.tensordot(w, predicted, 1)).sum(axis=1)
        return float(squares.mean() if v is None else (v * squares).mean())

    condition = {"type": "eq", "fun": lambda w: w.sum() - 1}
    found = minimize(loss, np.ones(3) / 3, bounds=[(0, 1)] * 3, constraints=condition, tol=1e-12)
    np.testing.assert_allclose(simplex_weights(predicted, y, v), found.x, atol=2e-3)


def candidate(name, predicted, y):
    losses = np.square(y - predicted).mean(axis=1)
    return Candidate(name, predicted, losses, (len(y),))


@pytest.fixture(scope="module")
def four():
    """A truth, and four candidates: two of equal and independent errors, one worse, one a copy."""
    rng = np.random.default_rng(2)
    y = rng.standard_normal((2000, 1))
    a, b, c = (y + s * rng.standard_normal(y.shape) for s in (0.5, 0.5, 2.0))
    return y, {"a": a, "b": b, "c": c, "copy": a + 1e-3 * rng.standard_normal(y.shape)}


def test_candidates_that_err_apart_are_averaged(four):
    y, predicted = four
    found = weigh([candidate(name, p, y) for name, p in predicted.items()], y)
    assert {"b"} < {c.name for c in found.candidates} <= {"a", "b", "copy", "c"}
    shares = dict(zip([c.name for c in found.candidates], found.weights, strict=True))
    assert sum(shares.values()) == pytest.approx(1)
    # Independent errors of equal size have equal weights, here within three standard errors.
    assert shares["b"] == pytest.approx(0.5, abs=3 / len(y) ** 0.5)
    # Their mean has 1/√2 of the error.
    assert found.spread == pytest.approx(0.5**0.5, abs=0.05)


def test_one_candidate_is_enough_where_another_adds_nothing(four):
    y, predicted = four
    found = weigh([candidate(name, predicted[name], y) for name in ("a", "copy")], y)
    assert [c.name for c in found.candidates] == ["a"]
    assert found.weights == (1.0,)


def test_without_a_blend_the_best_counts_alone(four):
    y, predicted = four
    found = weigh([candidate(name, p, y) for name, p in predicted.items()][::-1], y, blend=False)
    assert len(found.candidates) == 1
    assert found.candidates[0].name in ("a", "b", "copy")


def test_the_spread_of_the_mean_of_equal_candidates_is_one(four):
    y, predicted = four
    same = np.stack([predicted["a"]] * 3)
    assert spread_of_mean(same, y, np.array([0.2, 0.3, 0.5])) == pytest.approx(1)
