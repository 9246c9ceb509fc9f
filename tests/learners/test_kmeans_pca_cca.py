import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn import decomposition
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import CCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import FunctionTransformer

import zonal
from zonal.learners import kmeans

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))


def oblivious(n=64):
    return zonal.GegenbauerFeatures(
        zonal.Gaussian(2.0),
        n,
        max_degree=8,
        n_radial=3,
        radial_basis="taylor",
        center=False,
        random_state=0,
    )


def blobs(n=300):
    centers = 4 * np.eye(3)
    labels = np.arange(n) % 3
    return centers[labels] + 0.3 * np.random.default_rng(1).standard_normal((n, 3)), labels


# k-means


def test_kmeans_objective_by_direct_computation():
    data, truth = blobs()
    model = zonal.KernelKMeans(oblivious(), n_clusters=3, random_state=0).fit(data)
    assert adjusted_rand_score(truth, model.labels_) == 1
    Z = oblivious().fit_transform(data)
    # The paper's objective with the kernel trick: Σ k(x,x) - Σ_C (1/|C|) Σ_{x,y in C} k(x,y).
    K = Z @ Z.T
    direct = np.trace(K) - sum(
        K[np.ix_(members, members)].sum() / len(members)
        for members in (np.flatnonzero(model.labels_ == c) for c in range(3))
    )
    assert model.inertia_ == pytest.approx(direct, rel=1e-9)
    assert model.objective_ == pytest.approx(direct / 300, rel=1e-9)
    np.testing.assert_array_equal(model.predict(data), model.labels_)
    distances = model.transform(data)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
    assert np.sum(distances.min(axis=1) ** 2) == pytest.approx(model.inertia_)


def test_kmeans_without_holding_the_features(monkeypatch):
    """From the same start, Lloyd's rounds over blocks end where scikit-learn's do."""
    data, _ = blobs(900)
    data += np.random.default_rng(2).standard_normal(data.shape)
    monkeypatch.setattr(kmeans, "HELD_BYTES", 0)
    monkeypatch.setattr(kmeans, "sample_rows", lambda n: np.arange(60))
    model = zonal.KernelKMeans(oblivious(), n_clusters=3, random_state=0, tol=0).fit(data)
    Z = oblivious().fit_transform(data)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    start = KMeans(3, n_init="auto", tol=0, random_state=seed).fit(Z[:60]).cluster_centers_
    expected = KMeans(3, init=start, n_init=1, tol=0).fit(Z)
    assert model.n_iter_ > 1
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-9)


def test_kmeans_stream():
    data, truth = blobs(900)
    model = zonal.KernelKMeans(oblivious(), n_clusters=3, random_state=0)
    for start in range(0, 900, 90):
        model.partial_fit(data[start : start + 90])
    assert adjusted_rand_score(truth, model.predict(data)) == 1
    assert model.n_iter_ == 10


def test_kmeans_errors():
    with pytest.raises(ValueError, match="n_clusters=0"):
        zonal.KernelKMeans(n_clusters=0).fit(X)
    with pytest.raises(ValueError, match="n_samples=5 should be >= n_clusters=8"):
        zonal.KernelKMeans().fit(X[:5])


# principal components


def test_pca_equals_pca_on_the_explicit_features():
    Z = oblivious().fit_transform(X)
    expected = decomposition.PCA(4, svd_solver="full").fit(Z)
    model = zonal.KernelPCA(oblivious(), n_components=4).fit(X)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-9
    )
    np.testing.assert_allclose(model.mean_, Z.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(expected.transform(Z)), atol=1e-8)
    largest = np.abs(model.components_).argmax(axis=1)
    assert (model.components_[np.arange(4), largest] > 0).all()
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, expected.inverse_transform(expected.transform(Z)), atol=1e-8)


