"""What a fitted model finds when it is asked, and which copies may keep it."""

import numpy as np

import zonal
from zonal.model.found_once import found_once

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (80, 2))
y = np.sin(2 * X[:, 0]) + 0.1 * RNG.standard_normal(80)


def test_found_once_and_kept_by_its_name():
    class Value:
        def __init__(self):
            self.kept = {}
            self.calls = 0

        @found_once
        def answer(self):
            self.calls += 1
            return 42

    value = Value()
    assert (value.answer(), value.answer(), value.calls) == (42, 42, 1)
    assert value.kept == {"answer": 42}


def test_predictions_do_without_and_intervals_do_not():
    model = zonal.KernelRidge(zonal.HarmonicFeatures(zonal.Gaussian(1.0), 40)).fit(X, y)
    model.predict(X)
    found = model._solution
    assert "calibration" not in found.kept
    model.predict_interval(X)
    assert found.kept["calibration"] is model.calibration_


def test_a_copy_without_sums_keeps_what_needed_them():
    model = zonal.KernelRidge(zonal.HarmonicFeatures(zonal.Gaussian(1.0), 40)).fit(X, y)
    expected = model.predict_interval(X)
    light = model.without_sums()
    np.testing.assert_array_equal(light.predict_interval(X), expected)
    light._solution.kept.clear()
    assert "calibration" in model._solution.kept  # a dict of its own


def test_a_model_that_forgets_rows_forgets_its_calibration():
    """The errors of left-out rows are those of another model then."""
    model = zonal.NeighborKriging(zonal.Matern(1.5, 1.0), 8, noise=0.1).fit(X, y)
    model.predict_interval(X)
    found = model._solution
    assert found.kept
    assert not found.without(X[:5]).kept
