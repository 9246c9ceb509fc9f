"""The automatic choice: what it finds, what it records, and where it does not choose."""

from unittest import mock

import numpy as np
import pandas as pd
import pytest

import zonal
from zonal.features.columns.structure import find_sphere, prepare
from zonal.moments.held_out import HeldOut, least_error
from zonal.moments.ridge import default_alphas
from zonal.polynomials import uniform_sphere
from zonal.selection.candidates import Kernelized, Scales
from zonal.selection.pilot import Pilot
from zonal.selection.table import Records


@pytest.fixture(scope="module")
def table():
    """Columns in very different units; the target depends on two of three."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (900, 3)) * [1.0, 1e4, 1e-3] + [0.0, 5e4, 2.0]
    y = np.sin(3 * X[:, 0]) * np.cos((X[:, 1] - 5e4) / 4e3) + 0.05 * rng.standard_normal(900)
    return X[:700], y[:700], X[700:], y[700:]


@pytest.fixture(scope="module")
def model(table):
    return zonal.KernelRidge(budget=128, random_state=0).fit(*table[:2])


def test_raw_columns_of_mixed_units(table, model):
    X, y = table[2:]
    assert np.mean((model.predict(X) - y) ** 2) < 0.01  # four times the noise; y has 0.25


def test_table_of_what_was_tried(model):
    table = model.selection_
    columns = {"kernel", "features", "width", "rows", "columns", "error", "weight", "seconds"}
    assert columns <= set(table.columns)
    assert table["weight"].sum() == 1
    assert table["chosen"].sum() == 1
    assert table.loc[table["chosen"], "error"].item() < 0.05  # of the variance
    assert table._repr_html_()


def test_the_learner_shows_the_table(model):
    page = model._repr_html_()
    assert "sk-estimator" in page
    assert "What was tried" in page
    assert "split" in page
    assert "What was tried" not in zonal.KernelRidge()._repr_html_()


def test_same_seed_same_choice(table, model):
    again = zonal.KernelRidge(budget=128, random_state=0).fit(*table[:2])
    np.testing.assert_array_equal(again.predict(table[2]), model.predict(table[2]))


def test_many_rows_are_chosen_by_a_sample(table):
    """The choice sees so many of them; the fit has all."""
    weights = np.where(np.arange(700) % 7 > 0, 1.0, 2.0)
    with mock.patch("zonal.selection.choose.PILOT_ROWS", 400):
        model = zonal.KernelRidge(budget=64, random_state=0).fit(*table[:2], weights)
    assert model.selection_["rows"].max() <= 400
    assert model.n_rows_ == 700
    assert len(model.local_._solution_.part.joint.process.rows) == 700
    assert np.mean((model.predict(table[2]) - table[3]) ** 2) < 0.01


def test_save_and_load(table, model, tmp_path):
    zonal.save(model, tmp_path / "auto.zonal")
    loaded = zonal.load(tmp_path / "auto.zonal")
    np.testing.assert_array_equal(loaded.predict(table[2]), model.predict(table[2]))
    assert len(loaded.selection_) == len(model.selection_)


def test_sphere_and_time_are_recognised():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.random(800) * 40, uniform_sphere(800, 3, rng)])
    assert find_sphere(X).tolist() == [1, 2, 3]
    assert find_sphere(rng.standard_normal((50, 4))) is None
    step, rows, sphere = prepare(X, np.ones(800))
    np.testing.assert_array_equal(rows[:, sphere], X[:, 1:])
    assert abs(rows[:, 0].std() - 1) < 1e-6
    y = X[:, 3] * np.sin(X[:, 0] / 8)
    model = zonal.KernelRidge(budget=128, random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.98
    features = zonal.KernelRidge(budget=128, local=None, random_state=0).fit(X[:600], y[:600])
    assert "product" in set(features.selection_["features"])
    assert step is not None


def test_frames_with_latitude_and_longitude():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    frame = pandas.DataFrame({"lat": rng.uniform(-90, 90, 500), "lon": rng.uniform(-180, 180, 500)})
    y = np.sin(np.radians(frame["lat"].to_numpy()))
    model = zonal.KernelRidge(budget=64, random_state=0).fit(frame, y)
    assert isinstance(model.recipe_.columns.steps[0][1], zonal.SphereEncoder)
    assert model.score(frame, y) > 0.999


def test_classes(table):
    X, y = table[:2]
    labels = np.where(y > 0, "high", "low")
    model = zonal.KernelRidgeClassifier(budget=128, random_state=0).fit(X, labels)
    assert model.score(table[2], np.where(table[3] > 0, "high", "low")) > 0.9


def test_too_few_rows_use_the_default(table):
    model = zonal.KernelRidge(budget=32, random_state=0).fit(table[0][:100], table[1][:100])
    with pytest.raises(AttributeError, match="too few rows"):
        _ = model.selection_
    assert np.isfinite(model.predict(table[2])).all()


def test_error_is_that_of_ridge_regression_on_the_split():
    """Against scikit-learn on the same rows, at the best alpha of the same grid."""
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 2))
    y = np.sin(X[:, :1]) + 0.1 * rng.standard_normal((400, 1))
    pilot = Pilot(X, y, np.ones(400), 400)
    features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), 40)
    found = pilot.error(features, extrapolate=False)
    Z, train = features.transform(X), pilot.folds < 2
    centred = Z[train] - Z[train].mean(axis=0)
    scale = np.square(Z[train]).sum() / Z.shape[1]
    held_out, target = Z[~train] - Z[train].mean(axis=0), y[train].ravel()
    errors = [
        np.mean((Ridge(alpha=a).fit(centred, target).predict(held_out) - y[~train].ravel()) ** 2)
        for a in scale * np.geomspace(1e-10, 1, 20)
    ]
    assert found == pytest.approx(min(errors), rel=1e-6)


def test_extrapolated_error_follows_the_law_of_one_over_n():
    """e(n) = e(m) - (e(m/2) - e(m)) (1 - m/n), with both errors by scikit-learn's Ridge."""
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 3))
    y = np.sin(2 * X[:, :1]) + 0.4 * rng.standard_normal((300, 1))
    many = Pilot(X, y, np.ones(300), 10**6)
    features = Kernelized("gaussian", 0.5, "fourier").features(64, Scales(2.0), None, 3, 0)
    plain, continued = (many.error(features, extrapolate=e) for e in (False, True))
    Z, folds = features.transform(X), many.folds
    scale = np.square(Z[folds < 2]).sum() / Z.shape[1]
    alphas = scale * np.geomspace(1e-10, 1, 20)

    def error(train):
        middle = Z[train].mean(axis=0)
        found = [
            Ridge(alpha=alpha).fit(Z[train] - middle, y[train]).predict(Z[folds == 2] - middle)
            for alpha in alphas
        ]
        return min(np.mean((one.ravel() - y[folds == 2].ravel()) ** 2) for one in found)

    both, half = error(folds < 2), error(folds == 0)
    gain = (half - both) * (1 - np.count_nonzero(folds < 2) / 10**6)
    assert 0 < gain < both / 2
    assert plain == pytest.approx(both, rel=1e-4)
    assert continued == pytest.approx(both - gain, rel=1e-3)


