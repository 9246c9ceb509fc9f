"""Expansions as generalized zonal kernels."""

import math

import numpy as np
import pytest

import zonal
from tests.naive import paper_radial
from zonal.kernels.terms import _disc_taylor, _series_from_taylor

ANALYTIC = [
    zonal.Gaussian(1.0),
    zonal.Gaussian(2.5),
    zonal.Exponential(1.5),
    zonal.Polynomial(4, 0.5, 1.0),
    zonal.Polynomial(3, 1.0, 0.0),
    zonal.DotProduct(np.cosh),
    zonal.DotProduct(lambda t: 1 / (200 - t)),
    zonal.DotProduct(lambda t: 1 + t**2, taylor=[1, 0, 1]),
    zonal.Gaussian(2.0) * zonal.Polynomial(2),
    zonal.Gaussian(2.0) * zonal.Gaussian(3.0),
    zonal.Exponential(2.0) + zonal.Polynomial(3),
    0.5 * zonal.Gaussian(2.0) + 2 * zonal.Gaussian(4.0),
]
DIMS = [1, 2, 3, 4, 9, 30]


def standardised(n, dim, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, dim))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def on_sphere(n, dim, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, dim))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", ANALYTIC, ids=repr)
def test_automatic_expansion_reaches_the_tolerance(kernel, dim):
    X = standardised(60, dim)
    expansion = kernel.expand(dim, radii=np.linalg.norm(X, axis=1))
    error = np.abs(expansion(X) - kernel(X)).max() / kernel.diag(X).max()
    assert error < 1e-6


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", ANALYTIC, ids=repr)
def test_one_radial_function_is_exact_on_the_sphere(kernel, dim):
    X = 1.7 * on_sphere(60, dim)
    expansion = kernel.expand(dim, radii=np.linalg.norm(X, axis=1))
    assert expansion.n_radial == 1
    assert np.abs(expansion(X) - kernel(X)).max() / kernel.diag(X).max() < 1e-6
    # Elsewhere it is still a kernel, never above the exact one.
    others = standardised(40, dim, seed=1)
    assert np.isfinite(expansion(others)).all()
    assert (expansion.diag(others) <= kernel.diag(others) * (1 + 1e-9)).all()


@pytest.mark.parametrize("dim", [2, 3, 4, 9])
def test_radial_functions_are_the_paper_formula(dim):
    radii = np.array([0.0, 0.3, 1.0, 2.0])
    cases = [
        (zonal.Gaussian(1.0), lambda j: 1.0, True),
        (zonal.Exponential(1.0), lambda j: 1.0, False),
        (zonal.DotProduct(np.cosh), lambda j: 1.0 - j % 2, False),
        (zonal.Polynomial(5), lambda j: math.perm(5, j), False),
    ]
    for kernel, derivative, gaussian in cases:
        expansion = kernel.expand(dim, max_degree=6, n_radial=4)
        expected = paper_radial(dim, 6, 4, derivative, radii, gaussian)
        np.testing.assert_allclose(expansion.radial(radii), expected, rtol=1e-9, atol=1e-12)


def test_one_dimension_is_cosh_and_sinh():
    """Gaussian at d = 1: e^{-(r²+r'²)/2} (cosh rr' ± sinh rr')."""
    radii = np.array([0.1, 1.0, 2.5])
    h = zonal.Gaussian().expand(1, max_degree=1, n_radial=40).radial(radii)
    outer, decay = np.outer(radii, radii), np.exp(-(radii**2) / 2)
    np.testing.assert_allclose(h[:, 0] @ h[:, 0].T, np.cosh(outer) * np.outer(decay, decay))
    np.testing.assert_allclose(h[:, 1] @ h[:, 1].T, np.sinh(outer) * np.outer(decay, decay))


