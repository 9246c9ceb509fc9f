"""Models of ``zonal fit`` are learners that encode their rows themselves, whatever the table."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import zonal
from zonal.cli.columns import picked
from zonal.cli.console import Screen
from zonal.cli.grids import Place
from zonal.cli.looking import Kinds, look_at
from zonal.cli.training import LocalTrainingRows
from zonal.cli.validation import validation_of
from zonal.evaluation import Split, errors_by_group
from zonal.features import SphereEncoder, Standardizer, TableEncoder
from zonal.tables import open_table
from zonal.tables.frames import FrameStream

from .console import ENVIRONMENT, SCRIPT, WIDTH, as_json, files, good, message
from .console import zonal as run

N = 200
SMALL = ("--features", "fourier", "--bandwidth", 2, "--budget", 32, "--local", "none")


@pytest.fixture(scope="module")
def homes():
    """Words, dates, booleans, gaps and a place; the price has a gap too."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.gamma(3, 30, N).round(1),
            "kind": rng.choice(["flat", "house", "loft"], N),
            "built": pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9999, N), "D"),
            "garden": rng.random(N) < 0.3,
            "rooms": rng.integers(1, 7, N).astype(float),
            "town": [f"town {k}" for k in np.arange(N) % 25],
            "lat": rng.uniform(40, 55, N),
            "lon": rng.uniform(-5, 15, N),
        }
    )
    noise = 8 * rng.standard_normal(N)
    frame["price"] = 50 + 2 * frame["size"] + 30 * (frame["kind"] == "house") + noise
    frame.loc[::10, "rooms"] = np.nan
    frame.loc[3, "price"] = np.nan
    return frame


@pytest.fixture(scope="module")
def place(tmp_path_factory, homes):
    folder = tmp_path_factory.mktemp("homes")
    homes[:150].to_csv(folder / "old.csv", index=False)
    homes[:150].to_parquet(folder / "old.parquet")
    homes[150:].to_csv(folder / "new.csv", index=False)
    options = ("--target", "price", *SMALL, "--lat", "lat", "--lon", "lon")
    result = as_json("fit", "old.csv", *options, "--out", "m.zonal", cwd=folder)
    return folder, result


def test_intervals_of_a_table_with_words_gaps_dates_and_booleans(place, homes):
    """As the learner itself gives them, in Python."""
    folder, result = place
    assert result["validation"]["name"] == "blocks of 2°"  # judged by blocks that suit the region
    good("predict", "m.zonal", "new.csv", "--interval", 0.9, "--out", "p.csv", cwd=folder)
    found = pd.read_csv(folder / "p.csv")
    model = zonal.load(folder / "m.zonal")
    new = pd.read_csv(folder / "new.csv")[list(model.feature_names_in_)]
    lower, upper = model.predict_interval(new, 0.9)
    np.testing.assert_allclose(found["lower"], lower, rtol=1e-9)
    np.testing.assert_allclose(found["upper"], upper, rtol=1e-9)
    held = (homes["price"][150:].to_numpy() >= lower) & (homes["price"][150:].to_numpy() <= upper)
    # 50 rows, each held with a probability of 0.9: 45 ± 2.1, and a model of 135 rows.
    assert held.sum() >= 38


def test_models_are_learners(place):
    """Not pipelines around them: with everything that learners have."""
    model = zonal.load(place[0] / "m.zonal")
    assert isinstance(model, zonal.KernelRidge)
    assert isinstance(model.encoder_, TableEncoder)
    assert next(iter(model.importances_)) == "size"
    assert set(model.importances_) >= {"lat and lon", "kind", "built"}


def test_learners_of_numbers_know_names_and_importances(fitted, folder):
    model = zonal.load(folder / "m.zonal")
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert set(model.importances_) == {"a", "b", "c"}
    assert model.importances_["c"] < 0.05  # y = sin(a) b


