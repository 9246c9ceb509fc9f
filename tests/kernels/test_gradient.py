"""Gradients of kernels against finite differences, and their sums against each other."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import zonal
from tests.finite_differences import assert_gradient
from zonal.kernels.radial import PowerRadial, TaylorRadial

SMOOTH = [
    zonal.Gaussian(1.3),
    zonal.Matern(1.5, 2.0),
    zonal.Matern(2.5, 0.7),
    zonal.Matern(1.2, 2.0),
    zonal.Matern(4.1, 1.5),
    zonal.Matern(30.5, 1.5),
    zonal.Matern(70.0, 1.5),
    zonal.Matern(np.inf, 1.5),
    zonal.RationalQuadratic(1.5, 0.6),
    zonal.Exponential(2.0),
    zonal.Polynomial(3, 0.5, 2.0),
    zonal.Polynomial(1, 0.5, 0.0),
    zonal.DotProduct(np.cosh),
    zonal.DotProduct(lambda t: 1 + t**3, taylor=[1, 0, 0, 1]),
    zonal.ArcCosine(2),
    zonal.Gaussian(2.0) + 3 * zonal.Polynomial(2),
    zonal.Gaussian(2.0) * zonal.Polynomial(2),
    zonal.Matern(2.5, 2.0) * zonal.Gaussian(3.0) + zonal.RationalQuadratic(),
]
# No gradient where the points agree, or where x is zero.
ROUGH = [
    zonal.Laplacian(1.5),
    zonal.Matern(0.3, 1.5),
    zonal.Matern(0.7, 1.5),
    zonal.Matern(1.0, 1.5),
    zonal.ArcCosine(0),
    zonal.ArcCosine(1),
    zonal.NTK(1),
    zonal.NTK(3),
    zonal.NTK(2) * zonal.Gaussian(2.0),
    0.5 * zonal.NTK(1) + zonal.Laplacian(),
]
DIMS = [1, 2, 3, 7]


def points(dim, n=6, seed=0):
    """Rows of norms between 0.5 and 2.5, away from each other and from zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.uniform(0.5, 2.5, (n, 1))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", SMOOTH, ids=repr)
def test_smooth_kernels(kernel, dim):
    """At the origin and where points agree, too."""
    Y = np.vstack([points(dim, seed=1), np.zeros((1, dim))])
    X = np.vstack([points(dim), Y[:2] + 0.1, np.zeros((1, dim))])
    if isinstance(kernel, zonal.Matern) and kernel.nu < 2:
        Y = Y[:-1]  # the second derivative has a kink where points agree
    assert_gradient(kernel.gradient(X, Y), lambda rows: kernel(rows, Y), X)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", ROUGH, ids=repr)
def test_rough_kernels(kernel, dim):
    if dim == 1 and not kernel.shift_invariant:
        pytest.skip("angles of 0 and π are right to √ε only, too little for differences")
    X, Y = points(dim), points(dim, seed=1)
    assert_gradient(kernel.gradient(X, Y), lambda rows: kernel(rows, Y), X)


@pytest.mark.parametrize(
    ("kernel", "power", "at_one"),
    [(zonal.ArcCosine(0), 0, 1), (zonal.ArcCosine(1), 1, 1), (zonal.NTK(1), 1, 2)],
    ids=repr,
)
def test_angles_on_the_line(kernel, power, at_one):
    """|x y|^p κ(±1) with κ(-1) = 0: the function is p k / x, whatever κ' is."""
    X, Y = points(1), points(1, seed=1)
    values = np.abs(X @ Y.T) ** power * np.where(X @ Y.T > 0, at_one, 0.0)
    # Rounding of the cosine, ε, times κ' ~ ε^{-1/2}; κ itself is right to √ε.
    expected = power * (values / X)[:, :, None]
    np.testing.assert_allclose(kernel.gradient(X, Y), expected, atol=1e-6)


