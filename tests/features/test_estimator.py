"""GegenbauerFeatures as a scikit-learn citizen."""

import pickle
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from tests.naive import gram_variance
from zonal.features.directions import share
from zonal.rows import threads

X = np.random.default_rng(0).standard_normal((60, 4))


@parametrize_with_checks(
    [
        zonal.GegenbauerFeatures(n_components=16),
        zonal.GegenbauerFeatures(zonal.NTK(), n_components=8, directions="iid"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kernel", [zonal.Gaussian(2.0), zonal.Polynomial(3), zonal.NTK(2), zonal.ArcCosine(0)], ids=repr
)
@pytest.mark.parametrize("dim", [1, 3, 9])
def test_float32(kernel, dim):
    data = np.random.default_rng(1).standard_normal((200, dim))
    features = zonal.GegenbauerFeatures(kernel, 256, random_state=0).fit(data)
    double, single = features.transform(data), features.transform(data.astype(np.float32))
    assert double.dtype == np.float64
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-4 * np.abs(double).max())


def test_float32_at_high_degree():
    data = zonal.datasets.to_sphere(np.linspace(-90, 90, 500), np.linspace(0, 999, 500))
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(0.05), 512, max_degree=70, random_state=0
    ).fit(data)
    double, single = features.transform(data), features.transform(data.astype(np.float32))
    np.testing.assert_allclose(single, double, atol=1e-4 * np.abs(double).max())


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_equals_dense(container):
    data = sp.random_array((80, 50), density=0.1, rng=np.random.default_rng(0))
    dense = data.toarray()
    dense[3] = 0
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 100, center=False, random_state=0)
    expected = features.fit(dense).transform(dense)
    np.testing.assert_allclose(features.transform(container(dense)), expected, atol=1e-12)
    np.testing.assert_allclose(
        features.fit(container(dense)).transform(dense), expected, atol=1e-12
    )


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("kind", [zonal.GegenbauerFeatures, zonal.HarmonicFeatures])
def test_sparse_rows_for_a_map_that_was_centred_on_dense_ones(kind, container):
    features = kind(zonal.Gaussian(2.0), 32, center=True).fit(X)
    np.testing.assert_allclose(features.transform(container(X)), features.transform(X), atol=1e-12)


def test_sparse_is_never_filled():
    """100,000 columns and 2,000 rows would be 1.6 GB; the projections are 2,000 × 64."""
    data = sp.random_array(
        (2000, 100_000), density=1e-4, rng=np.random.default_rng(0), format="csr"
    )
    features = zonal.GegenbauerFeatures(zonal.Gaussian("median"), 64, random_state=0)
    tracemalloc.start()
    Z = features.fit_transform(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert Z.shape == (2000, 64)
    # The directions are 51 MB, in a handful of copies while they are made orthogonal, and the
    # median distance of 2,000 rows some 100 MB; a dense copy would add 1,600 MB.
    assert peak < 500e6


def test_duplicate_entries_of_sparse_rows_add_up():
    data = sp.csr_array((np.array([1.0, 1.0, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    dense = np.array([[2.0, 0.0], [0.0, 3.0]])
    features = zonal.GegenbauerFeatures(zonal.NTK(1), 16, random_state=0).fit(dense)
    np.testing.assert_allclose(features.transform(data), features.transform(dense))
    np.testing.assert_allclose(zonal.NTK(1).diag(data), [8, 18])
    assert data.nnz == 3  # the caller's matrix is left alone


def test_parameters_set_after_fit_do_not_matter():
    """Compiled code once wrote beyond the end here."""
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 64, random_state=0).fit(X)
    expected = features.transform(X)
    for width in (16, 128):
        features.set_params(n_components=width)
        np.testing.assert_array_equal(features.transform(X), expected)
        assert len(features.get_feature_names_out()) == 64


def test_transform_into():
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 8, random_state=0).fit(X)
    wide = np.zeros((60, 10))
    features.transform_into(X, wide[:, 1:9])
    np.testing.assert_array_equal(wide[:, 1:9], features.transform(X))
    np.testing.assert_array_equal(wide[:, [0, 9]], 0)
    with pytest.raises(ValueError, match=r"out has shape \(60, 10\)"):
        features.transform_into(X, wide)


def test_concurrent_transforms_leave_blas_alone():
    from threadpoolctl import threadpool_info

    def threads():
        return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]

    data = np.random.default_rng(0).standard_normal((8_000, 3))  # several blocks
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 512, random_state=0).fit(data)
    expected, before = features.transform(data), threads()
    with ThreadPoolExecutor(4) as pool:
        for Z in pool.map(lambda _: features.transform(data), range(8)):
            np.testing.assert_array_equal(Z, expected)
    assert threads() == before


def test_failed_fit_is_not_fitted():
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 8, directions="fibonacci")
    with pytest.raises(ValueError, match="fibonacci"):
        features.fit(X)
    with pytest.raises(NotFittedError):
        features.transform(X)


