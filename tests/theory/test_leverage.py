"""Leverage scores of directions, their mean and the lemma that bounds them."""

import math

import numpy as np
import pytest

import zonal
from tests.naive import gegenbauer_features
from zonal import theory
from zonal.polynomials import uniform_sphere

KERNELS = [
    (zonal.Gaussian(1.5), 6, 3),
    (zonal.Exponential(1.5), 5, 2),
    (zonal.Polynomial(3), 3, 2),
    (zonal.ArcCosine(1), 6, 1),
    (zonal.NTK(2), 4, 1),
]


def case(kernel, degree, order, dim, n=40):
    rng = np.random.default_rng(dim)
    gzk = kernel.expand(dim, max_degree=degree, n_radial=order)
    return gzk, 0.7 * rng.standard_normal((n, dim)), rng


@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize(("kernel", "degree", "order"), KERNELS, ids=lambda v: repr(v))
def test_definition(kernel, degree, order, dim):
    gzk, X, rng = case(kernel, degree, order, dim, n=6)
    W = uniform_sphere(3, dim, rng)
    inverse = np.linalg.inv(gzk(X) + 0.3 * np.eye(6))
    for w, score in zip(W, theory.leverage_scores(gzk, X, 0.3, W), strict=True):
        phi = gegenbauer_features(gzk, X, w[None], [1] * order)
        assert score == pytest.approx(np.trace(phi.T @ inverse @ phi), rel=1e-9)


@pytest.mark.parametrize("dim", [2, 3, 8])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize(("kernel", "degree", "order"), KERNELS, ids=lambda v: repr(v))
def test_mean_is_the_statistical_dimension_and_the_bound_holds(kernel, degree, order, dim, lam):
    """Five standard errors for the mean; the lemma for each of the 20,000 directions."""
    gzk, X, rng = case(kernel, degree, order, dim)
    scores = theory.leverage_scores(gzk, X, lam, uniform_sphere(20_000, dim, rng))
    expected = theory.statistical_dimension(gzk(X), lam)
    assert abs(scores.mean() - expected) < 5 * scores.std() / math.sqrt(len(scores)) + 1e-9
    # The scores peak at directions of rows, which random directions may miss.
    peaks = theory.leverage_scores(gzk, X, lam, X / np.linalg.norm(X, axis=1, keepdims=True))
    bound = theory.leverage_bound(gzk, np.linalg.norm(X, axis=1), lam)
    assert max(scores.max(), peaks.max()) <= bound * (1 + 1e-12)


def one_degree(dim, degree, value=1.0):
    def radial(radii):
        h = np.zeros((len(radii), degree + 1, 1))
        h[:, degree, 0] = value
        return h

    return zonal.GeneralizedZonalKernel(dim, radial, degree, 1)


def test_degree_zero_by_hand():
    """K = c² 1 1ᵀ: τ = c²n/(c²n + λ) for every direction, and min{π²c²n/6λ, 1} for a bound."""
    X = np.random.default_rng(0).standard_normal((7, 3))
    gzk, lam = one_degree(3, 0, 2.0), 0.5
    scores = theory.leverage_scores(gzk, X, lam, [[0, 0, 1.0], [0, 1.0, 0]])
    np.testing.assert_allclose(scores, 28 / 28.5, rtol=1e-12)
    assert theory.leverage_bound(gzk, np.ones(7), lam) == 1
    large = theory.leverage_bound(gzk, np.ones(7), 1e4)
    assert large == pytest.approx(math.pi**2 / 6 * 28 / 1e4, rel=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_polygon_by_hand(degree):
    """d = 2, n > 2ℓ points of a regular polygon: K has the eigenvalue n/2 twice, |Φ_w|² = n."""
    n, lam = 13, 0.8
    angles = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    W = uniform_sphere(9, 2, np.random.default_rng(1))
    scores = theory.leverage_scores(one_degree(2, degree), X, lam, W)
    np.testing.assert_allclose(scores, n / (n / 2 + lam), rtol=1e-11)


@pytest.mark.parametrize(("dim", "degree"), [(2, 3), (3, 2), (4, 3), (6, 2)])
def test_equality_without_a_ridge(dim, degree):
    """One degree and enough rows: every score tends to α as λ → 0, and the bound is α."""
    alpha = theory.harmonic_dimension(degree, dim)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4 * alpha, dim))
    gzk, lam = one_degree(dim, degree), 1e-9
    scores = theory.leverage_scores(gzk, X, lam, uniform_sphere(20, dim, rng))
    # K + λ has eigenvalues of about n/α and λ: the solve loses ε_mach n / (α λ) = 1e-6.
    np.testing.assert_allclose(scores, alpha, rtol=1e-5)
    bound = theory.leverage_bound(gzk, np.linalg.norm(X, axis=1), lam)
    assert bound == pytest.approx(alpha, rel=1e-12)


def test_bound_term_by_term():
    gzk = zonal.Gaussian().expand(4, max_degree=7, n_radial=3)
    radii = np.random.default_rng(0).uniform(0, 2, 30)
    h = gzk.radial(radii)
    expected = sum(
        theory.harmonic_dimension(ell, 4)
        * min(math.pi**2 * (ell + 1) ** 2 / (6 * 0.2) * (h[:, ell] ** 2).sum(), 3)
        for ell in range(8)
    )
    assert theory.leverage_bound(gzk, radii, 0.2) == pytest.approx(expected, rel=1e-12)


def test_overflow_is_infinity():
    gzk = zonal.Gaussian().expand(10_000, max_degree=200, n_radial=1)
    assert theory.leverage_bound(gzk, [10.0], 1e-300) == math.inf


def test_bad_input():
    gzk = zonal.Gaussian().expand(3, max_degree=2, n_radial=1)
    X = np.eye(3)
    with pytest.raises(ValueError, match=r"norm 2, and directions are unit vectors"):
        theory.leverage_scores(gzk, X, 1.0, 2 * X)
    with pytest.raises(ValueError, match="shape"):
        theory.leverage_scores(gzk, X, 1.0, np.ones((2, 2)))
    with pytest.raises(TypeError, match="expand the kernel first"):
        theory.leverage_bound(zonal.Gaussian(), [1.0], 1.0)
    with pytest.raises(ValueError, match="norms of rows"):
        theory.leverage_bound(gzk, [-1.0], 1.0)
    exponential = zonal.Exponential().expand(3, max_degree=200, n_radial=2)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="beyond the expansion"):
        theory.leverage_bound(exponential, [1e3], 1.0)