def test_records_show_themselves_without_pandas():
    html = Records([{"kernel": "<matern>", "error": 0.123456}])._repr_html_()
    assert "&lt;matern&gt;" in html
    assert "0.1235" in html


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (np.column_stack([X, np.ones(len(X))]), y),  # a constant column
        lambda X, y: (np.repeat(X[:100], 7, axis=0), np.repeat(y[:100], 7)),  # duplicates
        lambda X, y: (X, y + 1e6 * (np.arange(len(y)) == 5)),  # a heavy tail
        lambda X, y: (X, np.full(len(y), 2.5)),  # a constant target
    ],
)
def test_degenerate_data(table, change):
    X, y = change(*table[:2])
    model = zonal.KernelRidge(budget=48, random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X[:50])).all()


def test_held_out_error_from_moments():
    """The errors of single alphas agree with the path's, which comes from a decomposition."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((300, 2)), rng.standard_normal((300, 2))
    pilot = Pilot(X, y, rng.random(300), 300)
    parts = pilot.moments(zonal.HarmonicFeatures(zonal.Gaussian(1.0), 20).fit(X))
    alphas = default_alphas(parts[0])[10:]
    held_out = HeldOut.of(parts[0], parts[2])
    expected = held_out.errors(alphas)
    found = [held_out.error(alpha) for alpha in alphas]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("bottom", range(20))
def test_least_error_of_a_valley_from_few_trials(bottom):
    tried = []

    def error(alpha):
        tried.append(alpha)
        return 1 + abs(alpha - bottom)

    assert least_error(error, np.arange(20.0)) == 1
    assert len(tried) == len(set(tried)) <= 9


def test_five_thousand_columns():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((400, 5000))
    y = X[:, :100].sum(axis=1)
    model = zonal.KernelRidge(budget=64, random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X, y) > 0  # not worse than a constant on its own rows
    assert not model.selection_["metric"].any()


def test_heavy_tails_do_not_carry_the_prediction_away():
    """Cauchy noise: the constant is about as good as anything, and the choice must see it."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((1000, 3))
    y = np.sin(X[:, 0]) + rng.standard_cauchy(1000)
    found = zonal.KernelRidge(budget=64, random_state=0).fit(X, y).predict(X)
    assert np.abs(found).max() < np.abs(y).max() / 10


def test_rare_classes(table):
    labels = np.array(["common"] * 690 + ["rare"] * 9 + ["single"])
    model = zonal.KernelRidgeClassifier(budget=48, random_state=0).fit(table[0], labels)
    probabilities = model.predict_proba(table[2])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    # A tenth of the probability goes to the rare ones at most: they are ten rows of 700.
    assert probabilities[:, 0].mean() > 0.9
    assert (model.predict(table[2]) == "common").mean() > 0.95