@pytest.mark.parametrize(("bandwidth", "max_degree"), [(1.0, 60), (20.0, "auto")])
def test_float32_in_high_dimension(bandwidth, max_degree):
    """√α_ℓ overflows float32 from about degree 40 on at d = 400."""
    data = np.random.default_rng(0).standard_normal((50, 400))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)
        features = zonal.GegenbauerFeatures(
            zonal.Gaussian(bandwidth), 256, max_degree=max_degree, random_state=0
        )
        double = features.fit_transform(data)
    single = features.transform(data.astype(np.float32))
    assert np.isfinite(double).all()
    assert np.isfinite(single).all()
    np.testing.assert_allclose(single, double, atol=1e-4 * np.abs(double).max() + 1e-12)


def test_memory_with_many_radial_functions():
    """Blocks shrink as the coefficients of a row grow."""
    data = np.random.default_rng(0).standard_normal((20_000, 3))
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(0.5), 512, max_degree=40, n_radial=60, random_state=0
    ).fit(data)
    tracemalloc.start()
    Z = features.transform(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - Z.nbytes < 200e6


def test_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    features = zonal.GegenbauerFeatures(n_components=8, random_state=0)
    expected = features.fit_transform(X)
    np.testing.assert_allclose(features.fit_transform(frame), expected, atol=1e-14)
    np.testing.assert_allclose(features.fit_transform(pl.from_pandas(frame)), expected, atol=1e-14)
    out = clone(features).set_output(transform="pandas").fit_transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == [f"gegenbauerfeatures{i}" for i in range(8)]
    np.testing.assert_allclose(out, expected, atol=1e-14)
    assert isinstance(clone(features).set_output(transform="polars").fit_transform(X), pl.DataFrame)


@pytest.mark.usefixtures("two_threads")
def test_threads_and_blocks_do_not_matter(monkeypatch):
    data = np.random.default_rng(2).standard_normal((3000, 5))
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 100, random_state=0).fit(data)
    expected = features.transform(data)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(features.transform(data), expected)
    finally:
        numba.set_num_threads(before)
    for size in (1, 777, 10**7):
        monkeypatch.setattr(threads, "BLOCK_SIZE", size)
        np.testing.assert_allclose(features.transform(data), expected, atol=1e-14)
    np.testing.assert_allclose(features.transform(data[1:2]), expected[1:2], atol=1e-14)


def test_seeds():
    def features(seed):
        return zonal.GegenbauerFeatures(n_components=16, random_state=seed).fit_transform(X)

    np.testing.assert_array_equal(features(1), features(1))
    states = [np.random.RandomState(1) for _ in range(2)]
    np.testing.assert_array_equal(features(states[0]), features(states[1]))
    assert np.abs(features(1) - features(2)).max() > 0.01


def test_clone_and_pickle():
    kernel = zonal.Gaussian(2.0) + 2 * zonal.Polynomial(2)
    features = zonal.GegenbauerFeatures(kernel, 32, random_state=0)
    expected = clone(features).fit_transform(X)
    restored = pickle.loads(pickle.dumps(features.fit(X)))
    np.testing.assert_array_equal(restored.transform(X), expected)
    on_sphere = X / np.linalg.norm(X, axis=1, keepdims=True)
    restored = pickle.loads(pickle.dumps(features.fit(on_sphere)))
    np.testing.assert_array_equal(restored.transform(X), features.transform(X))


def test_grid_search():
    y = np.sin(X[:, 0])
    pipeline = make_pipeline(
        zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 128, random_state=0), Ridge(1e-3)
    )
    grid = {"gegenbauerfeatures__kernel__bandwidth": [0.5, 3.0]}
    with pytest.warns(zonal.TruncationWarning):
        search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_params_ == {"gegenbauerfeatures__kernel__bandwidth": 3.0}


