"""Fewer columns before the expansion."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

import zonal

MAPS = [zonal.HarmonicFeatures, zonal.GegenbauerFeatures]
maps = pytest.mark.parametrize("features", MAPS, ids=lambda m: m.__name__)


def low_rank(n=300, dim=12, rank=3, noise=0.0, seed=0):
    """Rows in a subspace of a few dimensions, with a mean."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((dim, rank)))[0]
    return 1 + rng.standard_normal((n, rank)) @ basis.T + noise * rng.standard_normal((n, dim))


def relative_error(Z, K):
    return np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)


@maps
def test_pca_is_scikit_learns(features):
    """The same axes, up to signs, of which the largest entry is positive."""
    X = low_rank(noise=0.2)
    model = features(zonal.Gaussian(2.0), 64, reduce="pca", reduced_dim=4, random_state=0).fit(X)
    axes = PCA(4).fit(X).components_.T
    assert model.reduction_.shape == (12, 4)
    np.testing.assert_allclose(np.abs(model.reduction_.T @ axes), np.eye(4), atol=1e-9)
    peaks = np.take_along_axis(
        model.reduction_, np.abs(model.reduction_).argmax(axis=0)[None], axis=0
    )
    assert (peaks > 0).all()


@maps
def test_pca_of_rows_in_a_subspace_loses_nothing(features):
    """The map is that of the coordinates in the subspace."""
    X = low_rank()
    kernel = zonal.Gaussian(2.0)
    options = {"max_degree": 6, "n_radial": 3, "random_state": 0}
    options = options if features is zonal.GegenbauerFeatures else {}
    model = features(kernel, 200, reduce="pca", reduced_dim=3, **options).fit(X)
    coordinates = (X - X.mean(axis=0)) @ model.reduction_
    inside = features(kernel, 200, center=False, **options).fit(coordinates)
    np.testing.assert_allclose(model.transform(X), inside.transform(coordinates), atol=1e-9)
    np.testing.assert_allclose(model.kernel_diag(X), 1)


def test_harmonic_features_of_rows_in_a_subspace():
    X, kernel = low_rank(), zonal.Gaussian(2.0)
    K = kernel(X)
    reduced = zonal.HarmonicFeatures(kernel, 256, reduce="pca", reduced_dim=3).fit_transform(X)
    plain = zonal.HarmonicFeatures(kernel, 256).fit_transform(X)
    assert relative_error(reduced, K) < 1e-4
    assert relative_error(plain, K) > 100 * relative_error(reduced, K)


@maps
def test_random_projection(features):
    """A normal matrix whose squared distances are right in the mean, from the seed alone."""
    X = low_rank()

    def reduction(seed, rows=X):
        model = features(zonal.Gaussian(3.0), 32, reduce="jl", reduced_dim=4, random_state=seed)
        return model.fit(rows).reduction_

    np.testing.assert_array_equal(reduction(1), reduction(1, X[:50] + 3))
    assert np.abs(reduction(1) - reduction(2)).max() > 0.1
    entries = np.concatenate([reduction(seed).ravel() for seed in range(40)])
    # 1,920 normal entries of variance 1/4: the mean square has the standard error √(2/n)/4.
    assert abs(np.mean(entries**2) - 1 / 4) < 5 * np.sqrt(2 / len(entries)) / 4
    assert abs(entries.mean()) < 5 / np.sqrt(4 * len(entries))


@maps
def test_random_projections_to_more_columns_are_left_out(features):
    X = low_rank(dim=5)
    model = features(zonal.Gaussian(2.0), 64, reduce="jl", reduced_dim=5, random_state=0).fit(X)
    assert model.reduction_ is None
    plain = features(zonal.Gaussian(2.0), 64, random_state=0).fit(X)
    np.testing.assert_array_equal(model.transform(X), plain.transform(X))


