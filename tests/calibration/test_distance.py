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
    # Of log distances that are uniform up to l = log 10, the last hat rises from 0.45 l to 0.9 l:
    # its centre of mass is (0.225 · 0.75 + 0.1 · 0.95)/0.325 l = 0.81 l.
    deepest = found.nodes[-1]
    assert deepest == pytest.approx(0.81 * np.log(10), abs=0.1)
    far = np.exp(np.array([deepest, 20.0]))
    np.testing.assert_allclose(found.at(far), found.values[[2, 2]])


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


def test_holes_no_deeper_than_the_spacing_tell_nothing():
    assert distance_scale(NEAR, np.full(N, 20.0), NEAR, DISTANCE, IN_HOLE) is None


def test_each_target_has_its_own():
    far = np.column_stack([3 * RNG.standard_normal(N), RNG.standard_normal(N)])
    near = np.column_stack([NEAR[:, 0], NEAR[:, 0]])
    found = distance_scale(near, np.ones(N), far, DISTANCE, IN_HOLE)
    assert found.values[2, 0] == pytest.approx(np.log(3), abs=0.1)
    assert abs(found.values[2, 1]) < 0.1


def test_the_factor_is_linear_in_the_logarithm_of_the_distance():
    scale = DistanceScale(np.log([1.0, 2.0, 8.0]), np.array([[0.0], [1.0], [3.0]]))
    found = scale.at(np.array([0.0, 1.0, np.sqrt(2), 4.0, 100.0]))
    np.testing.assert_allclose(found[:, 0], [0, 0, 0.5, 2, 3])