@pytest.mark.parametrize("center", [False, "auto"])
@pytest.mark.parametrize(
    "kernel", [zonal.Gaussian(1.0), zonal.NTK(1), zonal.ArcCosine(0), zonal.Polynomial(2)], ids=repr
)
def test_extreme_rows(kernel, center):
    """Zero rows, equal rows, norms of 1e-6 and 1e3, new points outside the fitted radii."""
    rows = np.vstack([np.zeros(4), X[:5], X[:1], X[:1], 1e-6 * X[:3], 1e3 * X[:3]])
    for fit_on in (X, rows[:1], rows[1:2], np.ones((6, 4)), X / np.linalg.norm(X, axis=1)[:, None]):
        features = zonal.GegenbauerFeatures(
            kernel, 4096, max_degree=6, center=center, directions="iid", random_state=0
        ).fit(fit_on)
        Z = features.transform(rows)
        assert np.isfinite(Z).all()
        np.testing.assert_array_equal(Z[1], Z[6])
        centred = rows - features.center_
        expected = features.expansion_(centred)
        counts = share(4096, features.n_radial_)
        deviation = np.sqrt(gram_variance(features.expansion_, centred, counts)).sum(axis=2)
        assert (np.abs(Z @ Z.T - expected) <= 5 * deviation + 1e-12 * np.abs(expected)).all()


def test_zero_row_has_degree_zero_only():
    features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 12, center=False).fit(X)
    zero = features.transform(np.zeros((1, 4)))[0]
    counts = share(12, features.n_radial_)
    at_zero = features.expansion_.radial(np.zeros(1))[0, 0]  # P_0 = 1, whatever the direction
    np.testing.assert_allclose(zero, np.repeat(at_zero / np.sqrt(counts), counts))


def test_one_row_and_equal_rows_with_every_default():
    for data in (X[:1], np.ones((5, 3))):
        with pytest.warns(UserWarning, match="All rows are equal"):
            Z = zonal.GegenbauerFeatures(n_components=1024, random_state=0).fit_transform(data)
        # The lattice of 1,024 directions integrates low degrees to about 1e-4.
        np.testing.assert_allclose(Z @ Z.T, np.ones((len(data), len(data))), atol=1e-3)
        np.testing.assert_array_equal(Z, Z[:1].repeat(len(Z), axis=0))


@pytest.mark.parametrize(
    ("kwargs", "data", "message"),
    [
        ({}, [[np.nan, 1.0]], "NaN"),
        ({}, [[np.inf, 1.0]], "infinity"),
        ({"kernel": zonal.Gaussian(0.0)}, X, "bandwidth=0.0"),
        ({"kernel": zonal.Gaussian(-2.0)}, X, "bandwidth=-2.0"),
        ({"n_components": 0}, X, "n_components=0"),
        ({"n_components": 2.5}, X, "n_components=2.5"),
        ({"kernel": "gausian"}, X, "'gausian' is unknown: use one of 'gaussian', 'exponential'"),
        ({"directions": "fibonacci"}, X, "directions='fibonacci'.*4 columns"),
        ({"directions": "random"}, X, "directions='random'.*'iid'"),
        ({"max_degree": -1}, X, "max_degree=-1"),
        ({"max_degree": "high"}, X, "max_degree='high'"),
        ({"n_radial": 0}, X, "n_radial=0"),
        ({"n_radial": 9, "n_components": 8}, X, "n_radial=9 exceeds n_components=8"),
        ({"radial_basis": "fourier"}, X, "radial_basis='fourier'"),
        ({"center": [1.0, 2.0]}, X, "center="),
        ({"center": "median"}, X, "center='median'"),
        ({"center": True}, sp.csr_array(X), "Sparse X cannot be centred"),
        ({"center": np.ones(4)}, sp.csr_array(X), "Sparse X cannot be centred"),
    ],
)
def test_clear_errors(kwargs, data, message):
    with pytest.raises(ValueError, match=message):
        zonal.GegenbauerFeatures(**kwargs).fit(data)


def test_wrong_kernel_type_and_columns():
    with pytest.raises(TypeError, match=r"neither a kernel object.*'gaussian'"):
        zonal.GegenbauerFeatures(kernel=3.0).fit(X)
    with pytest.raises(ValueError, match="3 features, but GegenbauerFeatures is expecting 4"):
        zonal.GegenbauerFeatures(n_components=4).fit(X).transform(X[:, :3])
    with pytest.raises(ValueError, match=r"(?i)sample weights.*zero"):
        zonal.GegenbauerFeatures().fit(X, sample_weight=np.zeros(60))