@pytest.mark.parametrize(
    ("kernel", "low", "high"),
    [
        (zonal.ArcCosine(0), 2.4e-3, 6.5e-3),
        (zonal.ArcCosine(1), 1.5e-6, 1.5e-6),
        (zonal.ArcCosine(2), 1e-6, 1e-6),
        (zonal.NTK(1), 3.6e-3, 9.6e-3),
        (zonal.NTK(2), 3.6e-3, 9.6e-3),
        (zonal.NTK(3), 3.6e-3, 9.6e-3),
    ],
    ids=repr,
)
@pytest.mark.parametrize("dim", [2, 3, 4, 5, 9, 30])
def test_slow_series_reach_the_documented_tolerance(kernel, low, high, dim):
    X = standardised(40, dim)
    expansion = kernel.expand(dim, radii=np.linalg.norm(X, axis=1))
    assert expansion.n_radial == 1
    assert expansion.max_degree <= 200
    error = np.abs(expansion(X) - kernel(X)).max() / kernel.diag(X).max()
    assert error < (low if dim <= 5 else high)


@pytest.mark.parametrize("dim", [3, 12, 13, 30])
def test_arc_cosine_coefficients_vanish_by_parity(dim):
    """κ(t) - κ(-t) is 2/π arcsin-like for order 0 (odd) and t for order 1 (odd part)."""
    order0 = zonal.ArcCosine(0).expand(dim, max_degree=9).radial(np.ones(1))[0, :, 0]
    order1 = zonal.ArcCosine(1).expand(dim, max_degree=9).radial(np.ones(1))[0, :, 0]
    assert (order0[2::2] == 0).all()
    assert (order0[1::2] > 0).all()
    assert (order1[3::2] == 0).all()
    assert (order1[0::2] > 0).all()


@pytest.mark.parametrize("kernel", [zonal.ArcCosine(1), zonal.NTK(2)], ids=repr)
def test_quadrature_and_taylor_coefficients_agree(kernel):
    """Two independent ways to the same numbers meet at dimension 12 and 13."""
    term = kernel.terms()[0]
    by_taylor = _series_from_taylor(*_disc_taylor(term.kappa), 12, 15)
    # Rounding of κ, magnified by √α_15 = 2,800.
    np.testing.assert_allclose(term.series(12, 15), by_taylor, atol=1e-11)


@pytest.mark.parametrize("dim", [400, 100_000])
@pytest.mark.parametrize(
    "kernel", [zonal.Gaussian(1.0), zonal.Exponential(), zonal.NTK(2), zonal.ArcCosine(0)], ids=repr
)
def test_very_high_dimension(kernel, dim):
    X = on_sphere(5, dim)
    expansion = kernel.expand(dim, max_degree=20, n_radial=5)
    assert np.isfinite(expansion.radial(np.array([0.0, 1e-6, 1.0, 1e3]))).all() or isinstance(
        kernel, zonal.Exponential
    )
    slow = isinstance(kernel, zonal.NTK | zonal.ArcCosine)
    np.testing.assert_allclose(
        expansion(X, 0.99 * X), kernel(X, 0.99 * X), rtol=0.2 if slow else 1e-9
    )


def test_negative_taylor_coefficient_is_an_error():
    with pytest.raises(ValueError, match=r"degree 2 of kappa is -0.5.*zonal.Zonal"):
        zonal.DotProduct(np.cos).expand(3)
    with pytest.raises(ValueError, match=r"degree 1 of kappa is -3"):
        zonal.DotProduct(lambda t: 1 - 3 * t, taylor=[1, -3]).expand(3)


def test_zonal_by_schoenberg():
    def quadratic(t):
        return t**2 - 0.2  # (1/d - 0.2) + (1 - 1/d) P_2: positive definite up to d = 5

    X = on_sphere(30, 4)
    expansion = zonal.Zonal(quadratic).expand(4)
    assert (expansion.max_degree, expansion.n_radial) == (2, 1)
    np.testing.assert_allclose(expansion(X), quadratic(X @ X.T), atol=1e-12)
    with pytest.raises(ValueError, match=r"degree 0 is -0\.1"):
        zonal.Zonal(quadratic).expand(10)


