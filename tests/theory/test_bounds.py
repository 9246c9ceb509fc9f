"""Risk of regression and cost of clustering with features."""

import itertools
from functools import lru_cache

import numpy as np
import pytest

import zonal
from zonal.theory import (
    kmeans_bound,
    kmeans_cost,
    projection_cost_error,
    ridge_risk_bound,
    spectral_error,
)


@lru_cache
def regression(width, seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    kernel = zonal.Gaussian(1.5)
    Z = zonal.GegenbauerFeatures(kernel, width, random_state=seed).fit_transform(X)
    return kernel(X), Z, np.sin(2 * X[:, 0]) + X[:, 1], rng


def test_exact_risks_by_simulation():
    """The closed forms are means over noise: 4,000 draws, within five standard errors."""
    K, Z, truth, rng = regression(60)
    lam, noise = 0.5, 0.7
    risk = ridge_risk_bound(K, Z, lam, truth, noise)
    y = truth[:, None] + noise * rng.standard_normal((80, 4000))
    for gram, expected in ((K, risk.kernel_risk), (Z @ Z.T, risk.feature_risk)):
        fitted = gram @ np.linalg.solve(gram + lam * np.eye(80), y)
        losses = ((fitted - truth[:, None]) ** 2).mean(axis=0)
        assert abs(losses.mean() - expected) < 5 * losses.std() / np.sqrt(4000)


@pytest.mark.parametrize("lam", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_bound_holds(lam, noise):
    checked = 0
    for seed, width in itertools.product(range(5), (64, 256, 1024)):
        K, Z, truth, rng = regression(width, seed)
        for target in (truth, rng.standard_normal(80), np.linalg.eigh(K)[1][:, -1]):
            risk = ridge_risk_bound(K, Z, lam, target, noise)
            assert risk.feature_risk <= risk.bound * (1 + 1e-12)
            checked += risk.eps < 1
    assert checked >= 30  # of 45: the bound has been put to the test


def test_bound_holds_for_adversarial_matrices():
    """Random pairs with exactly the ε of equation (1), targets chosen to hurt."""
    rng = np.random.default_rng(0)
    for eps, lam in itertools.product((0.1, 0.5, 0.9), (0.01, 1.0)):
        for _ in range(20):
            values = 10.0 ** rng.uniform(-3, 3, 6)
            A = np.diag(values) + lam * np.eye(6)
            turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
            # The eigenvalues of A^{1/2} B⁻¹ A^{1/2} lie in [1 - ε, 1 + ε]: equation (1).
            inner = turn @ np.diag(rng.uniform(1 - eps, 1 + eps, 6)) @ turn.T
            root = np.sqrt(A)
            gram = np.linalg.inv(np.linalg.inv(root) @ inner @ np.linalg.inv(root)) - lam * np.eye(
                6
            )
            lowest, vectors = np.linalg.eigh(gram)
            if lowest[0] < 0:
                continue
            Z = vectors * np.sqrt(lowest)
            for target in np.eye(6):
                risk = ridge_risk_bound(np.diag(values), Z, lam, 10 * target, 1.0)
                assert risk.eps <= eps * (1 + 1e-6)
                assert risk.feature_risk <= risk.bound * (1 + 1e-9)


def test_stated_bound_fails_in_its_bias():
    """(K + λ)⁻² is not monotone: a small ε along one axis can multiply the bias.

    A = K + λ = diag(1000, 1) and B⁻¹ = A^{-1/2} (I + ε [[0, 1], [1, 0]]) A^{-1/2}: the error is ε,
    the target e_1 has bias λ²/1000² with K and λ² (1/1000² + ε²/1000) with the features.
    """
    lam, eps = 0.5, 0.3
    A = np.diag([1000.0, 1.0])
    inverse_root = np.diag(np.diag(A) ** -0.5)
    inner = np.eye(2) + eps * np.array([[0.0, 1.0], [1.0, 0.0]])
    gram = np.linalg.inv(inverse_root @ inner @ inverse_root) - lam * np.eye(2)
    Z = np.linalg.cholesky(gram)
    K = A - lam * np.eye(2)
    risk = ridge_risk_bound(K, Z, lam, [1.0, 0.0], 0.0)
    assert risk.eps == pytest.approx(eps)
    assert risk.feature_risk == pytest.approx(lam**2 * (1e-6 + eps**2 * 1e-3) / 2)
    assert risk.feature_risk > 50 * risk.stated
    assert risk.feature_risk <= risk.bound


def test_stated_bound_fails_in_its_variance():
    """K = e_1 e_1ᵀ and Z Zᵀ = K + c I, c = λε/(1-ε): the noise of n - 1 axes passes with ε².

    The paper allows ε/(1+ε), which is less beyond ε = 0.618.
    """
    n, lam, eps = 200, 0.01, 0.9
    K = np.zeros((n, n))
    K[0, 0] = 1.0
    Z = np.linalg.cholesky(K + lam * eps / (1 - eps) * np.eye(n))
    risk = ridge_risk_bound(K, Z, lam, np.zeros(n), 1.0)
    assert spectral_error(K, Z, lam) == pytest.approx(eps)
    assert risk.feature_risk == pytest.approx(eps**2, rel=0.01)
    assert risk.feature_risk > 1.5 * risk.stated
    assert risk.feature_risk <= risk.bound


def test_useless_features_have_no_bound():
    K, _, truth, _ = regression(8)
    risk = ridge_risk_bound(K, np.zeros((80, 1)), 0.1, truth, 0.1)
    assert risk.eps > 1
    assert risk.bound == risk.stated == np.inf


def test_bad_input_of_the_risk():
    K, Z, truth, _ = regression(8)
    with pytest.raises(ValueError, match="noise=-1"):
        ridge_risk_bound(K, Z, 1.0, truth, -1.0)
    with pytest.raises(ValueError, match=r"shape \(79,\)"):
        ridge_risk_bound(K, Z, 1.0, truth[1:], 1.0)
    for eps in (0.0, 1.0, 1.5):
        with pytest.raises(ValueError, match="eps="):
            ridge_risk_bound(K, Z, 1.0, truth, 1.0, eps=eps)
    with pytest.raises(ValueError, match="lam=0"):
        ridge_risk_bound(K, Z, 0, truth, 1.0)


def partitions(n, k):
    for labels in itertools.product(range(k), repeat=n):
        if len(set(labels)) == k and labels[0] == 0:
            yield np.array(labels)


def test_cost_by_centroids():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((9, 4))
    labels = np.array([0, 1, 2] * 3)
    expected = sum(
        ((points[labels == c] - points[labels == c].mean(axis=0)) ** 2).sum() for c in range(3)
    )
    assert kmeans_cost(points @ points.T, labels) == pytest.approx(expected)
    assert kmeans_cost(points @ points.T, np.array(list("abc"))[labels]) == pytest.approx(expected)


def test_cost_without_the_matrix():
    X = np.random.default_rng(0).standard_normal((50, 3))
    labels = np.arange(50) % 4
    expected = kmeans_cost(zonal.Gaussian()(X), labels)
    assert kmeans_cost(zonal.Gaussian(), labels, X=X) == pytest.approx(expected)


def test_cost_by_the_indicator_with_the_root_only():
    """tr K - tr Cᵀ K C with C over √size is our cost; over the size, as printed, it is not."""
    labels = np.array([0, 0, 1, 1, 1])
    sizes, K = np.bincount(labels), zonal.Gaussian()(np.arange(5.0)[:, None])
    indicator = labels[:, None] == np.arange(2)
    costs = [
        np.trace(K) - np.trace(C.T @ K @ C) for C in (indicator / np.sqrt(sizes), indicator / sizes)
    ]
    assert kmeans_cost(K, labels) == pytest.approx(costs[0])
    assert kmeans_cost(K, labels) != pytest.approx(costs[1], rel=0.1)


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_clustering_bound_by_all_partitions(gamma):
    """Every clustering within 1 + γ of the features' best obeys the bound on the kernel's cost."""
    reached = []
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((7, 2))
        kernel = zonal.Gaussian()
        Z = zonal.FourierFeatures(kernel, 40, random_state=seed).fit_transform(X)
        K, gram = kernel(X), Z @ Z.T
        eps = projection_cost_error(K, Z, 2)
        if eps >= 1:
            continue
        costs = np.array(
            [[kmeans_cost(M, labels) for M in (K, gram)] for labels in partitions(7, 2)]
        )
        good = costs[:, 1] <= (1 + gamma) * costs[:, 1].min()
        ratio = costs[good, 0].max() / costs[:, 0].min()
        assert ratio <= kmeans_bound(eps, gamma)
        reached.append(ratio)
    assert len(reached) >= 10
    assert max(reached) > 1  # some clustering of the features is not the kernel's best


def test_bad_input_of_the_clustering():
    for eps in (0, 1, -1):
        with pytest.raises(ValueError, match="eps="):
            kmeans_bound(eps)
    with pytest.raises(ValueError, match="gamma=-1"):
        kmeans_bound(0.5, -1)
    with pytest.raises(ValueError, match="labels"):
        kmeans_cost(np.eye(3), [0, 1])
