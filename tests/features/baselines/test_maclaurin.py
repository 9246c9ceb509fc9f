"""Random Maclaurin features."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.features.baselines.maclaurin import MaclaurinFeatures
from zonal.kernels.expansion.taylor import taylor_series

X = np.random.default_rng(0).standard_normal((60, 4))
MEASURES = ["geometric", "proportional"]
KERNELS = [
    zonal.Exponential(1.5),
    zonal.Polynomial(3, gamma=0.5),
    zonal.Gaussian(1.5),
    zonal.Gaussian(1.5) + zonal.Gaussian(3.0),
]


def points(n, dim, seed=0):
    """Norms of at most 1, for light tails."""
    rows = np.random.default_rng(seed).standard_normal((n, dim))
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)


def gram_entries(features, rows, n_seeds):
    grams = []
    for seed in range(n_seeds):
        Z = features.set_params(random_state=seed).fit_transform(rows)
        grams.append(Z @ Z.T)
    return np.array(grams)


@parametrize_with_checks(
    [
        MaclaurinFeatures(n_components=16),
        MaclaurinFeatures(zonal.Polynomial(2), n_components=8, measure="proportional"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dim", [1, 3, 30])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("measure", MEASURES)
def test_unbiased(kernel, dim, measure):
    """The mean over seeds is the truncated series, within five standard errors of the sample."""
    rows = points(5, dim)
    features = MaclaurinFeatures(kernel, 300, measure=measure, center=False)
    grams = gram_entries(features, rows, 80)
    expected = features.series_(rows)
    bound = 5 * grams.std(axis=0, ddof=1) / np.sqrt(len(grams))
    assert (np.diag(bound) < 0.1 * np.diag(expected)).all()  # or the test could not fail
    assert (np.abs(grams.mean(axis=0) - expected) <= bound + 1e-12).all()
    np.testing.assert_allclose(expected, kernel(rows), atol=1e-5)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "kernel", [zonal.Polynomial(2), zonal.Gaussian(2.0), zonal.Exponential(2.0)], ids=repr
)
def test_error_halves_with_four_times_the_width(kernel, measure):
    rows = points(30, 9)
    error = []
    for width in (65, 257):  # one column is the constant, exact
        features = MaclaurinFeatures(kernel, width, measure=measure, center=False)
        grams = gram_entries(features, rows, 60)
        error.append(np.sqrt(np.mean((grams - features.series_(rows)) ** 2)))
    assert 1.6 < error[0] / error[1] < 2.4


def test_definition():
    """Every column against the product that it stands for."""
    features = MaclaurinFeatures(zonal.Exponential(1.0), 40, center=False, random_state=0).fit(X)
    Z = features.transform(X)
    np.testing.assert_allclose(Z[:, 0], 1.0)  # a_0 = 1
    n_drawn = 39
    for column in range(1, 40):
        degree = features.degrees_[column]
        position = column - 40  # the factors serve the last columns
        value = np.ones(len(X))
        for factor in features._factors[:degree]:
            assert set(np.unique(factor)) <= {-1, 1}
            value *= X @ factor[:, position]
        # q(N) = 2^-N from degree 1 on; a_N = 1 / N!
        scale = 2.0**degree / np.prod(np.arange(1.0, degree + 1)) / n_drawn
        np.testing.assert_allclose(Z[:, column], np.sqrt(scale) * value, rtol=1e-12)


def test_degrees_follow_the_measure():
    geometric = MaclaurinFeatures(zonal.Exponential(), 20_001, random_state=0).fit(X).degrees_
    share = (geometric == 1).sum() / 20_000
    assert abs(share - 0.5) < 5 * np.sqrt(0.25 / 20_000)
    features = MaclaurinFeatures(
        zonal.Polynomial(3), 20_001, measure="proportional", random_state=0
    ).fit(X)
    energy = np.array([3, 3, 1]) * np.mean((X**2).sum(axis=1)) ** np.arange(1, 4)
    shares = np.bincount(features.degrees_)[1:] / 20_000
    assert (np.abs(shares - energy / energy.sum()) < 5 * np.sqrt(0.25 / 20_000)).all()


def test_zero_coefficients_are_never_drawn():
    features = MaclaurinFeatures(zonal.Polynomial(3, coef0=0.0), 32, random_state=0).fit(X)
    np.testing.assert_array_equal(features.degrees_, 3)
    features = MaclaurinFeatures(zonal.DotProduct(np.cosh), 32, random_state=0).fit(X)
    np.testing.assert_array_equal(features.degrees_ % 2, 0)


def test_constant_kernel_and_single_column():
    constant = zonal.DotProduct(lambda t: 3.0 + 0 * t, taylor=[3.0])
    Z = MaclaurinFeatures(constant, 5, random_state=0).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, 3.0)
    grams = gram_entries(MaclaurinFeatures(zonal.Polynomial(1), 1), X[:3], 600)
    bound = 5 * grams.std(axis=0, ddof=1) / np.sqrt(600)
    assert (np.abs(grams.mean(axis=0) - zonal.Polynomial(1)(X[:3])) <= bound).all()


def test_geometric_is_oblivious_to_the_data():
    first, second = (
        MaclaurinFeatures(zonal.Gaussian(2.0), 64, center=False, random_state=0).fit(data)
        for data in (X, 7 * X[:5] + 1)
    )
    np.testing.assert_array_equal(first.transform(X), second.transform(X))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_float32(kernel, measure):
    features = MaclaurinFeatures(kernel, 128, measure=measure, random_state=0).fit(X)
    double, single = features.transform(X), features.transform(X.astype(np.float32))
    assert double.dtype == np.float64
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-4 * np.abs(double).max())


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("measure", MEASURES)
def test_sparse_equals_dense(container, measure):
    dense = sp.random_array((80, 50), density=0.1, rng=np.random.default_rng(0)).toarray()
    dense[3] = 0
    features = MaclaurinFeatures(
        zonal.Gaussian(2.0), 100, measure=measure, center=False, random_state=0
    )
    expected = features.fit(dense).transform(dense)
    np.testing.assert_allclose(features.transform(container(dense)), expected, atol=1e-12)
    np.testing.assert_allclose(
        features.fit(container(dense)).transform(dense), expected, atol=1e-12
    )


def test_sparse_is_never_filled():
    """A dense copy would be 1.6 GB; the factors are some 13 MB of bytes, 100 MB as floats."""
    data = sp.random_array(
        (2000, 100_000), density=1e-4, rng=np.random.default_rng(0), format="csr"
    )
    features = MaclaurinFeatures(zonal.Gaussian(3.0), 64, random_state=0)
    tracemalloc.start()
    Z = features.fit_transform(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert Z.shape == (2000, 64)
    assert peak < 300e6


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_rows(measure, dtype):
    """Zero rows, tiny and huge ones; powers of 1e3 overflow float32 where the product must not."""
    rows = np.vstack([np.zeros(4), X[:3], 1e-30 * X[:3], 1e3 * X[:3]]).astype(dtype)
    features = MaclaurinFeatures(
        zonal.Gaussian(1.0), 256, measure=measure, center=False, random_state=0
    ).fit(X)
    Z = features.transform(rows)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(Z[0], np.eye(256)[0])  # the constant only
    np.testing.assert_allclose(Z[7:], 0)
    for data in (np.zeros((3, 4)), X[:1]):
        assert np.isfinite(features.fit(data).transform(rows)).all()


def test_seeds_and_pickle():
    first, second, other = (
        MaclaurinFeatures(zonal.Gaussian(2.0), 32, random_state=seed).fit(X) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.transform(X), second.transform(X))
    assert np.abs(first.transform(X) - other.transform(X)).max() > 0.1
    restored = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(restored.transform(X), first.transform(X))
    first.set_params(n_components=7)
    assert first.transform(X).shape == (60, 32)


def test_centre():
    features = MaclaurinFeatures(zonal.Gaussian(2.0), 32, random_state=0).fit(X + 100)
    np.testing.assert_allclose(features.center_, X.mean(axis=0) + 100)
    expected = MaclaurinFeatures(zonal.Gaussian(2.0), 32, random_state=0).fit_transform(X)
    np.testing.assert_allclose(features.transform(X + 100), expected, atol=1e-10)


def test_series_of_a_sum_has_both_decays():
    kernel = zonal.Gaussian(1.0) + 2 * zonal.Gaussian(3.0) + zonal.Polynomial(2)
    series = taylor_series(kernel, 52, "test")
    assert len(np.unique(series.decays)) == 3
    np.testing.assert_allclose(series(X[:9], X[9:20]), kernel(X[:9], X[9:20]), atol=1e-10)
    np.testing.assert_allclose(
        np.exp(2 * series.log_weights(np.linalg.norm(X, axis=1))).sum(axis=1), kernel.diag(X)
    )


def test_warns_where_the_series_is_of_no_use():
    with pytest.warns(zonal.TruncationWarning, match=r"leave out 99%.*NystroemFeatures"):
        MaclaurinFeatures(zonal.Gaussian(0.05), 128, measure="proportional").fit(X)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"kernel": zonal.NTK()}, r"NTK.*GegenbauerFeatures or NystroemFeatures"),
        ({"kernel": zonal.ArcCosine(1)}, "ArcCosine"),
        ({"kernel": zonal.Zonal(np.exp)}, r"Zonal.*GegenbauerFeatures or NystroemFeatures"),
        ({"kernel": zonal.Gaussian(1.0) + zonal.NTK(1)}, "GegenbauerFeatures"),
        ({"kernel": zonal.Gaussian(1.0).expand(4)}, "GeneralizedZonalKernel"),
        ({"measure": "uniform"}, "measure='uniform'.*'geometric', 'proportional'"),
        ({"n_components": 0}, "n_components=0"),
        ({"center": "median"}, "center='median'"),
        ({"kernel": zonal.Polynomial(60, coef0=0.0)}, "up to degree 52 are zero"),
    ],
)
def test_clear_errors(kwargs, message):
    with pytest.raises(ValueError, match=message):
        MaclaurinFeatures(**kwargs).fit(X)