@pytest.mark.parametrize("kappa", [np.exp, lambda t: 0.75 / (1.25 - t) ** 1.5, lambda t: t**3])
def test_zonal_is_tangential(kappa):
    """The gradient is that of the function that is constant along rays."""
    kernel = zonal.Zonal(kappa)
    X, Y = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (points(3), points(3, seed=1)))

    def on_rays(rows):
        return kernel(rows / np.linalg.norm(rows, axis=1, keepdims=True), Y)

    G = kernel.gradient(X, Y)
    assert_gradient(G, on_rays, X)
    np.testing.assert_allclose(np.einsum("nmd,nd->nm", G, X), 0, atol=1e-14)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize(
    "kernel",
    [zonal.Gaussian(2.0), zonal.Exponential(2.0) + zonal.Gaussian(1.0), zonal.Polynomial(3)],
    ids=repr,
)
@pytest.mark.parametrize("basis", ["taylor", "optimal"])
def test_expansions(kernel, dim, basis):
    radii = np.linspace(0.4, 2.6, 50)
    expansion = kernel.expand(dim, radial_basis=basis, radii=radii, tol=1e-5)
    X, Y = points(dim), points(dim, seed=1)
    assert_gradient(expansion.gradient(X, Y), lambda rows: expansion(rows, Y), X)


def test_expansion_at_the_origin():
    expansion = zonal.Gaussian(2.0).expand(3, 8, 6)
    X, Y = np.zeros((1, 3)), points(3)
    assert_gradient(expansion.gradient(X, Y), lambda rows: expansion(rows, Y), X)
    np.testing.assert_allclose(
        expansion.gradient(X, Y), zonal.Gaussian(2.0).gradient(X, Y), atol=1e-7
    )


@pytest.mark.parametrize("kernel", SMOOTH + ROUGH, ids=repr)
def test_contraction_is_the_sum(kernel):
    X, Y = points(4, 9), points(4, 7, seed=1)
    coef = np.random.default_rng(2).standard_normal((7, 3))
    G = kernel.gradient(X, Y)
    size = np.abs(G).max() * np.abs(coef).sum()
    many = kernel.contract_gradient(X, Y, coef)
    np.testing.assert_allclose(many, np.einsum("nmd,mt->ntd", G, coef), atol=1e-14 * size)
    one = kernel.contract_gradient(X, Y, coef[:, 1])
    np.testing.assert_allclose(one, many[:, 1], atol=1e-14 * size)


@pytest.mark.parametrize("kernel", SMOOTH + ROUGH, ids=repr)
def test_precision_and_sparse_rows(kernel):
    """float32 stays float32, computed in float64: only rows and result are rounded."""
    X, Y = points(4, 9).astype(np.float32), points(4, 7, seed=1).astype(np.float32)
    coef = np.linspace(-1, 1, 7)
    G, C = kernel.gradient(X, Y), kernel.contract_gradient(X, Y, coef)
    assert G.dtype == C.dtype == np.float32
    wide = X.astype(np.float64), Y.astype(np.float64)
    exact = kernel.gradient(*wide)
    np.testing.assert_allclose(G, exact, atol=1e-7 * np.abs(exact).max())
    exact = kernel.contract_gradient(*wide, coef)
    np.testing.assert_allclose(C, exact, atol=1e-7 * np.abs(exact).max())
    rows = sp.csr_matrix(wide[0])
    np.testing.assert_allclose(kernel.contract_gradient(rows, wide[1], coef), exact, rtol=1e-12)


@pytest.mark.parametrize("kernel", SMOOTH + ROUGH, ids=repr)
def test_points_that_agree(kernel):
    """Finite everywhere, also for equal rows and rows of zeros; zero for functions of x - y."""
    X = np.vstack([points(3), points(3)[:2], np.zeros((2, 3)), -points(3)[:2], 2 * points(3)[:2]])
    G = kernel.gradient(X)
    assert np.isfinite(G).all()
    assert np.isfinite(kernel.contract_gradient(X, X, np.ones(len(X)))).all()
    if kernel.shift_invariant:
        same = (X[:, None] == X).all(axis=2)
        assert (G[same] == 0).all()


def test_matern_is_differentiable_at_zero_above_one_half():
    """k = 1 - O(ρ^{2ν}): the quotient ‖∇k‖ ~ ρ^{2ν-1} vanishes for ν > 1/2 only."""
    near, here = np.array([[1e-9, 0.0]]), np.zeros((1, 2))
    sizes = {
        nu: np.linalg.norm(zonal.Matern(nu).gradient(near, here)) for nu in (0.3, 0.5, 0.7, 1.5)
    }
    assert sizes[0.3] > 100
    assert sizes[0.5] == pytest.approx(1.0)
    assert sizes[0.7] < 1e-2
    assert sizes[1.5] == pytest.approx(3e-9)