def test_one_class_is_an_error_that_names_it(table):
    with pytest.raises(ValueError, match=r"at least 2 classes.*one class only: \[3\]"):
        zonal.KernelRidgeClassifier(budget=48).fit(table[0], np.full(len(table[0]), 3))


def test_pandas_output_does_not_matter(table):
    from sklearn import config_context

    X, y = table[0][:320], table[1][:320]
    plain = zonal.KernelRidge(budget=16, random_state=0).fit(X, y)
    with config_context(transform_output="pandas"):
        framed = zonal.KernelRidge(budget=16, random_state=0).fit(X, y)
        np.testing.assert_allclose(framed.predict(X), plain.predict(X))


def test_frames_of_unit_vectors_keep_their_names_off_the_map():
    """Without a warning that names were not seen in fit."""
    import warnings

    pandas = pytest.importorskip("pandas")
    X = uniform_sphere(400, 3, np.random.default_rng(0))
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = zonal.KernelRidge(budget=64, random_state=0).fit(frame, X[:, 2])
        assert model.score(frame, X[:, 2]) > 0.999
    np.testing.assert_array_equal(model.recipe_.columns.transform(frame), X)


def test_a_choice_without_time_takes_the_first_and_says_what_it_left_out():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (400, 3))
    y = np.sin(4 * X[:, 0]) + X[:, 1]
    model = zonal.KernelRidge(budget=32, time_limit=1e-9, random_state=0).fit(X, y)
    table = model.selection_
    missing = " ".join(table["features"][table["round"] == 6])
    assert "a local part of two ranges" in missing
    assert table["error"][table["round"] == 6].isna().all()
    assert (table["round"] < 6).sum() == 1
    assert model.score(X, y) > 0.9
    features = zonal.KernelRidge(budget=32, local=None, time_limit=1e-9, random_state=0).fit(X, y)
    assert "no time for a learned metric" in set(features.selection_["features"])
    assert features.score(X, y) > 0.5


def test_the_metric_can_be_switched_off():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 4))
    y = np.sin(X[:, 0] + X[:, 1])
    options = {"budget": 32, "local": None, "random_state": 0}
    assert zonal.KernelRidge(**options).fit(X, y).selection_["metric"].any()
    assert not zonal.KernelRidge(**options, metric=False).fit(X, y).selection_["metric"].any()


@pytest.mark.parametrize("name", ["time_limit", "metric"])
@pytest.mark.parametrize("value", [0, -1.0, "soon"])
def test_bad_limits(name, value):
    X = np.arange(40.0).reshape(-1, 2)
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        zonal.KernelRidge(**{name: value}).fit(X, X[:, 0])


def test_noise_is_not_searched_for_long():
    """The local part is given up after its first parameters."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.standard_normal(1500), "word": rng.choice(["x", "y", "z"], 1500)})
    y = 0.15 * X["a"] + rng.standard_normal(1500)
    tried = zonal.KernelRidge(budget=64, random_state=0).fit(X, y).selection_
    assert (tried["local"] != "none").sum() == 1


def test_the_order_of_rows_does_not_matter():
    """The same table in three orders: the same candidates, weights and predictions."""
    rng = np.random.default_rng(8)
    X = rng.uniform(-2, 2, (800, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(800)
    queries = rng.uniform(-2, 2, (100, 5))
    found = []
    for order in (np.arange(800), np.arange(800)[::-1], rng.permutation(800)):
        model = zonal.KernelRidge(budget=64, random_state=0).fit(X[order], y[order])
        found.append((model.predict(queries), model.selection_))
    for predicted, table in found[1:]:
        np.testing.assert_allclose(table["weight"], found[0][1]["weight"], atol=1e-3)
        # Only the folds by which alpha is found follow the row numbers.
        spread = np.std(predicted - found[0][0])
        assert spread < 0.01 * np.std(y)


def test_a_splitter_lets_features_compete_on_places():
    """A field of one wave, asked far from the rows: what is smooth everywhere goes on there."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, (600, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(600)
    strips = np.floor(X[:, 1]).astype(int)
    cv = [(np.flatnonzero(strips != k), np.flatnonzero(strips == k)) for k in range(4)]
    told = zonal.KernelRidge(budget=64, random_state=0, cv=cv).fit(X, y).selection_
    last = told[told["round"] == 5]
    assert last["features"].iloc[0] == "split"
    assert (last["local"] == "none").any()
    assert last["weight"].sum() == pytest.approx(1.0)


def test_places_have_one_candidate():
    """Unit vectors, or up to three columns: a local part with the low degrees in features."""
    rng = np.random.default_rng(9)
    X = uniform_sphere(700, 3, rng)
    y = X[:, 0] + np.sin(6 * X[:, 1]) + 0.1 * rng.standard_normal(700)
    for rows in (X, X[:, :2]):
        table = zonal.KernelRidge(budget=64, random_state=0).fit(rows, y).selection_
        assert len(table) == 1
        assert table["local"].str.startswith(("matern", "sum")).all()
