"""Weighted locality-sensitive hashing."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.features.baselines.hash_kernel import HashKernel

X = np.random.default_rng(0).uniform(-1, 1, (25, 3))


@parametrize_with_checks(
    [
        zonal.HashingFeatures(n_components=64),
        zonal.HashingFeatures(n_components=33, bucket="tent", sparse_output=False),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_boxes_have_the_laplace_kernel_of_absolute_differences():
    np.testing.assert_allclose(HashKernel(2.0)(X), laplacian_kernel(X, gamma=0.5), atol=1e-12)
    points = np.linspace(0, 10, 50)
    np.testing.assert_allclose(HashKernel().one_column(points), np.exp(-points), atol=1e-3)


def test_tents_by_quadrature():
    """κ(t) = ∫ w³e^{-w}/6 ∫ f(u) f(u + t/w) du dw, with f(u) = √3 (1 - 2|u|) on [-½, ½]."""

    def tent(u):
        return np.sqrt(3) * np.maximum(0.0, 1 - 2 * np.abs(u))

    def overlap(s):
        u = np.linspace(-0.5, 0.5, 801)
        return np.trapezoid(tent(u) * tent(u + s), u) if s < 1 else 0.0

    for t in (0.3, 1.5, 4.0):
        value = quad(
            lambda w, t=t: w**3 * np.exp(-w) / 6 * overlap(t / w), t, 40, epsabs=1e-4, limit=20
        )[0]
        assert HashKernel(1.0, "tent").one_column(np.array(t)) == pytest.approx(value, abs=2e-3)
    assert HashKernel(1.0, "tent").one_column(np.array(0.0)) == pytest.approx(1.0)


@pytest.mark.parametrize("bucket", ["box", "tent"])
def test_unbiased_with_the_variance_of_the_paper(bucket):
    """Boxes: a pair shares a cell or not, so that Var = (k (1 - k) + (1 - k)/B) / m."""
    n_seeds, m, B = 400, 4, 8
    grams = []
    for seed in range(n_seeds):
        features = zonal.HashingFeatures(
            zonal.Laplacian(2.0), m * B, n_hashes=m, bucket=bucket, random_state=seed
        ).fit(X)
        Z = features.transform(X)
        grams.append((Z @ Z.T).toarray())
    mean, K = np.mean(grams, axis=0), features.kernel_(X)
    error = np.std(grams, axis=0, ddof=1) / np.sqrt(n_seeds)
    assert (np.abs(mean - K) <= 5 * error + 2e-3).all()
    if bucket == "box":
        off = ~np.eye(len(X), dtype=bool)
        variance = (K * (1 - K) + (1 - K) / B) / m
        ratio = np.var(grams, axis=0)[off] / variance[off]
        assert 0.85 < ratio.mean() < 1.15


def test_rows_are_sparse_dense_single_and_saved(tmp_path):
    features = zonal.HashingFeatures(zonal.Laplacian(2.0), 320, n_hashes=20, random_state=0).fit(X)
    Z = features.transform(X)
    assert sp.issparse(Z)
    assert (np.diff(Z.indptr) == 20).all()
    out = np.empty((25, 320))
    np.testing.assert_array_equal(features.transform_into(X, out), Z.toarray())
    np.testing.assert_array_equal(features.transform(sp.csr_array(X)).toarray(), Z.toarray())
    assert features.transform(X.astype(np.float32)).dtype == np.float32
    zonal.save(features, tmp_path / "map.zonal")
    assert (zonal.load(tmp_path / "map.zonal").transform(X) != Z).nnz == 0


def test_streams_dask_and_learners():
    features = zonal.HashingFeatures(zonal.Laplacian(2.0), 320, random_state=0).fit(X)
    Z = features.transform(X).toarray()
    blocks = features.transform(iter([X[:10], X[10:]]))
    np.testing.assert_array_equal(blocks.toarray(), Z)
    lazy = features.transform(da.from_array(X, chunks=(10, 3)))
    computed = lazy.map_blocks(lambda part: part.toarray(), dtype=float).compute()
    np.testing.assert_array_equal(computed, Z)
    model = zonal.KernelRidge(features, alpha=0.1).fit(X, X[:, 0])
    assert model.score(X, X[:, 0]) > 0.5


def test_mistakes():
    with pytest.raises(ValueError, match="must be a Laplacian or Matern"):
        zonal.HashingFeatures(zonal.Gaussian(1.0)).fit(X)
    with pytest.raises(ValueError, match="exceeds n_components"):
        zonal.HashingFeatures(n_components=4, n_hashes=5).fit(X)
    with pytest.raises(ValueError, match="bucket='ball'"):
        zonal.HashingFeatures(bucket="ball").fit(X)