@pytest.mark.parametrize("reduced_dim", [5, 9])
def test_all_principal_axes_are_a_rotation(reduced_dim):
    """Whole degrees do not notice; one that is used in part begins with the leading axes."""
    X = low_rank(dim=5, noise=0.3)
    kernel = zonal.Polynomial(1, 1.0, 1.0)

    def model(n_components, reduce):
        return zonal.HarmonicFeatures(
            kernel, n_components, reduce=reduce, reduced_dim=reduced_dim, center=True
        ).fit(X)

    np.testing.assert_allclose(
        model(6, "pca").reduction_.T @ model(6, "pca").reduction_, np.eye(5), atol=1e-12
    )
    whole, plain = model(6, "pca").transform(X), model(6, None).transform(X)
    np.testing.assert_allclose(whole @ whole.T, plain @ plain.T, atol=1e-9)
    # 1 + ⟨x, y⟩ has rank 6: four columns keep the constant and three axes, the best there are.
    with pytest.warns(zonal.TruncationWarning, match="less than 1 \\+ 5"):
        Z = model(4, "pca").transform(X)
    centred = X - X.mean(axis=0)
    values = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1]
    error = np.linalg.norm(Z @ Z.T - kernel(centred))
    np.testing.assert_allclose(error, np.linalg.norm(values[3:]), rtol=1e-6)


@pytest.mark.parametrize("reduce", ["pca", "jl"])
def test_chosen_dimension_is_the_best_of_all(reduce):
    """Against every candidate, on rows that all are in the pilot sample."""
    X, kernel = low_rank(n=200, noise=0.02), zonal.Gaussian(2.0)
    K = kernel(X)

    def error(reduced_dim):
        model = zonal.HarmonicFeatures(
            kernel, 128, reduce=reduce, reduced_dim=reduced_dim, random_state=0
        ).fit(X)
        dim = X.shape[1] if model.reduction_ is None else model.reduction_.shape[1]
        return relative_error(model.transform(X), K), dim

    errors = {dim: error(dim)[0] for dim in (2, 3, 4, 6, 8, 12)}
    best = min(errors, key=errors.get)
    assert error("auto") == (errors[best], best)
    if reduce == "pca":
        assert best in (3, 4)


@maps
def test_sparse_equals_dense(features):
    data = sp.random_array((80, 50), density=0.1, rng=np.random.default_rng(0)).toarray()
    for reduce in ("pca", "jl"):
        model = features(
            zonal.Gaussian(2.0), 64, reduce=reduce, reduced_dim=3, center=False, random_state=0
        )
        expected = model.fit(data).transform(data)
        np.testing.assert_allclose(model.transform(sp.csr_array(data)), expected, atol=1e-10)
        again = model.fit(sp.csr_array(data)).transform(data)
        np.testing.assert_allclose(again, expected, atol=1e-8)


@maps
def test_weights_are_repeated_rows(features):
    X = low_rank(n=60, noise=0.2)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    model = features(zonal.Gaussian(2.0), 32, reduce="pca", reduced_dim=3, random_state=0)
    weighted = model.fit(X, sample_weight=weights).transform(X)
    repeated = model.fit(np.repeat(X, weights, axis=0)).transform(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-8)


@maps
def test_float32(features):
    X = low_rank(noise=0.2)
    model = features(zonal.Gaussian(2.0), 64, reduce="pca", reduced_dim=3, random_state=0).fit(X)
    single, double = model.transform(X.astype(np.float32)), model.transform(X)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-4 * np.abs(double).max())


def test_many_columns():
    """Above 2,000 columns a few singular vectors are found without the others."""
    X = low_rank(n=100, dim=2500, noise=0.0)
    model = zonal.HarmonicFeatures(zonal.Gaussian(2.0), 128, reduce="pca", reduced_dim=3).fit(X)
    axes = PCA(3).fit(X).components_.T
    np.testing.assert_allclose(np.abs(model.reduction_.T @ axes), np.eye(3), atol=1e-8)


@maps
@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"reduce": "svd"}, "reduce='svd' of .* is not one of 'pca', 'jl'"),
        ({"reduce": "pca", "reduced_dim": 0}, "reduced_dim=0"),
        ({"reduced_dim": "some"}, "reduced_dim='some' .*\"auto\""),
    ],
)
def test_clear_errors(features, kwargs, message):
    with pytest.raises(ValueError, match=message):
        features(**kwargs).fit(low_rank())
