"""Expansions in the best radial functions."""

import itertools

import numpy as np
import pytest

import zonal

ANALYTIC = [
    zonal.Gaussian(1.0),
    zonal.Gaussian(2.5),
    zonal.Exponential(1.5),
    zonal.Polynomial(4, 0.5, 1.0),
    zonal.DotProduct(np.cosh),
    zonal.Gaussian(2.0) * zonal.Polynomial(2),
    zonal.Exponential(2.0) + zonal.Polynomial(3),
    0.5 * zonal.Gaussian(2.0) + 2 * zonal.Gaussian(4.0),
]
SLOW = [
    zonal.Matern(0.5),
    zonal.Matern(1.5),
    zonal.Matern(2.5),
    zonal.Laplacian(2.0),
    zonal.RationalQuadratic(1.0, 0.5),
    zonal.Gaussian(2.0) * zonal.NTK(1),
    zonal.Matern(1.5) * zonal.Polynomial(1),
    zonal.Matern(1.5) + zonal.ArcCosine(1),
    zonal.RotationInvariant(lambda r, s, cos: 1 / np.sqrt(1 + r**2 + s**2 - 2 * r * s * cos)),
]
DIMS = [1, 2, 3, 4, 9]


def normal(n, dim, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim))


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", ANALYTIC, ids=repr)
def test_within_the_tolerance(kernel, dim, tol):
    X = normal(100, dim)
    expansion = kernel.expand(dim, radii=np.linalg.norm(X, axis=1), radial_basis="optimal", tol=tol)
    assert np.abs(expansion(X) - kernel(X)).max() <= tol * kernel.diag(X).max()


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", ANALYTIC, ids=repr)
def test_a_ball_is_the_default(kernel, dim):
    """One radius stands for all up to it."""
    X = normal(100, dim)
    X *= (1.5 * np.random.default_rng(1).random(100) / np.linalg.norm(X, axis=1))[:, None]
    expansion = kernel.expand(dim, radii=1.5, radial_basis="optimal")
    assert np.abs(expansion(X) - kernel(X)).max() <= 1e-6 * kernel.diag([1.5 * np.eye(dim)[0]])[0]


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(
    "kernel", [zonal.Gaussian(1.0), zonal.Exponential(1.5), zonal.DotProduct(np.cosh)], ids=repr
)
def test_fewer_functions_than_monomials(kernel, dim):
    radii = np.linalg.norm(normal(100, dim), axis=1)
    optimal = kernel.expand(dim, radii=radii, radial_basis="optimal")
    taylor = kernel.expand(dim, radii=radii, radial_basis="taylor")
    assert optimal.n_radial < taylor.n_radial


@pytest.mark.parametrize("n_radial", [1, 2, 4])
def test_better_than_monomials_at_the_same_order(n_radial):
    """No functions leave out less of the trace under the distribution of the radii."""
    X = normal(400, 4)
    kernel, radii = zonal.Gaussian(1.0), np.linalg.norm(X, axis=1)
    left_out = {
        basis: 1 - kernel.expand(4, 20, n_radial, basis, radii).diag(X).mean()
        for basis in ("taylor", "optimal")
    }
    assert 0 <= left_out["optimal"] < left_out["taylor"] / 2


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", SLOW, ids=repr)
def test_kernels_without_a_taylor_series(kernel, dim):
    """What is cut off is positive definite, so that its diagonal bounds its entries."""
    X = normal(60, dim)
    expansion = kernel.expand(dim, max_degree=12, radii=np.linalg.norm(X, axis=1))
    assert expansion.max_degree == (1 if dim == 1 else 12)
    rest = kernel(X) - expansion(X)
    size = kernel.diag(X).max()
    left_out = np.diag(rest)
    # The table of the functions is good to 1e-8, and less where they have kinks.
    slack = 1e-4 * size
    assert (left_out >= -slack).all()
    bound = np.sqrt(np.outer(left_out.clip(0), left_out.clip(0)))
    assert (np.abs(rest) <= bound + slack).all()
    assert np.linalg.eigvalsh(rest)[0] >= -len(X) * slack


def test_more_degrees_are_better_for_matern():
    """On S² the tail of Matérn ν decays like q^{-2ν}: about 8 times less for twice the degree."""
    X = normal(50, 3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    tails = [
        1 - zonal.Matern(1.5).expand(3, max_degree=q, radii=[1.0, 1.0]).diag(X)[0]
        for q in (10, 20, 40)
    ]
    for coarse, fine in itertools.pairwise(tails):
        assert 6 < coarse / fine < 10


def test_matern_with_every_default():
    """The basis is "optimal" whatever is asked for, and the degree stops at 200."""
    kernel = zonal.Matern(1.5)
    expansion, named = kernel.expand(3), kernel.expand(3, radial_basis="optimal")
    assert (expansion.max_degree, expansion.n_radial) == (named.max_degree, named.n_radial)
    assert expansion.max_degree <= 200
    X = normal(50, 3)
    X /= np.linalg.norm(X, axis=1, keepdims=True) / np.linspace(0.05, 1, 50)[:, None]
    np.testing.assert_array_equal(expansion(X), named(X))
    rest = kernel(X) - expansion(X)
    assert np.abs(rest).max() <= np.diag(rest).max() + 1e-6
    assert np.abs(rest).max() < 1e-3


def test_equal_radii_need_one_function():
    X = normal(50, 3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for kernel in (zonal.Gaussian(1.0), zonal.RationalQuadratic(2.0)):
        expansion = kernel.expand(3, radii=np.ones(5), radial_basis="optimal")
        assert expansion.n_radial == 1
        assert np.abs(expansion(X) - kernel(X)).max() < 1e-6


def test_homogeneous_kernels_keep_their_one_exact_function():
    for kernel in (zonal.ArcCosine(1), zonal.NTK(2), zonal.Zonal(np.exp)):
        expansion = kernel.expand(3, max_degree=6, radii=[0.5, 1.0], radial_basis="optimal")
        assert expansion.n_radial == 1
        radii = np.array([0.5, 2.0])
        np.testing.assert_array_equal(
            expansion.radial(radii), kernel.expand(3, max_degree=6).radial(radii)
        )


def test_series_that_do_not_converge_are_named():
    with pytest.warns(zonal.TruncationWarning, match="does not converge at these radii"):
        zonal.Gaussian(1e-3).expand(3, radii=np.ones(2), radial_basis="optimal")


def test_new_radii():
    """Beyond those that the expansion was made for it is still a kernel, never above the exact."""
    kernel = zonal.Gaussian(1.0)
    expansion = kernel.expand(3, radii=np.array([1.0, 1.2, 1.5]), radial_basis="optimal")
    X = normal(60, 3) * np.geomspace(1e-9, 1e3, 60)[:, None]
    X = np.vstack([np.zeros(3), X])
    K = expansion(X)
    assert np.isfinite(K).all()
    assert (np.diag(K) <= 1 + 1e-6).all()
    assert np.linalg.eigvalsh(K)[0] > -1e-9
