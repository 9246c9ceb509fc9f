"""Splits at the end of a series."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score

import zonal


def test_equals_scikit_learn_where_rows_are_in_order():
    times = np.arange(60.0)[:, None]
    ours = list(zonal.ForwardKFold(5).split(times))
    theirs = list(TimeSeriesSplit(5).split(times))
    for (train, test), (known, asked) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(train, known)
        np.testing.assert_array_equal(test, asked)


def test_neither_the_order_of_rows_nor_ties_matter():
    rng = np.random.default_rng(0)
    times = np.repeat(np.arange(30.0), 4)
    order = rng.permutation(len(times))
    X = np.column_stack([rng.standard_normal(len(times)), times])
    for (train, test), (known, asked) in zip(
        zonal.ForwardKFold(3).split(X), zonal.ForwardKFold(3).split(X[order]), strict=True
    ):
        assert set(train) == set(order[known])
        assert set(test) == set(order[asked])
        assert times[train].max() < times[test].min()


def test_horizon_and_gap():
    times = np.arange(100.0)
    cv = zonal.ForwardKFold(2, horizon=10.0, gap=5.0)
    (first, asked), (second, last) = cv.split(times[:, None])
    assert (times[asked].min(), times[asked].max()) == (80.0, 89.0)
    assert (times[last].min(), times[last].max()) == (90.0, 99.0)
    assert times[first].max() == 74.0
    assert times[second].max() == 84.0


@pytest.mark.parametrize("name", ["when", "time"])
def test_dates_of_a_frame_are_found(name):
    dates = pd.date_range("2020-01-01", periods=40)
    frame = pd.DataFrame({"x": np.arange(40.0), name: dates, "word": "a"})
    for train, test in zonal.ForwardKFold(3).split(frame):
        assert dates[train].max() < dates[test].min()
    days = zonal.ForwardKFold(1, time=name, horizon=7)
    ((_, test),) = days.split(frame)
    assert len(test) == 7


def test_a_model_is_judged_by_it():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 10, 400))[:, None]
    y = np.sin(t[:, 0]) + 0.1 * rng.standard_normal(400)
    model = zonal.KernelRidge(zonal.FourierFeatures(zonal.Gaussian(1.0), 50, random_state=0))

    def error(cv):
        return -cross_val_score(model, t, y, cv=cv, scoring="neg_mean_squared_error").mean()

    # Between known rows the error is that of the noise, 0.01; ahead of them the field is unknown.
    assert error(KFold(4, shuffle=True, random_state=0)) < 0.015
    assert error(zonal.ForwardKFold(4)) > 0.03
    model.set_params(cv=zonal.ForwardKFold(4)).fit(t, y)
    assert len([name for name in model.cv_results_ if name.startswith("split")]) == 4


@pytest.mark.parametrize(
    ("cv", "X", "words"),
    [
        (zonal.ForwardKFold(0), np.arange(9.0)[:, None], "n_splits=0"),
        (zonal.ForwardKFold(9), np.arange(9.0)[:, None], "at least 10 different times"),
        (zonal.ForwardKFold(2, time="t"), np.arange(9.0)[:, None], "without names"),
        (zonal.ForwardKFold(2, time="t"), pd.DataFrame({"a": [1, 2]}), "no column of X"),
        (zonal.ForwardKFold(2), pd.DataFrame({"a": [1, 2]}), "finds no column of times"),
        (zonal.ForwardKFold(2), np.array([[1.0], [np.nan], [2.0]]), "Row 1 has no time"),
        (zonal.ForwardKFold(2, time="a"), pd.DataFrame({"a": ["x", "y"]}), "neither a number"),
        (zonal.ForwardKFold(3, horizon=5.0), np.arange(9.0)[:, None], "0 rows before it"),
        (zonal.ForwardKFold(2, gap=-1.0), np.arange(9.0)[:, None], "gap=-1.0"),
    ],
)
def test_mistakes_are_named(cv, X, words):
    with pytest.raises(ValueError, match=words):
        list(cv.split(X))
