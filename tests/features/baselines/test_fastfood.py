"""FastFood features, and the fast Walsh–Hadamard transform."""

import pickle

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import hadamard
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.engines.hadamard import fastfood_products, walsh_hadamard
from zonal.features.baselines.fastfood import FastFoodFeatures
from zonal.rows import threads


def points(n, dim, seed=0):
    """Rows and a Gaussian for them, whose entries are mostly between 0.1 and 0.9."""
    X = np.random.default_rng(seed).standard_normal((n, dim))
    return X, zonal.Gaussian(np.sqrt(dim))


def gram_entries(features, X, n_seeds):
    """Entries of Z Zᵀ for many seeds: [n_seeds, n, n]."""
    grams = []
    for seed in range(n_seeds):
        Z = features.set_params(random_state=seed).fit_transform(X)
        grams.append(Z @ Z.T)
    return np.array(grams)


def explicit_frequencies(features):
    """V of every block as a product of matrices, cut to d columns: [n_blocks · p, d]."""
    padded = features.signs_.shape[1]
    H = hadamard(padded)
    V = []
    for signs, permutation, normals, norms in zip(
        features.signs_,
        features.permutations_,
        features.normals_,
        features.norms_,
        strict=True,
    ):
        Pi = np.eye(padded)[permutation]
        V.append(np.diag(norms) @ H @ np.diag(normals) @ Pi @ H @ np.diag(signs))
        V[-1] /= np.sqrt(padded) * np.linalg.norm(normals)
    return np.vstack(V)[:, : features.n_features_in_]


@parametrize_with_checks([FastFoodFeatures(n_components=16), FastFoodFeatures(n_components=9)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-6), (np.float64, 1e-15)])
@pytest.mark.parametrize("n", [1, 2, 4, 8, 32, 64, 1024])
def test_transform_against_scipy(n, dtype, rtol):
    x = np.random.default_rng(0).standard_normal((3, 5, n)).astype(dtype)
    expected = x.astype(np.float64) @ hadamard(n)
    out = walsh_hadamard(x)
    assert out is x
    assert out.dtype == dtype
    # Sums of n numbers of size 1, in log₂ n steps with a rounding error each.
    atol = rtol * np.sqrt(n) * (np.log2(n) + 1) * 4
    np.testing.assert_allclose(out, expected, atol=atol)


def test_transform_is_its_own_inverse():
    x = np.random.default_rng(0).standard_normal(512)
    np.testing.assert_allclose(walsh_hadamard(walsh_hadamard(x.copy())), 512 * x, atol=1e-10)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((2, 6)), "power of two"),
        (np.zeros((2, 0)), "power of two"),
        (np.zeros((4, 2)).T, "C order"),
        (np.zeros(4, dtype=int), "float32 or float64"),
    ],
)
def test_transform_errors(x, message):
    with pytest.raises(ValueError, match=message):
        walsh_hadamard(x)


def test_products_of_wrong_shapes():
    table = np.ones((2, 4))
    places = np.zeros((2, 4), dtype=int)
    with pytest.raises(ValueError, match="do not belong to 2 blocks of 4"):
        fastfood_products(np.ones((3, 4)), table, places, table, table, np.empty((3, 9)))


@pytest.mark.parametrize("dim", [1, 2, 3, 7, 16, 30])
@pytest.mark.parametrize("width", [10, 11, 101])
def test_formula(dim, width):
    X, kernel = points(20, dim)
    features = FastFoodFeatures(kernel, width, random_state=0).fit(X)
    m = (width + 1) // 2
    V = explicit_frequencies(features)[:m]
    phases = X @ V.T
    n_pairs = width // 2
    Z = features.transform(X)
    assert Z.shape == (20, width)
    np.testing.assert_allclose(Z[:, :n_pairs], np.cos(phases[:, :n_pairs]) / np.sqrt(m), atol=1e-13)
    np.testing.assert_allclose(Z[:, m:], np.sin(phases[:, :n_pairs]) / np.sqrt(m), atol=1e-13)


def test_norms_of_full_frequencies():
    """Without padding a frequency's norm is the number in S: χ with d degrees of freedom."""
    dim = 16
    X = np.zeros((2, dim))
    features = FastFoodFeatures(zonal.Gaussian(2.0), 8000, random_state=0).fit(X)
    norms = np.linalg.norm(explicit_frequencies(features), axis=1)
    np.testing.assert_allclose(norms, features.norms_.ravel())
    assert abs(np.mean((2 * norms) ** 2) - dim) < 5 * np.sqrt(2 * dim / 4000)


