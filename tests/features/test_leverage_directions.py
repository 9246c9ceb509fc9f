"""Directions drawn by their leverage scores."""

import numpy as np
import pytest

import zonal


def clusters(n, seed=0):
    """Rows on the sphere in three narrow caps."""
    rng = np.random.default_rng(seed)
    centres = np.array([[1.0, 0, 0], [0.9, 0.4, 0.1], [0.95, 0, 0.3]])
    X = centres[rng.integers(3, size=n)] + 0.05 * rng.standard_normal((n, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("sphere", [True, False])
def test_unbiased(sphere):
    """The mean of Z Zᵀ over seeds is the expansion, within five standard errors."""
    X = clusters(8) * (1.0 if sphere else np.linspace(0.5, 1.5, 8)[:, None])
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(1.0), 101, max_degree=4, n_radial=2, directions="leverage"
    )
    grams = []
    for seed in range(300):
        Z = features.set_params(random_state=seed).fit_transform(X)
        grams.append(Z @ Z.T)
    error = np.std(grams, axis=0, ddof=1) / np.sqrt(300)
    rows = X - features.center_
    assert (np.abs(np.mean(grams, axis=0) - features.expansion_(rows)) < 5 * error).all()


def test_scores_are_oversampled():
    """Directions near the rows are drawn more often, and count less."""
    X = clusters(500)
    kernel = zonal.Gaussian(0.5)
    features = zonal.GegenbauerFeatures(
        kernel, 2000, directions="leverage", center=False, random_state=0
    ).fit(X)
    near = features.directions_[:, 0] > 0.9  # 5 % of the sphere
    assert near.mean() > 0.1
    weights = features.direction_weights_
    assert weights[near].mean() < weights[~near].mean()
    assert weights.max() <= 2 / 2000 + 1e-15
    assert abs(weights.sum() - 1) < 5 / np.sqrt(2000)


def test_saved_and_gradients(tmp_path):
    X = clusters(200)
    y = X[:, 1]
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(0.5), 60, directions="leverage", random_state=0
    )
    model = zonal.KernelRidge(features, local=None).fit(X, y)
    zonal.save(model, tmp_path / "model.zonal")
    again = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_allclose(again.predict(X[:5]), model.predict(X[:5]), rtol=1e-12)
    fitted = features.fit(X)
    step = 1e-6
    for column in range(3):
        shift = np.zeros(3)
        shift[column] = step
        expected = (fitted.transform(X[:4] + shift) - fitted.transform(X[:4] - shift)) / (2 * step)
        np.testing.assert_allclose(fitted.gradient(X[:4])[..., column], expected, atol=1e-5)


def test_one_column_has_two_directions():
    X = np.random.default_rng(0).standard_normal((30, 1))
    one = zonal.GegenbauerFeatures(zonal.Gaussian(), 20, directions="leverage", random_state=0)
    same = zonal.GegenbauerFeatures(zonal.Gaussian(), 20, directions="iid", random_state=0)
    np.testing.assert_array_equal(one.fit_transform(X), same.fit_transform(X))
