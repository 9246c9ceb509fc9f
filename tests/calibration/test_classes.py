import numpy as np
import pytest

from zonal.calibration.classes import ClassCalibration
from zonal.evaluation import calibration_error

RNG = np.random.default_rng(0)
N = 6000
CHANCES = RNG.dirichlet([0.5, 0.5, 0.5], 2 * N)
LABELS = (RNG.uniform(size=(2 * N, 1)) > np.cumsum(CHANCES, axis=1)).sum(axis=1)
KNOWN, NEW = slice(0, N), slice(N, None)


def fitted(values):
    return ClassCalibration.of(values[KNOWN], LABELS[KNOWN], np.ones(N))


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_probabilities_hold_after_any_scale(scale):
    """Values that are too timid or too bold become probabilities; their order stays."""
    values = 1 / 3 + scale * (CHANCES - 1 / 3)
    found = fitted(values).probabilities(values[NEW])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    # The family of two parameters has no exact answer for values that are too timid: 0.036.
    assert calibration_error(LABELS[NEW], found, [0, 1, 2]) < 0.05
    assert (found.argmax(axis=1) == values[NEW].argmax(axis=1)).all()


def test_a_shift_changes_nothing():
    calibration = fitted(CHANCES)
    np.testing.assert_allclose(
        calibration.probabilities(CHANCES + 5), calibration.probabilities(CHANCES), atol=1e-12
    )


@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_sets_cover_each_class(coverage):
    held = fitted(CHANCES).sets(CHANCES[NEW], coverage)
    for label in range(3):
        mine = LABELS[NEW] == label
        # The share over rows and calibrations together: twice the binomial variance, about.
        slack = 5 * np.sqrt(2 * coverage * (1 - coverage) / mine.sum())
        assert abs(held[mine, label].mean() - coverage) < slack


def test_a_class_of_few_rows_is_in_every_set():
    labels = LABELS[KNOWN].copy()
    labels[labels == 2] = 0
    labels[:3] = 2
    calibration = ClassCalibration.of(CHANCES[KNOWN], labels, np.ones(N))
    assert calibration.sets(CHANCES[NEW], 0.9)[:, 2].all()


def test_levels_make_up_for_classes_that_are_shrunk():
    """Values of one class at half their size: with a level for each class, as if they were not."""
    values = CHANCES * [0.5, 1.0, 1.0]

    def loss(calibration, values):
        found = calibration.probabilities(values[NEW])
        return -np.log(found[np.arange(N), LABELS[NEW]]).mean()

    whole = loss(fitted(CHANCES), CHANCES)
    plain = loss(fitted(values), values)
    own = ClassCalibration.of(values[KNOWN], LABELS[KNOWN], np.ones(N), with_levels=True)
    assert plain - whole > 0.02
    assert loss(own, values) - whole < (plain - whole) / 2
    assert np.argmax(own.levels) == 0
