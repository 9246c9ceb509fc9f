"""Features of several groups of columns side by side."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal

ONE, ALL = zonal.Gaussian(1.0), 0.2 * zonal.Gaussian(2.0)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).standard_normal((300, 3))


def additive(n_components=1024):
    groups = [([column], zonal.HarmonicFeatures(ONE, 48)) for column in range(3)]
    return zonal.SumFeatures([*groups, ([0, 1, 2], zonal.HarmonicFeatures(ALL, 300))], n_components)


def kernel(X):
    return sum(ONE(X[:, [column]]) for column in range(3)) + ALL(X)


def test_the_kernel_is_the_sum(rows):
    features = additive().fit(rows)
    Z, K = features.transform(rows), kernel(rows)
    assert np.linalg.norm(Z @ Z.T - K) < 1e-6 * np.linalg.norm(K)
    np.testing.assert_allclose(features.kernel_diag(rows), np.diag(K))


def test_the_columns_with_the_largest_mean_squares_stay(rows):
    whole, few = additive().fit(rows), additive(50).fit(rows)
    squares = np.square(whole.transform(rows)).mean(axis=0)
    assert few.n_columns == 50
    np.testing.assert_allclose(few.eigenvalues_.min(), np.sort(squares)[-50])
    np.testing.assert_allclose(few.eigenvalues_, np.square(few.transform(rows)).mean(axis=0))
    parts = [f.transform(rows[:, c]) for c, f in zip(few.columns_, few.features_, strict=True)]
    chosen = [part[:, kept] for part, kept in zip(parts, few.kept_, strict=True)]
    np.testing.assert_array_equal(few.transform(rows), np.hstack(chosen))


def test_gradients_are_those_of_finite_differences(rows):
    features = additive(60).fit(rows)
    X, step = rows[:5], 1e-6
    gradients = features.gradient(X)
    for column in range(3):
        shift = step * np.eye(3)[column]
        slopes = (features.transform(X + shift) - features.transform(X - shift)) / (2 * step)
        np.testing.assert_allclose(gradients[:, :, column], slopes, atol=1e-7)


def test_an_additive_function_is_learnt_as_by_splines():
    """In eight columns one kernel of all needs far more rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (1500, 8))

    def f(X):
        return np.sin(2 * X).sum(axis=1)

    y = f(X[:1000]) + 0.5 * rng.standard_normal(1000)
    groups = [([column], zonal.HarmonicFeatures(ONE, 24)) for column in range(8)]
    model = zonal.KernelRidge(zonal.SumFeatures(groups)).fit(X[:1000], y)
    error = np.mean((model.predict(X[1000:]) - f(X[1000:])) ** 2)
    basis = SplineTransformer(n_knots=8).fit(X[:1000])
    coef, *_ = np.linalg.lstsq(basis.transform(X[:1000]), y, rcond=None)
    splines = np.mean((basis.transform(X[1000:]) @ coef - f(X[1000:])) ** 2)
    assert error < 1.2 * splines


def test_single_precision_and_sparse_rows(rows):
    features = additive(128).fit(rows)
    Z = features.transform(rows)
    single = features.transform(rows.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=2e-5 * np.abs(Z).max())
    np.testing.assert_allclose(features.transform(sp.csr_matrix(rows)), Z, atol=1e-12)


def test_a_gaussian_process_and_a_file(rows, tmp_path):
    y = np.sin(rows).sum(axis=1)
    process = zonal.GaussianProcess(additive(200), noise=1e-4).fit(rows, y)
    zonal.save(process, tmp_path / "m.zonal")
    loaded = zonal.load(tmp_path / "m.zonal")
    for ours, theirs in zip(
        loaded.predict(rows, return_std=True), process.predict(rows, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_bad_groups_name_the_class(rows):
    with pytest.raises(ValueError, match="of SumFeatures must name at least one column"):
        zonal.SumFeatures([([7], zonal.HarmonicFeatures())]).fit(rows)


@parametrize_with_checks(
    [zonal.SumFeatures([(slice(0, 1), zonal.HarmonicFeatures("gaussian", 8))], n_components=8)]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