def test_sums_merge_and_split():
    # Same radial factor: one set of monomials. Different ones: side by side.
    assert (zonal.Polynomial(2) + zonal.Polynomial(3)).expand(3).n_radial == 2
    both = zonal.Gaussian(1.0) + zonal.Gaussian(3.0)
    expansion = both.expand(3, max_degree=5, n_radial=5)
    np.testing.assert_allclose(
        expansion.radial(np.array([0.7]))[0, :, :3],
        zonal.Gaussian(1.0).expand(3, 5, 3).radial(np.array([0.7]))[0],
    )
    assert (zonal.ArcCosine(1) + zonal.NTK(2)).expand(3).n_radial == 1
    with pytest.raises(ValueError, match="n_radial=1 is too small"):
        both.expand(3, max_degree=5, n_radial=1)


def test_products():
    X = standardised(30, 3)
    norms = np.linalg.norm(X, axis=1)
    homogeneous = zonal.ArcCosine(1) * zonal.NTK(1)
    expansion = homogeneous.expand(3, radii=norms)
    assert np.abs(expansion(X) - homogeneous(X)).max() / homogeneous.diag(X).max() < 1e-3
    distributed = (zonal.Gaussian(2.0) + zonal.Polynomial(1)) * zonal.Polynomial(2)
    expansion = distributed.expand(3, radii=norms)
    assert np.abs(expansion(X) - distributed(X)).max() / distributed.diag(X).max() < 1e-6
    mixed = (zonal.Gaussian() * zonal.NTK()).terms()
    assert len(mixed) == 1
    assert mixed[0].slow
    with pytest.raises(ValueError, match=r'no Taylor series.*radial_basis="optimal"'):
        mixed[0].radial(3, 4, 2)


def test_own_expansion_in_sums():
    own = zonal.Gaussian(2.0).expand(3, 4, 2)
    X = standardised(20, 3)
    both = 3 * own + zonal.Polynomial(2)
    np.testing.assert_allclose(both.expand(3, radii=[4.0])(X), both(X), atol=1e-9)
    assert own.expand(3) is own


def test_too_large_radii_warn():
    with pytest.warns(zonal.TruncationWarning, match="does not converge"):
        zonal.Gaussian(0.01).expand(3, radii=[1.0, 100.0])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"dim": 0}, "dim=0"),
        ({"dim": 3, "max_degree": -1}, "max_degree=-1"),
        ({"dim": 3, "n_radial": 0}, "n_radial=0"),
        ({"dim": 3, "radial_basis": "fourier"}, "radial_basis='fourier'"),
        ({"dim": 3, "tol": 0}, "tol=0"),
    ],
)
def test_bad_arguments(kwargs, message):
    with pytest.raises(ValueError, match=message):
        zonal.Gaussian().expand(**kwargs)


def test_own_radial_function_of_wrong_shape():
    kernel = zonal.GeneralizedZonalKernel(3, lambda r: np.ones((len(r), 2, 1)), 2, 1)
    with pytest.raises(ValueError, match=r"shape \(1, 2, 1\)"):
        kernel([[1.0, 0, 0]])


@pytest.mark.parametrize("kernel", [zonal.Exponential(), zonal.Polynomial(3)], ids=repr)
def test_overflow_is_an_error_and_not_an_endless_search(kernel):
    with pytest.raises(ValueError, match="overflows at norms up to 1e"):
        kernel.expand(3, radii=[1.0, 1e120])


@pytest.mark.parametrize("radii", [[], [-1.0], [np.nan], [[1.0, 2.0]]], ids=str)
def test_bad_radii(radii):
    with pytest.raises(ValueError, match="must be norms"):
        zonal.Gaussian().expand(3, radii=radii)


