"""``zonal fit`` in blocks: what it finds is that of arrays in memory, whatever the blocks."""

import importlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.pipeline import Pipeline

from zonal import FourierFeatures, Gaussian, KernelRidge, KernelRidgeClassifier
from zonal.cli.columns import encoder
from zonal.cli.console import Screen
from zonal.cli.training import LocalTrainingRows, judge_model, train
from zonal.evaluation import Split
from zonal.features import Standardizer
from zonal.tables import Columns, csv, open_table
from zonal.tables.frames import FrameStream
from zonal.tables.survey import survey_columns

# The module; the package exports the function of the same name.
judge = importlib.import_module("zonal.evaluation.judge")

N = 5000
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3)) * [1, 10, 100] + 5
Y = np.sin(X[:, 0]) + 0.1 * X[:, 1] + 0.1 * RNG.standard_normal(N)
KIND = np.digitize(Y, [Y.mean(), Y.mean() + 1])
FEATURES = FourierFeatures(Gaussian(1.0), n_components=64)
SPLIT = Split(0.1, 0)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    columns = {name: X[:, number] for number, name in enumerate("abc")}
    table = pa.table({**columns, "y": Y, "kind": KIND})
    pa.parquet.write_table(table, folder / "t.parquet", row_group_size=700)
    pa.csv.write_csv(table, folder / "t.csv")
    (folder / "parts").mkdir()
    for number in range(12):  # part.10 comes after part.9
        pa.parquet.write_table(
            table.slice(number * 450, 450), folder / "parts" / f"part.{number}.parquet"
        )
    return folder


def fitted(path, target, learner, batch=1 << 16, **options):
    columns = Columns.of(
        open_table(path), inputs=["a", "b", "c"], target=target, labels=target == "kind"
    )
    learner.set_params(encoder=encoder(columns.inputs, None, None))
    survey = survey_columns(columns.table, columns.names)
    rows = LocalTrainingRows(FrameStream(columns, survey, batch_size=batch), SPLIT)
    trained = train(learner, rows, Screen(), target=target)
    return learner, *judge_model(learner, rows, trained, Screen(), **options)


def in_memory(learner, y):
    test = SPLIT.is_test(0, N)
    model = Pipeline([("columns", Standardizer()), ("learner", learner)])
    return model.fit(X[~test], y[~test]), test


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "parts"])
@pytest.mark.parametrize("batch", [333, 1 << 16])
def test_numbers_as_in_memory(place, monkeypatch, name, batch):
    monkeypatch.setattr(csv, "BATCH_BYTES", 40 * batch)
    model, result, _ = fitted(place / name, "y", KernelRidge(FEATURES, random_state=0), batch)
    expected, test = in_memory(KernelRidge(FEATURES, random_state=0), Y)
    # The same sums in another order; the solution has a condition number of up to 1e5 or so.
    np.testing.assert_allclose(model.predict(FRAME), expected.predict(X), rtol=1e-8)
    assert (result["rows"], result["rows_test"]) == (N, test.sum())
    for part, chosen in (("test", test), ("train", ~test)):
        error = np.mean((expected.predict(X[chosen]) - Y[chosen]) ** 2)
        assert result[part]["mse"] == pytest.approx(error, rel=1e-8)
    constant = np.mean((Y[test] - Y[~test].mean()) ** 2)
    assert result["test"]["mse_of_constant"] == pytest.approx(constant, rel=1e-8)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_classes_as_in_memory(place, monkeypatch, name):
    """Whole numbers stay what they are in CSV too, where all begins as text."""
    monkeypatch.setattr(csv, "BATCH_BYTES", 10_000)
    learner = KernelRidgeClassifier(FEATURES, random_state=0)
    model, result, sample = fitted(place / name, "kind", learner, 333)
    expected, test = in_memory(KernelRidgeClassifier(FEATURES, random_state=0), KIND)
    np.testing.assert_array_equal(model.predict(FRAME), expected.predict(X))
    assert model.classes_.tolist() == [0, 1, 2]
    assert result["test"]["accuracy"] == pytest.approx(expected.score(X[test], KIND[test]))
    commonest = np.bincount(KIND[~test]).argmax()
    share = np.mean(KIND[test] == commonest)
    assert result["test"]["accuracy_of_commonest"] == pytest.approx(share)
    np.testing.assert_array_equal(sample.findings.shown["truth"], KIND[test])


def test_samples_are_small(place, monkeypatch):
    """Rows of figures and maps are about as many as asked for, and belong together."""
    monkeypatch.setattr(judge, "FIGURE_ROWS", 100)
    monkeypatch.setattr(judge, "TRAIN_ROWS", 400)
    monkeypatch.setattr(judge, "MAP_ROWS", 1000)
    learner = KernelRidge(FEATURES, random_state=0)
    model, result, sample = fitted(place / "t.parquet", "y", learner, where=(0, 2))
    shown, mapped = sample.findings.shown, sample.findings.mapped
    # Each of n rows is taken with a chance of m/n: m ± √m.
    assert abs(len(shown["truth"]) - 100) < 4.5 * 10
    assert abs(len(mapped["truth"]) - 1000) < 4.5 * 1000**0.5
    assert result["rows_test"] == N // 10
    numbers = np.flatnonzero(np.isin(X[:, 0], mapped["lat"]))
    np.testing.assert_array_equal(mapped["lon"], X[numbers, 2])
    np.testing.assert_array_equal(mapped["truth"], Y[numbers])
    np.testing.assert_allclose(mapped["prediction"], model.predict(FRAME.iloc[numbers]), rtol=1e-10)
    np.testing.assert_array_equal(np.isin(shown["truth"], Y[SPLIT.is_test(0, N)]), True)
