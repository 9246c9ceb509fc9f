"""Random features of arc-cosine kernels, of one layer and of the Neural Tangent kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal

X = np.random.default_rng(0).standard_normal((12, 5))


@parametrize_with_checks(
    [
        zonal.ReLUFeatures(n_components=16),
        zonal.ReLUFeatures(zonal.ArcCosine(0), n_components=8, sampling="gaussian"),
        zonal.NTKFeatures(n_components=16),
        zonal.NTKFeatures(zonal.NTK(3), n_components=8, sampling="orthogonal", hidden=20),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def estimates(make, n_seeds):
    """Z Zᵀ of many seeds."""
    grams = []
    for seed in range(n_seeds):
        Z = make(seed).fit_transform(X)
        grams.append(Z @ Z.T)
    return np.array(grams)


def test_unbiased_with_the_variance_of_cho_and_saul():
    """2 E[u₊² v₊²] is half the kernel of order 2: Var of a unit is 2 k₂ - k₁²."""
    n_seeds, width = 400, 16
    kernel = zonal.ArcCosine(1)
    grams = estimates(
        lambda seed: zonal.ReLUFeatures(kernel, width, sampling="gaussian", random_state=seed),
        n_seeds,
    )
    K = kernel(X)
    variance = (2 * zonal.ArcCosine(2)(X) - K**2) / width
    z = (grams.mean(axis=0) - K) / np.sqrt(variance / n_seeds)
    assert np.abs(z).max() < 5
    ratio = grams.var(axis=0) / variance
    assert 0.6 < np.median(ratio) < 1.4


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("sampling", ["leverage", "orthogonal", "gaussian"])
def test_every_order_and_sampling_is_unbiased(order, sampling):
    kernel = zonal.ArcCosine(order)
    grams = estimates(
        lambda seed: zonal.ReLUFeatures(kernel, 64, sampling=sampling, random_state=seed), 200
    )
    error = grams.std(axis=0, ddof=1) / np.sqrt(200)
    assert (np.abs(grams.mean(axis=0) - kernel(X)) <= 5 * error + 1e-12).all()


def test_leverage_scores_have_no_larger_variance():
    """A length of w that does not vary takes its variance away (Zandieh et al. 2021)."""
    total = {
        sampling: estimates(
            lambda seed, s=sampling: zonal.ReLUFeatures(
                zonal.ArcCosine(2), 32, sampling=s, random_state=seed
            ),
            300,
        )
        .var(axis=0)
        .sum()
        for sampling in ("gaussian", "leverage")
    }
    assert total["leverage"] < total["gaussian"]


def test_rows_of_zeros_have_the_angle_of_the_kernel():
    rows = np.vstack([X, np.zeros(5)])
    Z = zonal.ReLUFeatures(zonal.ArcCosine(0), 20000, random_state=0).fit_transform(rows)
    np.testing.assert_allclose((Z @ Z.T)[-1], zonal.ArcCosine(0)(rows)[-1], atol=0.03)


@pytest.mark.parametrize("order", [1, 2])
def test_gradient(order):
    features = zonal.ReLUFeatures(zonal.ArcCosine(order), 10, random_state=0).fit(X)
    step = 1e-6 * np.eye(5)
    for column in range(5):
        difference = features.transform(X + step[column]) - features.transform(X - step[column])
        np.testing.assert_allclose(features.gradient(X)[:, :, column], difference / 2e-6, atol=1e-6)


@pytest.mark.parametrize(
    "features",
    [
        zonal.ReLUFeatures(n_components=50, random_state=0),
        zonal.NTKFeatures(n_components=50, random_state=0),
        zonal.NTKFeatures(n_components=50, hidden=3, random_state=0),  # rows are sketched
    ],
    ids=repr,
)
def test_sparse_and_single_precision(features, tmp_path):
    Z = features.fit(X).transform(X)
    np.testing.assert_allclose(features.transform(sp.csr_array(X)), Z, atol=1e-12)
    single = features.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=1e-5)
    zonal.save(features, tmp_path / "map.zonal")
    np.testing.assert_array_equal(zonal.load(tmp_path / "map.zonal").transform(X), Z)


@pytest.mark.parametrize("width", [1, 30])
@pytest.mark.parametrize("sampling", ["leverage", "gaussian"])
def test_ntk_of_depth_one_is_unbiased(sampling, width):
    kernel = zonal.NTK(1)
    grams = estimates(
        lambda seed: zonal.NTKFeatures(
            kernel, width, sampling=sampling, hidden=40, random_state=seed
        ),
        300,
    )
    error = grams.std(axis=0, ddof=1) / np.sqrt(300)
    assert (np.abs(grams.mean(axis=0) - kernel(X)) <= 5 * error).all()


@pytest.mark.parametrize("depth", [2, pytest.param(3, marks=pytest.mark.longest)])
def test_ntk_error_falls_with_the_width(depth):
    """Squares of errors fall as one over the width, and what is biased in them twice as fast."""
    kernel = zonal.NTK(depth)
    K = kernel(X)
    mean, error = {}, {}
    for width in (64, 1024):
        grams = estimates(lambda seed, w=width: zonal.NTKFeatures(kernel, w, random_state=seed), 12)
        squares = np.square(grams - K).sum(axis=(1, 2)) / np.square(K).sum()
        mean[width], error[width] = squares.mean(), squares.std(ddof=1) / np.sqrt(12)
    deviation = np.hypot(16 * error[1024], error[64])
    assert deviation < mean[64] / 3  # or the test could not fail
    assert 16 * mean[1024] <= mean[64] + 3 * deviation


def test_mistakes():
    with pytest.raises(ValueError, match="must be an arc-cosine kernel"):
        zonal.ReLUFeatures(zonal.Gaussian(1.0)).fit(X)
    with pytest.raises(ValueError, match="must be a Neural Tangent kernel"):
        zonal.NTKFeatures(zonal.ArcCosine(1)).fit(X)
    with pytest.raises(ValueError, match="sampling='sobol'"):
        zonal.ReLUFeatures(sampling="sobol").fit(X)
    with pytest.raises(ValueError, match="hidden=0"):
        zonal.NTKFeatures(hidden=0).fit(X)
