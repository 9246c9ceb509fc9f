"""The same table gives the same predictions whoever holds it: pandas, polars or pyarrow."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline

import zonal
from zonal.evaluation import errors_by_group

# Too few for a choice, which would take most of the time; what it makes of frames has its own test.
N = 200
AS = {
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
}


def tables():
    """Return a table of numbers, one of everything, one of places, and targets."""
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.uniform(-2, 2, (N, 2)), columns=["a", "b"])
    days = pd.to_timedelta(rng.integers(0, 700, N), "D")
    mixed = numbers.assign(
        word=rng.choice(["p", "q", "r"], N),
        flag=rng.random(N) > 0.5,
        when=pd.Timestamp("2020-01-01") + days,
        count=rng.integers(0, 5, N),
        level=pd.Categorical(rng.choice(["low", "high"], N)),
    )
    y = np.sin(numbers["a"]) + 2 * (mixed["word"] == "p") + 0.1 * rng.standard_normal(N)
    mixed.loc[::17, "a"] = np.nan
    mixed.loc[::13, "word"] = None
    places = pd.DataFrame({"latitude": 40 * numbers["a"], "longitude": 80 * numbers["b"]})
    return {"numbers": numbers, "mixed": mixed, "places": places}, y.to_numpy()


def harmonic():
    return zonal.HarmonicFeatures(zonal.Gaussian(1.0), n_components=40)


CHOOSING = {"random_state": 0, "budget": 32}
CASES = {
    "KernelRidge": ("numbers", lambda: zonal.KernelRidge(**CHOOSING)),
    "KernelRidge, words": ("mixed", lambda: zonal.KernelRidge(**CHOOSING)),
    "KernelRidge, blocks": (
        "places",
        lambda: zonal.KernelRidge(cv=zonal.BlockKFold(3, size=20.0), **CHOOSING),
    ),
    "KernelRidge, features": ("numbers", lambda: zonal.KernelRidge(harmonic())),
    "KernelRidge, a column by name": (
        "numbers",
        lambda: zonal.KernelRidge(
            make_pipeline(make_column_transformer(("passthrough", ["b"])), harmonic())
        ),
    ),
    "GaussianProcess": ("numbers", lambda: zonal.GaussianProcess(**CHOOSING)),
    "GaussianProcess, words": ("mixed", lambda: zonal.GaussianProcess(**CHOOSING)),
    "GaussianProcess, features": ("numbers", lambda: zonal.GaussianProcess(harmonic())),
    "KernelRidgeClassifier": ("mixed", lambda: zonal.KernelRidgeClassifier(**CHOOSING)),
    "NeighborKriging": ("numbers", zonal.NeighborKriging),
    "ExactKernelRidge": ("numbers", lambda: zonal.ExactKernelRidge(zonal.Gaussian(1.0))),
    "KernelKMeans": ("numbers", lambda: zonal.KernelKMeans(n_clusters=3, **CHOOSING)),
    "KernelPCA": ("numbers", lambda: zonal.KernelPCA(n_components=2, **CHOOSING)),
    "HarmonicFeatures": ("numbers", harmonic),
    "TableEncoder": ("mixed", zonal.TableEncoder),
    "SphereEncoder": ("places", zonal.SphereEncoder),
}


def answers(model, X):
    return np.asarray(model.predict(X) if hasattr(model, "predict") else model.transform(X))


@pytest.mark.parametrize("case", CASES)
def test_equal_answers(case):
    table, make = CASES[case]
    frames, y = tables()
    frame = frames[table]
    if case == "KernelRidgeClassifier":
        y = np.where(y > 0.3, "high", "low")
    model = make().fit(frame, y)
    expected = answers(model, frame)
    # A batch is read as a table of pyarrow is: learners that search for a second need no third fit.
    searching = table == "mixed" and hasattr(model, "predict")
    for library, convert in AS.items():
        other = convert(frame)
        if not (searching and library == "batch"):
            assert np.array_equal(answers(make().fit(other, y), other), expected), library
        assert np.array_equal(answers(model, other), expected), library


def test_equal_choices():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-2, 2, (320, 2)), columns=["a", "b"])
    y = np.sin(frame["a"]).to_numpy() + 0.1 * rng.standard_normal(320)
    model = zonal.GaussianProcess(local=None, metric=False, budget=32, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as: names are missing that fit has seen
        expected = model.fit(frame, y).predict(frame)
        for library in ("polars", "pyarrow"):
            other = AS[library](frame)
            assert np.array_equal(model.fit(other, y).predict(other), expected), library


@pytest.mark.parametrize("table", ["numbers", "mixed"])
def test_streams_of_frames(table):
    frames, y = tables()
    frame = frames[table]

    def fitted(convert):
        blocks = ((convert(frame[i : i + 150]), y[i : i + 150]) for i in range(0, N, 150))
        return zonal.KernelRidge(**CHOOSING).fit(blocks)

    expected = fitted(lambda block: block).predict(frame)
    for library, convert in AS.items():
        assert np.array_equal(fitted(convert).predict(convert(frame)), expected), library


def test_targets_of_all_libraries():
    frames, y = tables()
    X = frames["numbers"]
    expected = zonal.KernelRidge(harmonic()).fit(X, y).predict(X)
    targets = pd.Series(y), pl.Series(y), pa.array(y), pa.chunked_array([y[:100], y[100:]])
    for target in targets:
        found = zonal.KernelRidge(harmonic()).fit(X, target).predict(X)
        assert np.array_equal(found, expected), type(target)


def test_errors_by_group_of_all_libraries():
    frames, y = tables()
    X, groups = frames["numbers"], np.arange(N) // 40
    model = zonal.KernelRidge(harmonic()).fit(X, y)
    expected = errors_by_group(model, X, y, groups).measures()
    for library, convert in AS.items():
        assert errors_by_group(model, convert(X), y, groups).measures() == expected, library


def test_a_gaussian_process_of_a_table_learns_its_words(tmp_path):
    """The word p adds two: most of the variance, which nobody else can tell."""
    frames, y = tables()
    X = frames["mixed"][["a", "word", "when"]]
    model = zonal.GaussianProcess(**CHOOSING).fit(X[:100], y[:100])
    assert model.encoder_.kinds_["word"] == "word"
    assert model.score(X[100:], y[100:]) > 0.6
    assert model.score(X[100:].assign(word="q"), y[100:]) < 0.4
    lower, upper = model.predict_interval(X[100:], coverage=0.9)
    # 100 rows: the bounds are three standard deviations of a binomial share.
    assert 0.81 <= ((lower <= y[100:]) & (y[100:] <= upper)).mean() <= 0.99
    assert model.sample_y(X[100:], 2).shape == (100, 2)
    assert not [name for name, value in vars(model).items() if value is X]
    zonal.save(model, tmp_path / "process.zonal")
    again = zonal.load(tmp_path / "process.zonal")
    assert np.array_equal(again.predict(X[100:]), model.predict(X[100:]))


def test_a_gaussian_process_with_an_encoder_of_its_own():
    frames, y = tables()
    X = frames["mixed"][["a", "word"]]
    encoder = zonal.TableEncoder(ignore=["a"])
    model = zonal.GaussianProcess(harmonic(), encoder=encoder).fit(X, y)
    alone = X.assign(a=0.0)
    assert np.array_equal(model.predict(alone), model.predict(X))
    with pytest.raises(ValueError, match="encoder='words' must be 'auto', None or"):
        zonal.GaussianProcess(encoder="words").fit(X, y)