def test_pca_against_the_exact_kernel():
    """Within the error of the features (Weyl), a hundredth of the top eigenvalue at most."""
    kernel = zonal.Gaussian(2.0)
    features = zonal.GegenbauerFeatures(kernel, 1500, random_state=0)
    model = zonal.KernelPCA(features, n_components=3).fit(X)
    exact = decomposition.KernelPCA(3, kernel="rbf", gamma=1 / 8).fit(X)
    Z = model.features_.transform(X)
    H = np.eye(300) - 1 / 300
    error = np.linalg.norm(H @ (Z @ Z.T - kernel(X)) @ H, 2)
    assert error < 0.01 * exact.eigenvalues_[0]
    assert np.abs(model.eigenvalues_ - exact.eigenvalues_).max() <= error * (1 + 1e-9)
    # Davis–Kahan: the angle between the three-dimensional subspaces is at most error / gap.
    gap = (
        exact.eigenvalues_[2]
        - decomposition.KernelPCA(4, kernel="rbf", gamma=1 / 8).fit(X).eigenvalues_[3]
    )
    angle = subspace_angles(model.transform(X), exact.transform(X)).max()
    assert np.sin(angle) <= min(1, 2 * error / gap)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pca_stream(size):
    whole = zonal.KernelPCA(oblivious(), 3).fit(X)
    parts = zonal.KernelPCA(oblivious(), 3)
    for start in range(0, 300, size):
        parts.partial_fit(X[start : start + size])
    np.testing.assert_allclose(parts.transform(X), whole.transform(X), atol=1e-8)


def test_pca_errors():
    with pytest.raises(ValueError, match="n_components=65 exceeds the 64 features"):
        zonal.KernelPCA(oblivious(), 65).fit(X)
    with pytest.raises(ValueError, match="n_components=0"):
        zonal.KernelPCA(oblivious(), 0).fit(X)


# canonical correlations


def identity():
    return FunctionTransformer()


def test_cca_known_correlations():
    """Two latent variables shared with correlations 0.9 and 0.5, mixed linearly."""
    rng = np.random.default_rng(3)
    n = 20_000
    shared, noise = rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    rho = np.array([0.9, 0.5])
    A = shared @ rng.standard_normal((2, 2)) + 1
    B = (rho * shared + np.sqrt(1 - rho**2) * noise) @ rng.standard_normal((2, 2)) - 3
    model = zonal.KernelCCA(identity(), n_components=2, alpha=1e-9).fit(A, B)
    # A sample correlation has a standard error of (1 - ρ²)/√n, at most 0.0053.
    np.testing.assert_allclose(model.correlations_, rho, atol=5 * 0.0053)
    left, right = model.transform(A, B)
    np.testing.assert_allclose(
        np.corrcoef(left.T, right.T)[:2, 2:], np.diag(model.correlations_), atol=1e-6
    )


def test_cca_against_scikit_learn_on_the_explicit_features():
    rng = np.random.default_rng(4)
    Y = np.column_stack([X[:, 0] ** 2, X[:, 1]]) + 0.3 * rng.standard_normal((300, 2))
    few = oblivious(8)
    model = zonal.KernelCCA(few, n_components=2, alpha=1e-12).fit(X, Y)
    Zx, Zy = (oblivious(8).fit_transform(view) for view in (X, Y))
    expected = CCA(2, max_iter=5000, tol=1e-12).fit(Zx, Zy)
    a, b = expected.transform(Zx, Zy)
    correlations = [np.corrcoef(a[:, k], b[:, k])[0, 1] for k in range(2)]
    np.testing.assert_allclose(model.correlations_, correlations, atol=1e-5)


def test_cca_pair_of_features_and_chunks():
    rng = np.random.default_rng(5)
    Y = np.tanh(X[:, :2]) + 0.1 * rng.standard_normal((300, 2))
    whole = zonal.KernelCCA((oblivious(), identity()), n_components=2).fit(X, Y)
    assert whole.x_weights_.shape == (64, 2)
    assert whole.y_weights_.shape == (2, 2)
    parts = zonal.KernelCCA((oblivious(), identity()), n_components=2)
    for start in range(0, 300, 70):
        parts.partial_fit(X[start : start + 70], Y[start : start + 70])
    np.testing.assert_allclose(parts.correlations_, whole.correlations_, rtol=1e-8)
    with pytest.raises(ValueError, match="Y has 3 columns, but the first had 2"):
        parts.partial_fit(X, X)
    with pytest.raises(ValueError, match="features has 3 entries"):
        zonal.KernelCCA((1, 2, 3)).fit(X, Y)
    with pytest.raises(ValueError, match="n_components=3 exceeds the 2 features"):
        zonal.KernelCCA(identity(), n_components=3).fit(X, Y)
    with pytest.raises(ValueError, match="alpha=0"):
        zonal.KernelCCA(identity(), alpha=0).fit(X, Y)
