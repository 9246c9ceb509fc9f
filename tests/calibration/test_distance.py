"""A factor of deviations that changes with the distance to the nearest rows."""

import numpy as np
import pytest

from zonal.calibration.distance import DistanceScale, distance_scale

RNG = np.random.default_rng(0)
N, HOLES = 8000, 400
DISTANCE = np.repeat(np.exp(RNG.uniform(0, np.log(10), HOLES)), N // HOLES)
IN_HOLE = np.repeat(np.arange(HOLES), N // HOLES)
NEAR = RNG.standard_normal((N, 1))


def test_a_power_of_the_distance_is_found():
    far = np.sqrt(DISTANCE)[:, None] * RNG.standard_normal((N, 1))
    found = distance_scale(NEAR, np.ones(N), far, DISTANCE, IN_HOLE)
    asked = np.array([1.0, 2.0, 4.0])
    # Interpolation of a line by means over hats is off by a tenth at most; the standard error of
    # the quantiles of 2,000 normal scores is 0.03.
    np.testing.assert_allclose(np.exp(found.at(asked))[:, 0], np.sqrt(asked), rtol=0.15)
    # Of log distances that are uniform up to l = log 10, the last hat rises from 0.6 l to 0.9 l:
    # its centre of mass is (0.15 · 0.8 + 0.1 · 0.95)/0.25 l = 0.86 l.
    deepest = found.nodes[-1]
    assert deepest == pytest.approx(0.86 * np.log(10), abs=0.1)
    far = np.exp(np.array([deepest, 20.0]))
    np.testing.assert_allclose(found.at(far), found.values[[-1, -1]])


def test_deviations_that_hold_stay():
    far = RNG.standard_normal((N, 1))
    found = distance_scale(NEAR, np.ones(N), far, DISTANCE, IN_HOLE)
    # The standard error of a log ratio is about 0.03, of which only what exceeds it counts.
    assert found is None or np.abs(found.values).max() < 0.08


def test_what_one_hole_says_may_be_chance():
    far = 5 * RNG.standard_normal((N, 1))
    assert distance_scale(NEAR, np.ones(N), far, DISTANCE, np.zeros(N, int)) is None


def test_errors_that_go_together_count_once_a_hole():
    """In each of ten holes all rows have one error: their spread is known to a quarter."""
    holes = IN_HOLE % 10
    values = []
    for seed in range(20):
        errors = np.random.default_rng(seed).standard_normal(10)
        found = distance_scale(NEAR, np.ones(N), errors[holes][:, None], DISTANCE, holes)
        values.append(0.0 if found is None else found.values[-1, 0])
    # The errors are as large as the model says: mostly nothing is taken for more than chance.
    assert np.median(np.abs(values)) < 0.15


def test_a_new_hole_is_held_as_often_as_the_level_says():
    """Each hole has a size of its own, and few are seen: a new one is held in 90 % of its rows.

    With the quantiles of the rows that were seen, as if these were all there are, it is less.
    """
    rng, n_holes, n_rows = np.random.default_rng(3), 12, 40
    distance, holes = np.full(n_holes * n_rows, 9.0), np.repeat(np.arange(n_holes), n_rows)
    held, plain = [], []
    for _ in range(150):
        sizes = 4 * np.exp(0.7 * rng.standard_normal(n_holes + 1))
        scores = sizes[:, None] * rng.standard_normal((n_holes + 1, n_rows))
        seen, new = scores[:-1].reshape(-1, 1), np.abs(scores[-1])
        found = distance_scale(NEAR, np.ones(N), seen, distance, holes)
        width = 1.645 * np.exp(found.at(np.array([9.0]))[0, 0])
        held.append((new < width).mean())
        plain.append((new < np.quantile(np.abs(seen), 0.9)).mean())
    # The standard deviation over holes is .2, so that the standard error of 150 is .016.
    assert np.mean(held) > 0.9 - 3 * 0.016
    assert np.mean(held) < 0.97
    assert np.mean(held) > np.mean(plain) + 0.03


def test_a_hole_counts_once_however_many_rows_it_has():
    """One hole of 4,000 rows at a pole errs fivefold; 400 others are as the model says."""
    crowd = np.append(IN_HOLE, np.full(4000, HOLES))
    far = np.append(RNG.standard_normal(N), 5 * RNG.standard_normal(4000))[:, None]
    distance = np.append(DISTANCE, np.full(4000, 9.0))
    found = distance_scale(NEAR, np.ones(N), far, distance, crowd)
    assert found is None or np.abs(found.values).max() < 0.08


def test_holes_no_deeper_than_the_spacing_tell_nothing():
    assert distance_scale(NEAR, np.full(N, 20.0), NEAR, DISTANCE, IN_HOLE) is None


def test_each_target_has_its_own():
    far = np.column_stack([3 * RNG.standard_normal(N), RNG.standard_normal(N)])
    near = np.column_stack([NEAR[:, 0], NEAR[:, 0]])
    found = distance_scale(near, np.ones(N), far, DISTANCE, IN_HOLE)
    assert found.values[-1, 0] == pytest.approx(np.log(3), abs=0.1)
    assert abs(found.values[-1, 1]) < 0.1


def test_the_factor_is_linear_in_the_logarithm_of_the_distance():
    scale = DistanceScale(np.log([1.0, 2.0, 8.0]), np.array([[0.0], [1.0], [3.0]]))
    found = scale.at(np.array([0.0, 1.0, np.sqrt(2), 4.0, 100.0]))
    np.testing.assert_allclose(found[:, 0], [0, 0, 0.5, 2, 3])