@pytest.mark.parametrize("dim", [1, 2, 3, 9, 30])
@pytest.mark.parametrize("width", [256, 33])
def test_unbiased(dim, width):
    """Seeds are the samples: the frequencies of a block depend on each other."""
    X, kernel = points(6, dim)
    grams = gram_entries(FastFoodFeatures(kernel, width), X, 150)
    bound = 5 * grams.std(axis=0, ddof=1) / np.sqrt(len(grams))
    assert bound.max() < 0.2  # or the test could not fail
    assert (np.abs(grams.mean(axis=0) - kernel(X)) <= bound + 1e-12).all()


def test_sums_of_kernels():
    X, _ = points(6, 5)
    kernel = 2 * zonal.Gaussian(1.0) + zonal.Gaussian(4.0) * zonal.Gaussian(3.0)
    grams = gram_entries(FastFoodFeatures(kernel, 128), X, 150)
    bound = 5 * grams.std(axis=0, ddof=1) / np.sqrt(len(grams))
    assert bound.max() < 0.3
    assert (np.abs(grams.mean(axis=0) - kernel(X)) <= bound + 1e-12).all()


@pytest.mark.parametrize("dim", [3, 30])
def test_error_halves_with_four_times_the_width(dim):
    """The blocks are independent: the ratio is 2, up to about 1/√seeds."""
    X, kernel = points(30, dim)
    error = [
        np.sqrt(np.mean((gram_entries(FastFoodFeatures(kernel, width), X, 40) - kernel(X)) ** 2))
        for width in (256, 1024)
    ]
    assert 1.5 < error[0] / error[1] < 2.7


def test_diagonal_is_exact():
    X = 100 * points(50, 9)[0]
    Z = FastFoodFeatures(zonal.Gaussian(1.0), 40).fit_transform(X)
    np.testing.assert_allclose(np.square(Z).sum(axis=1), 1, atol=1e-13)


@pytest.mark.parametrize("dim", [1, 3, 100])
def test_float32(dim):
    X, kernel = points(200, dim)
    features = FastFoodFeatures(kernel, 65, random_state=0).fit(X)
    double, single = features.transform(X), features.transform(X.astype(np.float32))
    assert double.dtype == np.float64
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=3e-5)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_equals_dense(container):
    dense = sp.random_array((80, 50), density=0.1, rng=np.random.default_rng(0)).toarray()
    dense[3] = 0
    features = FastFoodFeatures(zonal.Gaussian(2.0), 100, random_state=0)
    expected = features.fit(dense).transform(dense)
    np.testing.assert_array_equal(features.transform(container(dense)), expected)
    np.testing.assert_array_equal(features.fit(container(dense)).transform(dense), expected)


def test_blocks_threads_and_memory_order_do_not_matter(monkeypatch):
    X, kernel = points(3000, 5)
    features = FastFoodFeatures(kernel, 100, random_state=0).fit(X)
    expected = features.transform(X)
    np.testing.assert_array_equal(features.transform(np.asfortranarray(X)), expected)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(features.transform(X), expected)
    finally:
        numba.set_num_threads(before)
    for size in (777, 10**7):
        monkeypatch.setattr(threads, "BLOCK_SIZE", size)
        np.testing.assert_allclose(features.transform(X), expected, atol=1e-14)
    features.set_params(n_components=1000)
    np.testing.assert_allclose(features.transform(X), expected, atol=1e-14)


def test_seeds_clone_and_pickle():
    X, kernel = points(30, 3)
    features = FastFoodFeatures(kernel, 32, random_state=0)
    expected = clone(features).fit_transform(X)
    np.testing.assert_array_equal(clone(features).fit_transform(X), expected)
    other = clone(features).set_params(random_state=1).fit_transform(X)
    assert np.abs(other - expected).max() > 0.01
    restored = pickle.loads(pickle.dumps(features.fit(X)))
    np.testing.assert_array_equal(restored.transform(X), expected)


def test_errors():
    X, _ = points(10, 3)
    with pytest.raises(ValueError, match=r"n_components=2\.5 of FastFoodFeatures"):
        FastFoodFeatures(n_components=2.5).fit(X)
    with pytest.raises(ValueError, match="NystroemFeatures"):
        FastFoodFeatures("arc_cosine").fit(X)
