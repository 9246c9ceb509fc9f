"""The spectral error of features, and the main theorem."""

import math

import numpy as np
import pytest
from scipy.linalg import sqrtm

import zonal
from zonal.polynomials import uniform_sphere
from zonal.theory import n_directions, spectral_error, statistical_dimension
from zonal.theory.leverage import feature_columns


def brute_force(K, Z, lam):
    """The two sides of equation (1), from the definition."""
    root = np.linalg.inv(sqrtm(K + lam * np.eye(len(K))))
    values = np.linalg.eigvalsh(root @ (Z @ Z.T + lam * np.eye(len(K))) @ root)
    return max(1 / values[0] - 1, 1 - 1 / values[-1])


@pytest.mark.parametrize("lam", [0.01, 1.0])
@pytest.mark.parametrize("width", [5, 80])
def test_definition(lam, width):
    X = np.random.default_rng(0).standard_normal((40, 3))
    K = zonal.Gaussian()(X)
    for map_ in (zonal.FourierFeatures, zonal.GegenbauerFeatures):
        features = map_(zonal.Gaussian(), width, random_state=0).fit(X)
        Z = features.transform(X)
        expected = brute_force(K, Z, lam)
        assert spectral_error(K, Z, lam) == pytest.approx(expected, rel=1e-7)
        found = spectral_error(zonal.Gaussian(), features, lam, X=X)
        assert found == pytest.approx(expected, rel=1e-7)


def test_smallest():
    """Equation (1), the semi-definite order itself, holds at the result and fails just below."""
    rng = np.random.default_rng(1)
    root, Z = rng.standard_normal((2, 12, 12))
    K, lam = root @ root.T / 12, 0.5
    Z /= math.sqrt(12)
    A, B = K + lam * np.eye(12), Z @ Z.T + lam * np.eye(12)
    eps = float(spectral_error(K, Z, lam))

    def holds(eps):
        lower = np.linalg.eigvalsh(B - A / (1 + eps))[0] >= 0
        return lower and (eps >= 1 or np.linalg.eigvalsh(A / (1 - eps) - B)[0] >= 0)

    assert holds(eps * (1 + 1e-9))
    assert not holds(eps * (1 - 1e-9))


def test_known_values():
    K = 3 * np.eye(4)
    assert spectral_error(K, math.sqrt(3) * np.eye(4), 1.0) == pytest.approx(0, abs=1e-15)
    assert spectral_error(K, np.zeros((4, 1)), 1.0) == pytest.approx(3)  # 1/a - 1 = ‖K‖/λ
    assert spectral_error(K, math.sqrt(7) * np.eye(4), 1.0) == pytest.approx(0.5)  # 1 - 1/b


@pytest.fixture(scope="module")
def small_case():
    X = 0.5 * np.random.default_rng(0).standard_normal((60, 3))
    return X, zonal.Gaussian().expand(3, max_degree=8, n_radial=3)


def test_main_theorem(small_case):
    """m directions are enough in at least 90 of 100 seeds (δ = 0.1)."""
    X, gzk = small_case
    m = n_directions(gzk, X, 1.0, 0.5, 0.1)
    K = gzk(X)
    errors = []
    for seed in range(100):
        gram = np.zeros((60, 60))
        W = uniform_sphere(m, 3, np.random.default_rng(seed))
        for block in np.array_split(W, 4):
            phi = feature_columns(gzk, X, block)
            gram += phi @ phi.T / m
        root = np.linalg.cholesky(gram + 1e-12 * np.eye(60))
        errors.append(spectral_error(K, root, 1.0))
    assert sum(error <= 0.5 for error in errors) >= 90
    # The theorem is an upper bound with room: the error is that of a mean of m matrices.
    assert 0.01 < np.median(errors) < 0.1


def test_number_of_directions_is_the_formula(small_case):
    X, gzk = small_case
    h = gzk.radial(np.linalg.norm(X, axis=1))
    s_lam = statistical_dimension(gzk(X), 1.0)
    total = sum(
        (2 * ell + 1) * min(math.pi**2 * (ell + 1) ** 2 / 6 * (h[:, ell] ** 2).sum(), 3)
        for ell in range(9)
    )
    for eps, constant in ((0.5, 8 / 3), (0.9, 3.2), (0.1, 2 * (1 + 0.2 / 3))):
        expected = constant / eps**2 * math.log(16 * s_lam / 0.1) * total
        assert n_directions(gzk, X, 1.0, eps, 0.1) == math.ceil(expected)


def test_number_of_directions_by_rank(small_case):
    X, gzk = small_case
    values = np.linalg.eigvalsh(gzk(X))[::-1]
    lam = values[4:].sum() / 4
    found = n_directions(gzk, X, None, 0.5, 0.1, rank=4)
    assert found == pytest.approx(n_directions(gzk, X, lam, 0.5, 0.1), abs=1)
    assert n_directions(gzk, X, 7.0, 0.5, 0.1, rank=4) == found  # lam plays no part


def test_bad_input(small_case):
    X, gzk = small_case
    K = gzk(X)
    norm = np.linalg.norm(K, 2)
    with pytest.raises(ValueError, match="exceeds the norm"):
        n_directions(gzk, X, 1.01 * norm, 0.5, 0.1)
    n_directions(gzk, X, 0.99 * norm, 0.5, 0.1)
    for eps in (0, 1, -0.5, 2.0, np.nan):
        with pytest.raises(ValueError, match="eps="):
            n_directions(gzk, X, 1.0, eps, 0.1)
        with pytest.raises(ValueError, match="delta="):
            n_directions(gzk, X, 1.0, 0.5, eps)
    with pytest.raises(ValueError, match="lam=None"):
        n_directions(gzk, X, None, 0.5, 0.1)
    with pytest.raises(ValueError, match="rank=0"):
        n_directions(gzk, X, None, 0.5, 0.1, rank=0)
    with pytest.raises(ValueError, match="below the rank of K"):
        n_directions(gzk, X, None, 0.5, 0.1, rank=60)
    # K = I: the mean of what is left beyond rank 1 is 59, and ‖K‖ = 1.
    flat = zonal.Polynomial(1, coef0=0.0).expand(60, max_degree=1, n_radial=1)
    with pytest.raises(ValueError, match=r"lam=59 .* exceeds the norm 1 .* \(raise rank\)"):
        n_directions(flat, np.eye(60), None, 0.5, 0.1, rank=1)
    for lam in (0.0, -1.0):
        with pytest.raises(ValueError, match="lam="):
            spectral_error(K, X, lam)
    with pytest.raises(ValueError, match="59 rows and K belongs to 60"):
        spectral_error(K, X[1:], 1.0)
    with pytest.raises(ValueError, match="no rows"):
        spectral_error(K, zonal.FourierFeatures(zonal.Gaussian(), 4).fit(X), 1.0)
    with pytest.raises(ValueError, match="takes a kernel and X"):
        spectral_error(K, X, 1.0, method="sampled")
    with pytest.raises(ValueError, match="not symmetric"):
        spectral_error(np.triu(K), X, 1.0)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        spectral_error(-K, X, 1.0)