def test_far_from_the_origin():
    """Sums of a (x - y) do not cancel: rows at 1e6 lose the digits of the rows, no more."""
    X, Y, coef = points(3, 20), points(3, 30, seed=1), np.linspace(-1, 1, 30)
    # Multiples of 2^-20, so that moving them by 2^20 is exact.
    X, Y = (np.round(Z * 2**20) / 2**20 for Z in (X, Y))
    for kernel in (zonal.Gaussian(), zonal.Matern(1.5), zonal.Laplacian(), 2 * zonal.Matern(2.5)):
        near = kernel.contract_gradient(X, Y, coef)
        far = kernel.contract_gradient(X + 2.0**20, Y + 2.0**20, coef)
        # The Gaussian's values come from squares: (1e6)² ε is 1e-4.
        atol = 1e-2 if isinstance(kernel, zonal.Gaussian) else 1e-8
        np.testing.assert_allclose(far, near, atol=atol * np.abs(near).max())


def test_contraction_needs_little_memory():
    """All of the gradients would be 800 MB."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((2000, 25)), rng.standard_normal((2000, 25))
    kernel = zonal.Matern(2.5, 5.0)
    tracemalloc.start()
    kernel.contract_gradient(X, Y, np.ones(2000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e8


@pytest.mark.parametrize("dim", [1, 2, 4, 12])
@pytest.mark.parametrize(
    "kernel",
    [
        zonal.Gaussian(1.3),
        zonal.Exponential(2.0),
        zonal.Polynomial(3),
        zonal.DotProduct(np.cosh) * zonal.Gaussian(2.0),
        zonal.ArcCosine(1),
        zonal.ArcCosine(2),
        zonal.Matern(1.5, 2.0),
        zonal.RationalQuadratic(2.0),
        zonal.Gaussian(2.0) + zonal.NTK(1),
        zonal.Gaussian(2.0) * zonal.NTK(1),
    ],
    ids=repr,
)
def test_degree_slopes(kernel, dim):
    """∂k_ℓ(r, s)/∂r, of which derivatives beyond a table are made."""
    degree = 1 if dim == 1 else 6
    radii, others = np.array([0.3, 0.9, 2.1]), np.array([0.5, 1.4])

    def values(column):
        return np.moveaxis(kernel.degree_kernels(dim, degree, column[:, 0], others), 1, 0)

    slopes = np.moveaxis(kernel.degree_slopes(dim, degree, radii, others), 1, 0)
    assert_gradient(slopes[..., None], values, radii[:, None])


@pytest.mark.parametrize(
    "radial",
    [TaylorRadial(np.log(np.arange(1.0, 13).reshape(4, 3)), 0.4), PowerRadial(np.ones(4), 2)],
)
def test_radial_derivatives(radial):
    radii = np.array([1e-3, 0.5, 2.0])
    assert_gradient(radial.derivative(radii)[..., None], lambda R: radial(R[:, 0]), radii[:, None])


def test_what_has_no_gradient_says_so():
    X = points(2)
    own = zonal.RotationInvariant(lambda r, s, cos: 1 + r * s * cos)
    with pytest.raises(NotImplementedError, match="known by its values only"):
        own.gradient(X)
    for kernel in (zonal.DotProduct(np.abs), zonal.DotProduct(lambda t: np.maximum(t.real, 0))):
        with pytest.raises(ValueError, match="complex arrays"):
            kernel.gradient(X)
    bare = zonal.GeneralizedZonalKernel(2, lambda radii: np.ones((len(radii), 2, 1)), 1, 1)
    with pytest.raises(NotImplementedError, match=r"derivative\(radii\)"):
        bare.gradient(X)
    np.testing.assert_array_equal(zonal.DotProduct(lambda t: 2.0).gradient(X), 0)


def test_wrong_arguments():
    X, kernel = points(2), zonal.Gaussian()
    with pytest.raises(ValueError, match=r"shape \(5,\) must be finite numbers of shape \(6,\)"):
        kernel.contract_gradient(X, X, np.ones(5))
    with pytest.raises(ValueError, match="finite"):
        kernel.contract_gradient(X, X, np.full(6, np.nan))
    with pytest.raises(ValueError, match="same number"):
        kernel.gradient(X, points(3))
    with pytest.raises(ValueError, match="median"):
        zonal.Gaussian("median").gradient(X)
