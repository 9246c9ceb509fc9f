"""Learners on tables with words, dates and gaps."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import zonal

N = 1200


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.uniform(-2, 2, N),
            "cut": rng.choice(["fair", "good", "ideal"], N),
            "city": rng.choice([f"city{j}" for j in range(40)], N),
        }
    )
    effect = frame["cut"].map({"fair": -1.0, "good": 0.0, "ideal": 2.0})
    y = np.sin(2 * frame["x"]) + effect + frame["city"].str[4:].astype(float) / 20
    frame.loc[rng.random(N) < 0.05, "x"] = np.nan
    return frame, y.to_numpy() + 0.05 * rng.standard_normal(N)


@pytest.fixture(scope="module")
def model(table):
    X, y = table
    return zonal.KernelRidge(budget=128, local=None, random_state=0).fit(X[:900], y[:900])


def test_regression_on_a_table(model, table):
    X, y = table
    assert model.score(X[900:], y[900:]) > 0.9
    assert list(model.feature_names_in_) == ["x", "cut", "city"]
    new = pd.DataFrame({"x": [np.nan], "cut": ["never seen"], "city": [None]})
    assert np.isfinite(model.predict(new)).all()


def test_other_frames_predict_alike(model, table):
    X, y = table
    expected = model.predict(X[900:])
    for frame in (pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        np.testing.assert_allclose(model.predict(frame[900:]), expected, atol=1e-8)
        other = zonal.KernelRidge(budget=128, local=None, random_state=0).fit(frame[:900], y[:900])
        np.testing.assert_allclose(other.predict(frame[900:]), expected, atol=1e-6)


def test_streams_and_dask_learn_the_same(model, table):
    X, y = table
    expected = model.predict(X[900:])
    blocks = ((X[i : i + 200], y[i : min(i + 200, 900)]) for i in range(0, 900, 200))
    parts = [(rows[: len(targets)], targets) for rows, targets in blocks]
    streamed = zonal.KernelRidge(budget=128, local=None, random_state=0).fit(iter(parts))
    np.testing.assert_allclose(streamed.predict(X[900:]), expected, atol=1e-5)
    collection = dd.from_pandas(X[:900].assign(y=y[:900]), npartitions=3)
    targets = collection.pop("y")
    clustered = zonal.KernelRidge(budget=128, local=None, random_state=0).fit(collection, targets)
    np.testing.assert_allclose(clustered.predict(X[900:]), expected, atol=1e-5)


def test_partial_fit_learns_the_encoder_from_its_first_chunk(table):
    X, y = table
    model = zonal.KernelRidge(budget=64, local=None, random_state=0)
    model.partial_fit(X[:600], y[:600]).partial_fit(X[600:900], y[600:900])
    assert model.score(X[900:], y[900:]) > 0.85


def test_local_part_and_saving(table, tmp_path):
    X, y = table
    model = zonal.KernelRidge(
        zonal.FourierFeatures(n_components=32),
        local=zonal.NeighborKriging(n_neighbors=8),
        encoder=zonal.TableEncoder(),
        random_state=0,
    ).fit(X[:900], y[:900])
    assert model.score(X[900:], y[900:]) > 0.85
    zonal.save(model, tmp_path / "model.zonal")
    again = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_array_equal(again.predict(X[900:]), model.predict(X[900:]))


def test_classes(table):
    X, y = table
    labels = np.where(y > np.median(y), "dear", "cheap")
    model = zonal.KernelRidgeClassifier(budget=128, local=None, random_state=0)
    model.fit(X[:900], labels[:900])
    assert model.score(X[900:], labels[900:]) > 0.85
    assert model.encoder_.task == "classification"


def test_weights_reach_the_encoder(table):
    X, y = table
    weight = np.r_[np.ones(600), np.zeros(300)]
    model = zonal.KernelRidge(budget=32, local=None, random_state=0)
    model.fit(X[:900].assign(cut=["fair"] * 600 + ["odd"] * 300), y[:900], weight)
    assert model.encoder_.columns_[1]["encoding"] == "left out"


def test_numbers_alone_need_no_encoder(table):
    X, y = table
    model = zonal.KernelRidge(budget=32, local=None, random_state=0)
    model.fit(X[["x"]].fillna(0.0), y)
    assert not hasattr(model, "encoder_")
    with pytest.raises(ValueError, match="must be 'auto', None or"):
        zonal.KernelRidge(encoder="words").fit(X, y)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_gaps_that_fit_has_not_met_are_the_mean(table, library):
    X, y = table
    rows = {"x": X["x"].fillna(0.0).to_numpy(), "n": np.arange(N) % 600}
    model = zonal.KernelRidge(budget=32, local=None, random_state=0).fit(library(rows), y)
    gaps = library({"x": [np.nan, 1.0], "n": [3, None]})
    filled = library({"x": [rows["x"].mean(), 1.0], "n": [3.0, rows["n"].mean()]})
    with pytest.warns(UserWarning, match=r"'x' \(1\), 'n' \(1\), but fit met no gaps"):
        found = model.predict(gaps)
    np.testing.assert_allclose(found, model.predict(filled))
    given = zonal.KernelRidge(zonal.FourierFeatures(n_components=8), random_state=0)
    with pytest.raises(ValueError, match="NaN"):
        given.fit(library(rows), y).predict(gaps)


def test_splitters_see_the_columns_of_the_table(table):
    X, y = table
    rng = np.random.default_rng(1)
    places = X.assign(lat=rng.uniform(-60, 60, N), lon=rng.uniform(-180, 180, N))
    model = zonal.KernelRidge(
        budget=32, local=None, cv=zonal.BlockKFold(size=30.0), random_state=0
    ).fit(places[:900], y[:900])
    assert list(model.encoder_.get_feature_names_out())[:3] == ["sphere_x", "sphere_y", "sphere_z"]
    assert "_table_" not in vars(model)


def test_a_table_is_stretched_where_its_target_is_steep(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"hour": rng.uniform(0, 24, 700), "day": rng.choice(["work", "free"], 700)})
    steep = np.tanh(8 * (X["hour"] - 8)) * np.where(X["day"] == "work", 1.0, 0.2)
    y = (steep + 0.02 * rng.standard_normal(700)).to_numpy()
    model = zonal.KernelRidge(budget=32, random_state=0).fit(X[:500], y[:500])
    assert "stretch" in dict(model.recipe_.columns.steps)
    assert model.score(X[500:], y[500:]) > 0.97
    assert sum(model.importances_.values()) == pytest.approx(1)
    zonal.save(model, tmp_path / "model.zonal")
    again = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_array_equal(again.predict(X[500:]), model.predict(X[500:]))