def test_bad_taylor_coefficients():
    with pytest.raises(ValueError, match="must be finite numbers"):
        zonal.DotProduct(np.exp, taylor=[1, np.nan]).expand(3)


@pytest.mark.parametrize("radius", [5.0, 10.0, 20.0])
def test_numeric_taylor_coefficients_reach_as_far_as_exact_ones(radius):
    """e^t through Cauchy's integral against 1/j!, where the coefficients underflow."""
    numeric, exact = (
        kernel.expand(3, radii=[1.0, radius])
        for kernel in (zonal.DotProduct(np.exp), zonal.Exponential())
    )
    assert abs(numeric.max_degree - exact.max_degree) <= 1
    X = radius * on_sphere(10, 3)
    np.testing.assert_allclose(numeric(X), exact(X), atol=2e-6 * np.exp(radius**2))


@pytest.mark.parametrize(
    ("kappa", "dim"),
    [
        (lambda t: 1 + t**51, 20),
        (lambda t: 1 / (1.01 - t), 12),
        (lambda t: np.exp(5 * (t - 1)), 100),
        (np.exp, 400),
        (lambda t: np.exp(np.asarray(t, dtype=float)), 30),  # real numbers only: by quadrature
    ],
)
# A pole at 1.01 leaves 7e-6 beyond what float64 can tell from noise at d = 12: it says so.
@pytest.mark.filterwarnings("ignore::zonal.TruncationWarning")
def test_zonal_accepts_what_is_positive_definite_in_every_dimension(kappa, dim):
    X = on_sphere(6, dim)
    expansion = zonal.Zonal(kappa).expand(dim)
    total = float(zonal.Zonal(kappa)(X[:1])[0, 0])
    assert expansion.diag(X)[0] <= total * (1 + 1e-9)
    off_diagonal = expansion(X) - zonal.Zonal(kappa)(X)
    np.fill_diagonal(off_diagonal, 0)
    assert np.abs(off_diagonal).max() < 1e-5 * total


def test_odd_kernels_and_constants():
    rows = np.vstack([np.zeros(3), standardised(10, 3)])
    norms = np.linalg.norm(rows, axis=1)
    odd = zonal.DotProduct(np.sinh)
    error = odd.expand(3, radii=norms)(rows) - odd(rows)
    assert np.abs(error).max() < 1e-6 * odd.diag(rows).max()
    constant = zonal.DotProduct(lambda t: 2.0)
    assert constant(rows).shape == (11, 11)
    assert constant.expand(3).max_degree == 0
    assert zonal.Zonal(lambda t: 2.0).expand(3).max_degree == 0


def test_own_expansion_can_not_be_asked_for_something_else():
    own = zonal.Gaussian(2.0).expand(3, 4, 2)
    assert own.expand(3, max_degree=4, n_radial=2, radii=[9.0]) is own
    with pytest.raises(ValueError, match="max_degree=4, not for max_degree=1"):
        own.expand(3, max_degree=1)


def test_radial_functions_take_lists():
    kernel = zonal.Gaussian()
    for expansion in (kernel.expand(3), zonal.NTK().expand(3), kernel.expand(3, radii=[2, 2])):
        assert expansion.radial([1.0, 2.0]).shape[0] == 2


def test_sum_of_a_list():
    X = standardised(5, 3)
    kernels = [zonal.Gaussian(1.0), zonal.Gaussian(2.0)]
    np.testing.assert_allclose(sum(kernels)(X), kernels[0](X) + kernels[1](X))


def test_a_function_that_cannot_be_hashed():
    """NumPy's polynomials are such functions; coefficients are then found anew each time."""
    kappa = np.polynomial.Polynomial([1.0, 2.0, 1.0])
    X = np.random.default_rng(0).standard_normal((6, 3))
    found = zonal.DotProduct(kappa).expand(3, radii=np.linalg.norm(X, axis=1))
    np.testing.assert_allclose(found(X), (1 + X @ X.T) ** 2, rtol=1e-6, atol=1e-6)
