"""Products of features of groups of columns."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.polynomials import uniform_sphere

SPACE, TIME = zonal.Gaussian(0.7), zonal.Matern(2.5, 0.6)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.column_stack([uniform_sphere(300, 3, rng), rng.random(300)])


def product(n_components=256, **kwargs):
    space = zonal.HarmonicFeatures(SPACE, **kwargs)
    return zonal.ProductFeatures(
        [([0, 1, 2], space), ([3], zonal.HarmonicFeatures(TIME))], n_components
    )


def test_columns_are_products_with_the_largest_eigenvalues(rows):
    features = product(200).fit(rows)
    space, time = features.features_
    parts = space.transform(rows[:, :3]), time.transform(rows[:, 3:])
    i, j = features.indices_.T
    np.testing.assert_allclose(features.transform(rows), parts[0][:, i] * parts[1][:, j])
    # Brute force over all pairs.
    everything = [a * b for a, b in itertools.product(space.eigenvalues_, time.eigenvalues_)]
    largest = np.sort(everything)[::-1][:200]
    np.testing.assert_allclose(features.eigenvalues_, largest, rtol=1e-12)


def test_approximates_the_product_kernel_better_with_more_columns(rows):
    K = SPACE(rows[:, :3]) * TIME(rows[:, 3:])
    errors = []
    for n_components in (64, 256, 1024):
        Z = product(n_components).fit_transform(rows)
        errors.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3
    # What is left out has the trace of the eigenvalues that are left out (space is uniform, and
    # the times are the nodes of the radial functions), within the scatter of 300 points.
    Z = product(256).fit(rows)
    missing = 1 - Z.eigenvalues_.sum()
    diagonal = 1 - np.square(Z.transform(rows)).sum(axis=1)
    error = diagonal.std() / np.sqrt(len(rows))
    assert abs(diagonal.mean() - missing) < 5 * error


def test_three_groups_equal_nested_products(rows):
    X = np.column_stack([rows, np.random.default_rng(1).standard_normal(300)])
    parts = [
        ([0, 1, 2], zonal.HarmonicFeatures(SPACE, 64)),
        ([3], zonal.HarmonicFeatures(TIME, 16)),
        ([4], zonal.HarmonicFeatures(zonal.Gaussian(1.0), 16)),
    ]
    flat = zonal.ProductFeatures(parts, 300).fit(X)
    everything = np.multiply.outer(
        np.multiply.outer(*(f.eigenvalues_ for f in flat.features_[:2])),
        flat.features_[2].eigenvalues_,
    )
    largest = np.sort(everything, axis=None)[::-1][:300]
    np.testing.assert_allclose(flat.eigenvalues_, largest, rtol=1e-12)
    columns = [f.transform(X[:, c]) for c, f in zip(flat.columns_, flat.features_, strict=True)]
    expected = np.prod([z[:, i] for z, i in zip(columns, flat.indices_.T, strict=True)], axis=0)
    np.testing.assert_allclose(flat.transform(X), expected, rtol=1e-12, atol=1e-15)
    nested = zonal.ProductFeatures(
        [([0, 1, 2, 3], zonal.ProductFeatures(parts[:2], 1024)), parts[2]], 300
    )
    Z, N = flat.transform(X), nested.fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, N @ N.T, atol=1e-12)


def test_features_without_eigenvalues_use_their_mean_squares(rows):
    features = zonal.ProductFeatures(
        [
            ([0, 1, 2], zonal.HarmonicFeatures(SPACE, 64)),
            ([3], zonal.FourierFeatures(TIME, 32, random_state=0)),
        ],
        100,
    ).fit(rows)
    squares = np.square(features.features_[1].transform(rows[:, 3:])).mean(axis=0)
    i, j = features.indices_.T
    expected = features.features_[0].eigenvalues_[i] * squares[j]
    np.testing.assert_allclose(features.eigenvalues_, expected, rtol=1e-12)


def test_columns_by_name_slice_and_mask(rows):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=["x", "y", "z", "time"])
    expected = product(100).fit_transform(rows)
    parts = zonal.HarmonicFeatures(SPACE), zonal.HarmonicFeatures(TIME)
    for space, time in (
        (["x", "y", "z"], "time"),
        (slice(0, 3), [-1]),
        ([True, True, True, False], 3),
    ):
        X = frame if isinstance(time, str) else rows
        features = zonal.ProductFeatures([(space, parts[0]), (time, parts[1])], 100)
        np.testing.assert_array_equal(features.fit_transform(X), expected)


def test_single_precision_and_sparse_rows(rows):
    features = product(128).fit(rows)
    Z = features.transform(rows)
    single = features.transform(rows.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=2e-5 * np.abs(Z).max())
    np.testing.assert_allclose(features.transform(sp.csr_matrix(rows)), Z, atol=1e-12)


def test_diagonal_and_learners(rows):
    features = product(256)
    y = rows[:, 2] * np.sin(3 * rows[:, 3])
    model = zonal.KernelRidge(features, alpha=1e-6).fit(rows, y)
    assert np.mean((model.predict(rows) - y) ** 2) < 1e-6 * y.var()
    np.testing.assert_allclose(features.fit(rows).kernel_diag(rows), 1.0)
    process = zonal.GaussianProcess(features, noise=1e-4).fit(rows, y)
    assert np.isfinite(process.predict(rows, return_std=True)[1]).all()


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        ([], "groups is empty"),
        (3, "must be a list of pairs"),
        ([([0], "gaussian")], "not a feature map"),
        ([([0, 9], zonal.HarmonicFeatures())], "numbers from 0 to 3"),
        ([([0, 0], zonal.HarmonicFeatures())], "each only once"),
        ([(["depth"], zonal.HarmonicFeatures())], "must name at least one column"),
    ],
)
def test_bad_groups(rows, groups, match):
    with pytest.raises((ValueError, TypeError), match=match):
        zonal.ProductFeatures(groups).fit(rows)


def test_save_and_load(rows, tmp_path):
    features = product(64).fit(rows)
    zonal.save(features, tmp_path / "product.zonal")
    loaded = zonal.load(tmp_path / "product.zonal")
    np.testing.assert_array_equal(loaded.transform(rows), features.transform(rows))


@parametrize_with_checks(
    [
        zonal.ProductFeatures(
            [(slice(0, 1), zonal.HarmonicFeatures()), (slice(0, None), zonal.HarmonicFeatures())],
            n_components=32,
        )
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
