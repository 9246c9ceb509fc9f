import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import zonal
from zonal.features import Standardizer
from zonal.features.training_sample import TrainingSample
from zonal.rows import LEARN_ROWS, sample_of, sample_rows
from zonal.rows.block import as_blocks, recut


def gegenbauer(n_components):
    """Features that learn a bandwidth, a centre and radii."""
    return zonal.GegenbauerFeatures(n_components=n_components)


RNG = np.random.default_rng(0)
X = RNG.standard_normal((900, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(900)
LABELS = np.where(y > 0, "up", "down")
WEIGHT = RNG.integers(0, 3, 900).astype(float)
LEARNERS = [
    zonal.KernelRidge(gegenbauer(48), random_state=0),
    zonal.KernelRidgeClassifier(gegenbauer(48), random_state=0),
    zonal.GaussianProcess(gegenbauer(48), noise=0.01, random_state=0),
    zonal.KernelPCA(gegenbauer(48), random_state=0),
    zonal.KernelCCA(gegenbauer(48), random_state=0),
    zonal.KernelKMeans(gegenbauer(48), n_clusters=3, random_state=0),
]


def target(learner):
    if isinstance(learner, zonal.KernelRidgeClassifier):
        return LABELS
    return np.column_stack([y, X[:, 0] ** 2]) if isinstance(learner, zonal.KernelCCA) else y


def output(model, rows):
    return model.transform(rows) if hasattr(model, "transform") else model.predict(rows)


class Blocks:
    """Blocks that can be walked over again."""

    def __init__(self, size, *parts):
        self.size, self.parts = size, parts

    def __iter__(self):
        for first in range(0, len(self.parts[0]), self.size):
            yield tuple(part[first : first + self.size] for part in self.parts)


@pytest.mark.parametrize("size", [1, 97, 900])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_blocks_of_any_size_equal_the_whole(learner, size):
    whole = clone(learner).fit(X, target(learner))
    model = clone(learner).fit(Blocks(size, X, target(learner)))
    expected, found = output(whole, X), output(model, X)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    else:
        np.testing.assert_array_equal(found, expected)


def test_memory_map(tmp_path):
    rows = np.random.default_rng(1).standard_normal((LEARN_ROWS + 500, 2))
    values = np.sin(rows[:, 0])
    mapped = np.memmap(tmp_path / "rows", np.float64, "w+", shape=rows.shape)
    mapped[:] = rows
    model = zonal.KernelRidge(gegenbauer(32), random_state=0).fit(mapped, values)
    whole = clone(model).fit(rows, values)
    np.testing.assert_allclose(model.predict(mapped), whole.predict(rows), rtol=0, atol=1e-8)


def test_sparse_blocks():
    rows = sp.random_array((600, 20), density=0.2, format="csr", rng=0)
    values = np.asarray(rows.sum(axis=1)).ravel()
    model = zonal.KernelRidge(gegenbauer(32), random_state=0)
    blocks = iter([(rows[:100], values[:100]), (rows[100:], values[100:])])
    whole = clone(model).fit(rows, values)
    np.testing.assert_allclose(model.fit(blocks).coef_, whole.coef_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("size", [777, 12_000])
def test_the_sample_is_that_of_an_array(size):
    rows = np.arange(2.5 * LEARN_ROWS)[:, None]
    weight = np.random.default_rng(2).integers(0, 2, len(rows)).astype(float)
    found, _, _ = sample_of(Blocks(size, rows))
    np.testing.assert_array_equal(found, rows[sample_rows(len(rows))])
    found, _, kept = sample_of(Blocks(size, rows, rows[:, 0], weight))
    np.testing.assert_array_equal(found, TrainingSample(rows, weight).rows)
    assert (kept == 1).all()


def test_an_iterator_is_sampled_at_its_beginning():
    rows = np.arange(2.5 * LEARN_ROWS)[:, None]
    found, _, _ = sample_of(iter(Blocks(777, rows)))
    np.testing.assert_array_equal(found, rows[:LEARN_ROWS])


def test_features_learn_from_a_stream():
    rows = np.random.default_rng(3).standard_normal((LEARN_ROWS + 2000, 2)) * [1, 5]
    features = zonal.GegenbauerFeatures(n_components=16, random_state=0)
    for transformer in (features, Standardizer(), zonal.NystroemFeatures(n_components=16)):
        stream = clone(transformer).fit(Blocks(999, rows)).transform(Blocks(999, rows))
        assert stream.shape[0] == len(rows)
        if not isinstance(transformer, zonal.NystroemFeatures):  # landmarks of a sample
            whole = clone(transformer).fit(rows).transform(rows)
            np.testing.assert_allclose(stream, whole, rtol=0, atol=1e-12)


def test_recut_changes_nothing_but_the_sizes():
    blocks = list(recut(as_blocks(Blocks(7, X, y)), 100))
    assert [len(block) for block in blocks] == [100] * 9
    assert [block.start for block in blocks] == list(range(0, 900, 100))
    np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), X)


def test_clusters_of_a_stream_are_a_fixed_point():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, LEARN_ROWS + 3000)
    rows = 8 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[truth] + rng.standard_normal((13_000, 2))
    features = zonal.GegenbauerFeatures(zonal.Gaussian(6.0), n_components=64, random_state=0)
    model = zonal.KernelKMeans(features, n_clusters=4, tol=0, random_state=0)
    model.fit(Blocks(1500, rows))
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    Z = features.fit_transform(rows)
    centers = np.stack([Z[model.labels_ == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=0, atol=1e-10)
    inertia = np.square(Z - centers[model.labels_]).sum()
    np.testing.assert_allclose(model.inertia_, inertia, rtol=1e-8)
    again = clone(model).fit(Blocks(13_000, rows))
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: zonal.KernelRidge().fit(iter([])), ValueError, "0 rows"),
        (lambda: zonal.KernelRidge().fit(iter([(X, y)]), y), ValueError, "beside a stream"),
        (lambda: zonal.KernelRidge().fit(iter([(X, y[1:])])), ValueError, "899 of y"),
        (lambda: zonal.KernelRidge().fit(iter([X])), ValueError, "requires y"),
        (lambda: zonal.KernelRidgeClassifier().fit(iter([X])), ValueError, "requires y"),
        (lambda: zonal.KernelRidge().fit(iter([(X, y, y, y)])), ValueError, "4 parts"),
        (lambda: zonal.KernelKMeans().fit(iter([X])), ValueError, "partial_fit"),
        (lambda: zonal.KernelRidge(cv=[(0, 1)]).fit(iter([(X, y)])), ValueError, "row numbers"),
        (lambda: zonal.KernelCCA().fit(iter([(X, X, WEIGHT)])), ValueError, "no sample w"),
        (lambda: zonal.KernelRidge().fit(iter([(X, y, 0 * y)])), ValueError, "are zero"),
    ],
)
def test_errors(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_a_fit_that_fails_leaves_nothing_behind():
    bad = X.copy()
    bad[-1, 0] = np.nan
    model = zonal.KernelRidge(oblivious(), alpha=1.0)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(iter([(X, y), (bad, y)]))
    assert not hasattr(model, "moments_")


def oblivious():
    return zonal.GegenbauerFeatures(
        zonal.Gaussian(2.0), 32, max_degree=6, n_radial=2, radial_basis="taylor", center=False
    )


def test_several_results_of_a_stream():
    model = zonal.GaussianProcess(gegenbauer(8), noise=0.1, random_state=0).fit(X, y)
    found = model.predict(Blocks(200, X), return_std=True)
    for part, expected in zip(found, model.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(part, expected, rtol=0, atol=1e-12)


def test_a_stream_without_blocks_cannot_be_transformed():
    features = zonal.FourierFeatures(zonal.Gaussian(1.0), 8).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="X has 0 rows"):
        features.transform(iter([]))