@pytest.mark.parametrize("data", ["old.csv", "old.parquet"])
def test_groups_of_a_table_with_an_empty_target(place, data):
    """The row is left out with a notice, of the groups too."""
    folder, _ = place
    done = run("fit", data, "--target", "price", "--group", "town", *SMALL, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "1 of 150 rows have no 'price': left out." in done.stderr
    assert "whole groups of 'town'" in done.stdout


def test_groups_are_those_of_the_rows_that_are_left(tmp_path):
    """Rows without a target shift no labels."""
    n, split, screen = 100, Split(0.1, 0), Screen()
    frame = pd.DataFrame({"x": np.arange(n), "station": [f"s{k}" for k in range(n)], "y": 1.0})
    frame.loc[[0, 7, 50], "y"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    columns = picked(open_table(tmp_path / "t.csv"), inputs=["x"], target="y")
    survey = look_at(columns, Kinds(), screen).survey
    rows = LocalTrainingRows(FrameStream(columns, survey, batch_size=30), split)
    rows.check()
    validation = validation_of(None, "station", columns.table, columns.inputs, Place())
    kept = frame.dropna()["station"].to_numpy()
    expected = kept[split.is_train(0, len(kept))]
    np.testing.assert_array_equal(validation.labels(rows), expected)


def test_three_groups_make_three_folds(place, tmp_path):
    homes = pd.read_csv(place[0] / "old.csv")
    homes["town"] = np.arange(len(homes)) % 3
    homes.to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", "t.csv", "--target", "price", "--group", "town", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "are 3: there are as many folds, not 5" in done.stderr
    assert "whole groups of 'town'" in done.stdout
    homes.assign(town="one").to_csv(tmp_path / "one.csv", index=False)
    said = message("fit", "one.csv", "--target", "price", "--group", "town", *SMALL, cwd=tmp_path)
    assert "there is none to leave out" in said


def test_the_model_is_saved_before_it_is_judged(place, monkeypatch):
    folder, _ = place

    def failing(*arguments, **options):
        raise ValueError("no judgement today")

    monkeypatch.setattr(sys.modules["zonal.cli.commands.fit"], "judge_model", failing)
    options = ("--target", "price", *SMALL, "--out", "kept.zonal", "--report", "none.html")
    said = message("fit", "old.csv", *options, cwd=folder)
    assert "no judgement today" in said
    assert "kept.zonal. It is whole" in said
    model = zonal.load(folder / "kept.zonal")
    assert np.isfinite(model.predict(pd.read_csv(folder / "old.csv").drop(columns="price"))).all()
    assert not [name for name in files(folder) if "none.html" in name]


def test_saved_models_have_their_intervals_at_hand(place):
    """Calibration belongs to the fit: what is loaded does not find it anew."""
    model = zonal.load(place[0] / "m.zonal")
    assert "calibration" in model._solution_.kept


def test_other_usual_names_of_a_place(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"latitude": rng.uniform(-60, 60, 100), "longitude": rng.uniform(0, 90, 100)}
    )
    frame["y"] = np.sin(np.radians(frame["latitude"]))
    frame.to_csv(tmp_path / "t.csv", index=False)
    where = ("--lat", "latitude", "--lon", "longitude")
    good("fit", "t.csv", "--target", "y", *where, *SMALL, "--out", "m.zonal", cwd=tmp_path)
    frame.rename(columns={"latitude": "lat", "longitude": "Lon"}).to_csv(tmp_path / "n.csv")
    done = run("predict", "m.zonal", "n.csv", "--out", "n.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "'lat' of n.csv is taken for the latitude 'latitude'." in done.stderr
    good("predict", "m.zonal", "t.csv", "--out", "t.parquet", cwd=tmp_path)
    same = [pd.read_parquet(tmp_path / name)["prediction"] for name in ("n.parquet", "t.parquet")]
    np.testing.assert_array_equal(*same)
    frame.rename(columns={"latitude": "lat", "longitude": "where"}).to_csv(tmp_path / "w.csv")
    said = message("predict", "m.zonal", "w.csv", "--out", "w.parquet", cwd=tmp_path)
    assert "no input column 'longitude'" in said


@pytest.mark.parametrize(
    "encoder", [Standardizer(), SphereEncoder(1, 0), Pipeline([("s", SphereEncoder("v", "u"))])]
)
def test_any_transformer_is_an_encoder(encoder):
    """As if its rows were given, for arrays and frames."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-50, 50, (150, 3)), columns=["u", "v", "w"])
    y, weight = np.sin(frame["u"] / 20), rng.uniform(1, 2, 150)
    features = zonal.FourierFeatures(zonal.Gaussian(1.0), 32, random_state=0)
    learner = zonal.KernelRidge(features, encoder=encoder).fit(frame, y, weight)
    weights = "s__sample_weight" if isinstance(encoder, Pipeline) else "sample_weight"
    rows = clone(encoder).fit(frame, **{weights: weight}).transform(frame)
    expected = zonal.KernelRidge(features).fit(rows, y, weight)
    np.testing.assert_allclose(learner.predict(frame), expected.predict(rows), rtol=1e-10)
    np.testing.assert_allclose(
        learner.predict_interval(frame)[0], expected.predict_interval(rows)[0], rtol=1e-10
    )
    if not isinstance(encoder, Pipeline):
        array = zonal.KernelRidge(features, encoder=encoder).fit(frame.to_numpy(), y, weight)
        np.testing.assert_allclose(array.predict(frame.to_numpy()), learner.predict(frame))
        assert sum(array.importances_.values()) == pytest.approx(1)


def test_an_encoder_that_is_none():
    with pytest.raises(TypeError, match=r"encoder=3 must be .* a transformer with fit"):
        zonal.KernelRidge(encoder=3).fit(np.zeros((5, 1)), np.arange(5.0))


def test_errors_by_group_of_series_with_gaps_in_their_index():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(-3, 3, 120), "g": np.arange(120) % 8})
    frame["y"] = np.sin(frame["x"])
    frame.loc[::7, "y"] = np.nan
    kept = frame.dropna()
    features = zonal.FourierFeatures(zonal.Gaussian(1.0), 32, random_state=0)
    model = zonal.KernelRidge(features).fit(kept[["x"]], kept["y"])
    found = errors_by_group(model, kept[["x"]], kept["y"], kept["g"]).measures()
    tidy = kept.reset_index(drop=True)
    arrays = errors_by_group(model, tidy[["x"]], tidy["y"].to_numpy(), tidy["g"].to_numpy())
    assert found["rmse"] == pytest.approx(arrays.measures()["rmse"], rel=1e-9)


@pytest.mark.parametrize("command", ["compare", "size", "cluster"])
def test_other_commands_take_words_too(place, command):
    folder, _ = place
    options = {
        "compare": ("--target", "price", "--budget", 16, "--json"),
        "size": ("--ignore", "price", "--json"),
        "cluster": ("--ignore", "price", "-k", 2, "--out", "c.csv", "--model", "c.zonal", "--json"),
    }
    done = run(command, "old.csv", *options[command], cwd=folder)
    assert done.returncode == 0, done.stderr
    if command == "cluster":
        good("predict", "c.zonal", "new.csv", "--out", "c.parquet", cwd=folder)
        assert set(pd.read_parquet(folder / "c.parquet")["prediction"]) <= {0, 1}


@pytest.mark.longest
def test_in_a_fresh_process(place, tmp_path):
    """As a person runs it: nothing that this process has imported or made is at hand."""
    model, new = str(place[0] / "m.zonal"), str(place[0] / "new.csv")
    done = subprocess.run(
        [str(SCRIPT), "predict", model, new, "--interval", "0.9", "--out", "p.csv"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(tmp_path / "p.csv").shape == (50, 3)


def test_the_table_of_compare_fits_a_screen(place, monkeypatch):
    """One line for each row; what is not for this kernel is told below, once for each map."""
    folder, _ = place
    monkeypatch.setitem(WIDTH, "COLUMNS", "80")
    budgets = ("--budget", 16, "--budget", 32)
    done = run("compare", "old.csv", "--target", "price", *budgets, "--plot", "c.png", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 2 * 11 + 1 + 6  # eleven maps, the exact solution, and the head
    assert done.stderr.count("relu (16, 32): ") == 1
