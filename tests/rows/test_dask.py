"""Dask collections on threads: every learner and map, whatever the chunks."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributed.comm import CommClosedError
from sklearn.base import clone, is_classifier
from sklearn.metrics import adjusted_rand_score

import zonal
from zonal.features import Standardizer
from zonal.features.training_sample import TrainingSample
from zonal.rows import LEARN_ROWS, sample_rows
from zonal.rows.dask import DaskSource
from zonal.rows.dask_blocks import row_blocks
from zonal.rows.shipping import Shipped, pickled


def gegenbauer(n_components):
    """Features that learn a bandwidth, a centre and radii."""
    return zonal.GegenbauerFeatures(n_components=n_components)


RNG = np.random.default_rng(0)
N = 300
X = RNG.standard_normal((N, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(N)
WEIGHT = RNG.uniform(0, 3, N)
LABELS = np.where(y > 0, "up", "down")
TWO = np.column_stack([y, X[:, 0] ** 2])
LEARNERS = [
    (zonal.KernelRidge(gegenbauer(40), random_state=0), y),
    (zonal.KernelRidge(gegenbauer(40), alpha=0.1, random_state=0), TWO),
    (zonal.KernelRidgeClassifier(gegenbauer(40), random_state=0), LABELS),
    (zonal.GaussianProcess(gegenbauer(40), noise=0.01, random_state=0), y),
    (zonal.KernelPCA(gegenbauer(40), random_state=0), None),
    (zonal.KernelCCA(gegenbauer(40), random_state=0), TWO),
    (zonal.KernelKMeans(gegenbauer(40), n_clusters=3, random_state=0), None),
]
CHUNKS = {
    "even": (100, 100, 100),
    "uneven": (7, 200, 93),
    "single rows": (1,) * 20 + (280,),
    "empty": (0, 150, 0, 150, 0),
    "one": (N,),
}


def collection(values, kind):
    """Values as a Dask array or frame in these chunks."""
    if values is None:
        return None
    if kind == "frame":
        frame = pd.DataFrame(values) if values.ndim == 2 else pd.Series(values)
        frame = frame.rename(columns=str) if values.ndim == 2 else frame
        return dd.from_pandas(frame, npartitions=4)
    if kind == "unknown":
        array = da.from_array(values, chunks=(100, *values.shape[1:]))
        return array[da.from_array(np.ones(N, bool), chunks=100)]
    wide = (values.shape[1],) if values.ndim == 2 else ()
    return da.from_array(values, chunks=(CHUNKS[kind], *((size,) for size in wide)))


def outputs(model, rows):
    if isinstance(model, zonal.GaussianProcess):
        return model.predict(rows, return_std=True)
    names = ("predict", "predict_proba", "decision_function", "transform")
    return [getattr(model, name)(rows) for name in names if hasattr(model, name)]


@pytest.mark.parametrize("kind", [*CHUNKS, "unknown", "frame"])
@pytest.mark.parametrize(("learner", "target"), LEARNERS, ids=lambda e: type(e).__name__)
def test_equals_serial(learner, target, kind):
    rows = collection(X, kind)
    whole = clone(learner).fit(rows.compute(), target)
    model = clone(learner).fit(rows, collection(target, kind))
    results = outputs(model, rows)
    # The log loss has an iteration that ends at a small slope; sums in another order change where.
    atol = 1e-6 if is_classifier(learner) else 1e-8
    for found, expected in zip(results, outputs(whole, rows.compute()), strict=True):
        assert isinstance(found, da.Array)  # lazy, and chunked like the input
        assert found.numblocks[0] == (rows.npartitions if kind == "frame" else rows.numblocks[0])
        computed = found.compute()
        assert computed.dtype == found.dtype
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(computed, expected, rtol=0, atol=atol)
        else:
            np.testing.assert_array_equal(computed, expected)


@pytest.mark.parametrize("kind", ["uneven", "unknown"])
def test_weights(kind):
    weight = np.where(WEIGHT < 1, 0.0, WEIGHT)
    for learner, target in LEARNERS[:3]:
        whole = clone(learner).fit(X, target, weight)
        model = clone(learner).fit(
            *(collection(part, kind) for part in (X, target)), collection(weight, kind)
        )
        found, expected = outputs(model, X)[-1], outputs(whole, X)[-1]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "features",
    [
        zonal.GegenbauerFeatures(n_components=20, random_state=0),
        zonal.HarmonicFeatures(n_components=20),
        zonal.FourierFeatures(n_components=20, random_state=0),
        zonal.ModifiedFourierFeatures(n_components=20, random_state=0),
        zonal.FastFoodFeatures(n_components=20, random_state=0),
        zonal.MaclaurinFeatures(zonal.Exponential(), n_components=20, random_state=0),
        zonal.PolySketchFeatures(zonal.Exponential(), n_components=20, random_state=0),
        zonal.TensorSketchFeatures(n_components=20, random_state=0),
        zonal.NystroemFeatures(n_components=20, random_state=0),
        zonal.ProductFeatures(
            [([0], zonal.HarmonicFeatures()), ([1, 2], zonal.HarmonicFeatures())], n_components=20
        ),
        zonal.SphereEncoder(0, 1),
        Standardizer(),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features(features, dtype):
    rows = X.astype(dtype)
    expected = clone(features).fit(rows).transform(rows)
    for kind in ("uneven", "empty", "unknown"):
        found = clone(features).fit(collection(rows, kind)).transform(collection(rows, kind))
        assert isinstance(found, da.Array)
        assert found.dtype == dtype
        # The blocks have other sizes, and sums of products other orders.
        tolerance = 1e-10 if dtype == np.float64 else 1e-4
        np.testing.assert_allclose(found.compute(), expected, rtol=0, atol=tolerance)


def test_the_sample_is_that_of_an_array():
    rows = np.arange(3.0 * LEARN_ROWS)[:, None]
    weight = np.random.default_rng(2).integers(0, 2, len(rows)).astype(float)
    for size in (777, 20_000):
        found = DaskSource(da.from_array(rows, chunks=(size, 1))).survey()
        assert found.n_rows == len(rows)
        np.testing.assert_array_equal(found.sample.X, rows[sample_rows(len(rows))])
        cut = da.from_array(rows, chunks=(size, 1)), None, da.from_array(weight, chunks=size)
        np.testing.assert_array_equal(
            DaskSource(*cut).survey().sample.X, TrainingSample(rows, weight).rows
        )


def test_more_rows_than_the_sample():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((LEARN_ROWS + 4000, 2)) * [1, 4]
    values = np.sin(rows[:, 0])
    whole = zonal.KernelRidge(gegenbauer(32), random_state=0).fit(rows, values)
    model = clone(whole).fit(da.from_array(rows, chunks=(1500, 2)), values)
    np.testing.assert_allclose(model.predict(rows), whole.predict(rows), rtol=0, atol=1e-8)
    assert model.alpha_ == pytest.approx(whole.alpha_, rel=1e-12)


@pytest.mark.longest
@pytest.mark.slow
def test_features_are_chosen_alike():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((LEARN_ROWS + 1000, 2)) * [1, 4]
    values = np.sin(rows[:, 0])
    whole = zonal.KernelRidge(budget=32, random_state=0).fit(rows, values)
    model = clone(whole).fit(da.from_array(rows, chunks=(1500, 2)), values)
    np.testing.assert_allclose(model.predict(rows), whole.predict(rows), rtol=0, atol=1e-8)


def test_clusters_of_many_rows(tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, LEARN_ROWS + 2000)
    rows = 9 * np.array([[0, 0], [0, 1], [1, 0]])[truth] + rng.standard_normal((len(truth), 2))
    features = zonal.GegenbauerFeatures(zonal.Gaussian(6.0), n_components=32, random_state=0)
    model = zonal.KernelKMeans(features, n_clusters=3, tol=0, random_state=0)
    found = clone(model).fit(da.from_array(rows, chunks=(2500, 2)))
    assert adjusted_rand_score(truth, found.labels_.compute()) > 0.99
    zonal.save(found, tmp_path / "model")  # without the labels, which are lazy
    again = zonal.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(rows), found.labels_.compute())
    whole = clone(model).fit(rows)  # converged to the same clusters, in another order
    np.testing.assert_allclose(found.inertia_, whole.inertia_, rtol=1e-8)
    np.testing.assert_allclose(
        np.sort(found.cluster_centers_, axis=0),
        np.sort(whole.cluster_centers_, axis=0),
        rtol=0,
        atol=1e-8,
    )


def test_sparse_chunks():
    rows = sp.random_array((200, 10), density=0.3, format="csr", rng=0)
    array = da.from_delayed(dask.delayed(rows[:90]), (90, 10), meta=sp.csr_array((0, 10)))
    rest = da.from_delayed(dask.delayed(rows[90:]), (110, 10), meta=sp.csr_array((0, 10)))
    lazy = da.concatenate([array, rest])
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), n_components=16, random_state=0)
    found = clone(features).fit(lazy).transform(lazy).compute()
    np.testing.assert_allclose(found, features.fit(rows).transform(rows), rtol=0, atol=1e-10)


def test_columns_in_chunks_and_targets_in_memory():
    rows = da.from_array(X, chunks=(100, 2))
    whole = zonal.KernelRidge(gegenbauer(20), random_state=0).fit(X, y)
    found = clone(whole).fit(rows, y).predict(rows)
    np.testing.assert_allclose(found.compute(), whole.predict(X), rtol=0, atol=1e-8)


def test_nothing_is_computed_before_it_is_asked_for():
    def explode(block):
        if len(block):  # Dask itself looks at empty blocks
            raise AssertionError("computed too early")
        return block

    model = zonal.KernelRidge(gegenbauer(20), random_state=0).fit(X, y)
    rows = da.from_array(X, chunks=(100, 3)).map_blocks(explode, dtype=float)
    lazy = model.predict(rows)
    with pytest.raises(AssertionError, match="too early"):
        lazy.compute()


@pytest.mark.parametrize(
    ("rows", "values", "error", "words"),
    [
        (da.zeros((0, 3)), da.zeros(0), ValueError, "0 rows"),
        (da.zeros((9, 3), chunks=3), None, ValueError, "requires y"),
        (da.zeros((9, 3), chunks=3), da.zeros(8, chunks=4), ValueError, "partitions|8 rows"),
        (da.zeros((9, 3), chunks=3), np.zeros(8), ValueError, "8 rows, but X has 9"),
        (collection(X, "unknown"), y, ValueError, "compute_chunk_sizes"),
        (da.zeros(9), np.zeros(9), ValueError, "2D"),
        (da.full((9, 3), np.nan), da.zeros(9), ValueError, "NaN"),
        (dask.delayed(X), y, TypeError, "Delayed"),
    ],
)
def test_errors(rows, values, error, words):
    with pytest.raises(error, match=words):
        zonal.KernelRidge(gegenbauer(8), alpha=1.0).fit(rows, values)


def test_wrong_columns_are_told_at_once():
    model = zonal.KernelRidge(gegenbauer(8), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(da.zeros((9, 4)))
    with pytest.raises(ValueError, match="checkpoint"):
        model.fit(da.from_array(X), da.from_array(y), checkpoint="sums")


@pytest.mark.parametrize("directions", ["iid", "orthogonal", "sobol", "fibonacci"])
def test_directions_are_drawn_again_and_not_shipped(directions):
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(1.0), 4096, max_degree=6, n_radial=2, directions=directions, random_state=3
    )
    model = zonal.KernelKMeans(features, n_clusters=2, random_state=0).fit(X[:50])
    content = pickled(model.features_)
    assert len(content) < 4096 * 3 / 2 * 8 / 5  # m = D/2 directions are 49 kB
    received = Shipped.__reduce__(Shipped(model))
    again = received[0](*received[1]).value
    np.testing.assert_array_equal(again.features_.transform(X), model.features_.transform(X))


@pytest.mark.parametrize("asked", ["nthreads", "who_has"])
def test_a_scheduler_that_is_lost_between_two_questions(monkeypatch, asked):
    class Lost:
        def nthreads(self):
            return self._answer("nthreads", {})

        def who_has(self):
            return self._answer("who_has", {})

        def _answer(self, question, answer):
            if question == asked:
                raise CommClosedError("ConnectionPool closing.")
            return answer

    monkeypatch.setattr("zonal.rows.dask.active_client", Lost)
    X = da.from_array(np.arange(60.0).reshape(20, 3), chunks=(5, 3))
    with pytest.raises(ConnectionError, match="scheduler was lost"):
        zonal.KernelRidge(zonal.FourierFeatures(zonal.Gaussian(1.0), 8), 1.0, local=None).fit(
            X, X[:, 0]
        )


def test_columns_of_one_frame_of_parquet_files_belong_together(tmp_path):
    """Dask reads several files as one where a single column is wanted of them."""
    frame = pd.DataFrame(np.random.default_rng(0).uniform(-2, 2, (400, 2)), columns=["a", "b"])
    frame["y"] = np.sin(frame["a"]) + frame["b"]
    for part in range(4):
        frame[part * 100 : part * 100 + 100].to_parquet(tmp_path / f"{part}.parquet")
    table = dd.read_parquet(tmp_path)
    rows = row_blocks(table[["a", "b"]])
    assert len(table["y"].to_delayed()) < table.npartitions  # or there is nothing to test
    targets = row_blocks(table["y"], rows, "y")
    for part, (X, y) in enumerate(zip(rows.blocks, targets.blocks, strict=True)):
        own = frame[part * 100 : part * 100 + 100]
        assert np.array_equal(X.compute(), own[["a", "b"]])
        assert np.array_equal(y.compute(), own["y"])
