"""Words of held-out rows: nothing that has seen their targets may encode them.

Stations have effects of variance one and nothing else tells of them, so that new stations cannot be
predicted: the honest error is the variance, up to chance in so many stations.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

import zonal
from zonal.evaluation import BlockKFold, errors_by_group

STATIONS, REPEATS, NOISE = 200, 6, 0.1
FEATURES = zonal.FourierFeatures(zonal.Gaussian(1.0), 60, random_state=0)
LOCAL = zonal.NeighborKriging(zonal.Matern(1.5, 2.0), noise=0.02)
# The mean of the squares of 200 normal numbers is within this of one, at three deviations.
CHANCE = 3 * np.sqrt(2 / STATIONS)
# The share in an interval of 90 % of as many stations, calibrated by as many others.
COVERED = 3 * np.sqrt(2 * 0.9 * 0.1 / STATIONS)


def stations(seed):
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(STATIONS), REPEATS)
    X = pd.DataFrame(
        {
            "station": [f"s{seed}-{j}" for j in number],
            "x": rng.standard_normal(len(number)),
            "lat": rng.uniform(-60, 60, STATIONS)[number],
            "lon": rng.uniform(-170, 170, STATIONS)[number],
        }
    )
    effect = rng.standard_normal(STATIONS)
    y = effect[number] + NOISE * rng.standard_normal(len(number))
    return X, y, number, effect


@pytest.fixture(scope="module")
def data():
    X, y, number, effect = stations(0)
    return X[["station", "x"]], y, number, effect


@pytest.fixture(scope="module")
def new():
    X, y, *_ = stations(1)
    return X, y


def held(model, new):
    """Return the share of new rows in intervals of 90 %."""
    X, y = new
    lower, upper = model.predict_interval(X[list(model.feature_names_in_)])
    return np.mean((lower <= y) & (y <= upper))


def features(**options):
    return zonal.KernelRidge(FEATURES, encoder=zonal.TableEncoder(numbers="plain"), **options)


def kriging(**options):
    encoder = zonal.TableEncoder(numbers="plain")
    return zonal.KernelRidge(None, local=LOCAL, encoder=encoder, **options)


def test_rows_of_a_split_are_those_of_an_encoder_of_its_training_rows(data):
    X, y, number, _ = data
    X = X.assign(kind=[f"k{j % 17}" for j in range(len(X))])
    y = y + (np.arange(len(y)) % 17) / 4
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    encoder = zonal.TableEncoder(ignore=["x"]).fit(X, y, weight)
    table = encoder.split_table(X, y, weight)
    for groups in (number, np.arange(len(y))):
        train, test = next(GroupKFold(4).split(X, groups=groups))
        rows = table.rows(np.isin(np.arange(len(y)), train))
        other = zonal.TableEncoder(ignore=["x"])
        other.fit(X.iloc[train], y[train], weight[train], row_numbers=train)
        np.testing.assert_array_equal(rows[test], other.transform(X.iloc[test]))
        expected = other.transform_training(X.iloc[train], train)
        np.testing.assert_array_equal(rows[train], expected)


def test_targets_that_are_held_out_change_no_row(data):
    """Neither means of words nor what fills gaps, which looks at these means."""
    X, _, number, effect = data
    rng = np.random.default_rng(0)
    others = rng.standard_normal((len(X), 4))
    whole = others.sum(axis=1)
    y = np.sin(1.5 * whole) + effect[number]
    X = X.assign(**dict(zip("bcde", others.T, strict=True)))
    X["sum"] = np.where(rng.random(len(X)) < 0.3, np.nan, whole)
    encoder = zonal.TableEncoder().fit(X, y)
    assert "filled by regression" in encoder.columns_[-1]["encoding"]
    train = number % 5 > 0
    changed = np.where(train, y, -7 * y)
    rows = encoder.split_table(X, y).rows(train)
    np.testing.assert_array_equal(rows, encoder.split_table(X, changed).rows(train))
    assert (rows != encoder.split_table(X, -7 * y).rows(train)).any()


def test_encoders_that_look_at_no_targets_are_not_learnt_again(data):
    X, y, number, _ = data
    few = X.assign(station=[f"s{j % 12}" for j in number])
    encoder = zonal.TableEncoder(numbers="plain")
    assert encoder.fit(few, y).split_table(few, y) is None
    assert encoder.fit(X, y).split_table(X, y) is not None


def test_a_refitted_model_is_one_of_the_other_rows():
    """Of words alone nothing but coefficients and means is learnt."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({name: rng.choice([f"{name}{j}" for j in range(30)], 900) for name in "ab"})
    y = X["a"].str[1:].astype(float).to_numpy() / 10 + rng.standard_normal(900)
    model = features(alpha=0.1).fit(X, y)
    found = model.refitted(X[:600], y[:600]).predict(X[600:])
    np.testing.assert_allclose(found, features(alpha=0.1).fit(X[:600], y[:600]).predict(X[600:]))
    labels = np.where(y > 1.5, "high", "low")
    options = {"alpha": 0.1, "encoder": zonal.TableEncoder()}
    model = zonal.KernelRidgeClassifier(FEATURES, **options).fit(X, labels)
    other = zonal.KernelRidgeClassifier(FEATURES, **options).fit(X[:600], labels[:600])
    found = model.refitted(X[:600], labels[:600]).decision_function(X[600:])
    np.testing.assert_allclose(found, other.decision_function(X[600:]))


@pytest.mark.parametrize("learner", [features, kriging])
def test_groups(data, new, learner, tmp_path):
    X, y, number, effect = data
    model = learner(cv=5).fit(X, y, groups=number)
    assert errors_by_group(model, X, y, number).measures()["r2"] == pytest.approx(0, abs=0.1)
    if learner is features:
        error = model.cv_results_["mean_test_mse"].min()
        assert error == pytest.approx(effect.var(), rel=CHANCE)
    assert held(model, new) == pytest.approx(0.9, abs=COVERED)
    # Stations that are known are: the mean of six rows has a sixth of the noise's variance.
    again = X.assign(x=0.0)
    error = np.mean((model.predict(again) - effect[number]) ** 2)
    assert error < 3 * NOISE**2
    # The rows of splits are gone when the model is saved, and the intervals are the same.
    zonal.save(model, tmp_path / "model.zonal")
    loaded = zonal.load(tmp_path / "model.zonal")
    rows = new[0][["station", "x"]][:20]
    pairs = zip(model.predict_interval(rows), loaded.predict_interval(rows), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_array_equal(ours, theirs)


def test_the_choice_by_groups_and_by_blocks(new):
    """What was chosen has an honest error too, features and local parts alike."""
    X, y, number, _ = stations(0)
    for columns, options, groups in (
        (["station", "x"], {"local": None}, number),
        (["station", "lat", "lon"], {"cv": BlockKFold(5, 5)}, None),
    ):
        model = zonal.KernelRidge(budget=64, random_state=0, time_limit=2, **options)
        model.fit(X[columns], y, groups=groups)
        table = model.selection_
        error = table.loc[table["chosen"], "error"].iloc[-1]
        assert error == pytest.approx(1, abs=CHANCE)
        assert held(model, new) == pytest.approx(0.9, abs=COVERED)


def test_classes_by_groups(data, new):
    X, y, number, _ = data
    labels = np.where(y > 0, "warm", "cold")
    options = {"encoder": zonal.TableEncoder(numbers="plain"), "cv": 5}
    for model in (
        zonal.KernelRidgeClassifier(FEATURES, **options),
        zonal.KernelRidgeClassifier(None, local=LOCAL, **options),
    ):
        model.fit(X, labels, groups=number)
        found = errors_by_group(model, X, labels, number).measures()
        assert found["accuracy"] == pytest.approx(0.5, abs=COVERED * 5 / 3)
        chances = model.predict_proba(new[0][["station", "x"]])
        assert np.abs(chances - 0.5).max() < 0.2


def test_random_splits_stay_as_they_were(data):
    """New rows of known stations have the noise and a sixth of it, and so say folds by number."""
    X, y, number, effect = data
    rng = np.random.default_rng(5)
    again = effect[number] + NOISE * rng.standard_normal(len(number))
    model = features(cv=5).fit(X, y)
    error = np.mean((model.predict(X.assign(x=rng.standard_normal(len(X)))) - again) ** 2)
    assert error < 1.5 * NOISE**2
    assert model.cv_results_["mean_test_mse"].min() == pytest.approx(error, rel=0.3)


@pytest.mark.parametrize("splitter", [KFold(5, shuffle=True, random_state=0), GroupKFold(5)])
def test_errors_of_splits_are_those_of_whole_fits(data, splitter):
    X, y, number, _ = data
    groups = number if isinstance(splitter, GroupKFold) else None
    model = features(cv=splitter).fit(X, y, groups=groups)
    place = int(np.flatnonzero(model.cv_results_["alpha"] == model.alpha_)[0])
    ours = [model.cv_results_[f"split{k}_test_mse"][place] for k in range(5)]
    # What each fit learns of x, its mean and its variance, is a little different.
    theirs = -cross_val_score(
        features(alpha=model.alpha_), X, y, groups=groups, cv=splitter,
        scoring="neg_mean_squared_error",
    )  # fmt: skip
    np.testing.assert_allclose(ours, theirs, rtol=0.02)
